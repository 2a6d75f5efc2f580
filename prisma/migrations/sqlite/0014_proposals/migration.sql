-- CreateTable
CREATE TABLE "proposals" (
    "id" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    "operation" TEXT NOT NULL,
    "input" TEXT NOT NULL,
    "reason" TEXT NOT NULL,
    "status" TEXT NOT NULL,
    "effect" TEXT NOT NULL,
    "created" INTEGER NOT NULL,
    "updated" INTEGER NOT NULL,
    "deleted" INTEGER NOT NULL,
    "changes" TEXT NOT NULL,
    "proposer" TEXT NOT NULL,
    "decided_by" TEXT,
    "decided_at" DATETIME,
    "request_id" TEXT,
    "version" INTEGER NOT NULL DEFAULT 1,
    "created_at" DATETIME NOT NULL,
    "expires_at" DATETIME NOT NULL
);

-- CreateIndex
CREATE INDEX "proposals_status_id_idx" ON "proposals"("status", "id");

-- CreateIndex
CREATE INDEX "proposals_proposer_id_idx" ON "proposals"("proposer", "id");
