-- AlterTable
ALTER TABLE "api_keys" ADD COLUMN "owner" TEXT;
ALTER TABLE "api_keys" ADD COLUMN "rotated_at" DATETIME;
ALTER TABLE "api_keys" ADD COLUMN "former_hash" TEXT;
ALTER TABLE "api_keys" ADD COLUMN "former_until" DATETIME;
