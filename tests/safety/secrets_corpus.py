"""Secrets and look-alikes of our own making. Each is put together when it is asked for, so that none stands here whole.

`secrets.json` has their shapes: `<x:40>` stands for 40 characters of an alphabet, `{uuid}` for a UUID, `{word}` for a word;
a list is what stands before a secret, its shape, and what stands after it.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

_DATA: dict[str, Any] = json.loads(Path(__file__).with_name("secrets.json").read_text("utf-8"))
_ALPHABETS: dict[str, str] = _DATA["alphabets"]
FRAMES: list[str] = _DATA["frames"]
_PART = re.compile(r"<(\w+):(\d+)>")
DIGITS, HEX, BASE62, BASE64 = (_ALPHABETS[name] for name in "Dxbs")
LOWER, UPPER = (_ALPHABETS[name] for name in "aA")


class Dice:
    """Characters in no order that anybody would see, and yet the same every time."""

    def __init__(self, seed: str) -> None:
        self._seed = seed
        self._n = 0

    def __call__(self, alphabet: str, size: int) -> str:
        return "".join(alphabet[self.below(len(alphabet))] for _ in range(size))

    def below(self, limit: int) -> int:
        self._n += 1
        return int.from_bytes(hashlib.sha256(f"{self._seed}/{self._n}".encode()).digest()[:8]) % limit

    def base64(self, size: int) -> str:
        return base64.b64encode(bytes(self.below(256) for _ in range(size))).decode()

    def lines(self, size: int) -> str:
        text = self.base64(size)
        return "\n".join(text[n : n + 64] for n in range(0, len(text), 64))

    def filled(self, shape: str) -> str:
        """`shape` with characters for each of its parts."""
        shape = shape.replace("{uuid}", "<x:8>-<x:4>-<x:4>-<x:4>-<x:12>")
        return _PART.sub(lambda part: self._part(part[1], int(part[2])), shape)

    def _part(self, name: str, size: int) -> str:
        if name in ("base64", "lines"):
            return self.base64(size) if name == "base64" else self.lines(size)
        return self(_ALPHABETS[name], size)


def parts(kind: str) -> tuple[str, str, str]:
    """What stands before the secret of a kind, its shape, and what stands after."""
    shape: str | list[str] = _DATA["kinds"][kind]
    return ("", shape, "") if isinstance(shape, str) else (*shape, "")[:3]  # type: ignore[return-value]


def _armour(name: str, body: str = "<lines:300>") -> Callable[[Dice], tuple[str, str]]:
    return lambda d: ("", d.filled(f"-----BEGIN {name}-----\n{body}\n-----END {name}-----"))


def _jwt(d: Dice) -> tuple[str, str]:
    body = base64.urlsafe_b64encode(d.filled('"sub":<b:20>').encode()).decode().rstrip("=")
    return "", "ey" + "JhbGciOiJIUzI1NiJ9." + "ey" + "J" + body + d.filled(".<u:43>")


def _basic(d: Dice) -> tuple[str, str]:
    return "Authorization: Basic ", base64.b64encode(d.filled("deploy:<b:14>").encode()).decode()


def _seed_phrase(d: Dice) -> tuple[str, str]:
    words = "legal winner thank year wave sausage worth useful spirit yellow marine cradle".split()
    return "seed phrase: ", " ".join(sorted(words, key=lambda _: d.below(10_000)))


_MADE: dict[str, Callable[[Dice], tuple[str, str]]] = {
    "ssh_private_key": _armour("OPENSSH " + "PRIVATE KEY"),
    "private_key": _armour("RSA " + "PRIVATE KEY"),
    "pgp_private_key": _armour("PGP PRIVATE " + "KEY BLOCK", "\n<lines:400>\n=AbCd"),
    "openvpn_key": lambda d: ("-----BEGIN OpenVPN Static key V1-----", d.filled("\n<x:32>" * 16)),
    "jwt": _jwt,
    "basic_credentials": _basic,
    "seed_phrase": _seed_phrase,
}
SHAPES: list[str] = list(_DATA["kinds"])
SECRETS = [*SHAPES, *_MADE]


def secret(kind: str, n: int = 0) -> tuple[str, str, str]:
    """What stands before the secret, the secret, and what stands after it."""
    d = Dice(f"{kind}-{n}")
    if kind in _MADE:
        return (*_MADE[kind](d), "")
    before, shape, after = parts(kind)
    return d.filled(before), d.filled(shape), after


def positives(each: int) -> Iterator[tuple[str, str, str]]:
    """Kind, secret, and a text that holds it; `each` of every kind, each in another frame."""
    for number, kind in enumerate(SECRETS):
        for n in range(each):
            text, value, frame = "".join(secret(kind, n)), secret(kind, n)[1], FRAMES[(number + n) % len(FRAMES)]
            if "\n" in text and frame[0] in '{c"':
                text, value = text.replace("\n", "\\n"), value.replace("\n", "\\n")
            yield kind, value, frame.format(text)


def look_alikes(rounds: int) -> Iterator[str]:
    """Texts without secrets, `rounds` times each with other characters, every other one in a frame."""
    for n in range(rounds):
        for family, shapes in _DATA["look_alikes"].items():
            d = Dice(f"{family}-{n}")
            word = d(LOWER, 6)
            for m, shape in enumerate(shapes):
                text = d.filled(shape.replace("{word}", word).replace("{WORD}", word.upper()))
                framed = (n + m) % 2 and "\n" not in text and '"' not in text
                yield FRAMES[(n + m) % len(FRAMES)].format(text) if framed else text
