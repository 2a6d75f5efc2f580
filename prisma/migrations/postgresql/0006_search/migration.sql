-- AlterTable
ALTER TABLE "users" ADD COLUMN     "name_key" TEXT COLLATE "C" NOT NULL DEFAULT '';

-- AlterTable
ALTER TABLE "books" ADD COLUMN     "title_key" TEXT COLLATE "C" NOT NULL DEFAULT '',
ADD COLUMN     "author_key" TEXT COLLATE "C" NOT NULL DEFAULT '';

-- AlterTable
ALTER TABLE "items" ADD COLUMN     "name_key" TEXT COLLATE "C" NOT NULL DEFAULT '';

-- Fill the search keys as searchKey() does. Without ICU, lower() follows the locale of the database.
DO $$
DECLARE
  collation_name text := CASE WHEN EXISTS (SELECT FROM pg_collation WHERE collname = 'und-x-icu') THEN 'und-x-icu' ELSE 'default' END;
  spaces text := '[\t\n\v\f\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]+';
BEGIN
  EXECUTE format('UPDATE "users" SET "name_key" = trim(regexp_replace(lower("name" COLLATE %1$I), %2$L, '' '', ''g''))', collation_name, spaces);
  EXECUTE format('UPDATE "books" SET "title_key" = trim(regexp_replace(lower("title" COLLATE %1$I), %2$L, '' '', ''g'')), "author_key" = trim(regexp_replace(lower("author" COLLATE %1$I), %2$L, '' '', ''g''))', collation_name, spaces);
  EXECUTE format('UPDATE "items" SET "name_key" = trim(regexp_replace(lower("name" COLLATE %1$I), %2$L, '' '', ''g''))', collation_name, spaces);
END $$;

-- SearchIndex
DO $$
DECLARE
  extension_schema name;
BEGIN
  CREATE EXTENSION IF NOT EXISTS pg_trgm;
  SELECT nspname INTO extension_schema FROM pg_extension JOIN pg_namespace ON pg_namespace.oid = extnamespace WHERE extname = 'pg_trgm';
  EXECUTE format('CREATE INDEX "users_search_idx" ON "users" USING gin (('' '' || "name_key" || '' '' || "email_key") %I.gin_trgm_ops)', extension_schema);
EXCEPTION
  WHEN feature_not_supported OR undefined_file OR insufficient_privilege THEN
    RAISE WARNING 'Searches of users have no index: %', SQLERRM;
END $$;

-- SearchIndex
DO $$
DECLARE
  extension_schema name;
BEGIN
  CREATE EXTENSION IF NOT EXISTS pg_trgm;
  SELECT nspname INTO extension_schema FROM pg_extension JOIN pg_namespace ON pg_namespace.oid = extnamespace WHERE extname = 'pg_trgm';
  EXECUTE format('CREATE INDEX "books_search_idx" ON "books" USING gin (('' '' || "title_key" || '' '' || "author_key") %I.gin_trgm_ops)', extension_schema);
EXCEPTION
  WHEN feature_not_supported OR undefined_file OR insufficient_privilege THEN
    RAISE WARNING 'Searches of books have no index: %', SQLERRM;
END $$;

-- SearchIndex
DO $$
DECLARE
  extension_schema name;
BEGIN
  CREATE EXTENSION IF NOT EXISTS pg_trgm;
  SELECT nspname INTO extension_schema FROM pg_extension JOIN pg_namespace ON pg_namespace.oid = extnamespace WHERE extname = 'pg_trgm';
  EXECUTE format('CREATE INDEX "items_search_idx" ON "items" USING gin (('' '' || "name_key") %I.gin_trgm_ops)', extension_schema);
EXCEPTION
  WHEN feature_not_supported OR undefined_file OR insufficient_privilege THEN
    RAISE WARNING 'Searches of items have no index: %', SQLERRM;
END $$;
