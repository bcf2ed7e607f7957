"""Bytes of any kind for whatever reads bytes that others made: only declared errors may come out.

    pip install atheris
    python -m tests.faults.fuzz space --runs 1000000     # the loader of spaces
    python -m tests.faults.fuzz bundle --runs 1000000    # the reader of bundles
    python -m tests.faults.fuzz clean --runs 1000000     # the cleaner of what is shown
    python -m tests.faults.fuzz space --plain --runs 2000    # without atheris: a mutator of our own, as CI runs it

Seeds are the golden files; with atheris, inputs that reach new code are kept in --corpus.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import re
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

_MAX_BYTES = 4096
_FORBIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u2028\u2029\u202a-\u202e\u2060-\u2064"
    "\u2066-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f\U000e0100-\U000e01ef]"
)
"""What must never reach a terminal or a prompt: written down here once more, apart from the code that takes it out."""
_ROOT = Path(__file__).parents[2]


def space(data: bytes) -> None:
    """What loads is written so that it loads as the same; places of memories are where memories are."""
    from memcli.codec.space import decode_space, encode_space, spans
    from memcli.errors import MemcliError

    found = spans(data)
    try:
        loaded = decode_space(data, "fuzz")
        written = encode_space(loaded)
    except MemcliError:
        return
    again = decode_space(written, "fuzz")
    assert encode_space(again) == written
    places = spans(written)
    assert places is not None
    assert len(places) == len(loaded.objects)
    if written == data:
        assert found == places


def bundle(data: bytes) -> None:
    """What is read is what the hash says; a space that loads makes a bundle that is read, or refused."""
    from memcli.codec.bundle import decode_bundle, encode_bundle, seal
    from memcli.codec.space import decode_space
    from memcli.errors import MemcliError

    with contextlib.suppress(MemcliError):
        read = decode_bundle(data, "fuzz")
        assert decode_bundle(b"".join(encode_bundle(read)), "fuzz") == read
    try:
        whole = b"".join(encode_bundle(seal(decode_space(data, "fuzz"))))
    except MemcliError:
        return
    with contextlib.suppress(MemcliError):  # what a hand wrote into a space is not all fit to be handed on
        assert b"".join(encode_bundle(decode_bundle(whole, "fuzz"))) == whole


def clean(data: bytes) -> None:
    """Nothing forbidden is left, and what is clean stays as it is."""
    from memcli.render.clean import clean as clean_text
    from memcli.render.clean import clean_line, escape

    text = data.decode("utf-8", "surrogateescape")
    once = clean_text(text)
    assert not _FORBIDDEN.search(once)
    assert clean_text(once) == once
    line = clean_line(text)
    assert not _FORBIDDEN.search(line)
    assert "\n" not in line
    shown = escape(json.dumps(text, ensure_ascii=False))
    assert not _FORBIDDEN.search(shown)
    assert json.loads(shown) == text


def foreign(data: bytes) -> None:
    """The readers of other tools' memory."""
    from memcli.errors import MemcliError
    from memcli.extras.transfer.foreign import READERS, detect
    from memcli.git.repository import UnfitError

    for where in ("notes/a.md", "docs/adr/0001-a.md", "CLAUDE.md", "memory.jsonl"):
        detect(where, data)
        for read in READERS.values():
            with contextlib.suppress(MemcliError, UnfitError):
                list(read(data, where))


TARGETS: dict[str, Callable[[bytes], None]] = {"space": space, "bundle": bundle, "clean": clean, "foreign": foreign}


