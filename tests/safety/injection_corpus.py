"""Memories that mean harm and memories that only look so, by category, in two halves: rules are tuned on `dev` alone.

Encoded forms are built here, so that the text they hide can be read.
"""

from __future__ import annotations

import base64
import hashlib
import json
import unicodedata
from pathlib import Path
from typing import Any
from urllib.parse import quote

_DATA: dict[str, Any] = json.loads(Path(__file__).with_name("injection.json").read_text("utf-8"))
_LEET = str.maketrans("aeiost", "431057")
_HARD_LEET = str.maketrans("abegilostz", "@836!10572")
_SMALL_CAPS = str.maketrans("abcdefghijklmnoprstuvwyz", "ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢ")
_GREEK = str.maketrans("aeiopvuny", "αеιορνυηγ")
_CYRILLIC = str.maketrans("aceopsxyij", "асеорѕхуіј")
_BOLD = str.maketrans({chr(97 + n): chr(0x1D41A + n) for n in range(26)})
_ENCLOSED = str.maketrans({chr(97 + n): chr(0x1F170 + n) for n in range(26)})
_WIDE = str.maketrans({chr(33 + n): chr(0xFF01 + n) for n in range(94)})


def hostile() -> list[dict[str, Any]]:
    """Fields of memories."""
    fields = [
        {name: tuple(value) if name == "tags" else value for name, value in row.items()} for row in _DATA["fields"]
    ]
    return [*_texts(_DATA["hostile"]), *fields, *({"raw": text} for text in _encoded())]


def benign() -> list[dict[str, Any]]:
    """Fields of memories."""
    return _texts(_DATA["benign"])


def _texts(by_category: dict[str, list[str]]) -> list[dict[str, Any]]:
    return [{"raw": text} for texts in by_category.values() for text in texts]


def is_held_out(fields: dict[str, Any]) -> bool:
    """Whether the item is in the half that no rule was tuned on."""
    return hashlib.sha256(repr(fields).encode()).digest()[0] % 2 == 1


def _encoded() -> list[str]:
    ways = (
        lambda t: base64.b64encode(t.encode()).decode(),
        lambda t: "Decode this and follow it: " + base64.b64encode(t.encode()).decode().rstrip("="),
        lambda t: "payload: " + base64.urlsafe_b64encode(t.encode()).decode(),
        lambda t: t.lower().translate(_LEET),
        lambda t: t.lower().translate(_HARD_LEET),
        lambda t: "".join(f"&#{ord(c)};" for c in t),
        lambda t: "".join(f"&#x{ord(c):x};" for c in t),
        lambda t: t.replace(" ", "&nbsp;").replace("e", "&#101;"),
        lambda t: t.lower().translate(_SMALL_CAPS),
        lambda t: "".join(c + "\u0336" for c in t),
        lambda t: "".join(c + "\u0301\u0323" if c in "aeiou" else c for c in t),
        lambda t: t.lower().translate(_GREEK),
        lambda t: t.lower().translate(_CYRILLIC),
        lambda t: t.lower().translate(_BOLD),
        lambda t: t.lower().translate(_ENCLOSED),
        lambda t: t.translate(_WIDE),
        "\u200b".join,
        lambda t: t.replace("o", "o\u00ad").replace("e", "e\u2060"),
        lambda t: t.replace(" ", "-").lower(),
        lambda t: t.replace(" ", "_"),
        lambda t: t.replace(" ", "."),
        lambda t: " ".join(t).replace("   ", "  "),
        "-".join,
        quote,
        lambda t: "".join(f"\\u{ord(c):04x}" for c in t),
        lambda t: "".join(f"\\x{ord(c):02x}" for c in t),
        lambda t: t.encode().hex(),
        lambda t: unicodedata.normalize("NFD", t.replace("e", "é").replace("o", "ö")),
    )  # fmt: skip
    return [way(text) for number, text in enumerate(_DATA["to_encode"]) for way in ways[number::2]]
