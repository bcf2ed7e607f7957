"""A store in which every text is hostile, as a hand or a clone can write it."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

from memcli import Memory

RUN = "window.pwned=1"
ATTACKS = (
    f"<script>{RUN}</script>",
    f'"><img src=x onerror="{RUN}">',
    f"' onmouseover='{RUN}' autofocus onfocus='{RUN}",
    f"javascript:{RUN}",
    f"</textarea></title></style></script><svg onload={RUN}>",
    "{{ 7 * 7 }}{% for x in ().__class__.__base__.__subclasses__() %}{% endfor %}",
    "<!-- <iframe srcdoc='&lt;script&gt;window.pwned=1&lt;/script&gt;'>",
    "abc\u202egnp.exe\u2066 \u200b\x1b[31m",
    "nul \x00 and tab \t and bell \x07",
    "👩‍🚒 🏳️‍🌈 שלום العربية 漢字 ﷽",
    f"line\u2028{RUN}\u2029line",
)
MARK = "zq"
"""What every hostile text begins with, so that a search finds it."""
TIME = "2026-01-02T03:04:05Z"


def hostile(n: int) -> str:
    return f"{MARK} {ATTACKS[n % len(ATTACKS)]}"


def write(root: Path) -> list[str]:
    """A store in a repository at `root`; the ids of its memories."""
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    memory = Memory(root, embedder="off")
    memory.init()
    memory.space_policy(set={"gaps": True})
    objects = [_object(n) for n in range(len(ATTACKS))]
    objects[0]["raw"] += "\n" + "<b>huge</b> " * 20_000
    tree = {
        "format": "memcli/space", "version": 1, "space": "main", "metadata": {"title": hostile(0)}, "policy": {"gaps": True},
        "updated_at": TIME, "objects": objects,
    }  # fmt: skip
    data = json.dumps(tree, indent=2, sort_keys=True, ensure_ascii=True)
    (root / ".memory" / "spaces" / "main.json").write_text(data + "\n")
    return [one["id"] for one in objects]


def _object(n: int) -> dict[str, Any]:
    text, other = hostile(n), f"mem_x{(n + 1) % len(ATTACKS)}"
    one = {"message": text, "reason": text}
    found = {
        "id": f"mem_x{n}", "path": f"{MARK}/{ATTACKS[n]}/{n}"[:200], "kind": text[:60], "raw": text, "summary_micro": text,
        "summary_short": text + " ", "summary_long": text + "  ", "tags": [text[:50]], "relevance": "medium",
        "pinned": n % 2 == 0, "created_at": TIME, "updated_at": TIME, "season": text, "scope": text, "active": n != 3,
        "metadata": {"source": text, "hash": text, "group": text, "speaker": text, text: text, "untrusted": [text], "title": one},
        "provenance": {"source": text, "session": text, "files": [text], "commit": text, "snippet": text, "reason": text},
        "links": [{"to": other, "relation": text, "weight": 1.0}, {"to": other, "relation": "contradicts", "weight": 0.5},
                  {"to": text, "relation": "supersedes", "weight": 1.0}],
        "anchors": [{"file": text, "symbol": text, "lines": [1, 2], "hash": text, "commit": text}],
        "context": [{"source": text, "role": text, "text": text, "similarity": 0.5}], "triggers": [text],
        "procedure": {"trigger": text, "steps": [text], "prerequisites": [text], "warnings": [text]},
        "content": {text: [text, None]}, "unknown_field": text, "version": 2, "importance": 0.5,
    }  # fmt: skip
    return {**found, **({"superseded_by": text} if n == 4 else {"valid_until": TIME} if n == 5 else {})}
