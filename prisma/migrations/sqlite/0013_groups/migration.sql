-- AlterTable
ALTER TABLE "audit_entries" ADD COLUMN "group_id" TEXT;
ALTER TABLE "audit_entries" ADD COLUMN "reverses" TEXT;

-- CreateIndex: partial, so that other entries cost nothing
CREATE INDEX "audit_entries_group_id_idx" ON "audit_entries"("group_id", "id", "request_id") WHERE "group_id" IS NOT NULL;
CREATE INDEX "audit_entries_grouped_request_id_idx" ON "audit_entries"("request_id", "id") WHERE "group_id" IS NOT NULL;
CREATE INDEX "audit_entries_reverses_idx" ON "audit_entries"("reverses", "id", "request_id") WHERE "reverses" IS NOT NULL;
