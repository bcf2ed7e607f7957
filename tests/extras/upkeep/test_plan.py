"""The plan as a whole: deterministic, done once, and without what must stay as it is."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memcli.extras.upkeep.plan import OF_DERIVED, TASKS, plan
from memcli.extras.upkeep.step import Given
from memcli.model.memory import Memory
from memcli.model.shapes import KINDS, RELATIONS, RELEVANCES
from memcli.model.usage import HELPFUL, RECALL, REJECTED, UNHELPFUL, Access, Use
from memcli.record import as_dict, replace
from tests.conftest import memory as made

NOW = "2026-06-01T00:00:00Z"
NAMES = [f"mem_{n}" for n in range(8)]
DAYS = st.sampled_from(["2025-01-01T00:00:00Z", "2026-03-20T00:00:00Z", "2026-05-25T00:00:00Z"])
WORDS = st.lists(st.sampled_from("cache gateway login pool slow port 80 release".split()), min_size=1, max_size=6)


@st.composite
def memories(draw: st.DrawFn) -> list[Memory]:
    """Memories that may age, repeat and link to each other."""
    found = []
    for name in draw(st.lists(st.sampled_from(NAMES), unique=True, max_size=8)):
        day = draw(DAYS)
        to = draw(st.lists(st.sampled_from(NAMES), max_size=2, unique=True))
        found.append(
            made(
                name.removeprefix("mem_"),
                kind=draw(st.sampled_from([*KINDS, "episode", "episode", "inferred"])),
                raw=" ".join(draw(WORDS)),
                created_at=day, updated_at=day,
                tags=tuple(draw(st.lists(st.sampled_from(["cache", "login", "slow"]), unique=True, max_size=3))),
                pinned=draw(st.booleans()), active=draw(st.sampled_from([True, True, False])),
                relevance=draw(st.sampled_from(RELEVANCES)), confidence=draw(st.sampled_from([1.0, 0.8, 0.3])),
                links=tuple({"to": n, "relation": draw(st.sampled_from(RELATIONS))} for n in to if n != name),
            )
        )  # fmt: skip
    return found


@st.composite
def givens(draw: st.DrawFn) -> Given:
    uses = []
    for _ in range(draw(st.integers(0, 12))):
        act = draw(st.sampled_from([RECALL, HELPFUL, UNHELPFUL, REJECTED]))
        ids = draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=3, unique=True))
        uses.append(Use(NOW, act, "main", tuple(ids if act == RECALL else ids[:1])))
    accesses = {name: Access(draw(st.integers(1, 9)), draw(DAYS)) for name in draw(st.sets(st.sampled_from(NAMES)))}
    return Given(now=NOW, uses=uses, accesses=accesses, watched_since=draw(st.just("") | DAYS))


@given(memories(), givens(), st.randoms())
def test_the_order_of_the_memories_does_not_matter(found: list[Memory], given_: Given, chance: st.DataObject) -> None:
    shuffled = list(found)
    chance.shuffle(shuffled)  # type: ignore[attr-defined]
    assert as_dict(plan(shuffled, given_)) == as_dict(plan(found, given_))


@given(memories(), givens(), st.frozensets(st.sampled_from(NAMES)))
def test_what_is_fixed_is_not_changed_nor_linked_to(found: list[Memory], given_: Given, fixed: frozenset[str]) -> None:
    done = plan(found, replace(given_, fixed=fixed))
    assert not done.after.keys() & fixed
    before = {memory.id: memory for memory in found}
    for name, memory in done.after.items():
        assert not {link["to"] for link in memory.links} - {link["to"] for link in before[name].links} & fixed


@given(memories(), givens())
def test_nothing_is_lost_a_second_run_changes_nothing_and_each_task_does_its_own(
    found: list[Memory], given_: Given
) -> None:
    done = plan(found, given_)
    for name, after in done.after.items():
        before = done.before[name]
        assert (after.raw, after.path, after.created_at, after.updated_at) == (
            before.raw, before.path, before.created_at, before.updated_at,
        )  # fmt: skip
        assert set(before.tags) <= set(after.tags)
        assert [link for link in before.links if link not in after.links] == []
        if before.pinned:
            assert (after.active, after.pinned, after.superseded_by) == (before.active, True, before.superseded_by)
    after = {memory.id: memory for memory in found} | dict(plan(found, given_).after)
    again = plan(after.values(), replace(given_, uses=()))
    assert not again.after
    assert not [step for step in again.steps if step.memories]
    done = plan(found, replace(given_, is_derived=True))
    assert {step.task for step in done.steps} <= set(OF_DERIVED)
    for name, after in done.after.items():
        before = done.before[name]
        assert replace(after, confidence=before.confidence, strength=before.strength) == before
    for name in TASKS:
        assert {step.task for step in plan(found, given_, [name]).steps} <= {name}


def test_steps_say_what_they_change_and_what_was_undone_is_left_and_counted() -> None:
    low = made("low", kind="inferred", created_at="2025-01-01T00:00:00Z", updated_at="2025-01-01T00:00:00Z")
    (step,) = plan([low], Given(now=NOW), ["archive"]).steps
    assert step.fields == {"active": (True, False)}
    undone = frozenset([low.id])
    assert plan([low], Given(now=NOW), ["archive"]).after
    done = plan([low], Given(now=NOW, undone=undone), ["archive"])
    assert (done.steps, dict(done.after), done.undone) == ((), {}, 1)
