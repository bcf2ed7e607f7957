"""How well contradictions and near-duplicates are found: precision and recall over labelled pairs of notes.

    python bench/claims.py [--split dev|unseen|all] [--errors N]

The pairs in `bench/claims/` are split by a digest of the older note. Only the half `dev` may be looked at and tuned on.
"""

from __future__ import annotations

import argparse
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256

from memcli.claims.claim import claim_of_text
from memcli.claims.conflicts import compare
from memcli.embed.onnx import OnnxEmbedder

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "claims")
COMPATIBLE = "compatible"
LABELS = ("contradicts", "duplicates", COMPATIBLE)


@dataclass(frozen=True, slots=True)
class Pair:
    """Two notes, what they have to do with each other, and whether that is hard to see."""

    label: str
    is_hard: bool
    new: str
    old: str

    @property
    def is_dev(self) -> bool:
        """Whether the pair may be looked at."""
        return sha256(self.old.encode()).digest()[0] % 2 == 0


def load() -> list[Pair]:
    """All pairs."""
    return [pair for label in LABELS for pair in _read(label)]


def _read(label: str) -> Iterator[Pair]:
    with open(os.path.join(FOLDER, f"{label}.txt"), encoding="utf-8") as file:
        for block in file.read().strip().split("\n\n"):
            head, _, texts = block.partition("\n")
            new, _, old = texts.replace("\\n", "\n").partition("\n--\n")
            yield Pair(label, head == "# hard", new, old)


def answers(pairs: Sequence[Pair], cosines: Sequence[float | None]) -> list[tuple[str, str]]:
    """For each pair the label that it is given, and why."""
    found = [
        compare(claim_of_text(p.new), claim_of_text(p.old), cosine) for p, cosine in zip(pairs, cosines, strict=True)
    ]
    return [(one.kind, one.reason) if one else (COMPATIBLE, "") for one in found]


def cosines_of(pairs: Sequence[Pair]) -> list[float]:
    """How near the two notes of each pair are by meaning."""
    vectors = OnnxEmbedder().embed([text for pair in pairs for text in (pair.new, pair.old)])
    return [_cosine(a, b) for a, b in zip(vectors[::2], vectors[1::2], strict=True)]


def _cosine(one: bytes, other: bytes) -> float:
    a, b = (memoryview(vector).cast("b") for vector in (one, other))
    return sum(x * y for x, y in zip(a, b, strict=True)) / (sum(x * x for x in a) * sum(y * y for y in b)) ** 0.5


def report(name: str, pairs: Sequence[Pair], given: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Precision and recall of each label, and how many compatible pairs are flagged."""
    counts = Counter((pair.label, label) for pair, (label, _) in zip(pairs, given, strict=True))
    for label in LABELS[:2]:
        said, true = (sum(n for pair, n in counts.items() if pair[side] == label) for side in (1, 0))
        right = counts[label, label]
        yield f"{name:10} {label:12} precision {right / max(said, 1):.3f}  recall {right / max(true, 1):.3f}  of {true}"
    flagged = sum(n for (label, said), n in counts.items() if label == COMPATIBLE and said != COMPATIBLE)
    size = sum(n for (label, _), n in counts.items() if label == COMPATIBLE)
    yield f"{name:10} {COMPATIBLE:12} flagged {flagged} of {size} ({flagged / max(size, 1):.1%})"


def main() -> None:
    """Prints the figures, and the errors of the half that may be looked at."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--split", choices=("dev", "unseen", "all"), default="dev")
    parser.add_argument("--errors", type=int, default=10, metavar="N")
    options = parser.parse_args()
    pairs = [p for p in load() if options.split == "all" or p.is_dev == (options.split == "dev")]
    print(f"{len(pairs)} pairs, {sum(pair.is_hard for pair in pairs)} hard")
    cosines = cosines_of(pairs)
    given = answers(pairs, cosines)
    print(*report("words", pairs, answers(pairs, [None] * len(pairs))), sep="\n")
    print(*report("vectors", pairs, given), sep="\n")
    wrong = [(p, g, c) for p, g, c in zip(pairs, given, cosines, strict=True) if p.label != g[0]]
    for pair, (label, reason), cosine in wrong[: options.errors]:
        print(f"\n{pair.label} taken for {label} ({reason or '-'}; cosine {cosine:.2f})\n  {pair.new}\n  {pair.old}")


if __name__ == "__main__":
    main()
