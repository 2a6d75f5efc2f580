-- CreateTable
CREATE TABLE "sessions" (
    "id" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    "hash" TEXT NOT NULL,
    "key_id" INTEGER,
    "actor" TEXT NOT NULL,
    "actor_detail" TEXT NOT NULL,
    "role" TEXT NOT NULL,
    "address" TEXT,
    "browser" TEXT,
    "version" INTEGER NOT NULL DEFAULT 1,
    "created_at" DATETIME NOT NULL,
    "last_used_at" DATETIME NOT NULL,
    "expires_at" DATETIME NOT NULL
);

-- CreateIndex
CREATE UNIQUE INDEX "sessions_hash_key" ON "sessions"("hash");

-- CreateIndex
CREATE INDEX "sessions_actor_id_idx" ON "sessions"("actor", "id");

-- CreateIndex
CREATE INDEX "sessions_key_id_idx" ON "sessions"("key_id");
