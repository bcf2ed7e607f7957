"""Runs the rules over source and prose that hold no secrets, and prints what they took for some.

    python tools/scan_benign.py [--megabytes 10] [--kinds] [FOLDER...]

Without folders: the standard library and the installed packages of this Python. E-mail addresses, which such text
does hold, are counted apart. Exits with 1 when there are more false hits than two in ten megabytes.
"""

from __future__ import annotations

import argparse
import sys
import sysconfig
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from memcli.safety.secrets.detector import Detector
from memcli.safety.secrets.rules import EMAIL

SUFFIXES = frozenset(
    ".py .pyi .c .h .cc .cpp .js .ts .css .html .rs .go .java .rb .sh .md .rst .txt .toml .json .yml .yaml .cfg .ini .lock".split()
)
_MOST_BYTES = 1 << 20
_ALLOWED_IN_TEN_MEGABYTES = 2


def texts(folders: Sequence[Path], limit: int) -> Iterator[tuple[Path, str]]:
    """Text files in order of name, until `limit` bytes are reached."""
    left = limit
    for file in (f for folder in folders for f in sorted(folder.rglob("*"))):
        if left <= 0:
            return
        if file.suffix in SUFFIXES and file.is_file() and file.stat().st_size <= _MOST_BYTES:
            data = file.read_bytes()
            left -= len(data)
            yield file, data.decode(errors="replace")


def default_folders() -> list[Path]:
    """Where this Python keeps its own sources and those of its packages."""
    return [Path(sysconfig.get_path(name)) for name in ("stdlib", "purelib")]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--megabytes", type=float, default=10)
    given = parser.parse_args()
    detector = Detector({}, lambda _: "00000000")
    files = size = 0
    kinds: Counter[str] = Counter()
    started = time.perf_counter()
    for file, text in texts(given.folders or default_folders(), int(given.megabytes * 1e6)):
        files += 1
        size += len(text.encode(errors="replace"))
        for hit in detector.find(text):
            kinds[hit.kind] += 1
            if hit.kind != EMAIL:
                print(f"{file}: {hit.kind}: {hit.value[:60]!r}")
    took = time.perf_counter() - started
    false = kinds.total() - kinds[EMAIL]
    print(
        f"{files} files, {size / 1e6:.1f} MB, {size / 1e6 / took:.1f} MB/s: {false} false hits, {kinds[EMAIL]} e-mail addresses"
    )
    return int(false > _ALLOWED_IN_TEN_MEGABYTES * max(1.0, size / 1e7))


if __name__ == "__main__":
    sys.exit(main())
