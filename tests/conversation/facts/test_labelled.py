"""How well facts are found in labelled excerpts. The rules were made with the `tune` half; `held` was only measured."""

from __future__ import annotations

from memcli.conversation.facts import EXTRACTORS, KINDS
from tests.conversation.facts import labelled

LEAST = {"tune": labelled.Score(0.92, 0.88, 0.96), "held": labelled.Score(0.92, 0.75, 0.92)}


def test_facts_are_found_with_few_mistakes() -> None:
    for half in labelled.HALVES:
        score = labelled.score(EXTRACTORS["local"](), labelled.read(half))

        assert all(got >= least for got, least in zip(score, LEAST[half], strict=True)), score


def test_a_label_stands_in_its_message_and_two_in_five_excerpts_state_nothing() -> None:
    for half in labelled.HALVES:
        excerpts = labelled.read(half)

        for excerpt in excerpts:
            for label in excerpt.labels:
                assert label.kind in KINDS
                assert label.text in excerpt.messages[label.message - 1].text
        assert sum(not excerpt.labels for excerpt in excerpts) >= 0.4 * len(excerpts)


def test_the_text_of_a_fact_stands_at_its_span() -> None:
    for half in labelled.HALVES:
        for excerpt in labelled.read(half):
            for fact in EXTRACTORS["local"]()(excerpt.messages):
                start, end = fact.span
                said = " ".join(excerpt.messages[fact.message - 1].text[start:end].split())
                assert said.startswith(fact.text)
                assert fact.kind in KINDS
                assert 0 < fact.confidence < 1
