-- AlterTable
ALTER TABLE "audit_entries" ADD COLUMN "kept" TEXT COLLATE "C";
