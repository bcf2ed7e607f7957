"""Values for shell completion: spaces, paths, tags and ids, read from the files without parsing them.

A shell calls this at every press of the tab key, so it imports as little as it can and never fails.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Sequence

from memcli.store.layout import Layout, find_root

_MOST = 500
# In a canonical file the fields of a memory stand at six spaces, and the items of a list at eight.
_FIELD = r'^      "%s": "((?:[^"\\]|\\.)*)"'
_TAGS = re.compile(r'^      "tags": \[\n((?:        "(?:[^"\\]|\\.)*",?\n)*)', re.MULTILINE)
_ITEM = re.compile(r'"((?:[^"\\]|\\.)*)"')


def complete(arguments: Sequence[str]) -> None:
    """`__complete KIND [PREFIX [SPACE [ROOT]]]`: prints the values of KIND that begin with PREFIX, one a line."""
    kind, prefix, space, root = [*arguments, "", "", "", ""][:4]
    try:
        found = values(kind, space or os.environ.get("MEMCLI_SPACE", "main"), root or os.environ.get("MEMCLI_ROOT", ""))
        matching = sorted({value for value in found if value.startswith(prefix) and value.isprintable()})
        sys.stdout.write("".join(f"{value}\n" for value in matching[:_MOST]))
    except Exception:  # noqa: BLE001 - a completion that fails must not disturb the line being typed
        return


def values(kind: str, space: str, root: str) -> Iterable[str]:
    """All values of `kind` (spaces, paths, tags, ids, refs) in the store."""
    if root:
        found: str | None = root if os.path.basename(root) == ".memory" else os.path.join(root, ".memory")
    else:
        found = find_root(os.getcwd(), os.path.expanduser("~"))
    if found is None:
        return []
    layout = Layout(found)
    if kind == "spaces":
        return [name.removesuffix(".json") for name in os.listdir(layout.spaces) if name.endswith(".json")]
    with open(layout.space(space), encoding="utf-8") as file:
        text = file.read()
    if kind == "tags":
        return [_plain(tag) for block in _TAGS.findall(text) for tag in _ITEM.findall(block)]
    fields = {"paths": ["path"], "ids": ["id"], "refs": ["id", "path"], "kinds": ["kind"]}.get(kind, [])
    return [_plain(value) for field in fields for value in re.findall(_FIELD % field, text, re.MULTILINE)]


def _plain(value: str) -> str:
    if "\\" not in value:
        return value
    import json

    return str(json.loads(f'"{value}"'))
