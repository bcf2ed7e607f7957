"""What each task of upkeep proposes, and what it leaves alone."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from memcli.extras.upkeep import tasks
from memcli.extras.upkeep.step import Given, MemoryPair, Task, UpkeepStep
from memcli.model.memory import Memory
from memcli.model.recall import Cluster
from memcli.model.space import Policy
from memcli.model.usage import GET, HELPFUL, RECALL, REJECTED, UNHELPFUL, Access, Use
from memcli.record import replace
from tests.conftest import memory as made

NOW = "2026-06-01T00:00:00Z"
OLD = "2026-01-01T00:00:00Z"
GIVEN = Given(now=NOW)


def old(name: str, **fields: object) -> Memory:
    return made(name, **{"created_at": OLD, "updated_at": OLD, **fields})


def judged(act: str, *ids: str, at: str = NOW) -> list[Use]:
    return [Use(at, act, "main", (name,)) for name in ids]


def shown(*ids: str, at: str = NOW) -> Use:
    return Use(at, RECALL, "main", ids, places=tuple(range(1, len(ids) + 1)))


def proposed(task: Task, memories: Sequence[Memory], given: Given = GIVEN) -> list[UpkeepStep]:
    return task({memory.id: memory for memory in memories}, given)


def ids(task: Task, memories: Sequence[Memory], given: Given = GIVEN) -> list[str]:
    return [step.id for step in proposed(task, memories, given)]


@pytest.mark.parametrize(
    ("acts", "confidence", "strength"),
    [
        ([HELPFUL], 0.55, 2), ([UNHELPFUL], 0.4, 1), ([REJECTED], 0.48, 1), ([HELPFUL, HELPFUL, UNHELPFUL], 0.5, 3),
        ([UNHELPFUL] * 9, 0.0, 1), ([HELPFUL] * 11, 1.0, 12), ([UNHELPFUL] * 9 + [HELPFUL], 0.05, 2),
    ],
)  # fmt: skip
def test_judgements_become_confidence_and_strength(acts: list[str], confidence: float, strength: int) -> None:
    given = replace(GIVEN, uses=[use for act in acts for use in judged(act, "mem_a", "mem_gone")])
    (step,) = proposed(tasks.propose_usage, [made("a", confidence=0.5), made("b")], given)
    (after,) = step.memories
    assert (after.confidence, after.strength) == (confidence, strength)
    assert (after.version, after.updated_at) == (1, made("a").updated_at)


def test_what_was_only_shown_is_not_judged() -> None:
    given = replace(GIVEN, uses=[shown("mem_a"), Use(NOW, GET, "main", ("mem_a",))])
    assert not ids(tasks.propose_usage, [made("a")], given)


def test_what_is_old_and_of_low_value_by_the_policy_is_archived() -> None:
    low, high = old("low", kind="inferred"), old("high", kind="decision")
    (step,) = proposed(tasks.propose_archive, [low, high])
    assert (step.id, step.memories[0].active, step.memories[0].version) == ("mem_low", False, 2)
    assert step.tokens > 0
    assert "151 days old" in step.reason
    low = old("low", kind="inferred")
    assert ids(tasks.propose_archive, [low], replace(GIVEN, policy=Policy(archive_days=150))) == [low.id]
    assert not ids(tasks.propose_archive, [low], replace(GIVEN, policy=Policy(archive_days=160)))
    assert not ids(tasks.propose_archive, [low], replace(GIVEN, policy=Policy(archive_below=0.0)))


@pytest.mark.parametrize(
    "fields",
    [
        {"pinned": True}, {"updated_at": "2026-05-20T00:00:00Z"}, {"active": False}, {"superseded_by": "mem_new"},
        {"valid_until": "2026-02-01T00:00:00Z"}, {"valid_from": "2027-01-01T00:00:00Z"},
        {"importance": 1.0, "kind": "decision"}, {"triggers": ("git push --force",)}, {"enforce": True},
        {"season": "release-week"},
    ],
)  # fmt: skip
def test_some_are_never_archived(fields: dict[str, object]) -> None:
    assert not ids(tasks.propose_archive, [old("low", **{"kind": "inferred", **fields})])


@pytest.mark.parametrize("relation", ["derived_from", "depends_on", "supersedes"])
def test_a_reason_is_not_archived_even_of_a_forgotten_memory(relation: str) -> None:
    low = old("low", kind="inferred")
    after = made("b", kind="decision", active=False, links=({"to": low.id, "relation": relation},))
    assert not ids(tasks.propose_archive, [low, after])
    assert not ids(tasks.propose_archive, [low, made("b", kind="decision", superseded_by=low.id)])
    related = replace(after, links=({"to": low.id, "relation": "relates_to"},))
    assert ids(tasks.propose_archive, [low, related]) == [low.id]


def test_what_is_in_use_as_far_as_that_is_known_is_not_archived() -> None:
    low = old("low", kind="inferred")
    given = replace(GIVEN, watched_since=OLD, accesses={low.id: Access(1, "2026-05-30T00:00:00Z")})
    assert not ids(tasks.propose_archive, [low], given)
    once = {low.id: Access(1, OLD)}
    assert not ids(tasks.propose_archive, [low], replace(given, accesses=once))  # shown once: for 152 days
    later = replace(given, accesses=once, now="2026-06-03T00:00:00Z")
    assert ids(tasks.propose_archive, [low], later) == [low.id]
    assert not ids(tasks.propose_archive, [low], replace(later, accesses={low.id: Access(9, OLD)}))
    assert not ids(tasks.propose_archive, [low], replace(GIVEN, watched_since="2026-05-01T00:00:00Z"))
    assert ids(tasks.propose_archive, [low], replace(GIVEN, watched_since=OLD)) == [low.id]


def test_what_is_in_use_is_archived_when_it_is_judged_to_be_of_no_use() -> None:
    used = {"mem_a": Access(50, NOW)}
    given = replace(GIVEN, watched_since=OLD, accesses=used, uses=judged(UNHELPFUL, "mem_a"))
    assert ids(tasks.propose_archive, [old("a", kind="log", confidence=0.5)], given) == ["mem_a"]
    assert not ids(tasks.propose_archive, [old("a", kind="log", confidence=0.7)], given)
    assert not ids(
        tasks.propose_archive, [old("a", kind="log", confidence=0.5)], replace(given, uses=judged(HELPFUL, "mem_a"))
    )
    uses = [shown("mem_a", "mem_b"), *judged(UNHELPFUL, "mem_a"), *judged(HELPFUL, "mem_b")]
    given = replace(GIVEN, watched_since=OLD, uses=uses)
    pair = [old("a", kind="log", confidence=0.8), old("b", kind="log")]
    (step,) = proposed(tasks.propose_archive, pair, given)
    assert step.id == "mem_a"
    assert "not helpful where notes/b was" in step.reason
    assert not ids(tasks.propose_archive, [replace(pair[0], confidence=0.9), pair[1]], given)
    assert not ids(tasks.propose_archive, [pair[0], replace(pair[1], confidence=0.8)], given)
    assert not ids(tasks.propose_archive, pair, replace(given, uses=uses[1:]))


TOLD_KINDS = ("fact", "decision", "constraint", "negative", "procedure", "preference", "correction", "guide")


@pytest.mark.parametrize("kind", TOLD_KINDS)
@pytest.mark.parametrize("source", [None, "user_stated", "extracted", "imported"])
def test_time_and_judgements_alone_archive_nothing_that_was_told(kind: str, source: str | None) -> None:
    fields = {"kind": kind, "confidence": 0.1, **({"provenance": {"source": source}} if source else {})}
    uses = [shown("mem_a", "mem_b"), *judged(UNHELPFUL, "mem_a"), *judged(HELPFUL, "mem_b")]
    later = replace(GIVEN, now="2036-06-01T00:00:00Z", watched_since=OLD, uses=uses)
    assert not ids(tasks.propose_archive, [old("a", **fields), old("b", kind=kind)], later)


@pytest.mark.parametrize(
    "fields",
    [
        {"kind": "inferred"}, {"kind": "log"}, {"kind": "episode"},
        {"kind": "fact", "provenance": {"source": "observed"}},
        {"kind": "fact", "provenance": {"source": "inferred"}},
    ],
)  # fmt: skip
def test_time_archives_what_nobody_told(fields: dict[str, object]) -> None:
    assert ids(tasks.propose_archive, [old("a", **{"confidence": 0.1, **fields})]) == ["mem_a"]


def opposed(*, newer: dict[str, object] | None = None, **marks: object) -> list[Memory]:
    """An old fact, and a newer one that contradicts it, with links both ways."""
    to_old = {"to": "mem_old", "relation": "contradicts", **marks}
    to_new = {"to": "mem_new", "relation": "contradicts", **({"accepted": True} if "accepted" in marks else {})}
    later = {"kind": "fact", "created_at": "2026-02-01T00:00:00Z", "updated_at": "2026-02-01T00:00:00Z"}
    return [old("old", kind="fact", links=(to_new,)), old("new", links=(to_old,), **{**later, **(newer or {})})]


def test_what_is_contradicted_is_archived_and_what_holds_is_not() -> None:
    (step,) = proposed(tasks.propose_archive, opposed())
    assert step.id == "mem_old"
    assert step.reason.startswith("notes/new contradicts it, worth 0.0")
    assert ids(tasks.propose_archive, [replace(opposed()[0], links=()), opposed()[1]]) == [
        "mem_old"
    ]  # told from one end
    renewed = replace(opposed()[0], strength=2, updated_at="2026-03-01T00:00:00Z")
    assert ids(tasks.propose_archive, [renewed, opposed()[1]]) == ["mem_new"]
    assert ids(tasks.propose_archive, opposed(newer={"created_at": "2025-06-01T00:00:00Z"}, holds=True)) == ["mem_old"]


@pytest.mark.parametrize(
    "pair",
    [
        opposed(accepted=True), opposed(newer={"active": False}), opposed(newer={"superseded_by": "mem_x"}),
        opposed(newer={"valid_until": "2026-03-01T00:00:00Z"}),
        opposed(newer={"kind": "inferred", "confidence": 1.0, "updated_at": NOW}),
        [replace(opposed()[0], kind="decision"), opposed()[1]], opposed()[:1],
    ],
)  # fmt: skip
def test_what_nothing_contradicts_now_stays(pair: list[Memory]) -> None:
    assert not ids(tasks.propose_archive, pair)


def test_relevance_falls_with_the_confidence() -> None:
    reason = made("r", kind="decision", links=({"to": "mem_a", "relation": "derived_from"},))
    (step,) = proposed(tasks.propose_decay, [old("a", kind="fact", relevance="high"), reason])
    assert (step.id, step.memories[0].relevance) == ("mem_a", "low")
    assert step.memories[0].confidence == 1.0
    (step,) = proposed(tasks.propose_decay, [old("a", kind="correction", relevance="high", confidence=0.7)])
    assert step.memories[0].relevance == "medium"


@pytest.mark.parametrize("fields", [{"pinned": True}, {"kind": "decision"}, {"relevance": "low"}])
def test_some_keep_their_relevance(fields: dict[str, object]) -> None:
    assert not ids(tasks.propose_decay, [old("a", **{"kind": "fact", "relevance": "high", **fields})])


def test_what_was_helpful_together_is_linked_once_and_seldom() -> None:
    uses = [shown("mem_a", "mem_b", "mem_c"), *judged(HELPFUL, "mem_a", "mem_b"), *judged(UNHELPFUL, "mem_c")]
    pair = [made("a"), made("b", created_at=OLD), made("c")]
    (step,) = proposed(tasks.propose_links, pair, replace(GIVEN, uses=uses))
    (link,) = step.memories[0].links
    assert (step.id, link["to"], link["relation"], link["weight"]) == ("mem_a", "mem_b", "relates_to", 0.5)
    linked = [replace(pair[0], links=({"to": "mem_b", "relation": "depends_on"},)), *pair[1:]]
    assert not ids(tasks.propose_links, linked, replace(GIVEN, uses=uses))
    (step,) = proposed(tasks.propose_links, pair, replace(GIVEN, uses=[*uses, *uses]))
    assert step.memories[0].links[0]["weight"] == 0.6
    uses = [shown("mem_a"), *judged(HELPFUL, "mem_a"), shown("mem_b"), *judged(HELPFUL, "mem_b")]
    assert not ids(tasks.propose_links, [made("a"), made("b")], replace(GIVEN, uses=uses))
    names = [f"mem_{n:02}" for n in range(12)]
    uses = [shown(*names), *judged(HELPFUL, *names)]
    memories = [made(f"{n:02}") for n in range(12)]
    for step in proposed(tasks.propose_links, memories, replace(GIVEN, uses=uses)):
        assert len(step.memories[0].links) <= tasks.MOST_LINKS


@pytest.mark.parametrize("fields", [{"active": False}, {"superseded_by": "mem_c"}])
def test_what_does_not_hold_is_not_linked(fields: dict[str, object]) -> None:
    uses = [shown("mem_a", "mem_b"), *judged(HELPFUL, "mem_a", "mem_b")]
    assert not ids(tasks.propose_links, [made("a", **fields), made("b")], replace(GIVEN, uses=uses))


def cluster(name: str, *ids: str) -> Cluster:
    return Cluster(f"cl_{name}", name, ids, (1.0,) * len(ids))


def test_clusters_are_named_the_largest_first() -> None:
    found = [cluster("auth", "mem_a"), cluster("build", "mem_b", "mem_c", "mem_gone"), cluster("gone", "mem_x")]
    steps = proposed(tasks.propose_clusters, [made(n) for n in "abc"], replace(GIVEN, clusters=found))
    assert [(step.path, step.reason, step.memories) for step in steps] == [
        ("build", "2 memories", ()),
        ("auth", "1 memory", ()),
    ]


def tagged(count: int, mentions: int, *, tag: str = "cache") -> list[Memory]:
    with_tag = [made(f"t{n}", raw=f"The cache of {n}.", tags=(tag,)) for n in range(count)]
    return with_tag + [made(f"m{n}", raw=f"Flush the cache, {n} times.") for n in range(mentions)]


def test_a_tag_that_is_given_reliably_is_inferred_where_there_are_few() -> None:
    (step,) = proposed(tasks.propose_tags, tagged(4, 1))
    assert (step.id, step.memories[0].tags, step.memories[0].version) == ("mem_m0", ("cache",), 1)
    *rest, last = tagged(4, 1)
    assert not ids(tasks.propose_tags, [*rest, replace(last, tags=tuple("abcdef"))])
    unreliable = [made(f"u{n}", raw=f"The cache key of {n}.", tags=("cache-key",) * (n < 4)) for n in range(9)]
    extra = [made(f"r{n}", raw=f"The cache line {n}.", tags=("cache-line",)) for n in range(4)]
    steps = proposed(tasks.propose_tags, [*unreliable, *extra, made("zz", raw="A cache line.")])
    assert [(step.id, step.memories[0].tags) for step in steps] == [("mem_zz", ("cache-line",))]


@pytest.mark.parametrize(("count", "mentions"), [(3, 1), (4, 2), (4, 0)])
def test_a_tag_that_is_rare_or_not_reliable_is_not_inferred(count: int, mentions: int) -> None:
    assert not ids(tasks.propose_tags, tagged(count, mentions))


def episode(name: str, text: str, valence: float = 0.5, **fields: object) -> Memory:
    return made(name, kind="episode", raw=text, episode={"title": name, "valence": valence}, **fields)


TOLD = "The login was slow until Ann raised the pool of connections in the gateway."


def test_episodes_that_tell_the_same_become_one_which_is_the_pinned_one() -> None:
    first = episode("a", TOLD, tags=("login",), created_at=OLD, strength=2)
    second = episode("b", f"{TOLD} It was slow.", tags=("gateway",))
    (step,) = proposed(tasks.propose_merge, [second, first, episode("c", "The release was tagged late.")])
    kept, other = step.memories
    assert (kept.id, kept.strength, kept.tags) == ("mem_a", 3, ("login", "gateway"))
    assert [(link["to"], link["relation"]) for link in kept.links] == [("mem_b", "supersedes")]
    assert (other.superseded_by, other.valid_until, other.active) == ("mem_a", NOW, True)
    assert step.tokens > 0
    (step,) = proposed(tasks.propose_merge, [episode("a", TOLD, created_at=OLD), episode("b", TOLD, pinned=True)])
    assert step.id == "mem_b"
    assert not ids(tasks.propose_merge, [episode("a", TOLD, pinned=True), episode("b", TOLD, pinned=True)])


@pytest.mark.parametrize(
    "other",
    [
        episode("b", TOLD.replace("Ann", "Bob").replace("login", "upload").replace("pool", "size")),
        episode("b", f"{TOLD} 8080"), episode("b", TOLD.replace("Ann", "Bob")),
        episode("b", f"{TOLD} It was eu-west-1."), episode("b", TOLD.replace("raised", "never raised")),
        episode("b", TOLD, valence=-0.5), episode("b", TOLD, superseded_by="mem_c"),
        episode("b", TOLD, active=False), replace(episode("b", TOLD), kind="log"),
    ],
)  # fmt: skip
def test_episodes_that_differ_stay(other: Memory) -> None:
    assert not ids(tasks.propose_merge, [episode("a", TOLD), other])


def test_contradictions_and_duplicates_are_listed_each_once() -> None:
    first = made("a", links=({"to": "mem_b", "relation": "contradicts"},))
    second = made("b", links=({"to": "mem_a", "relation": "contradicts"},))
    pairs = [
        MemoryPair("duplicates", "mem_a", "mem_c", "same claim"),
        MemoryPair("contradicts", "mem_c", "mem_gone", "no"),
    ]
    steps = proposed(tasks.propose_review, [first, second, made("c")], replace(GIVEN, pairs=pairs))
    assert [(step.action, step.id, step.others, step.memories) for step in steps] == [
        ("contradicts", "mem_a", ("mem_b",), ()),
        ("duplicates", "mem_a", ("mem_c",), ()),
    ]
    assert not ids(tasks.propose_review, [first, replace(second, active=False)])
