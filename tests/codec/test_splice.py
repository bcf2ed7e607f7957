"""A splice must be the file that a full rewrite gives, and its look-ups those of the parsed space."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memcli.codec import window
from memcli.codec.space import SpaceForm, encode_item, encode_space
from memcli.codec.splice import SpliceShelf
from memcli.codec.window import ByteRange, Piece
from memcli.model.memory import Memory
from memcli.model.space import Change, Space, change_between, is_under
from memcli.policy.draft import Draft
from memcli.record import replace
from tests.codec.test_window import over
from tests.conftest import examples
from tests.strategies import memories, spaces


def distinct(space: Space) -> Space:
    """The space with each id and each path once, in order."""
    by_path = {m.path: m for m in {m.id: m for m in space.objects}.values()}
    return replace(space, objects=tuple(sorted(by_path.values(), key=lambda m: m.order)))


def shelf_of(space: Space) -> SpliceShelf:
    return SpliceShelf(encode_space(space), "main.json")


def windowed(space: Space) -> SpliceShelf:
    """The same, over bytes that are read as they are needed."""
    return SpliceShelf(over(encode_space(space)), "main.json")


def spliced(space: Space, change: Change) -> bytes:
    whole = joined(shelf_of(space).spliced(change))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(window, "WINDOW", 100)
        patch.setattr(window, "HELD", 0)
        assert joined(windowed(space).spliced(change)) == whole
    return whole


def joined(pieces: Sequence[Piece]) -> bytes:
    return b"".join(b"".join(piece) if isinstance(piece, ByteRange) else piece for piece in pieces)


def rewritten(space: Space, change: Change) -> Space:
    header = change.header or space
    return replace(space.put(change.put, "").drop(change.drop, ""), **{
        name: getattr(header, name) for name in ("metadata", "policy", "updated_at", "version", "extra")
    })  # fmt: skip


@st.composite
def changes(draw: st.DrawFn, space: Space) -> Change:
    known = list(space.objects)
    put = {m.id: m for m in draw(st.lists(memories(), max_size=4))}
    if known:
        for old in draw(st.lists(st.sampled_from(known), max_size=4)):
            new = draw(memories())
            put[old.id] = replace(new, id=old.id)
    drop = draw(st.sets(st.sampled_from([m.id for m in known]))) if known else set()
    header = draw(st.none() | spaces)
    return Change(
        tuple(put.values()),
        frozenset(drop - put.keys()),
        header=header and replace(header, name=space.name, objects=()),
    )


@given(spaces.map(distinct), st.data())
def test_a_splice_is_a_full_rewrite(space: Space, data: st.DataObject) -> None:
    change = data.draw(changes(space))
    assert spliced(space, change) == encode_space(rewritten(space, change))


@examples(0.4)
@given(spaces.map(distinct), spaces.map(distinct))
def test_what_lies_between_two_spaces_makes_one_the_other(one: Space, other: Space) -> None:
    other = replace(other, name=one.name)
    assert spliced(one, change_between(one, other)) == encode_space(other)


@given(spaces.map(distinct), st.booleans(), st.sampled_from((shelf_of, windowed)))
def test_everything_is_found(space: Space, warm: bool, opened: Callable[[Space], SpliceShelf]) -> None:
    shelf = opened(space)
    if warm:  # more than a few searches, and a table answers
        for n in range(10):
            assert shelf.get(f"nothing {n}") is None
    assert shelf.size == len(space.objects)
    assert shelf.load() == space
    assert shelf.header == replace(space, objects=())
    assert shelf.ids_with_prefix("") == sorted(m.id for m in space.objects)
    by_hash: dict[str, list[Memory]] = {}
    for memory in space.objects:
        by_hash.setdefault(memory.hash, []).append(memory)
        assert shelf.get(memory.id) == memory
        assert shelf.at(memory.path) == memory
        assert shelf.stored(memory.id) == encode_item(memory, SpaceForm(space.name))
        below = {m.id for m in space.objects if is_under(m.path, memory.path)}
        assert {m.id for m in shelf.under(memory.path)} == below
        assert shelf.under(memory.path, f"{memory.path}/", "none") == shelf.under(memory.path)
    for digest, same in by_hash.items():
        if digest:
            assert shelf.find_by_hash(digest) == same
    assert shelf.get("mem") is None or "mem" in {m.id for m in space.objects}
    assert shelf.stored("not there") == b""


@examples(0.4)
@given(spaces.map(distinct), st.data())
def test_a_draft_looks_like_what_it_will_become(space: Space, data: st.DataObject) -> None:
    draft, model = Draft(shelf_of(space)), space
    for _ in range(3):
        change = data.draw(changes(model))
        draft.take(change)
        model = rewritten(model, change)
    assert draft.load() == model
    assert draft.size == len(model.objects)
    assert draft.header == replace(model, objects=())
    assert draft.ids_with_prefix("") == sorted(m.id for m in model.objects)
    for memory in model.objects:
        assert draft.get(memory.id) == memory
        assert draft.at(memory.path) in [m for m in model.objects if m.path == memory.path]
        if memory.hash:
            assert draft.find_by_hash(memory.hash) == [m for m in model.objects if m.hash == memory.hash]
    assert spliced(space, draft.change()) == encode_space(model)
