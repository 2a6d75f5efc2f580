-- CreateTable
CREATE TABLE "batches" (
    "id" SERIAL NOT NULL,
    "resource" TEXT COLLATE "C" NOT NULL,
    "caller" TEXT COLLATE "C" NOT NULL,
    "action" TEXT COLLATE "C" NOT NULL,
    "filter" TEXT COLLATE "C" NOT NULL,
    "changes" TEXT COLLATE "C",
    "fingerprint" TEXT COLLATE "C" NOT NULL,
    "count" INTEGER NOT NULL,
    "status" TEXT COLLATE "C" NOT NULL,
    "version" INTEGER NOT NULL DEFAULT 1,
    "created_at" TIMESTAMP(3) NOT NULL,
    "expires_at" TIMESTAMP(3) NOT NULL,

    CONSTRAINT "batches_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "batches_expires_at_idx" ON "batches"("expires_at");
