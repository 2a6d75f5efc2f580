-- CreateTable
CREATE TABLE "batches" (
    "id" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    "resource" TEXT NOT NULL,
    "caller" TEXT NOT NULL,
    "action" TEXT NOT NULL,
    "filter" TEXT NOT NULL,
    "changes" TEXT,
    "fingerprint" TEXT NOT NULL,
    "count" INTEGER NOT NULL,
    "status" TEXT NOT NULL,
    "version" INTEGER NOT NULL DEFAULT 1,
    "created_at" DATETIME NOT NULL,
    "expires_at" DATETIME NOT NULL
);

-- CreateIndex
CREATE INDEX "batches_expires_at_idx" ON "batches"("expires_at");
