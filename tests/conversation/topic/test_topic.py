"""Whether a prompt changes the topic: labelled pairs, and the rules one by one."""

from __future__ import annotations

import json
from pathlib import Path

from memcli.app.context import session_topic
from memcli.conversation.topic import compare
from memcli.embed import DEFAULT_EMBEDDER, EMBEDDERS
from memcli.errors import ProviderError
from tests.growth import SHAPES, grows_too_fast

LEAST = {"tune": 0.88, "held": 0.88}
LEAST_BY_WORDS = {"tune": 0.78, "held": 0.78}


def pairs(half: str) -> list[tuple[str, str, bool]]:
    lines = (Path(__file__).parent / f"{half}.jsonl").read_text(encoding="utf-8").splitlines()
    return [(pair["previous"], pair["current"], pair["changed"]) for pair in map(json.loads, lines)]


def test_changes_are_told_from_follow_ups() -> None:
    for half, least in LEAST.items():
        embedder = EMBEDDERS[DEFAULT_EMBEDDER]()
        right = [
            session_topic(embedder, previous, current).changed == changed for previous, current, changed in pairs(half)
        ]

        assert sum(right) / len(right) >= least


def test_changes_are_told_from_follow_ups_by_words_alone() -> None:
    for half in LEAST:
        right = [compare(previous, current).changed == changed for previous, current, changed in pairs(half)]

        assert sum(right) / len(right) >= LEAST_BY_WORDS[half]


def test_a_follow_up_changes_nothing_however_different_it_is() -> None:
    assert [
        current
        for current in [
            "why?",
            "ok",
            "continue",
            "and the tests?",
            "now do the same for the other one",
            "that fails with a timeout",
            "",
            "```\nx = 1\n```",
        ]
        if compare("Refactor the invoice parser", current, -0.1).changed
    ] == []


def test_a_change_that_is_announced_is_one_however_similar_it_is() -> None:
    for current in ["new topic: birds", "unrelated: which license?", "Something else: the mail has a typo"]:
        topic = compare("Refactor the invoice parser", current, 0.9)

        assert topic.changed
        assert topic.why.startswith("says so")


def test_a_request_that_names_the_same_file_is_of_the_same_topic() -> None:
    assert not compare("Fix parse_invoice in billing.py", "Explain how billing.py reads the tax rates", 0.05).changed


def test_similarity_is_between_0_and_1() -> None:
    assert compare("a", "b", -0.4).similarity == 0
    assert 0 <= compare("Fix the invoice parser", "Fix the invoice parser", 1.0).similarity <= 1


def test_without_a_working_embedder_words_decide() -> None:
    class Failing:
        model, dimensions, is_calibrated = "none", 1, True

        def embed(self, texts, progress=None, *, as_questions=False):
            raise ProviderError("no model")

    assert session_topic(Failing(), "Add dark mode", "new topic: birds").changed
    assert session_topic(None, "Add dark mode", "Add dark mode").similarity > 0.9


def test_work_is_in_proportion_to_the_text() -> None:
    assert [shape for shape in SHAPES if grows_too_fast(lambda text: compare(text, text, 0.1), SHAPES[shape])] == []
