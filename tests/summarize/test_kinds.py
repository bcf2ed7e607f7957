"""What kind of memory a text is, how much it matters, and where it is put; on cases that are known, and on labelled sentences of
which every second one was held out from tuning."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from memcli.summarize import SUMMARIZERS

CASES: dict[str, Any] = json.loads(Path(__file__).with_name("cases.json").read_text("utf-8"))
_DESCRIBE = SUMMARIZERS["local"]
_WARNINGS = ("Careful", "Warning", "Gotcha", "Beware", "Watch out", "Caution", "Pitfall")


def test_the_words_or_the_file_tell_the_kind() -> None:
    texts = [(kind, text, {}) for kind, text in CASES["kinds"]]
    texts += [(kind, text, {"metadata": {"source": source}}) for kind, source, text in CASES["by_source"]]
    assert [text for kind, text, more in texts if _DESCRIBE({"raw": text, **more})["kind"] != kind] == []


def test_the_hinted_folder_tells_the_kind() -> None:
    found = _DESCRIBE({"raw": "Redis it is.", "path_hint": "decisions/cache"})
    assert (found["kind"], found["path"]) == ("decision", "decisions/cache")


def test_a_marker_tells_the_relevance() -> None:
    for relevance, text in CASES["relevances"]:
        kind = {"kind": "log"} if text.startswith("WARNING: disk") else {}
        assert _DESCRIBE({"raw": text, **kind})["relevance"] == relevance, text


def test_paths() -> None:
    assert [(path, fields) for path, fields in CASES["paths"] if _DESCRIBE(fields)["path"] != path] == []
    title = "A very long title about the rotation of the signing keys in every region of the world"
    path = _DESCRIBE({"raw": f"# {title}\n\nText."})["path"]
    assert path == "facts/a-very-long-title-about-rotation-of-signing-keys"


def test_nine_of_ten_kinds_are_right() -> None:
    for half in [0, 1]:
        items = [(kind, text) for kind, texts in CASES["labelled"].items() for text in texts[half::2]]
        wrong = [text for kind, text in items if _DESCRIBE({"raw": text})["kind"] not in _allowed(kind, text)]
        assert len(items) >= 60
        assert len(wrong) <= 0.1 * len(items), wrong


def test_most_paths_keep_the_meaning() -> None:
    for half in [0, 1]:
        items = CASES["labelled_paths"][half::2]
        wrong = [text for text, *words in items if not _fits(str(_DESCRIBE({"raw": text})["path"]), *words)]
        assert len(items) >= 20
        assert len(wrong) <= 0.15 * len(items), wrong


def _allowed(kind: str, text: str) -> tuple[str, ...]:
    return ("negative", "constraint") if kind == "constraint" and text.startswith(_WARNINGS) else (kind,)


def _fits(path: str, must: list[str], must_not: list[str]) -> bool:
    return all(word in path for word in must) and not any(word in path for word in must_not)
