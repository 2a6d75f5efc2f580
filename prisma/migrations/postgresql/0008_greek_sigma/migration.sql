-- A Greek sigma has one form in search keys, wherever it stands in a word.
UPDATE "users" SET "name_key" = replace("name_key", 'ς', 'σ') WHERE "name_key" LIKE '%ς%';
UPDATE "books" SET "title_key" = replace("title_key", 'ς', 'σ'), "author_key" = replace("author_key", 'ς', 'σ') WHERE "title_key" LIKE '%ς%' OR "author_key" LIKE '%ς%';
UPDATE "items" SET "name_key" = replace("name_key", 'ς', 'σ') WHERE "name_key" LIKE '%ς%';
