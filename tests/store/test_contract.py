"""What every store promises, with its trash and its audit log: in files and on a server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memcli.codec.audit import entries, verify
from memcli.codec.space import SpaceForm, encode_item, encode_space
from memcli.errors import NotFoundError, RefusedError, UsageError
from memcli.model.space import Change, Policy, Space
from memcli.ports import Shelf, Store
from memcli.record import replace
from tests.conftest import NOW, examples, memory, rewrite
from tests.servers import new_schema
from tests.store.conftest import at_once
from tests.store.kinds import Kind, in_files, on_server, reopened
from tests.strategies import memories, spaces

LATER = "2026-02-01T00:00:00Z"


class Place(NamedTuple):
    """Where a store is, for another process."""

    folder: str
    url: str = ""
    schema: str = ""


@pytest.fixture(params=["file", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    if request.param == "file":
        yield Place(str(tmp_path))
        return
    url = request.getfixturevalue("postgres")
    with new_schema(url) as schema:
        yield Place(str(tmp_path), url, schema)


@pytest.fixture
def kind(place: Place) -> Iterator[Kind]:
    found = reopened(*place)
    yield found
    found.close()


@pytest.fixture
def store(kind: Kind) -> Store:
    return kind.store


def put(store: Store, *names: str, **fields: object) -> Space:
    return rewrite(store, lambda space: space.put([memory(name, **fields) for name in names], NOW))


def drop(store: Store, *names: str, **change: bool) -> None:
    store.update("main", lambda _: Change(drop=frozenset(f"mem_{n}" for n in names), now=LATER, **change))


def ids(store: Store, space: str = "main") -> list[str]:
    return [m.id for m in store.open(space).load().objects]


def test_a_space_that_is_not_there_is_empty(store: Store) -> None:
    snapshot = store.open("main")
    assert (snapshot.fingerprint, snapshot.load(), list(snapshot.records())) == ("", Space("main"), [])
    assert snapshot.header() == Space("main")
    assert store.open("repo").load().policy.is_derived
    assert store.spaces() == []


def test_what_is_stored_is_there(store: Store) -> None:
    put(store, "b", "a")
    snapshot = store.open("main")
    whole = snapshot.load()
    assert [m.id for m in whole.objects] == ["mem_a", "mem_b"]
    assert snapshot.header() == replace(whole, objects=())
    assert [snapshot.decode(data) for data, _ in snapshot.records()] == list(whole.objects)
    names = ["b", "a-b", "ab", "a_b", "a"]
    for name in names:
        rewrite(store, lambda space: space.put([memory()], NOW), name)
    assert store.spaces() == sorted([*names, "main"])


def test_a_fingerprint_begins_with_the_size_and_changes_with_each_write(store: Store) -> None:
    put(store, "a")
    first = store.open("main").fingerprint
    assert store.open("main").fingerprint == first
    put(store, "b")
    second = store.open("main").fingerprint
    drop(store, "b")
    third = store.open("main").fingerprint
    store.delete("main", lambda _: None)
    put(store, "a")
    sizes = [int(found.partition("-")[0]) for found in (first, second)]
    assert len({first, second, third, store.open("main").fingerprint}) == 4
    assert sizes[1] - sizes[0] >= len(encode_item(memory("b"), SpaceForm("main")))


def test_an_unchanged_space_is_not_written(store: Store, kind: Kind) -> None:
    put(store, "a")
    before = store.open("main").fingerprint, kind.audit.read("main")
    rewrite(store, lambda space: space)
    store.update("none", lambda _: Change())
    assert (store.open("main").fingerprint, kind.audit.read("main"), store.spaces()) == (*before, ["main"])


def test_a_change_that_fails_leaves_nothing(store: Store, kind: Kind) -> None:
    put(store, "a")
    before = store.open("main").fingerprint, kind.audit.read("main")

    def fail(shelf: Shelf) -> Change:
        assert shelf.get("mem_a") is not None
        raise UsageError("no")

    with pytest.raises(UsageError):
        store.update("main", fail)
    assert (store.open("main").fingerprint, kind.audit.read("main"), store.spaces()) == (*before, ["main"])
    put(store, "b")  # the lock was let go


def test_a_snapshot_does_not_change_and_what_is_fetched_comes_in_the_order_asked(store: Store) -> None:
    put(store, "a", "b", "c")
    snapshot = store.open("main")
    put(store, "d")
    drop(store, "a")
    assert [m.id for m in snapshot.load().objects] == ["mem_a", "mem_b", "mem_c"]
    places = {f"mem_{n}": (start, len(data)) for n, (data, start) in zip("abc", snapshot.records(), strict=True)}
    asked = [(name, *places[name]) for name in ("mem_c", "mem_a", "mem_c")]
    assert [m.id for m in snapshot.fetch(asked)] == ["mem_c", "mem_a", "mem_c"]
    assert [snapshot.decode(data) for data, _ in snapshot.records([places["mem_b"]])] == [memory("b")]
    assert store.open("main").fingerprint != snapshot.fingerprint
    snapshot.close()


def test_delete_asks_first(store: Store, kind: Kind) -> None:
    put(store, "a")

    def refuse(space: Space) -> None:
        raise RefusedError(f"no: {len(space.objects)}")

    with pytest.raises(RefusedError, match="no: 1"):
        store.delete("main", refuse)
    assert store.delete("main", lambda space: None).objects == (memory("a"),)
    with pytest.raises(NotFoundError, match="no space 'main'"):
        store.delete("main", lambda space: None)
    assert [run.space.objects for run in kind.trash.runs()] == [(memory("a"),)]
    assert [entry["action"] for entry in entries(kind.audit.read("main"))] == ["create", "delete space"]
    assert (ids(store), store.spaces()) == ([], [])


def test_the_name_of_a_space_is_checked(store: Store) -> None:
    for name in ("../x", "", "a/b"):
        with pytest.raises(UsageError):
            store.open(name)
        with pytest.raises(UsageError):
            store.update(name, lambda _: Change())


def test_twins_at_one_path_are_kept_and_the_first_is_found(store: Store) -> None:
    twins = [memory("b", path="x", updated_at=NOW), memory("a", path="x", updated_at=LATER)]
    store.update("main", lambda _: Change(tuple(twins), now=NOW))
    found: list[object] = []

    def look(shelf: Shelf) -> Change:
        found.append((shelf.at("x"), [m.id for m in shelf.under("x")]))
        return Change()

    store.update("main", look)
    assert found == [(twins[0], ["mem_a", "mem_b"])]


def test_what_is_removed_is_in_the_trash_and_in_the_log(kind: Kind) -> None:
    put(kind.store, "a", "b")
    later = kind.open(LATER)[0]
    receipt = later.update("main", lambda _: Change(drop=frozenset(["mem_a"]), now=LATER))
    (run,) = kind.trash.runs()
    assert (run.name, run.removed_at, run.command) == (receipt.run, LATER, "test")
    assert [m.id for m in run.space.objects] == ["mem_a"]
    assert (kind.trash.holds("main", "mem_a"), kind.trash.holds("main", "mem_b")) == (True, False)  # type: ignore[attr-defined]
    assert kind.told == [f"1 memory is in the trash for 14 days: `memcli restore --run {run.name}`"]
    log = kind.audit.read("main")
    assert (verify(log).broken, [entry["action"] for entry in entries(log)]) == (0, ["create", "delete"])


def test_runs_come_newest_first_and_are_dropped(kind: Kind) -> None:
    for now in (NOW, LATER, LATER):
        store = kind.open(now)[0]
        put(store, "a", "b")
        drop(store, "a", "b")
    names = [run.name for run in kind.trash.runs()]
    assert len(set(names)) == 3
    assert [name[:8] for name in names] == ["20260201", "20260201", "20260131"]
    assert names[0] == f"{names[1]}-2"
    oldest = kind.trash.runs()[-1]
    kind.trash.drop(oldest, {"mem_a"})
    assert [m.id for m in kind.trash.runs()[-1].space.objects] == ["mem_b"]
    kind.trash.put(oldest)
    assert len(kind.trash.runs()[-1].space.objects) == 2
    kind.trash.drop(oldest, {"mem_a", "mem_b"})
    kind.trash.drop(oldest, {"mem_a", "mem_b"})  # nothing is left to do
    assert [run.name for run in kind.trash.runs()] == names[:2]


def test_what_is_erased_leaves_no_trace(kind: Kind) -> None:
    store = kind.store
    put(store, "a", "b")
    put(store, "a", raw="Another secret text of a.", path="secret/path")
    drop(store, "b")
    put(store, "b")
    drop(store, "a", "b", erase=True)
    assert (ids(store), kind.trash.runs()) == ([], [])
    log = kind.audit.read("main")
    assert verify(log).broken == 0
    for word in (b"notes/a", b"notes/b", b"secret"):
        assert word not in log


def test_without_grace_only_what_is_to_be_kept_is_kept(kind: Kind) -> None:
    store = kind.store
    put(store, "a")
    store.update("main", lambda shelf: Change(header=replace(shelf.header, policy=Policy(grace_days=0))))
    drop(store, "a")
    assert (kind.trash.runs(), kind.told) == ([], [])
    put(store, "a")
    drop(store, "a", keep=True)
    (run,) = kind.trash.runs()
    assert [m.id for m in run.space.objects] == ["mem_a"]
    assert "for 14 days" in kind.told[-1]
    assert (replace(run, command="store sync").grace(0), replace(run, command="gc").grace(0)) == (14, 0)


def test_a_collection_is_noted_and_an_act_is_recorded_by_itself(kind: Kind) -> None:
    kind.audit.record("main", "trust", [])
    put(kind.store, "a")
    kind.audit.record("main", "trust", [], {"fields": []})
    log = kind.audit.read("main")
    assert (verify(log).entries, verify(log).broken) == (3, 0)
    assert [entry["action"] for entry in entries(log)] == ["trust", "create", "trust"]
    assert (kind.audit.read("other"), kind.trash.collected("main")) == (b"", "")
    kind.trash.note_collection("main", NOW)
    assert (kind.trash.collected("main"), kind.trash.collected("none")) == (NOW, "")


def _write_many(place: Place, start: int) -> None:
    kind = reopened(*place)
    store = kind.store
    for n in range(start, start + 10):
        put(store, f"m{n:03d}")
    kind.close()


def test_no_writer_loses_anything(place: Place, kind: Kind) -> None:
    at_once(_write_many, [(place, k * 10) for k in range(3)], "spawn" if place.url else "fork")
    found = verify(kind.audit.read("main"))
    assert (len(ids(kind.store)), found.entries, found.broken) == (30, 30, 0)


changes = st.lists(
    st.tuples(st.lists(memories(), max_size=4, unique_by=lambda m: m.id), st.integers(0, 7), st.booleans(), st.none() | spaces),
    max_size=4,
)  # fmt: skip


def _apply(store: Store, step: tuple[list, int, bool, Space | None], seen: list[object]) -> None:
    wanted, gone, erase, header = step

    def change(shelf: Shelf) -> Change:
        whole = shelf.load()
        known = [m.id for m in whole.objects]
        seen.append((encode_space(whole), shelf.size, shelf.header))
        seen.append((shelf.ids_with_prefix("mem_"), shelf.ids_with_prefix("mem_a")))
        for m in [*whole.objects, *wanted]:
            seen.append((shelf.get(m.id), shelf.at(m.path), shelf.find_by_hash(m.hash) if m.hash else 0))
            seen.append((shelf.under(m.path), shelf.under(m.path.split("/")[0], "zz")))
        dropped = frozenset(known[gone : gone + 2]) - {m.id for m in wanted}
        return Change(tuple(wanted), dropped, NOW, header and replace(header, name="main", objects=()), erase=erase)

    seen.append(store.update("main", change))


@given(changes)
@examples(0.4)
def test_the_same_changes_make_the_same_of_every_store(
    postgres: str, tmp_path_factory: pytest.TempPathFactory, steps: list
) -> None:
    """Byte for byte: what the file of a space would be, what its trash keeps and what its log says."""
    with new_schema(postgres) as schema:
        kinds = [in_files(tmp_path_factory.mktemp("files")), on_server(postgres, schema)]
        seen: list[list[object]] = [[], []]
        for kind, looked in zip(kinds, seen, strict=True):
            for step in steps:
                _apply(kind.store, step, looked)
            looked += [encode_space(kind.store.open("main").load()), kind.trash.runs()]
            looked += [kind.audit.read("main"), kind.told]
            kind.close()
        assert seen[0] == seen[1]
