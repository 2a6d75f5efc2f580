# The client of openapi-generator for Python. Argument: the service's base URL.
import re
import sys

import generated
from generated.exceptions import ApiException, BadRequestException
from generated.models import CreateItemBody, ErrorMessage, ItemCreate, UpdateItemBody

items = generated.ItemsApi(generated.ApiClient(generated.Configuration(host=sys.argv[1])))


def failure(call):
    try:
        call()
    except ApiException as error:
        return error
    raise AssertionError("the call must fail")


# Create
rug = items.create_item(CreateItemBody(name="Rug", price=16777217.25)).item
assert (rug.id, rug.name, rug.price, rug.category) == (1, "Rug", 16777217.25, None), rug

# Bulk create
lamps = items.create_items([ItemCreate(name=f"Lamp {n}", price=n, category="lighting") for n in range(1, 6)])
assert [lamp.id for lamp in lamps] == [2, 3, 4, 5, 6], lamps

# List with a filter and a cursor
names, pages, after = [], 0, ""
while after is not None:
    page = items.list_items_with_http_info(category="lighting", limit=2, after=after)
    names += [item.name for item in page.data]
    pages += 1
    following = re.search(r'[?&]after=([\w-]+)>; rel="next"', page.headers["Link"])
    after = following and following[1]
assert names == ["Lamp 1", "Lamp 2", "Lamp 3", "Lamp 4", "Lamp 5"], names
assert pages == 3, pages

# Get with an ETag
read = items.get_item_with_http_info(rug.id)
assert read.data == rug, read.data
etag = read.headers["ETag"]
assert etag.startswith('"1-'), etag

# Conditional update
changed = items.update_item(rug.id, UpdateItemBody(price=30), if_match=etag)
assert changed.price == 30, changed
stale = failure(lambda: items.update_item(rug.id, UpdateItemBody(price=31), if_match=etag))
assert stale.status == 412, stale
assert ErrorMessage.from_json(stale.body).message.startswith("Item has changed"), stale.body

# Validation error; model_construct skips the client's own validation.
invalid = failure(lambda: items.create_item(CreateItemBody.model_construct(name="", price=1)))
assert isinstance(invalid, BadRequestException), invalid
assert invalid.data.message == "name: must be text of 1 to 200 characters", invalid.data

# Delete
assert items.delete_item(rug.id).message == "Item deleted"
assert failure(lambda: items.get_item(rug.id)).data.message == "Item not found"

print("ok")
