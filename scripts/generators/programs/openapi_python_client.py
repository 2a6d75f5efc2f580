# The client of openapi-python-client. Argument: the service's base URL.
import re
import sys

from generated import Client
from generated.api.items import create_item, create_items, delete_item, get_item, list_items, update_item
from generated.models import CreateItemBody, ErrorMessage, ItemCreate, UpdateItemBody

client = Client(base_url=sys.argv[1])

# Create
rug = create_item.sync(client=client, body=CreateItemBody(name="Rug", price=16777217.25)).item
assert (rug.id, rug.name, rug.price, rug.category) == (1, "Rug", 16777217.25, None), rug

# Bulk create
bodies = [ItemCreate(name=f"Lamp {n}", price=n, category="lighting") for n in range(1, 6)]
lamps = create_items.sync(client=client, body=bodies)
assert [lamp.id for lamp in lamps] == [2, 3, 4, 5, 6], lamps

# List with a filter and a cursor
names, pages, after = [], 0, ""
while after is not None:
    page = list_items.sync_detailed(client=client, category="lighting", limit=2, after=after)
    names += [item.name for item in page.parsed]
    pages += 1
    following = re.search(r'[?&]after=([\w-]+)>; rel="next"', page.headers["Link"])
    after = following and following[1]
assert names == ["Lamp 1", "Lamp 2", "Lamp 3", "Lamp 4", "Lamp 5"], names
assert pages == 3, pages

# Get with an ETag
read = get_item.sync_detailed(rug.id, client=client)
assert read.parsed == rug, read.parsed
etag = read.headers["ETag"]
assert etag.startswith('"1-'), etag

# Conditional update
changed = update_item.sync(rug.id, client=client, body=UpdateItemBody(price=30), if_match=etag)
assert changed.price == 30, changed
stale = update_item.sync_detailed(rug.id, client=client, body=UpdateItemBody(price=31), if_match=etag)
assert stale.status_code == 412, stale
assert stale.parsed.message.startswith("Item has changed"), stale.parsed

# Validation error
invalid = create_item.sync_detailed(client=client, body=CreateItemBody(name="", price=1))
assert invalid.status_code == 400, invalid
assert invalid.parsed == ErrorMessage(message="name: must be text of 1 to 200 characters"), invalid.parsed

# Delete
assert delete_item.sync(rug.id, client=client).message == "Item deleted"
assert get_item.sync(rug.id, client=client).message == "Item not found"

print("ok")
