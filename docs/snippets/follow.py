"""An exact copy of the items in a file. Started again, it continues where it was."""
import http.client
import json
import os
import re
import sys
import time
import urllib.request

BASE_URL = os.environ.get("BASE_URL", "http://127.0.0.1:3000")
FILE = sys.argv[1] if len(sys.argv) > 1 else "items.json"


def get(path):
    with urllib.request.urlopen(BASE_URL + path, timeout=60) as response:
        return json.load(response), response.headers


cursor, items = json.load(open(FILE)) if os.path.exists(FILE) else (None, {})
while True:
    try:
        path = None if cursor else "/items?limit=1000&after="
        wait, start, items = (25, cursor, items) if cursor else (0, None, {})
        while path:
            page, headers = get(path)
            start, items = start or headers["X-Changes-Cursor"], items | {str(item["id"]): item for item in page}
            path = (re.search(r'<([^>]*)>; rel="next"', headers["Link"]) or [None, None])[1]
        answer, _ = get(f"/api/changes?resources=items&wait={wait}&after={start}")
        for change in answer["changes"]:
            items.pop(str(change["record_id"]), None)
            if change["record"]:
                items[str(change["record_id"])] = {k: v for k, v in change["record"].items() if k != "version"}
        cursor = answer["cursor"]
        with open(FILE + ".new", "w") as new:
            json.dump([cursor, items], new)
        os.replace(FILE + ".new", FILE)
    except (OSError, http.client.HTTPException) as error:
        print(error, file=sys.stderr)
        cursor = None if getattr(error, "code", 503) == 410 else cursor  # Changes are missing: read the list again.
        time.sleep(1)
