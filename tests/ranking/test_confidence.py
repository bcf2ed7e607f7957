"""How sure a ranking is: signals of a question and a memory, and what their weights make of them."""

from __future__ import annotations

import math
from itertools import product
from pathlib import Path

import pytest

from memcli.app.recall import recall
from memcli.model.recall import ANSWERED, LEAST, PassageTerms, Query, TermStats
from memcli.model.space import Space
from memcli.ranking.answers import (
    FORMS,
    TALK,
    QuestionSignals,
    Signals,
    calibrated,
    evidence_of,
    has_stranger,
    probability,
)
from tests.conftest import NOW, memory, open_at, rewrite

LENGTHS = (0, 0, 0, 5, 0)
MIDDLE = Signals(0.5, 0.2, 0.0, 0.3, 0.1, 0.0, 0.5, 0.9, 0.3, 1.0, 1.4, 0.5, 0.15)


def stats(frequencies: dict[str, int], *rows: tuple[str, ...]) -> TermStats:
    counts = {n: dict.fromkeys(row, (0, 0, 0, 1, 0)) for n, row in enumerate(rows)}
    return TermStats(max(1, len(rows)), frequencies, counts, dict.fromkeys(counts, LENGTHS))


def test_words_meaning_and_rank_make_an_answer_more_probable_and_strangers_less() -> None:
    better = {
        "words": {"passage": 1.0, "both": 0.3, "score": 0.7},
        "meaning": {"cosine": 0.7, "above": 0.5, "both": 0.35, "score": 0.8},
    }
    for form, is_prompt in product(FORMS, (False, True)):
        here = probability(MIDDLE, form, is_prompt=is_prompt, by_meaning=True)
        for name, changed in better.items():
            there = probability(MIDDLE._replace(**changed), form, is_prompt=is_prompt, by_meaning=True)
            assert there > here, (form, is_prompt, name)
        if form == "authored" and not is_prompt:  # prompts are full of names that no memory has
            assert probability(MIDDLE._replace(stranger=1.0), form, is_prompt=False, by_meaning=True) < here


def test_without_a_vector_its_signals_count_for_nothing() -> None:
    for form, is_prompt in product(FORMS, (False, True)):
        known = MIDDLE._replace(cosine=0.9, above=0.5, both=0.4)
        found = {probability(one, form, is_prompt=is_prompt, by_meaning=False) for one in (MIDDLE, known)}
        assert len(found) == 1


def test_the_confidence_of_a_bundle_rises_with_that_of_its_best() -> None:
    for rest, form, by_meaning in product(([], [0.01] * 9), ("authored", TALK), (True, False)):
        rising = [
            calibrated(evidence_of([best, *rest], [MIDDLE] * (1 + len(rest))), form, by_meaning=by_meaning)
            for best in (0.0, 0.05, 0.3, 0.8, 1.0)
        ]
        assert rising == sorted(set(rising))
        assert 0 < rising[0] < rising[-1] < 1


def test_evidence_is_the_best_what_stands_out_and_the_question() -> None:
    hits = [MIDDLE._replace(cosine=c, both=c / 2, score=c, passage=p) for c, p in ((0.5, 0.2), (0.8, 0.6), (0.1, 0.7))]
    hits += [MIDDLE._replace(cosine=0.3, both=0.15, score=0.3, passage=0.9)] * 4
    found = evidence_of([0.5, 0.9, *[0.1] * 5], hits)
    assert [round(x, 6) for x in found[:5]] == [round(math.log(9), 6), 0.5, 0.25, 0.5, 0.5]
    assert found[5:] == (MIDDLE.strange, MIDDLE.lead, MIDDLE.asks, MIDDLE.length, MIDDLE.small)
    assert evidence_of([0.5], hits[:1])[:5] == (0.0, 0.0, 0.0, 0.0, 0.2), "one stands out from none"


