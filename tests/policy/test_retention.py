from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memcli.codec.space import encode_space
from memcli.codec.splice import SpliceShelf
from memcli.model.memory import Memory
from memcli.model.space import Policy, Space
from memcli.policy.retention import is_due, is_past_grace, outdated, plan_retention, surplus
from memcli.record import replace
from tests.conftest import NOW, memory
from tests.strategies import memories, times

policies = st.builds(
    Policy,
    ttl_days=st.none() | st.integers(0, 9000),
    retention=st.dictionaries(st.sampled_from(["log", "fact", "decision"]), st.integers(0, 9000), max_size=3),
    max_objects=st.none() | st.integers(1, 12),
    compaction=st.sampled_from(["fifo", "value", "llm"]),
)


def spaces() -> st.SearchStrategy[Space]:
    unique = st.lists(memories(), max_size=15, unique_by=lambda m: m.id)
    return st.builds(Space, name=st.just("main"), objects=unique.map(tuple), policy=policies, updated_at=times)


@given(spaces(), times, st.none() | st.integers(0, 9000))
def test_a_plan_never_holds_what_must_stay(space: Space, now: str, ttl_days: int | None) -> None:
    plan = plan_retention(space, lambda: space.objects, now, ttl_days)
    gone = [removal.memory for removal in plan.removals]
    assert not any(m.pinned for m in gone)
    assert len({m.id for m in gone}) == len(gone)
    for removal in plan.removals:
        if removal.reason != "max_objects":
            assert removal.memory.updated_at < now
            assert removal.age_days > removal.limit
    assert plan_retention(space, lambda: space.objects, now, ttl_days) == plan


@given(spaces(), times)
def test_what_is_left_needs_no_second_collection(space: Space, now: str) -> None:
    plan = plan_retention(space, lambda: space.objects, now)
    gone = {removal.memory.id for removal in plan.removals}
    left = replace(space, objects=tuple(m for m in space.objects if m.id not in gone))
    assert plan_retention(left, lambda: left.objects, now).removals == ()


def plan_of(policy: Policy, *, now: str = NOW, last_run: str = "", **ages: str) -> list[tuple[str, str]]:
    kinds = {"log": "log", "fact": "fact"}
    objects = tuple(memory(name, updated_at=at, kind=kinds.get(name, "guide")) for name, at in ages.items())
    space = Space("main", objects, policy=policy, updated_at="2026-01-20T00:00:00Z")
    return [
        (r.memory.id, r.reason) for r in plan_retention(space, lambda: space.objects, now, last_run=last_run).removals
    ]


def test_retention_by_kind_goes_before_the_ttl() -> None:
    policy = Policy(ttl_days=30, retention={"log": 7, "fact": 4000})
    ages = {"log": "2026-01-20T00:00:00Z", "fact": "2020-01-01T00:00:00Z", "other": "2025-12-01T00:00:00Z"}
    assert plan_of(policy, **ages) == [("mem_log", "retention.log"), ("mem_other", "ttl_days")]
    assert plan_of(Policy(), **ages) == []


def test_a_life_of_no_days_ends_as_soon_as_time_goes_on() -> None:
    assert plan_of(Policy(ttl_days=0), a=NOW) == []
    assert plan_of(Policy(ttl_days=0), a="2026-01-31T09:29:59Z") == [("mem_a", "ttl_days")]


CLOCKS = (
    (NOW, "", True), ("2024-01-31T09:30:00Z", "", False), ("2028-01-31T09:30:00Z", "", False), ("2026-01-19T12:00:00Z", "", True),
    (NOW, "2026-02-10T00:00:00Z", False), ("2026-12-31T00:00:00Z", "", True), ("2028-01-31T09:30:00Z", "2028-01-01T00:00:00Z", True),
)  # fmt: skip


def test_the_clock_is_believed_when_the_space_bears_it_out() -> None:
    space = Space("main", (memory(updated_at="2025-01-01T00:00:00Z"),), updated_at="2026-01-20T00:00:00Z")
    for now, last_run, believed in CLOCKS:
        plan = plan_retention(space, lambda: space.objects, now, last_run=last_run)
        assert (plan.clock == "") is believed, (now, last_run)
    # a time that nobody can read is no witness
    assert plan_retention(Space("main", updated_at="yesterday"), tuple, NOW).clock == ""


