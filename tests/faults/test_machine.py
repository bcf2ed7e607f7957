"""Any sequence of operations, faults and hand edits on a store, against a plain model of it.

HYPOTHESIS_PROFILE=long runs 2,000 sequences.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from memcli.app.workspace import Workspace
from memcli.codec.space import encode_space
from memcli.errors import CorruptError, NotFoundError, StoreError
from memcli.model.memory import Memory
from memcli.model.space import Policy, Space
from memcli.record import replace
from tests import strategies
from tests.conftest import NOW, open_at, rewrite
from tests.faults.inject import ERRNOS, Dead, Fault, Watched
from tests.faults.judge import MAY_BE_THERE
from tests.faults.scene import fast_folder

_NAMES = ("main", "other")
_IDS = tuple(f"mem_{n}" for n in range(6))
names = st.sampled_from(_NAMES)
members = st.builds(
    lambda memory, name, at: replace(memory, id=name, updated_at=at),
    strategies.memories(),
    st.sampled_from(_IDS),
    st.sampled_from(["2020-01-01T00:00:00Z", "2026-01-31T09:30:00Z", "2030-05-05T05:05:05Z"]),
)
batches = st.lists(members, min_size=1, max_size=3, unique_by=lambda m: m.id)


class StoreMachine(RuleBasedStateMachine):
    """`model` holds the spaces that there must be; `untidy` those whose file a hand has left in another form."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="memcli-machine-", dir=fast_folder()))
        self.model: dict[str, Space] = {}
        self.untidy: set[str] = set()
        self.workspace: Workspace = open_at(self.folder)

    def teardown(self) -> None:
        shutil.rmtree(self.folder)

    def file(self, name: str) -> Path:
        return self.folder / ".memory" / "spaces" / f"{name}.json"

    def change(self, name: str, after: Space) -> None:
        """Makes the space `after`, by whatever splice that takes."""
        before = self.model.get(name, Space(name))
        rewrite(self.workspace.store, lambda _: after, name)
        if after != before:
            self.model[name] = after
            self.untidy.discard(name)

    @rule(name=names, batch=batches)
    def put(self, name: str, batch: list[Memory]) -> None:
        self.change(name, self.model.get(name, Space(name)).put(batch, NOW))

    @rule(name=names, ids=st.sets(st.sampled_from(_IDS), max_size=3))
    def drop(self, name: str, ids: set[str]) -> None:
        self.change(name, self.model.get(name, Space(name)).drop(ids, NOW))

    @rule(name=names, batch=batches, ids=st.sets(st.sampled_from(_IDS), max_size=3))
    def both(self, name: str, batch: list[Memory], ids: set[str]) -> None:
        self.change(name, self.model.get(name, Space(name)).drop(ids, NOW).put(batch, NOW))

    @rule(
        name=names,
        metadata=st.dictionaries(strategies.words, strategies.json_values, max_size=2),
        days=st.integers(0, 9),
    )
    def header(self, name: str, metadata: dict[str, object], days: int) -> None:
        space = self.model.get(name, Space(name))
        self.change(name, replace(space, metadata=metadata, policy=Policy(ttl_days=days), updated_at=NOW))

    @rule(name=names)
    def delete(self, name: str) -> None:
        try:
            self.workspace.store.delete(name, lambda _: None)
            assert name in self.model
        except NotFoundError:
            assert name not in self.model
        self.model.pop(name, None)
        self.untidy.discard(name)

    @rule()
    def reopen(self) -> None:
        self.workspace = open_at(self.folder)

    @rule()
    def lose_the_cache(self) -> None:
        self.workspace = open_at(self.folder)
        shutil.rmtree(self.folder / ".memory" / "cache", ignore_errors=True)

    @rule(name=names, tail=st.sampled_from(["", "1"]), data=st.binary(max_size=9))
    def leave_a_temporary_file(self, name: str, tail: str, data: bytes) -> None:
        self.file(name).with_name(f".{name}.json.tmp-{tail}").write_bytes(data)

    @precondition(lambda self: self.model)
    @rule(data=st.data(), form=st.sampled_from(["compact", "indented", "crlf", "reversed"]))
    def edit_by_hand(self, data: st.DataObject, form: str) -> None:
        """The same content in other bytes."""
        name = data.draw(st.sampled_from(sorted(self.model)))
        tree = json.loads(self.file(name).read_bytes())
        if form == "reversed":
            tree["objects"].reverse()
        text = json.dumps(
            tree, indent=None if form == "compact" else 4 if form == "indented" else 2, ensure_ascii=False
        )
        self.file(name).write_bytes(text.replace("\n", "\r\n").encode() if form == "crlf" else text.encode())
        self.untidy.add(name)

    @precondition(lambda self: self.model)
    @rule(data=st.data())
    def damage_and_mend(self, data: st.DataObject) -> None:
        """A file cut short is refused and not touched; put back, it is as before."""
        name = data.draw(st.sampled_from(sorted(self.model)))
        whole = self.file(name).read_bytes()
        torn = whole[: data.draw(st.integers(0, len(whole) - 2))].rstrip()
        self.file(name).write_bytes(torn)
        with pytest.raises(CorruptError):
            rewrite(self.workspace.store, lambda space: space.put([], NOW), name)
        assert self.file(name).read_bytes() == torn
        self.file(name).write_bytes(whole)

    @rule(name=names, batch=batches, at=st.integers(0, 30), kind=st.sampled_from(["dead", *ERRNOS]))
    def put_amid_faults(self, name: str, batch: list[Memory], at: int, kind: str) -> None:
        before = self.model.get(name)
        after = (before or Space(name)).put(batch, NOW)
        tidy = name not in self.untidy
        stood = self.file(name).read_bytes() if before is not None else None
        failed = maybe = False
        with Watched(str(self.folder), Fault(at, kind)):
            try:
                rewrite(self.workspace.store, lambda _: after, name)
            except Dead:
                failed = maybe = True
            except StoreError as error:
                failed, maybe = True, bool(MAY_BE_THERE.search(error.message))
            except OSError:
                failed = True  # the command line makes one line of it
        now = self.file(name).read_bytes() if self.file(name).exists() else None
        if not failed:
            assert now == encode_space(after) or (after == before and now == stood)
        else:
            assert now == stood or (maybe and now == encode_space(after))
        if now is not None and now == encode_space(after):
            self.model[name] = after
            self.untidy.discard(name)
        assert tidy or name in self.untidy or now == encode_space(after)

    @invariant()
    def every_file_is_what_the_model_says(self) -> None:
        assert self.workspace.store.spaces() == sorted(self.model)
        for name, space in self.model.items():
            if name not in self.untidy:
                assert self.file(name).read_bytes() == encode_space(space)
            snapshot = self.workspace.store.open(name)
            try:
                assert encode_space(snapshot.load()) == encode_space(space)
                assert replace(snapshot.header(), objects=space.objects) == snapshot.load()
            finally:
                snapshot.close()

    @invariant()
    def the_index_knows_what_is_there(self) -> None:
        for name, space in self.model.items():
            snapshot = self.workspace.store.open(name)
            try:
                view = self.workspace.index.view(snapshot)
                rows = sorted(view.entries())
                assert sorted(m.id for m in view.fetch(rows)) == sorted(m.id for m in space.objects)
                view.close()
            finally:
                snapshot.close()


TestStore = StoreMachine.TestCase
TestStore.settings = settings(
    max_examples=max(50, settings.default.max_examples),  # with half of that, a mutant survives
    stateful_step_count=50 if os.environ.get("HYPOTHESIS_PROFILE") == "long" else 12,
)
