"""A reference names one memory, whether a space, a shelf or the trash is asked."""

from __future__ import annotations

import pytest

from memcli.codec.space import encode_space
from memcli.codec.splice import SpliceShelf
from memcli.errors import NotFoundError, UsageError
from memcli.model.memory import Memory
from memcli.model.space import Space, find_reference, is_named
from memcli.policy.draft import find


def _memory(name: str, path: str) -> Memory:
    time = "2026-01-01T00:00:00Z"
    return Memory(id=name, path=path, kind="note", raw="text", created_at=time, updated_at=time)


# The path of the first is the id of the last.
SPACE = Space("default", (_memory("aa1", "bb1"), _memory("aa2", "notes/two"), _memory("bb1", "aa")))
SHELF = SpliceShelf(encode_space(SPACE), "default")


def test_a_reference_names_an_id_a_path_or_the_beginning_of_one_id() -> None:
    for ref, name in {"aa1": "aa1", "notes/two": "aa2", "aa2": "aa2", "bb": "bb1", "bb1": "bb1", "aa": "bb1"}.items():
        assert SPACE.find(ref).id == find(SHELF, ref).id == name


def test_space_and_shelf_refuse_in_the_same_words() -> None:
    cases = [
        ("a", UsageError, "'a' matches 2 ids in space 'default'"),
        ("", NotFoundError, "no memory '' in space 'default'"),
        ("notes", NotFoundError, "no memory 'notes' in space 'default'"),
    ]
    for ref, kind, message in cases:
        for ask in (SPACE.find, lambda ref: find(SHELF, ref)):
            with pytest.raises(kind) as caught:
                ask(ref)
            assert caught.value.message == message


def test_what_is_exact_counts_before_what_only_begins_so() -> None:
    ids = {"ab": 1, "ac": 2}
    assert find_reference("a", 3, list(ids), ids.get, "here") == 3
    assert find_reference("ab", None, ["ab"], ids.get, "here") == 1
    with pytest.raises(NotFoundError) as caught:
        find_reference("x", None, [], ids.get, "the trash", "look elsewhere")
    assert (caught.value.message, caught.value.hint) == ("no memory 'x' in the trash", "look elsewhere")


def test_a_memory_is_named_by_its_id_and_its_path_alone() -> None:
    memory = SPACE.objects[1]
    assert is_named(memory, ["x", "aa2"])
    assert is_named(memory, ["notes/two"])
    assert not is_named(memory, ["aa", "notes"])
