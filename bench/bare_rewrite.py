"""The plain way to change one memory: parse the file, change, sort, dump, sync, rename. For bench/speed.py."""

from __future__ import annotations

import os
import sys

import orjson


def main() -> None:
    """Changes the first memory of the space file that is named."""
    path = sys.argv[1]
    with open(path, "rb") as file:
        space = orjson.loads(file.read())
    space["objects"][0]["raw"] += "."
    space["objects"].sort(key=lambda item: (item["updated_at"], item["id"]))
    with open(f"{path}.part", "wb") as file:
        file.write(orjson.dumps(space, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS))
        file.flush()
        os.fsync(file.fileno())
    os.replace(f"{path}.part", path)


if __name__ == "__main__":
    main()