def test_what_holds_all_words_of_a_topic_is_what_was_looked_for(tmp_path: Path) -> None:
    noise = [
        memory(f"n{n}", raw=f"The {word} of the harbour.", path=f"x/{n}") for n, word in enumerate(("oven", "tide"))
    ]
    ssl = memory("ssl", raw="SSL is verified. " + "Boats and nets lie in the sun. " * 40, path="notes/a")
    table = {
        "ssl": (1, ANSWERED), "verified ssl": (1, ANSWERED), "kubernetes": (0, 0.0), "ssl kubernetes": (0, 0.0),
        "why is ssl verified by boats?": (1, LEAST),
    }  # fmt: skip
    workspace = open_at(tmp_path, MEMCLI_EMBEDDER="off")
    rewrite(workspace.store, lambda _: Space("main").put([*noise, ssl], NOW))
    found = {}
    for topic, (_, least) in table.items():
        bundle = next(iter(recall(workspace, [Query(topic=topic, now=NOW)])))
        found[topic] = (int((bundle.confidence or 0.0) >= least > 0), least)
    assert found == table


_TALK = (
    ("Ana", "Hey Ben, how was the weekend?"),
    ("Ben", "Lovely, thanks! We finally planted the cherry tree behind the shed."),
    ("Ana", "Oh nice, I would love to see it. I was in Porto with my sister."),
    ("Ben", "Porto! How was the food?"),
    ("Ana", "Great. We had sardines every evening, and she got sick on the boat."),
    ("Ben", "Poor her. By the way, I start the pottery class on Tuesday."),
    ("Ana", "You have talked about that for ages. What will you make first?"),
    ("Ben", "A bowl for my grandmother, she turns ninety in May."),
)


def test_a_question_is_answered_by_a_turn_of_a_talk(tmp_path: Path) -> None:
    """Turns are short and share few words with a question: judged as notes are, most were withheld."""
    turns = [
        memory(f"t{n}", raw=raw, kind="log", path=f"talk/{n}", metadata={"speaker": speaker, "group": "talk"})
        for n, (speaker, raw) in enumerate(_TALK)
    ]
    workspace = open_at(tmp_path, MEMCLI_EMBEDDER="off")
    rewrite(workspace.store, lambda _: Space("main").put(turns, NOW))
    found = {}
    for topic in ("What did Ben plant?", "Where was Ana with her sister?", "Which car did Zoltan sell?"):
        bundle = next(iter(recall(workspace, [Query(topic=topic, now=NOW)])))
        found[topic] = (bundle.confidence or 0.0), [section.memory.id for section in bundle.sections[:1]]
    assert [ids for _, ids in found.values()] == [["mem_t1"], ["mem_t2"], []]
    assert [confidence >= LEAST for confidence, _ in found.values()] == [True, True, False]


def test_a_question_without_a_word_is_never_sure_of_an_answer(tmp_path: Path) -> None:
    workspace = open_at(tmp_path, MEMCLI_EMBEDDER="hashed")
    rewrite(workspace.store, lambda _: Space("main").put([memory("a", raw="The tide comes in at noon.")], NOW))
    for topic in ("\N{PARTY POPPER}", "?!", "what is it?"):
        bundle = next(iter(recall(workspace, [Query(topic=topic, now=NOW)])))
        assert bundle.confidence is None or bundle.confidence <= LEAST, topic
        assert bundle.is_weak or not bundle.sections, topic


def test_signals_of_a_question() -> None:
    known = stats({"token": 1, "lifetim": 1, "zebra": 0}, ("token", "lifetim"), ("token",))
    question = QuestionSignals("token lifetime of the zebra?", known, {0: 0.6}, 0.1)
    passage = PassageTerms(0, "text", False, {"token": (0, 1), "lifetim": (0, 1)}, 5)
    first, second = question.of(0, passage, 0.8, 0.8, 0.4), question.of(1, None, 0.4, 0.8, 0.4)
    assert 0 < second.passage < first.passage < 1
    assert (first.cosine, round(first.above, 6), second.cosine, second.above) == (0.6, 0.5, 0.0, 0.0)
    assert (first.relative, second.relative, first.lead) == (1.0, 0.5, 0.5)
    assert first.asks == 1.0
    assert 0 < first.strange < 1
    assert first.small == pytest.approx(100 / (100 + known.size))
    assert (
        first.stranger,
        QuestionSignals("what does Zerlina hold", known, {}, 0.0).of(0, None, 1, 1, 0).stranger,
    ) == (0, 1)


def test_a_name_that_the_space_has_never_seen_is_a_stranger() -> None:
    table = {
        "what did Zerlina say of the token lifetime": True,
        "what did Mara say": False,
        "Zerlina?": False,  # a first word is capitalized anyway
        "what was done in March": False,
        "what is the token lifetime": False,
    }
    assert {text: has_stranger(text, {"mara": 2, "token": 1}) for text in table} == table
