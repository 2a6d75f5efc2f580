-- AlterTable
ALTER TABLE "proposals" ADD COLUMN "scopes" TEXT;
