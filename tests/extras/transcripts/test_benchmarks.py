"""The runner of `bench/sessions.py` on tiny files of the forms of LongMemEval and LoCoMo."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from tests.conftest import ROOT


def said(*texts: str) -> list[dict[str, object]]:
    return [{"role": ("user", "assistant")[n % 2], "content": text} for n, text in enumerate(texts)]


LONG_MEM_EVAL = [
    {
        "question_id": "q1", "question_type": "multi-session", "question": "Which instruments do I play?", "answer": "cello and flute",
        "haystack_session_ids": ["answer_1", "other_1", "answer_2"], "answer_session_ids": ["answer_1", "answer_2"],
        "haystack_dates": ["2023/05/20 (Sat) 02:21", "2023/05/21 (Sun) 10:00", "2023/05/22 (Mon) 18:30"],
        "haystack_sessions": [
            said("I play the cello, an instrument that I love.", "The cello is lovely.", ""),
            said("How do I boil an egg?", "Seven minutes in hot water."),
            said("I also play the flute, my second instrument.", "How nice."),
        ],
    },
    {"question_id": "q2_abs", "question_type": "multi-session"},
]  # fmt: skip
LOCOMO = [
    {
        "sample_id": "conv-1",
        "conversation": {
            "speaker_a": "Ann", "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": [{"speaker": "Ann", "dia_id": "D1:1", "text": "I adopted a parrot named Kiwi."}],
            "speaker_b": "Bob", "session_2_date_time": "9:05 am on 25 June, 2023",
            "session_2": [{"speaker": "Bob", "dia_id": "D2:1", "text": "Look!", "blip_caption": "a photo of a red sailing boat"}],
        },
        "qa": [
            {"question": "What is the parrot of Ann named?", "answer": "Kiwi", "evidence": ["D1:1"], "category": 4},
            {"question": "Which boat did Bob show?", "answer": "a red one", "evidence": ["D2:1"], "category": 1},
            {"question": "Which car does Ann drive?", "adversarial_answer": "none", "evidence": [], "category": 5},
        ],
    }
]  # fmt: skip


@pytest.fixture
def sessions(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    monkeypatch.syspath_prepend(str(ROOT / "bench"))
    import sessions as module  # type: ignore[import-not-found]

    yield module
    for name in ("sessions", "talk", "tasks", "report", "processes"):
        sys.modules.pop(name, None)


def test_the_sessions_that_answer_are_counted(
    sessions: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = [tmp_path / "long.json", tmp_path / "locomo.json"]
    for path, data in zip(paths, (LONG_MEM_EVAL, LOCOMO), strict=True):
        path.write_text(json.dumps(data))
    monkeypatch.setattr(sys, "argv", ["sessions.py", *map(str, paths)])
    sessions.main()
    rows = [line for line in capsys.readouterr().out.splitlines() if line.startswith("| ")]
    counts = ("all | 1", "multi-session | 1", "", "all | 2", "multi-hop | 1", "single-hop | 1")
    head, full = "|  | questions | any@5 | any@10 | all@5 | all@10 | R@5 | R@10 |", " | 100.0" * 6
    assert rows == [head, *(f"| {count}{full} |" if count else head for count in counts)]


def test_dates_roles_and_captions_are_read(sessions: ModuleType) -> None:
    (one,) = sessions.long_mem_eval(LONG_MEM_EVAL)
    times = ["2023-05-20T02:21:00Z", "2023-05-21T10:00:00Z", "2023-05-22T18:30:00Z"]
    assert [turn["ts"] for turn in one.corpus][::2] == times
    assert one.corpus[1]["meta"] == {"speaker": "assistant", "role": "assistant"}
    (other,) = sessions.locomo(LOCOMO)
    assert other.corpus[1]["text"] == "Look! a photo of a red sailing boat"
    assert [kind for kind, *_ in other.questions] == ["single-hop", "multi-hop"]
