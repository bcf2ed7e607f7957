"""How long `memcli guard` takes on a large diff with many triggers, and what triggers cost a plain recall."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterator
from zlib import crc32

from objects import questions
from processes import Case, constant, memcli, run, seconds
from report import section, table
from stores import store, work_folder

_OFF = {"MEMCLI_EMBEDDER": "off"}


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description="Measures guard over the start of the program.")
    parser.add_argument("--memories", default=10_000, type=int, help="memories without a trigger [10000]")
    parser.add_argument("--triggers", default=500, type=int, help="memories with one [500]")
    parser.add_argument("--lines", default=5_000, type=int, help="added lines [5000]")
    parser.add_argument("--runs", default=15, type=int)
    parser.add_argument("--work", metavar="DIR", help="keep the stores here, and use them again [a temporary folder]")
    options = parser.parse_args()
    with work_folder(options.work) as work:
        rows = list(_measured(work, options))
    section("Guard", table(("", "ms", "over start-up", "must"), rows))


def _measured(work: str, options: argparse.Namespace) -> Iterator[tuple[str, str, str, str]]:
    plain = store(work, options.memories)
    full = store(os.path.join(work, "triggers"), options.memories)
    words = [f"w{crc32(b'%d' % n) % 10**6:x}" for n in range(3_000)]
    batch, diff = os.path.join(work, "triggers.jsonl"), os.path.join(work, "guard.diff")
    _write(batch, (json.dumps(memory) for memory in _memories(words, options.triggers)))
    _write(diff, _diff(words, options.lines))
    run([memcli(), "remember", "--batch", batch, "--quiet", "--root", full], **_OFF)
    run([memcli(), "recall", "anything", "--quiet", "--no-global", "--root", full], **_OFF)
    asked = questions(1)[0]
    cases = {
        "`memcli --help`": ("--help",),
        "`guard --diff`": ("guard", "--diff", diff, "--quiet", "--root", full),
        "`recall TOPIC`, no triggers": ("recall", asked, "--no-global", "--root", plain),
        "`recall TOPIC`": ("recall", asked, "--no-global", "--root", full),
        "`recall --from-diff`": ("recall", "--from-diff", diff, "--no-global", "--root", full),
    }
    found = seconds([Case(name, constant(memcli(), *args), _OFF) for name, args in cases.items()], options.runs)
    start = found["`memcli --help`"]
    for name, taken in found.items():
        yield name, f"{taken * 1e3:.0f}", f"{(taken - start) * 1e3:.0f}", "300" if "guard" in name else ""


def _memories(words: list[str], count: int) -> Iterator[dict[str, object]]:
    """One trigger each: words, expressions, symbols, and expressions in some of the files."""
    for n in range(count):
        one, other = _some(words, "memory", n, 2)
        kinds = ([one], [rf"{one}\s*\(.*{other}"], [f"symbol:{one}"], [f"path:src/{n % 50}/**/*.py", one])
        raw = f"Rule {n}: {one} is not to be used with {other}."
        yield {"raw": raw, "path": f"rules/{n}", "kind": "negative", "triggers": kinds[n % 4]}


def _diff(words: list[str], count: int) -> Iterator[str]:
    files = 50
    for n in range(files):
        name = f"src/{n}/module.py"
        yield from (f"diff --git a/{name} b/{name}", f"--- a/{name}", f"+++ b/{name}")
        yield f"@@ -1,0 +1,{count // files} @@ def function_{n}():"
        yield from (f"+    {' '.join(_some(words, name, line, 8))}" for line in range(count // files))


def _some(words: list[str], name: str, number: int, count: int) -> list[str]:
    """Always the same words for the same place."""
    return [words[crc32(f"{name} {number} {n}".encode()) % len(words)] for n in range(count)]


def _write(path: str, lines: Iterator[str]) -> None:
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(f"{line}\n" for line in lines)


if __name__ == "__main__":
    main()
