"""The contrast of all colours of the inspector that can meet, by WCAG 2.2."""

from __future__ import annotations

import re
from itertools import product
from pathlib import Path

import memcli.extras.serve.inspector

CSS = (Path(memcli.extras.serve.inspector.__file__).parent / "static" / "inspector.css").read_text()
COLOURS = dict(re.findall(r"--([\w-]+): light-dark\((#\w{6}, #\w{6})\)", CSS))
TEXT, SIGN = 4.5, 3.0
"""The least contrast: of text, and of what shows where a field is or what state something has."""
SURFACES = ("paper", "card", "hover")
RULES = re.findall(r"([^{}]+)\{([^{}]*)\}", re.sub(r"/\*.*?\*/", "", CSS, flags=re.DOTALL))


def luminance(colour: str) -> float:
    parts = [int(colour[n : n + 2], 16) / 255 for n in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str, theme: int) -> float:
    high, low = sorted((luminance(COLOURS[name].split(", ")[theme]) for name in (one, other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def pairs() -> set[tuple[str, str, float]]:
    """Each text on what is behind it: the background that its rule sets, else every surface."""
    found = set()
    for _, body in RULES:
        texts = re.findall(r"(?<![\w-])color: var\(--([\w-]+)\)", body)
        behind = re.findall(r"(?<![\w-])background: var\(--([\w-]+)\)", body) or SURFACES
        found |= {
            (text, back, TEXT)
            for text, back in product(texts, behind)
            if not text.startswith("on-") or back not in SURFACES
        }
    for name in ("good", "bad", "warn", "plain", "found"):
        found.add((f"on-{name}", name, TEXT))
    for sign, back in product(("frame", "link", "on-good", "on-bad", "on-warn"), ("paper", "card")):
        found.add((sign, back, SIGN if sign in ("frame", "on-good", "on-bad", "on-warn") else TEXT))
    return found


def test_contrast() -> None:
    checked = [*sorted(pairs()), ("on-bad", "hover", TEXT)]
    found = {
        (theme, text, back, contrast(text, back, theme), least) for theme in (0, 1) for text, back, least in checked
    }
    assert [row for row in sorted(found) if row[3] < row[4]] == []


def test_all_colours_are_variables_and_checked() -> None:
    literal = [
        body
        for _, body in RULES
        if "--paper" not in body and re.search(r"#[0-9a-fA-F]{3,8}\b|\brgba?\((?!0 0 0)", body)
    ]
    assert literal == []
    used = set(re.findall(r"var\(--([\w-]+)\)", CSS)) - {"mono"}
    assert used == set(COLOURS)
    assert used - {"rule"} <= {name for text, back, _ in pairs() for name in (text, back)}  # rules only divide
