-- DropTable
DROP TABLE "batches";
