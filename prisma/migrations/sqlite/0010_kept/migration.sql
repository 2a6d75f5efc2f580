-- AlterTable
ALTER TABLE "audit_entries" ADD COLUMN "kept" TEXT;