def test_what_comes_from_the_future_is_told_and_stays() -> None:
    space = Space("main", (memory(updated_at="2030-01-01T00:00:00Z"),), policy=Policy(ttl_days=0), updated_at=NOW)
    plan = plan_retention(space, lambda: space.objects, NOW)
    assert ([m.id for m in plan.future], plan.removals) == (["mem_a"], ())


def test_grace_ends_and_none_ends_at_once() -> None:
    assert not is_past_grace("2026-01-20T00:00:00Z", 14, NOW)
    assert is_past_grace("2026-01-10T00:00:00Z", 14, NOW)
    assert is_past_grace("2030-01-01T00:00:00Z", 0, NOW)
    assert not is_past_grace("2030-01-01T00:00:00Z", 14, NOW)
    ends = [is_past_grace("2026-01-01T00:00:00Z", 7, f"2026-01-0{1 + days}T00:00:00Z") for days in (6, 7, 8)]
    assert ends == [False, False, True]  # the last day of grace is one of them


def test_what_is_pinned_is_never_due() -> None:
    old, policy = memory(updated_at="2020-01-01T00:00:00Z"), Policy(ttl_days=1)
    assert is_due(old, policy, NOW)
    assert not is_due(replace(old, pinned=True), policy, NOW)


MEMORIES = [
    memory("decision", kind="decision", updated_at="2026-01-30T00:00:00Z"),
    memory("inferred", kind="inferred", updated_at="2026-01-30T00:00:00Z"),
    memory("old", kind="decision", updated_at="2025-01-30T00:00:00Z"),
    memory("older", kind="decision", updated_at="2020-01-30T00:00:00Z"),
    memory("forgotten", kind="decision", active=False, updated_at="2026-01-31T00:00:00Z"),
    memory("pinned", pinned=True, updated_at="2019-01-30T00:00:00Z"),
]


def names(how: str, excess: int, **options: object) -> list[str]:
    return [m.id.removeprefix("mem_") for m in surplus(MEMORIES[::-1], excess, how, NOW, **options)]  # type: ignore[arg-type]


def test_the_first_in_goes_first() -> None:
    assert names("fifo", 9) == ["older", "old", "decision", "inferred", "forgotten"]


def test_the_least_valuable_goes_first() -> None:
    for how in ("value", "llm"):  # a model decides before the write; here nobody is asked
        assert names(how, 9) == ["forgotten", "older", "old", "inferred", "decision"]


def test_what_is_spared_stays_and_nothing_needs_to_go() -> None:
    assert names("value", 2, spared={"mem_forgotten"}) == ["older", "old"]
    assert names("fifo", 0) == names("value", -3) == []


def observed(path: str, source: str = "a.md", by: str = "observed", **fields: object) -> Memory:
    metadata = {"source": source, **({"group": fields.pop("group")} if "group" in fields else {})}
    return Memory(
        id=f"mem_{path.replace('/', '_')}", path=path, kind="guide", raw="x", metadata=metadata,
        provenance={"source": by}, created_at=NOW, updated_at=NOW, **fields,
    )  # fmt: skip


def gone(memories: list[Memory], places: list[dict], told: set[str]) -> list[str]:
    space = Space(name="main", objects=tuple(sorted(memories, key=lambda m: m.order)), updated_at=NOW)
    shelf = SpliceShelf(encode_space(space), "main.json")
    found = outdated(shelf, places, told, NOW)
    assert not any(m.active for m in found)
    return [m.path for m in found]


def test_only_what_was_observed_of_the_file_and_not_told_again():
    memories = [
        observed("a.md"), observed("a.md/use"), observed("a.md/old"), observed("a.md/off", active=False),
        observed("a.md/mine", by="user"), observed("a.md/other", source="b.md"), observed("a.md/hunk", group="c0ffee"),
        observed("a.mdx"), observed("b.md", "b.md"),
    ]  # fmt: skip
    place = {"under": "a.md", "source": "a.md"}
    assert gone(memories, [place], {"a.md", "a.md/use"}) == ["a.md/old"]
    assert gone(memories, [place], {"mem_a.md", "mem_a.md_use", "mem_a.md_old"}) == []
    both = [place, {"under": "b.md", "source": "b.md"}]
    assert gone(memories, both, set()) == ["a.md", "a.md/old", "a.md/use", "b.md"]
    assert gone(memories, [], set()) == []


def test_a_group_of_any_file():
    memories = [observed("staged/a", group="staged"), observed("staged/d/b", "b", group="staged"), observed("staged/c")]
    assert gone(memories, [{"under": "staged", "group": "staged"}], {"staged/a"}) == ["staged/d/b"]
