"""Changes that are made only if a memory is stored as it was read."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from memcli.app.catalogue import get, get_with_digests
from memcli.app.edit import edit, forget, pin, tag
from memcli.app.purge import purge
from memcli.app.workspace import Workspace
from memcli.errors import ChangedError, ConflictError
from memcli.model.space import Change
from tests.conftest import Run, memory

CHANGES: list[Callable[[Workspace, str], Any]] = [
    lambda workspace, digest: edit(workspace, "mem_a", {"kind": "decision"}, digest=digest),
    lambda workspace, digest: forget(workspace, ["mem_a"], digest=digest),
    lambda workspace, digest: pin(workspace, ["mem_a"], pinned=True, digest=digest),
    lambda workspace, digest: tag(workspace, ["mem_a"], ["x"], [], digest),
    lambda workspace, digest: purge(workspace, ["mem_a"], digest=digest),
]


@pytest.mark.parametrize("change", CHANGES)
def test_only_what_has_changed_meanwhile_is_left_alone(workspace: Workspace, change: Callable[..., Any]) -> None:
    workspace.store.update("main", lambda _: Change((memory("a"),)))
    ((_, digest),), _ = get_with_digests(workspace, ["mem_a"])
    pin(workspace, ["mem_a"], pinned=True)
    before = get(workspace, ["mem_a"])
    with pytest.raises(ChangedError) as found:
        change(workspace, digest)
    assert isinstance(found.value, ConflictError)
    assert get(workspace, ["mem_a"]) == before
    ((_, digest),), _ = get_with_digests(workspace, ["mem_a"])
    change(workspace, digest)


def test_a_digest_on_the_command_line(run: Run) -> None:
    run("remember", "The limit is 1.", "--path", "limit")
    digest = json.loads(run("get", "limit", "--digest", "--json").out)["digest"]
    assert run("edit", "limit", "--set", "kind=decision", "--if-digest", digest).code == 0
    for line in (
        ("edit", "limit", "--text", "x"), ("pin", "limit"), ("edit", "limit", "--tag", "x"), ("forget", "limit"),
    ):  # fmt: skip
        done = run(*line, "--if-digest", digest)
        assert (done.code, done.err) == (4, "memcli: limit has changed (read it again, and decide anew)\n")
    assert run("forget", "limit", "--purge", "--yes", "--if-digest", digest).code == 4
    assert run("pin", "limit", "other", "--if-digest", digest).code == 2
    assert run("forget", "limit", "--recursive", "--if-digest", digest).code == 2
    assert run("edit", "limit", "--if-digest", digest).code == 2
