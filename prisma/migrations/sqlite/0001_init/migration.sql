-- CreateTable
CREATE TABLE "users" (
    "id" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    "name" TEXT NOT NULL,
    "email" TEXT NOT NULL,
    "email_key" TEXT NOT NULL,
    "password_hash" TEXT,
    "role" TEXT NOT NULL,
    "status" TEXT NOT NULL,
    "age" INTEGER,
    "version" INTEGER NOT NULL DEFAULT 1,
    "created_at" DATETIME NOT NULL,
    "updated_at" DATETIME NOT NULL
);

-- CreateTable
CREATE TABLE "books" (
    "id" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    "title" TEXT NOT NULL,
    "author" TEXT NOT NULL,
    "published_date" TEXT NOT NULL,
    "version" INTEGER NOT NULL DEFAULT 1
);

-- CreateTable
CREATE TABLE "items" (
    "id" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    "name" TEXT NOT NULL,
    "price" REAL NOT NULL,
    "category" TEXT,
    "version" INTEGER NOT NULL DEFAULT 1
);

-- CreateTable
CREATE TABLE "idempotency_keys" (
    "procedure" TEXT NOT NULL,
    "key" TEXT NOT NULL,
    "fingerprint" TEXT NOT NULL,
    "answer" TEXT NOT NULL,
    "created_at" DATETIME NOT NULL,

    PRIMARY KEY ("procedure", "key")
);

-- CreateIndex
CREATE UNIQUE INDEX "users_email_key_key" ON "users"("email_key");

-- CreateIndex
CREATE INDEX "users_name_id_idx" ON "users"("name", "id");

-- CreateIndex
CREATE INDEX "users_email_id_idx" ON "users"("email", "id");

-- CreateIndex
CREATE INDEX "users_role_id_idx" ON "users"("role", "id");

-- CreateIndex
CREATE INDEX "users_role_desc_id_idx" ON "users"("role" DESC, "id");

-- CreateIndex
CREATE INDEX "users_status_id_idx" ON "users"("status", "id");

-- CreateIndex
CREATE INDEX "users_status_desc_id_idx" ON "users"("status" DESC, "id");

-- CreateIndex
CREATE INDEX "users_age_id_idx" ON "users"("age", "id");

-- CreateIndex
CREATE INDEX "users_age_desc_id_idx" ON "users"("age" DESC, "id");

-- CreateIndex
CREATE INDEX "users_created_at_id_idx" ON "users"("created_at", "id");

-- CreateIndex
CREATE INDEX "users_updated_at_id_idx" ON "users"("updated_at", "id");

-- CreateIndex
CREATE INDEX "books_title_id_idx" ON "books"("title", "id");

-- CreateIndex
CREATE INDEX "books_author_id_idx" ON "books"("author", "id");

-- CreateIndex
CREATE INDEX "books_published_date_id_idx" ON "books"("published_date", "id");

-- CreateIndex
CREATE INDEX "items_name_id_idx" ON "items"("name", "id");

-- CreateIndex
CREATE INDEX "items_price_id_idx" ON "items"("price", "id");

-- CreateIndex
CREATE INDEX "items_category_id_idx" ON "items"("category", "id");

-- CreateIndex
CREATE INDEX "items_category_desc_id_idx" ON "items"("category" DESC, "id");

-- CreateIndex
CREATE INDEX "idempotency_keys_created_at_idx" ON "idempotency_keys"("created_at");
