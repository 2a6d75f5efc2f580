-- AlterTable
ALTER TABLE "proposals" ADD COLUMN     "scopes" TEXT COLLATE "C";
