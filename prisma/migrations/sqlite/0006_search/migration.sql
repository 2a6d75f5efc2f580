-- AlterTable
ALTER TABLE "users" ADD COLUMN "name_key" TEXT NOT NULL DEFAULT '';

-- AlterTable
ALTER TABLE "books" ADD COLUMN "title_key" TEXT NOT NULL DEFAULT '';
ALTER TABLE "books" ADD COLUMN "author_key" TEXT NOT NULL DEFAULT '';

-- AlterTable
ALTER TABLE "items" ADD COLUMN "name_key" TEXT NOT NULL DEFAULT '';

-- Fill the search keys. The service replaces lower() by its searchKey(); SQLite's own changes ASCII letters only.
UPDATE "users" SET "name_key" = lower("name");
UPDATE "books" SET "title_key" = lower("title"), "author_key" = lower("author");
UPDATE "items" SET "name_key" = lower("name");

-- SearchIndex
CREATE VIRTUAL TABLE "users_search" USING fts5("text", content='', columnsize=0, detail=none, tokenize='trigram case_sensitive 1');
INSERT INTO "users_search" ("rowid", "text") SELECT "id", ' ' || "name_key" || ' ' || "email_key" FROM "users";
INSERT INTO "users_search" ("users_search") VALUES ('optimize');
CREATE TRIGGER "users_search_insert" AFTER INSERT ON "users" BEGIN
  INSERT INTO "users_search" ("rowid", "text") VALUES (new."id", ' ' || new."name_key" || ' ' || new."email_key");
END;
CREATE TRIGGER "users_search_delete" AFTER DELETE ON "users" BEGIN
  INSERT INTO "users_search" ("users_search", "rowid", "text") VALUES ('delete', old."id", ' ' || old."name_key" || ' ' || old."email_key");
END;
CREATE TRIGGER "users_search_update" AFTER UPDATE OF "name_key", "email_key" ON "users" WHEN old."name_key" <> new."name_key" OR old."email_key" <> new."email_key" BEGIN
  INSERT INTO "users_search" ("users_search", "rowid", "text") VALUES ('delete', old."id", ' ' || old."name_key" || ' ' || old."email_key");
  INSERT INTO "users_search" ("rowid", "text") VALUES (new."id", ' ' || new."name_key" || ' ' || new."email_key");
END;

-- SearchIndex
CREATE VIRTUAL TABLE "books_search" USING fts5("text", content='', columnsize=0, detail=none, tokenize='trigram case_sensitive 1');
INSERT INTO "books_search" ("rowid", "text") SELECT "id", ' ' || "title_key" || ' ' || "author_key" FROM "books";
INSERT INTO "books_search" ("books_search") VALUES ('optimize');
CREATE TRIGGER "books_search_insert" AFTER INSERT ON "books" BEGIN
  INSERT INTO "books_search" ("rowid", "text") VALUES (new."id", ' ' || new."title_key" || ' ' || new."author_key");
END;
CREATE TRIGGER "books_search_delete" AFTER DELETE ON "books" BEGIN
  INSERT INTO "books_search" ("books_search", "rowid", "text") VALUES ('delete', old."id", ' ' || old."title_key" || ' ' || old."author_key");
END;
CREATE TRIGGER "books_search_update" AFTER UPDATE OF "title_key", "author_key" ON "books" WHEN old."title_key" <> new."title_key" OR old."author_key" <> new."author_key" BEGIN
  INSERT INTO "books_search" ("books_search", "rowid", "text") VALUES ('delete', old."id", ' ' || old."title_key" || ' ' || old."author_key");
  INSERT INTO "books_search" ("rowid", "text") VALUES (new."id", ' ' || new."title_key" || ' ' || new."author_key");
END;

-- SearchIndex
CREATE VIRTUAL TABLE "items_search" USING fts5("text", content='', columnsize=0, detail=none, tokenize='trigram case_sensitive 1');
INSERT INTO "items_search" ("rowid", "text") SELECT "id", ' ' || "name_key" FROM "items";
INSERT INTO "items_search" ("items_search") VALUES ('optimize');
CREATE TRIGGER "items_search_insert" AFTER INSERT ON "items" BEGIN
  INSERT INTO "items_search" ("rowid", "text") VALUES (new."id", ' ' || new."name_key");
END;
CREATE TRIGGER "items_search_delete" AFTER DELETE ON "items" BEGIN
  INSERT INTO "items_search" ("items_search", "rowid", "text") VALUES ('delete', old."id", ' ' || old."name_key");
END;
CREATE TRIGGER "items_search_update" AFTER UPDATE OF "name_key" ON "items" WHEN old."name_key" <> new."name_key" BEGIN
  INSERT INTO "items_search" ("items_search", "rowid", "text") VALUES ('delete', old."id", ' ' || old."name_key");
  INSERT INTO "items_search" ("rowid", "text") VALUES (new."id", ' ' || new."name_key");
END;
