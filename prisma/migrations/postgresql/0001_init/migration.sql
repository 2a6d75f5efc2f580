-- CreateTable
CREATE TABLE "users" (
    "id" SERIAL NOT NULL,
    "name" TEXT COLLATE "C" NOT NULL,
    "email" TEXT COLLATE "C" NOT NULL,
    "email_key" TEXT COLLATE "C" NOT NULL,
    "password_hash" TEXT COLLATE "C",
    "role" TEXT COLLATE "C" NOT NULL,
    "status" TEXT COLLATE "C" NOT NULL,
    "age" INTEGER,
    "version" INTEGER NOT NULL DEFAULT 1,
    "created_at" TIMESTAMP(3) NOT NULL,
    "updated_at" TIMESTAMP(3) NOT NULL,

    CONSTRAINT "users_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "books" (
    "id" SERIAL NOT NULL,
    "title" TEXT COLLATE "C" NOT NULL,
    "author" TEXT COLLATE "C" NOT NULL,
    "published_date" TEXT COLLATE "C" NOT NULL,
    "version" INTEGER NOT NULL DEFAULT 1,

    CONSTRAINT "books_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "items" (
    "id" SERIAL NOT NULL,
    "name" TEXT COLLATE "C" NOT NULL,
    "price" DOUBLE PRECISION NOT NULL,
    "category" TEXT COLLATE "C",
    "version" INTEGER NOT NULL DEFAULT 1,

    CONSTRAINT "items_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "idempotency_keys" (
    "procedure" TEXT COLLATE "C" NOT NULL,
    "key" TEXT COLLATE "C" NOT NULL,
    "fingerprint" TEXT COLLATE "C" NOT NULL,
    "answer" TEXT COLLATE "C" NOT NULL,
    "created_at" TIMESTAMP(3) NOT NULL,

    CONSTRAINT "idempotency_keys_pkey" PRIMARY KEY ("procedure","key")
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
CREATE INDEX "users_age_id_idx" ON "users"("age" NULLS FIRST, "id");

-- CreateIndex
CREATE INDEX "users_age_desc_id_idx" ON "users"("age" DESC NULLS LAST, "id");

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
CREATE INDEX "items_category_id_idx" ON "items"("category" NULLS FIRST, "id");

-- CreateIndex
CREATE INDEX "items_category_desc_id_idx" ON "items"("category" DESC NULLS LAST, "id");

-- CreateIndex
CREATE INDEX "idempotency_keys_created_at_idx" ON "idempotency_keys"("created_at");
