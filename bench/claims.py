"""How well contradictions, near-duplicates and related notes are found: precision and recall over labelled pairs of notes.

    python bench/claims.py [PAIRS.jsonl...] [--split fit|check] [--errors N]

Without files: the pairs in `bench/claims/`. Only the half `fit` may be looked at and fitted on (see `tools/fit_claims.py`).
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from memcli.claims.claim import claim_of
from memcli.claims.comparison import compare
from memcli.embed.onnx import OnnxEmbedder
from memcli.model.findings import CONTRADICTS, DUPLICATES

PAIRS = Path(__file__).parent / "claims" / "pairs.jsonl"
COMPATIBLE = "compatible"
LABELS = {"contradicts": CONTRADICTS, "duplicate": DUPLICATES, COMPATIBLE: COMPATIBLE}


@dataclass(frozen=True, slots=True)
class Pair:
    """Two notes, what they have to do with each other, and the half of the set that they are in."""

    label: str
    new: str
    old: str
    split: str


def load(files: Sequence[Path], split: str) -> list[Pair]:
    """The pairs of a half."""
    rows = (json.loads(line) for file in files for line in file.read_text(encoding="utf-8").splitlines())
    pairs = [Pair(LABELS[row["label"]], row["new"], row["old"], row["split"]) for row in rows]
    return [pair for pair in pairs if pair.split == split]


def answers(pairs: Sequence[Pair], cosines: Sequence[float | None]) -> list[tuple[str, str]]:
    """For each pair the label that it is given, and why."""
    found = [compare(claim_of(p.new), claim_of(p.old), cosine) for p, cosine in zip(pairs, cosines, strict=True)]
    return [(one.kind, one.reason) if one else (COMPATIBLE, "") for one in found]


def cosines_of(pairs: Sequence[Pair]) -> list[float]:
    """How near the two notes of each pair are by meaning."""
    vectors = OnnxEmbedder().embed([text for pair in pairs for text in (pair.new, pair.old)])
    return [_cosine(a, b) for a, b in zip(vectors[::2], vectors[1::2], strict=True)]


def _cosine(one: bytes, other: bytes) -> float:
    a, b = (memoryview(vector).cast("b") for vector in (one, other))
    return sum(x * y for x, y in zip(a, b, strict=True)) / (sum(x * x for x in a) * sum(y * y for y in b)) ** 0.5


def report(name: str, pairs: Sequence[Pair], given: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Precision and recall of contradictions, of duplicates, and of the same matter, which is any answer but none; and how many
    compatible pairs are flagged as one of the first two."""
    counts = Counter((pair.label, label) for pair, (label, _) in zip(pairs, given, strict=True))
    claimed = (CONTRADICTS, DUPLICATES)
    for label in claimed:
        yield _line(name, label, [(true == label, said == label, n) for (true, said), n in counts.items()])
    yield _line(
        name, "same matter", [(true != COMPATIBLE, said != COMPATIBLE, n) for (true, said), n in counts.items()]
    )
    flagged = sum(n for (true, said), n in counts.items() if true == COMPATIBLE and said in claimed)
    size = sum(n for (true, _), n in counts.items() if true == COMPATIBLE)
    yield f"{name:10} {COMPATIBLE:12} flagged {flagged} of {size} ({flagged / max(size, 1):.1%})"


def _line(name: str, label: str, counts: Sequence[tuple[bool, bool, int]]) -> str:
    right, said, true = (
        sum(n for is_true, is_said, n in counts if wanted(is_true, is_said))
        for wanted in (lambda a, b: a and b, lambda _, b: b, lambda a, _: a)
    )
    return f"{name:10} {label:12} precision {right / max(said, 1):.3f}  recall {right / max(true, 1):.3f}  of {true}"


def main() -> None:
    """Prints the figures, and errors."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path, default=[PAIRS], metavar="PAIRS.jsonl")
    parser.add_argument("--split", choices=("fit", "check"), default="fit")
    parser.add_argument("--errors", type=int, default=0, metavar="N")
    options = parser.parse_args()
    pairs = load(options.files, options.split)
    print(f"{len(pairs)} pairs")
    cosines = cosines_of(pairs)
    given = answers(pairs, cosines)
    print(*report("words", pairs, answers(pairs, [None] * len(pairs))), sep="\n")
    print(*report("vectors", pairs, given), sep="\n")
    wrong = [(p, g, c) for p, g, c in zip(pairs, given, cosines, strict=True) if p.label != g[0]]
    for pair, (label, reason), cosine in wrong[: options.errors]:
        print(f"\n{pair.label} taken for {label} ({reason or '-'}; cosine {cosine:.2f})\n  {pair.new}\n  {pair.old}")


if __name__ == "__main__":
    main()
