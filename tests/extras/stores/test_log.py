"""What the audit log of another store explains of what that store has."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from memcli.codec.audit import entries, without_paths
from memcli.codec.canonical import encode_line
from memcli.codec.space import memory_digest
from memcli.errors import CorruptError
from memcli.extras.stores.log import PeerLog, doomed, read_log
from memcli.model.links import Lineage, SyncPoint
from memcli.model.memory import Memory
from memcli.model.space import Space
from memcli.record import replace
from tests.conftest import memory, open_at

OLD, NEW, NEWER = (memory("a", raw=text) for text in ("Old.", "New.", "Newer."))
EARLY, LATE = "2026-01-02T00:00:00Z", "2026-01-03T00:00:00Z"


def act(*changes: tuple[Memory | None, Memory | None], **fields: object) -> Mapping[str, Any]:
    told = [{"id": "mem_a", "path": "notes/a", "before": digest(b), "after": digest(a)} for b, a in changes]
    return {"n": 1, "hash": "3:x", "time": "2026-01-02T00:00:00Z", "changes": told, **fields}


def digest(one: Memory | None) -> str:
    return memory_digest(one) if one else ""


@pytest.mark.parametrize(
    ("after", "acts", "is_explained"),
    [
        (OLD, [], True),
        (NEW, [act((OLD, NEW))], True),
        (NEWER, [act((OLD, NEW)), act((NEW, NEWER))], True),
        (None, [act((OLD, None))], True),
        (None, [], False),
        (NEW, [], False),
        (None, [act((NEW, None))], False),  # of another state than both had
        (NEW, [act((None, NEW))], False),  # it was lost, and somebody else brought back what they had
        (NEW, [act((OLD, NEW)), act((None, OLD))], True),  # a copy appends what was done elsewhere
        (NEW, [act((OLD, None)), act(created={"count": 60})], True),
        (NEW, [act(created={"count": 60})], False),
    ],
)
def test_a_state_is_explained_by_the_acts_that_lead_to_it(
    after: Memory | None, acts: list[Mapping[str, Any]], is_explained: bool
) -> None:
    space = Space("main", (after,) if after else ())
    earlier = act((OLD, NEWER), (OLD, None))  # before the point
    log = PeerLog(Lineage("id"), [earlier, *acts])
    point = log.point(Space("main", (OLD,)), 1)
    assert log.unexplained(point, space) == ([] if is_explained else ["notes/a"])
    partly = SyncPoint(Space("main"), Lineage("id"), 1, "3:x", {"mem_a": digest(OLD)})  # not taken over yet
    assert bool(log.unexplained(partly, space)) != is_explained
    assert PeerLog(Lineage(), log.acts).unexplained(point, space) == []


def test_a_history_follows_what_it_begins_with() -> None:
    log = PeerLog(Lineage("id", 1, 5), [act(), act(hash="3:y")])
    point = log.point(Space("main"), 1)
    assert log.follows(point)
    assert log.point(Space("main"), 9).entries == 2
    for other in (Lineage("other", 1, 5), Lineage("id", 1, 4), Lineage("id", 0, 9)):
        assert not PeerLog(other, log.acts).follows(point)
    assert PeerLog(Lineage("id", 2, 0), log.acts).follows(point)
    assert not PeerLog(log.lineage, []).follows(point)
    assert not PeerLog(log.lineage, [act(hash="3:z"), act()]).follows(point)


def test_an_erasure_is_of_what_was_made_before_or_until_the_erased_one() -> None:
    """As lines say it that do not name when the memory was made."""
    gone = {"id": "mem_a", "before": digest(OLD), "after": ""}
    log = PeerLog(Lineage("id"), [act((None, OLD)), act((OLD, None), time="2026-01-03T00:00:00Z"), act(changes=[gone])])
    assert log.erased() == {"mem_a": ("2026-01-02T00:00:00Z", 1)}
    anew = PeerLog(Lineage("id"), [*log.acts, act((None, NEW), time="2026-01-04T00:00:00Z")])
    assert anew.erased() == log.erased()  # a clone may still have the one that was erased
    gone = {"id": "mem_a", "before": digest(OLD), "after": "", "created_at": "2026-01-01T00:00:00Z"}
    log = PeerLog(Lineage("id"), [act((None, OLD)), act(changes=[gone])])
    assert log.erased() == {"mem_a": ("2026-01-01T00:00:00Z", 1)}


def test_an_erasure_of_what_is_made_in_the_future_is_not_believed(tmp_path: Path) -> None:
    workspace = open_at(tmp_path)
    gone = {"id": "mem_a", "before": digest(OLD), "after": "", "created_at": "9999-12-31T23:59:59Z"}
    workspace.audit.append("main", [{"time": EARLY, "action": "delete", "space": "main", "changes": [gone]}])
    assert len(read_log(workspace, "main").acts) == 1
    with pytest.raises(CorruptError, match="which is no time in the past"):
        read_log(workspace, "main", LATE)


def test_a_deletion_whose_path_was_taken_out_with_another_memory_is_no_erasure() -> None:
    line = encode_line({**act((OLD, None)), "prev": "", "hash": "3:x"})
    other = encode_line({**act(), "n": 2, "changes": [{"id": "mem_b", "path": "notes/a", "before": "", "after": "y"}]})
    hidden = tuple(entries(without_paths(line + b"\n" + other, {"mem_b"})))
    assert b"notes/a" not in encode_line(hidden)
    assert PeerLog(Lineage("id"), hidden).erased() == {}


def test_what_was_erased_is_doomed_unless_it_was_brought_back() -> None:
    old, new = (Space("main", (replace(OLD, created_at=time),)) for time in (EARLY, LATE))
    nothing = Space("main")
    for there, gone in ((nothing, True), (new, True), (old, False)):
        assert doomed({"mem_a": EARLY}, there, old) == ({"mem_a": EARLY} if gone else {})
        assert doomed({"mem_a": EARLY}, there, new) == {}
