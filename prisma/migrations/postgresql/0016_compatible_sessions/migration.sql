-- CreateTable
CREATE TABLE "sessions" (
    "id" SERIAL NOT NULL,
    "hash" TEXT COLLATE "C" NOT NULL,
    "key_id" INTEGER,
    "actor" TEXT COLLATE "C" NOT NULL,
    "actor_detail" TEXT COLLATE "C" NOT NULL,
    "role" TEXT COLLATE "C" NOT NULL,
    "address" TEXT COLLATE "C",
    "browser" TEXT COLLATE "C",
    "version" INTEGER NOT NULL DEFAULT 1,
    "created_at" TIMESTAMP(3) NOT NULL,
    "last_used_at" TIMESTAMP(3) NOT NULL,
    "expires_at" TIMESTAMP(3) NOT NULL,

    CONSTRAINT "sessions_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "sessions_hash_key" ON "sessions"("hash");

-- CreateIndex
CREATE INDEX "sessions_actor_id_idx" ON "sessions"("actor", "id");

-- CreateIndex
CREATE INDEX "sessions_key_id_idx" ON "sessions"("key_id" NULLS FIRST);