def seeds(target: str) -> list[bytes]:
    """What the fuzzing begins with: goldens, and a few of our own."""
    from memcli.codec.bundle import encode_bundle, seal
    from memcli.codec.space import decode_space

    spaces = [path.read_bytes() for path in sorted((_ROOT / "golden").glob("*/memory/spaces/*.json"))]
    small = (
        b'{"format": "memcli/space", "version": 1, "space": "a", "objects": [{"id": "m", "path": "p", "kind": "k"}]}'
    )
    if target == "bundle":
        return [small, *spaces, *(b"".join(encode_bundle(seal(decode_space(data, "golden")))) for data in spaces)]
    if target == "clean":
        hostile = "a\x1b]8;;http://x\x07b\x1b[2J\u202e\u2066\U000e0041\u200b\x9b31m\r\n\ufeff\U0001f468\u200d\U0001f469\ufe0f\u0645\u200c"
        return [hostile.encode(), *spaces]
    if target == "foreign":
        notes = (
            b'---\ntitle: "A"\ntags: [a, b]\ndate: 2026-01-31\n---\n\n# A\n\n## Status\n\nAccepted\n\n[[B]] [c](c.md)\n'
        )
        graph = b'{"type":"entity","name":"a","entityType":"t","observations":["x"]}\n{"type":"relation","from":"a","to":"b","relationType":"r"}\n'
        return [notes, graph, small]
    return [small, *spaces]


def mutations(found: list[bytes], runs: int) -> Iterator[bytes]:
    """`runs` inputs made of the seeds, always the same: bytes changed, cut, doubled, swapped in from others."""
    state = 88172645463325252
    words = (
        b"\x1b[", b"\xe2\x80\xae", b"null", b"1e999", b"\\ud800", b"{", b"]", b'"', b"\n    {\n", b"\x00", b"---\n",
    )  # fmt: skip

    def roll(sides: int) -> int:
        nonlocal state
        for shift in (13, -7, 17):
            state ^= (state << shift if shift > 0 else state >> -shift) & 0xFFFFFFFFFFFFFFFF
        return state % max(sides, 1)

    for _ in range(runs):
        data = bytearray(found[roll(len(found))])
        if len(data) > _MAX_BYTES:  # also the end of a large seed is worth having
            start = roll(2) * (len(data) - _MAX_BYTES)
            data = data[start : start + _MAX_BYTES]
        for _ in range(1 + roll(6)):
            at, length = roll(len(data) + 1), roll(40)
            kind = roll(5)
            if kind == 0 and data:
                data[at % len(data)] = roll(256)
            elif kind == 1:
                del data[at : at + length]
            elif kind == 2:
                data[at:at] = words[roll(len(words))]
            elif kind == 3:
                data[at:at] = data[at : at + length]
            else:
                other = found[roll(len(found))]
                start = roll(len(other) + 1)
                data[at : at + length] = other[start : start + length]
        yield bytes(data)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("target", choices=sorted(TARGETS))
    parser.add_argument("--runs", type=int, default=1_000_000)
    parser.add_argument("--plain", action="store_true", help="without atheris")
    parser.add_argument("--corpus", help="where to keep inputs [a temporary folder]")
    given = parser.parse_args()
    if given.plain:
        started = time.monotonic()
        for data in mutations(seeds(given.target), given.runs):
            TARGETS[given.target](data)
        seconds = time.monotonic() - started
        print(
            f"{given.target}: {given.runs} inputs in {seconds:.0f} s, {given.runs / seconds:.0f} a second; none broke it"
        )
        return 0
    return _fuzz(given.target, given.runs, given.corpus or tempfile.mkdtemp(prefix="memcli-corpus-"))


def _fuzz(target: str, runs: int, corpus: str) -> int:
    try:
        import atheris
    except ImportError:
        print("atheris is not here: `pip install atheris`, or --plain", file=sys.stderr)
        return 2
    with atheris.instrument_imports(include=["memcli"]):
        import memcli.codec.bundle
        import memcli.codec.space
        import memcli.render.clean  # noqa: F401
    for n, data in enumerate(seeds(target)):
        (Path(corpus) / f"seed{n}").write_bytes(data)
    atheris.Setup(
        [sys.argv[0], f"-runs={runs}", f"-max_len={_MAX_BYTES}", "-print_final_stats=1", corpus], TARGETS[target]
    )
    atheris.Fuzz()
    return 0


if __name__ == "__main__":
    sys.exit(main())
