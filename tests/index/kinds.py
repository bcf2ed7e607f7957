"""The kinds of stores whose index keeps the same promises, and what tests of both ask of it."""

from __future__ import annotations

import pytest

from memcli.app.recall import recall
from memcli.app.workspace import Workspace
from memcli.model.memory import Memory
from memcli.model.recall import Bundle, Query
from tests.conftest import NOW, memory, rewrite

KINDS = ["files", "server"]
on_both = pytest.mark.parametrize("workspace", KINDS, indirect=True)


def put(workspace: Workspace, *memories: Memory) -> None:
    rewrite(workspace.store, lambda space: space.put(memories, NOW))


def asked(workspace: Workspace, topic: str, **options: object) -> Bundle:
    return next(iter(recall(workspace, [Query(topic=topic, now=NOW, **options)])))  # type: ignore[arg-type]


def change(name: str, file: str, text: str, commit: str, **fields: object) -> Memory:
    """What a commit did to a file: its message is the text before the line with the file's name."""
    return memory(
        name,
        kind="diff",
        raw=text,
        path=f"code/{file}/{commit}",
        metadata={"group": commit, "source": file, "subject": text.partition("\n")[0]},
        provenance={"source": "observed", "commit": commit},
        **fields,
    )
