"""A memory is judged by what it says, whatever form that has, and by itself, whatever stands beside it.

MEMCLI_FORMS=5000 tries so many random stores where a short run tries COUNT.
"""

from __future__ import annotations

import os
import random  # noqa: TID251 - drawn from a seed
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path

import pytest

from memcli.app.recall import recall
from memcli.app.workspace import Workspace
from memcli.embed import DEFAULT_EMBEDDER
from memcli.model.memory import Memory
from memcli.model.recall import Query
from memcli.model.space import Space
from memcli.ranking.fusion import TAIL_SHARE
from memcli.record import replace
from tests.conftest import NOW, memory, open_at, rewrite, slow_but

COUNT = 40
STORES = int(os.environ.get("MEMCLI_FORMS", COUNT))
MODELS = {"off": STORES, "hashed": STORES, DEFAULT_EMBEDDER: max(5, STORES // 50)}
"""How many stores are tried with each embedder: the model takes its time."""

WORDS = (
    "travel approval budget invoice tax audit hotel flight release deploy rollback canary token session login password "
    "database index vector migration cache queue worker retry log metric alert page runbook owner"
).split()
OTHERS = (
    "orchid beetle glacier violin sourdough marathon lighthouse tortoise saffron origami kayak meadow falcon granite "
    "cello pastry tulip comet harbour walnut"
).split()
"""Of these no question has any."""
KINDS = ("fact", "decision", "guide", "procedure")
FORMS: Mapping[str, Callable[[Sequence[str]], str]] = {
    "plain": " ".join,
    "headed": lambda words: f"# {' '.join(words[:2])}\n\n{' '.join(words[2:])}",
    "bulleted": lambda words: "\n".join(f"- {' '.join(words[n : n + 4])}" for n in range(0, len(words), 4)),
    "code": lambda words: f"```\n{' '.join(words)}\n```",
    "sections": lambda words: "\n\n".join(f"## {words[n]}\n\n{' '.join(words[n + 1 : n + 9])}" for n in range(0, len(words), 9)),
}  # fmt: skip

Told = tuple[str | None, dict[str, float]]
"""Why there is no answer, if there is none, and what each memory scores."""


def told(workspace: Workspace, memories: Sequence[Memory], topic: str) -> Told:
    """What a space of these memories says to the topic."""
    rewrite(workspace.store, lambda _: Space("main").put(memories, NOW))
    bundle = next(iter(recall(workspace, [Query(topic=topic, now=NOW, limit=100)])))
    return bundle.reason, {section.memory.id: round(section.score, 9) for section in bundle.sections}


SURE = 0.75


def is_sure(workspace: Workspace, topic: str) -> bool:
    """Whether the space answers the topic with some certainty: of few memories any is near by chance."""
    return (next(iter(recall(workspace, [Query(topic=topic, now=NOW, limit=100)]))).confidence or 0.0) >= SURE


def made(draw: random.Random, name: str, words: Sequence[str], form: str = "") -> Memory:
    """A memory of some of the words, in a form of its own or in this one."""
    text = draw.choices(words, k=draw.choice((3, 8, 20, 150)))
    return memory(
        name,
        path="/".join(draw.choices(words, k=draw.randint(1, 3))) + f"/{name}",
        raw=FORMS[form or draw.choice(list(FORMS))](text),
        tags=tuple(sorted(set(draw.choices(words, k=draw.randint(0, 3))))),
        kind=draw.choice(KINDS),
        summary_micro=" ".join(draw.choices(words, k=4)) if draw.random() < 0.5 else "",
        content={"note": " ".join(draw.choices(words, k=4))} if draw.random() < 0.2 else None,
    )


def stores(count: int) -> Iterator[tuple[random.Random, list[Memory], str]]:
    """Random stores, each with a question and with what goes on drawing."""
    for seed in range(count):
        draw = random.Random(seed)
        memories = [made(draw, f"m{n}", WORDS) for n in range(draw.choice((1, 2, 4, 12)))]
        yield draw, memories, " ".join(draw.choices([*WORDS, "zebra", "quokka"], k=draw.randint(1, 5)))


@pytest.mark.parametrize("embedder", slow_but(("hashed",), MODELS))
def test_the_form_of_a_memory_changes_neither_state_nor_score_of_any_other(tmp_path: Path, embedder: str) -> None:
    """Two cases are exempt, and both say something of the memory in two forms alone; the second has an example below.

    Whether it answers: the state of the bundle may differ if it is the only one that does, in one form. Its best passage
    counts for its cosine, and forms are cut into other passages; by words alone this cannot be.
    What its own score cuts: the tail is what scores less than TAIL_SHARE of the best. Cut by each score alone, a question
    about one of twenty like things would show ten of them.
    """
    workspace = open_at(tmp_path, MEMCLI_EMBEDDER=embedder)
    for n, (draw, memories, topic) in enumerate(stores(MODELS[embedder])):
        text = draw.choices(WORDS, k=draw.choice((4, 12, 40, 150)))
        added = made(draw, "added", WORDS)
        one, two = draw.sample(list(FORMS), 2)
        found = [told(workspace, [*memories, replace(added, raw=FORMS[form](text))], topic) for form in (one, two)]
        if is_alike(embedder, text, one, two) or all(added.id not in scores for _, scores in found):
            assert found[0][0] == found[1][0], (n, topic, one, two)
        for (_, shown), (reason, beside) in (found, reversed(found)):
            least = TAIL_SHARE * beside.get(added.id, 0.0)
            for name, score in shown.items() if reason is None else ():
                is_cut = name not in beside and score < least
                assert name == added.id or is_cut or beside.get(name) == score, (n, topic, one, two)
            assert reason is None or not shown or added.id in shown, (n, topic, one, two)


def is_alike(embedder: str, words: Sequence[str], *forms: str) -> bool:
    """Whether a memory of these words answers alike in these forms: by words it does, and by hashes if each is one passage."""
    return embedder == "off" or (embedder == "hashed" and len(words) <= 40 and "sections" not in forms)


def test_a_form_that_answers_better_cuts_more_of_the_tail(tmp_path: Path) -> None:
    words = "deploy canary index release index database session cache password budget owner rollback".split()
    other, topic = memory("other", raw="The database is PostgreSQL."), "owner database database session"
    found = {form: _state(tmp_path, DEFAULT_EMBEDDER, topic, [other], words, form) for form in FORMS}
    assert found == {form: (True, {"mem_other"} if form == "sections" else set()) for form in FORMS}


def _state(
    folder: Path, embedder: str, topic: str, others: Sequence[Memory], words: Sequence[str], form: str
) -> tuple[bool, set[str]]:
    """Whether there is an answer beside a memory of these words in a form, and which others are shown."""
    added = memory("added", raw=FORMS[form](words))
    reason, scores = told(open_at(folder, MEMCLI_EMBEDDER=embedder), [*others, added], topic)
    return reason is None, scores.keys() - {added.id}


@pytest.mark.parametrize("embedder", slow_but(("hashed",), MODELS))
def test_what_is_added_about_something_else_silences_nothing(tmp_path: Path, embedder: str) -> None:
    workspace = open_at(tmp_path, MEMCLI_EMBEDDER=embedder)
    answered = 0
    for n, (draw, memories, topic) in enumerate(stores(MODELS[embedder])):
        reason, before = told(workspace, memories, topic)
        if reason is None and is_sure(workspace, topic):
            answered += 1
            others = [made(draw, f"other{m}", OTHERS) for m in range(draw.randint(1, 50))]
            reason, after = told(workspace, [*memories, *others], topic)
            assert (reason, bool(after)) == (None, True), (n, topic, before)
    assert answered > STORES // 100


NOTES = ("To deploy, push a tag; CI builds the image and rolls it out.", "Passwords are hashed with argon2id.")
HOTEL = "# Hotel\n\nBreakfast is at seven.\n"


def test_a_memory_with_a_heading_silences_nothing(tmp_path: Path) -> None:
    workspace = open_at(tmp_path, MEMCLI_EMBEDDER=DEFAULT_EMBEDDER)
    mara = memory("mara", raw="Ask Mara before you spend.", path="finance/approval/travel")
    alone = told(workspace, [mara], "travel approval")
    assert list(alone[1]) == ["mem_mara"]
    for metadata in ({}, {"source": "n.txt"}):
        hotel = memory("hotel", raw=HOTEL, path="office/hotel", metadata=metadata)
        assert list(told(workspace, [mara, hotel], "travel approval")[1]) == ["mem_mara"]


def test_a_weak_answer_outlives_fifty_memories_about_something_else(tmp_path: Path) -> None:
    workspace = open_at(tmp_path, MEMCLI_EMBEDDER=DEFAULT_EMBEDDER)
    notes = [memory(f"n{n}", raw=text) for n, text in enumerate(NOTES)]
    draw = random.Random(1)
    others = [made(draw, f"other{n}", OTHERS) for n in range(50)]
    for count in (0, 1, 10, 50):
        assert "mem_n0" in told(workspace, [*notes, *others[:count]], "how do we release a new version?")[1]


@pytest.mark.parametrize("embedder", ["off", "hashed", DEFAULT_EMBEDDER])
def test_an_object_is_found_by_its_path_tags_and_summaries(tmp_path: Path, embedder: str) -> None:
    checklist = Memory(
        id="mem_runtime_decision_001",
        path="lexon/runtime/release_checklist",
        kind="decision",
        raw="Ship RC once structured memory recalls <200ms and MCP supervisor is green.",
        summary_micro="RC go/no-go checklist",
        summary_short="Decisions and blockers for promoting Lexon v1.0.0-rc.1 to GA.",
        summary_long="Context, telemetry targets, and required samples-smoke pass/fail report for the release.",
        tags=("runtime", "release", "checklist"),
        metadata={"project": "lexon", "space": "runtime", "source": "docs/runtime_decision.md"},
        relevance="high",
        pinned=True,
        created_at=NOW,
        updated_at=NOW,
    )
    beside = [memory("hotel", raw=HOTEL, metadata={"source": "n.txt"}), memory("plain", raw="Lunch is at noon.")]
    workspace = open_at(tmp_path, MEMCLI_EMBEDDER=embedder)
    for topic, others in product(("release checklist", "promoting to GA"), ([], beside)):
        reason, scores = told(workspace, [checklist, *others], topic)
        assert (reason, list(scores)) == (None, [checklist.id]), topic
