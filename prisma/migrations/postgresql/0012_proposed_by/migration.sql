-- AlterTable
ALTER TABLE "audit_entries" ADD COLUMN "proposed_by" TEXT COLLATE "C";
