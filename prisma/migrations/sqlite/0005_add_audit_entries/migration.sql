-- CreateTable
CREATE TABLE "audit_entries" (
    "id" INTEGER NOT NULL PRIMARY KEY,
    "at" DATETIME NOT NULL,
    "actor" TEXT NOT NULL,
    "actor_detail" TEXT,
    "procedure" TEXT NOT NULL,
    "resource" TEXT NOT NULL,
    "record_id" INTEGER NOT NULL,
    "before" TEXT,
    "after" TEXT,
    "request_id" TEXT,
    "address" TEXT
);

-- CreateIndex
CREATE INDEX "audit_entries_record_id_id_idx" ON "audit_entries"("record_id", "id");

-- CreateIndex
CREATE INDEX "audit_entries_actor_id_idx" ON "audit_entries"("actor", "id");

-- CreateIndex
CREATE INDEX "audit_entries_procedure_id_idx" ON "audit_entries"("procedure", "id");

-- CreateIndex
CREATE INDEX "audit_entries_resource_id_idx" ON "audit_entries"("resource", "id");
