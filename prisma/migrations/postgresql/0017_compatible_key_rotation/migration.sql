-- AlterTable
ALTER TABLE "api_keys" ADD COLUMN "owner" TEXT COLLATE "C";
ALTER TABLE "api_keys" ADD COLUMN "rotated_at" TIMESTAMP(3);
ALTER TABLE "api_keys" ADD COLUMN "former_hash" TEXT COLLATE "C";
ALTER TABLE "api_keys" ADD COLUMN "former_until" TIMESTAMP(3);
