-- CreateTable
CREATE TABLE "rate_shares" (
    "id" SERIAL NOT NULL,
    "process" TEXT COLLATE "C" NOT NULL,
    "minute" INTEGER NOT NULL,
    "usage" TEXT COLLATE "C" NOT NULL,
    "version" INTEGER NOT NULL DEFAULT 1,

    CONSTRAINT "rate_shares_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "rate_shares_process_key" ON "rate_shares"("process");
