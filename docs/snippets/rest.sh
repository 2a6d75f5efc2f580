# curl: a write that may be repeated, a filtered list, and a change of what was read.
: "${BASE_URL:=http://127.0.0.1:3000}"
headers=$(mktemp)
trap 'rm -f "$headers"' EXIT
# The value of a header of the last response.
header() { tr -d '\r' < "$headers" | sed -n "s/^$1: //Ip"; }

curl -fsS "$BASE_URL/items/" -D "$headers" -H 'Content-Type: application/json' -H 'Idempotency-Key: lamp-1' \
  -d '{"name":"Lamp","price":24.5}'
echo
item=$BASE_URL$(header Location)
curl -fsS "$BASE_URL/items?price_lt=30&sort=price_desc&limit=3"
echo
curl -fsS "$item" -D "$headers" -o /dev/null
curl -fsS -X PATCH "$item" -H 'Content-Type: application/json' -H "If-Match: $(header ETag)" -d '{"price":19.9}'
echo
