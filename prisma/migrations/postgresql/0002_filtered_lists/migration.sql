-- CreateIndex
CREATE INDEX "items_category_price_id_idx" ON "items"("category" NULLS FIRST, "price", "id");

-- CreateIndex
CREATE INDEX "users_role_name_id_idx" ON "users"("role", "name", "id");

-- CreateIndex
CREATE INDEX "users_role_created_at_id_idx" ON "users"("role", "created_at", "id");

-- CreateIndex
CREATE INDEX "users_status_name_id_idx" ON "users"("status", "name", "id");

-- CreateIndex
CREATE INDEX "users_status_created_at_id_idx" ON "users"("status", "created_at", "id");
