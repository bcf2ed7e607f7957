"""Kinds and paths on labelled sentences, in the half that was tuned on and in the other."""

from __future__ import annotations

from memcli.summarize import SUMMARIZERS
from tests.summarize.kinds_corpus import SENTENCES
from tests.summarize.paths_corpus import PATHS

_DESCRIBE = SUMMARIZERS["local"]().describe
_WARNINGS = ("Careful", "Warning", "Gotcha", "Beware", "Watch out", "Caution", "Pitfall")


def test_nine_of_ten_kinds_are_right() -> None:
    for half in [0, 1]:
        items = [(kind, text) for kind, texts in SENTENCES.items() for text in texts[half::2]]
        wrong = [text for kind, text in items if _DESCRIBE({"raw": text})["kind"] not in _allowed(kind, text)]
        assert len(items) >= 60
        assert len(wrong) <= 0.1 * len(items), wrong


def test_most_paths_keep_the_meaning() -> None:
    for half in [0, 1]:
        items = PATHS[half::2]
        wrong = [
            text for text, must, must_not in items if not _fits(str(_DESCRIBE({"raw": text})["path"]), must, must_not)
        ]
        assert len(items) >= 20
        assert len(wrong) <= 0.15 * len(items), wrong


def _allowed(kind: str, text: str) -> tuple[str, ...]:
    return ("negative", "constraint") if kind == "constraint" and text.startswith(_WARNINGS) else (kind,)


def _fits(path: str, must: list[str], must_not: list[str]) -> bool:
    return all(word in path for word in must) and not any(word in path for word in must_not)
