-- A commit no longer merges the parts of a search index: a thread of the service does, see SqliteWriter.
INSERT INTO "users_search" ("users_search", "rank") VALUES ('automerge', 0);
INSERT INTO "books_search" ("books_search", "rank") VALUES ('automerge', 0);
INSERT INTO "items_search" ("items_search", "rank") VALUES ('automerge', 0);
