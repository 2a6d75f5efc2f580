# curl: a write that may be repeated, a filtered list, and a change of what was read.
: "${BASE_URL:=http://127.0.0.1:3000}"
curl -fsS "$BASE_URL/items/" -H 'Content-Type: application/json' -H 'Idempotency-Key: lamp-1' \
  -d '{"name":"Lamp","price":24.5}'
echo
curl -fsS "$BASE_URL/items?price_lt=30&sort=price_desc"
echo
curl -fsS -X PATCH "$BASE_URL/items/1" -H 'Content-Type: application/json' -H 'If-Match: "1-Item"' -d '{"price":19.9}'
echo
