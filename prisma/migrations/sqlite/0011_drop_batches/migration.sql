-- DropTable
PRAGMA foreign_keys=off;
DROP TABLE "batches";
PRAGMA foreign_keys=on;
