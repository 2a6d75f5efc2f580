-- CreateTable
CREATE TABLE "audit_entries" (
    "id" BIGSERIAL NOT NULL,
    "at" TIMESTAMP(3) NOT NULL,
    "actor" TEXT COLLATE "C" NOT NULL,
    "actor_detail" TEXT COLLATE "C",
    "procedure" TEXT COLLATE "C" NOT NULL,
    "resource" TEXT COLLATE "C" NOT NULL,
    "record_id" INTEGER NOT NULL,
    "before" TEXT COLLATE "C",
    "after" TEXT COLLATE "C",
    "request_id" TEXT COLLATE "C",
    "address" TEXT COLLATE "C",

    CONSTRAINT "audit_entries_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "audit_entries_record_id_id_idx" ON "audit_entries"("record_id", "id");

-- CreateIndex
CREATE INDEX "audit_entries_actor_id_idx" ON "audit_entries"("actor", "id");

-- CreateIndex
CREATE INDEX "audit_entries_procedure_id_idx" ON "audit_entries"("procedure", "id");

-- CreateIndex
CREATE INDEX "audit_entries_resource_id_idx" ON "audit_entries"("resource", "id");
