"""The service from Python's standard library: errors by status, lists along their Link header."""
import json
import os
import re
import urllib.error
import urllib.request

BASE_URL = os.environ.get("BASE_URL", "http://127.0.0.1:3000")


def call(method, path, body=None, headers=None):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(BASE_URL + path, data=data, method=method, headers=headers or {})
    if data is not None:
        request.add_header("Content-Type", "application/json")
    with urllib.request.urlopen(request, timeout=10) as response:
        text = response.read()
        return json.loads(text) if text else None, response.headers


def walk(path):
    while path:
        records, headers = call("GET", path)
        yield from records
        found = re.search(r'<([^>]*)>; rel="next"', headers.get("Link", ""))
        path = found and found[1]


created, _ = call("POST", "/items/", {"name": "Lamp", "price": 24.5}, {"Idempotency-Key": "lamp-1"})
call("POST", "/items/", {"name": "Rug", "price": 80})
print(created["item"]["id"], [item["name"] for item in walk("/items?sort=name_asc&limit=1&after=")])
try:
    call("POST", "/items/", {"name": "", "price": -1})
except urllib.error.HTTPError as error:
    print(error.code, json.load(error)["message"])
