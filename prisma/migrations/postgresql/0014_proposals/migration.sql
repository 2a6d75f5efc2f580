-- CreateTable
CREATE TABLE "proposals" (
    "id" SERIAL NOT NULL,
    "operation" TEXT COLLATE "C" NOT NULL,
    "input" TEXT COLLATE "C" NOT NULL,
    "reason" TEXT COLLATE "C" NOT NULL,
    "status" TEXT COLLATE "C" NOT NULL,
    "effect" TEXT COLLATE "C" NOT NULL,
    "created" INTEGER NOT NULL,
    "updated" INTEGER NOT NULL,
    "deleted" INTEGER NOT NULL,
    "changes" TEXT COLLATE "C" NOT NULL,
    "proposer" TEXT COLLATE "C" NOT NULL,
    "decided_by" TEXT COLLATE "C",
    "decided_at" TIMESTAMP(3),
    "request_id" TEXT COLLATE "C",
    "version" INTEGER NOT NULL DEFAULT 1,
    "created_at" TIMESTAMP(3) NOT NULL,
    "expires_at" TIMESTAMP(3) NOT NULL,

    CONSTRAINT "proposals_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "proposals_status_id_idx" ON "proposals"("status", "id");

-- CreateIndex
CREATE INDEX "proposals_proposer_id_idx" ON "proposals"("proposer", "id");
