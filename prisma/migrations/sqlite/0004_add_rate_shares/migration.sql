-- CreateTable
CREATE TABLE "rate_shares" (
    "id" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    "process" TEXT NOT NULL,
    "minute" INTEGER NOT NULL,
    "usage" TEXT NOT NULL,
    "version" INTEGER NOT NULL DEFAULT 1
);

-- CreateIndex
CREATE UNIQUE INDEX "rate_shares_process_key" ON "rate_shares"("process");
