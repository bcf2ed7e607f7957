"""Secrets in the shapes that people and tools give them, and what only looks like one; generated, the same every time.

In `secret_shapes.json` a frame holds `{}` where the value stands. Those of `held_out` were set apart before any rule was tuned.
"""

from __future__ import annotations

import base64
import html
import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

from tests.safety.secrets_corpus import BASE62, BASE64, DIGITS, HEX, LOWER, SECRETS, Dice, secret

DATA: dict[str, Any] = json.loads(Path(__file__).with_name("secret_shapes.json").read_text("utf-8"))
LOOK_ALIKES: list[str] = DATA["look_alikes"]


class Sample(NamedTuple):
    """A text, and what redaction must take out of it; empty where nothing may change."""

    text: str
    value: str = ""


def random_password(d: Dice) -> str:
    """Ten to fourteen characters of a password manager, signs among them."""
    return d(LOWER, 1) + d(BASE62, 7 + d.below(4)) + d("!#%+=@^*", 1) + d(DIGITS, 1)


def chosen(d: Dice) -> str:
    """What people choose: a word or two, a year, a sign."""
    first, second = _one(d, "words"), _one(d, "words")
    number = _one(d, "numbers")
    match d.below(6):
        case 0:
            return f"{first}{number}!"
        case 1:
            return f"{first.lower()}{second.lower()}{number}"
        case 2:
            return first.lower().replace("e", "3").replace("o", "0").replace("a", "4") + number
        case 3:
            return _one(d, "well_known")
    return f"{first}{number}"


def _one(d: Dice, table: str) -> str:
    values: list[str] = DATA[table].split()
    return values[d.below(len(values))]


_MAKERS: Mapping[str, Callable[[Dice], str]] = {
    "random_password": random_password,
    "chosen": chosen,
    "letters": lambda d: d.filled("<A:1><e:10><a:1>"),
    "token": lambda d: d(BASE62, 28 + d.below(12)) + d(DIGITS, 1),
    "hex40": lambda d: d(HEX, 40),
    "uuid": lambda d: d.filled("{uuid}"),
    "long_value": lambda d: d(BASE62, 110),
    "encoded": lambda d: base64.b64encode(random_password(d).encode()).decode(),
    "phrase": lambda d: "".join(_one(d, "phrase") for _ in range(3)),
}


def _in_half(items: list[Any], first: int, held_out: bool) -> Iterator[tuple[int, Any]]:
    """Every other item with its number, in an order that has nothing to do with how they are written down."""
    return ((n, item) for n, item in enumerate(items) if (Dice(f"split-{first + n}").below(2) == 1) == held_out)


def _filled(family: str, times: int, held_out: bool) -> Iterator[Sample]:
    for _, (make, frame) in _in_half(DATA[family], 0, held_out):
        for n in range(times):
            value = _MAKERS[make](Dice(f"{frame}-{n}"))
            yield Sample(frame.format(value), value)


def context(*, held_out: bool) -> list[Sample]:
    """Secrets that only what stands around them gives away."""
    return list(_filled("context", 4, held_out))


def chosen_by_people(*, held_out: bool) -> list[Sample]:
    return list(_filled("chosen", 8, held_out))


def vendors(*, held_out: bool) -> list[Sample]:
    """Three of every kind with a format of its own."""
    kinds = [kind for kind in SECRETS if kind not in ("email", "prose_password")]
    made = [secret(kind, 500 + n) for _, kind in _in_half(kinds, 0, held_out) for n in range(3)]
    return [Sample(f"see\n{before}{value}{after}\nend", value.strip()) for before, value, after in made]


_VENDOR_TOKENS = "github_token gitlab_token npm_token stripe_key sendgrid_key groq_key digitalocean_token".split()


def _every(value: str, char: str, step: int = 7) -> str:
    return char.join(value[n : n + step] for n in range(0, len(value), step))


def _halves(value: str, joint: str) -> str:
    half = len(value) // 2
    return f'"{value[:half]}"{joint}"{value[half:]}"'


_WAYS: Mapping[str, Callable[[str], str]] = {
    "soft": lambda v: _every(v, "\u00ad"), "zwsp": lambda v: _every(v, "\u200b"), "cgj": lambda v: _every(v, "\u034f"),
    "vs": lambda v: _every(v, "\ufe0f"), "colour": lambda v: v[:6] + "\x1b[1;31m" + v[6:20] + "\x1b[0m" + v[20:],
    "b64": lambda v: base64.b64encode(v.encode()).decode(), "b64url": lambda v: base64.urlsafe_b64encode(v.encode()).decode().rstrip("="),
    "b64b64": lambda v: base64.b64encode(base64.b64encode(v.encode())).decode(),
    "hex": lambda v: v.encode().hex(), "url": lambda v: quote(v, safe=""), "json": lambda v: json.dumps(json.dumps({"x": v})),
    "html": html.escape, "wrapped": lambda v: _every(v, "\n", len(v) // 2 + 1), "continued": lambda v: _every(v, "\\\n", len(v) // 2 + 1),
    "concat": lambda v: _halves(v, " + "), "concat2": lambda v: _halves(v, "\n    "), "bold": lambda v: f"**{v}**",
    "u": lambda v: v.replace("=", "\\u003d").replace("'", "\\u0027"), "full": lambda v: "".join(chr(ord(c) + 0xFEE0) for c in v),
    "qp": lambda v: _every(v.replace("=", "=3D"), "=\n", len(v) // 2 + 2),
}  # fmt: skip


def wrapped(*, held_out: bool) -> list[Sample]:
    """Tokens and assignments with something between their characters, or in another encoding."""
    found = []
    for number, (what, frame) in _in_half(DATA["wrapped"], 1000, held_out):
        kind, _, way = what.partition("+")
        for n in range(8):
            token = secret(_VENDOR_TOKENS[n % len(_VENDOR_TOKENS)], 900 + n)[1]
            value = token if kind == "token" else random_password(Dice(f"wrapped-{number}-{n}"))
            inner = value if kind == "token" else f"password='{value}'"
            put = _WAYS[way](inner) if way else inner
            # Where the value itself is left as it is, the rest may stay.
            hidden = put if kind == "token" or "b64" in way else _WAYS[way](value)
            found.append(Sample(frame.format(put), value if value in put else hidden))
    return found


def look_alikes(*, held_out: bool) -> list[Sample]:
    """Config, code, logs and prose that speak of secrets and hold none."""
    found = []
    for number, frame in _in_half(LOOK_ALIKES, 2000, held_out):
        d = Dice(f"look-{number}")
        sizes = {f"h{n}": d(HEX, n) for n in (7, 16, 24, 32, 40, 64)} | {f"b{n}": d(BASE64, n) for n in (6, 43, 86)}
        sizes |= {f"d{n}": d(DIGITS[1:], n) for n in (4, 5, 12)} | {"uuid": d.filled("{uuid}"), "id": "{id}"}
        try:
            found.append(Sample(frame.format(**sizes)))
        except (KeyError, ValueError, IndexError):
            found.append(Sample(frame))
    return found


FAMILIES = {"vendors": vendors, "context": context, "chosen": chosen_by_people, "wrapped": wrapped}
