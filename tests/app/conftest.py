"""What tests of use cases share: a store in a folder, and what is done to it by the functions of memcli/app."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from memcli.app import session as sessions
from memcli.app import session_end
from memcli.app.catalogue import get, newest
from memcli.app.check import check
from memcli.app.edit import edit, forget, pin
from memcli.app.inbox import offer, waiting
from memcli.app.purge import purge
from memcli.app.recall import recall
from memcli.app.remember import Outcome, Stored, prepare, remember
from memcli.app.workspace import Workspace, load_space
from memcli.extras.check.repair import check_store, format_space, space_names
from memcli.extras.inbox.review import accept, reject, show
from memcli.extras.links.linking import link, unlink
from memcli.extras.spaces.managing import set_policy
from memcli.extras.stores.log import log
from memcli.model.catalogue import CatalogueFilter
from memcli.model.conversation import Session
from memcli.model.findings import Failure, Resolution
from memcli.model.memory import Memory
from memcli.model.recall import Bundle, Query
from memcli.store.layout import Layout
from memcli.wiring.roots import make_store
from memcli.wiring.workspace import open_workspace
from tests.conftest import rewrite

LATER = "2026-06-01T00:00:00Z"


@dataclass
class Given:
    """A source whose candidates a test gives."""

    fields: Sequence[Mapping[str, object]]
    skipped: Mapping[str, int] = field(default_factory=dict)
    failed: Sequence[Failure] = ()

    def candidates(self) -> Iterator[Mapping[str, object]]:
        yield from self.fields


class Project:
    """A store in a folder. Each act is in the space and at the time that are given, by a workspace of its own."""

    def __init__(self, folder: Path, **environ: str) -> None:
        make_store({"root": str(folder)}, {})
        self.folder, self.root = folder, folder / ".memory"
        self.environ = environ
        self.notes: list[str] = []
        """What users are warned of."""

    def over(self, space: str = "", now: str = "") -> Workspace:
        """The store as a new process opens it; the spaces beside `main` are read with it where none is named."""
        options = {"root": str(self.folder), "space": space or None, "freeze_clock": now or None}
        return open_workspace(options, {**os.environ, **self.environ}, warn=self.notes.append)

    def add(self, text: str, path: str = "", *, space: str = "", now: str = "", **fields: Any) -> Outcome:
        """Stores a text; `supersedes` names what it takes the place of, and `checked` says that it is compared."""
        over, supersedes, checked = self.over(space, now), fields.pop("supersedes", None), fields.pop("checked", False)
        candidates = [prepare(over, {"raw": text, **({"path": path} if path else {}), **fields})]
        resolution = Resolution(check(over, candidates)) if checked else None
        return remember(over, candidates, supersedes, resolution=resolution).outcomes[0]

    def fill(self, *paths: str, space: str = "", **fields: Any) -> None:
        """Stores a text at each path, of the kind that the first folder of the path names."""
        for path in paths:
            self.add(f"The text of {path}.", path, space=space, **{"kind": path.partition("/")[0], **fields})

    def put(self, *memories: Memory, space: str = "main") -> None:
        """Writes memories past every check, as somebody does who edits the file."""
        rewrite(self.over().store, lambda before: before.put(memories, self.over().clock()), space)

    def propose(self, text: str, path: str = "", *, space: str = "", **fields: Any) -> Outcome:
        over, supersedes = self.over(space), fields.pop("supersedes", None)
        candidate = prepare(over, {"raw": text, **({"path": path} if path else {}), **fields})
        return offer(over, [candidate], supersedes, propose_all=True).outcomes[0]

    def waiting(self, space: str = "") -> list[str]:
        """The paths of what waits for review."""
        return [memory.path for memory in waiting(self.over(space))]

    def accept(self, *refs: str, space: str = "") -> Stored:
        """Accepts what is named, or else all."""
        over = self.over(space)
        return accept(over, show(over, refs) if refs else waiting(over))

    def reject(self, *refs: str, space: str = "") -> None:
        over = self.over(space)
        reject(over, show(over, refs))

    def edit(self, ref: str, *, space: str = "", now: str = "", **fields: Any) -> Memory:
        return edit(self.over(space, now), ref, fields)[0]

    def pin(self, *refs: str, space: str = "", now: str = "") -> None:
        pin(self.over(space, now), refs, True)

    def forget(self, *refs: str, space: str = "", recursive: bool = False) -> None:
        forget(self.over(space), refs, recursive)

    def purge(self, *refs: str, space: str = "", now: bool = False) -> Any:
        return purge(self.over(space), refs, now=now)

    def link(self, start: str, end: str, relation: str = "relates_to", weight: float | None = None) -> Any:
        return link(self.over(), start, end, relation, weight)

    def unlink(self, start: str, end: str, relation: str | None = None) -> Any:
        return unlink(self.over(), start, end, relation)

    def policy(self, space: str = "main", **fields: Any) -> None:
        """Sets fields of a policy; None takes one back."""
        set_policy(self.over(), space, fields)

    def stored(self, space: str = "main") -> dict[str, Memory]:
        """The memories of a space by their paths, as they are in the file."""
        return {memory.path: memory for memory in load_space(self.over().store, space).objects}

    def get(self, ref: str, space: str = "") -> Memory:
        return get(self.over(space), [ref])[0]

    def listed(self, space: str = "") -> list[str]:
        """The paths of what `memcli list` shows."""
        with newest(self.over(space), CatalogueFilter()) as found:
            return sorted(memory.path for memory in found.memories)

    def recall(self, topic: str, *, space: str = "", with_talk: bool = False, **query: Any) -> Bundle:
        over = self.over(space)
        return next(recall(over, [Query(topic=topic, now=over.clock(), **query)], with_talk=with_talk))

    def recalled(self, topic: str, **query: Any) -> list[str]:
        """The paths of what is recalled, the best first."""
        return [section.memory.path for section in self.recall(topic, **query).sections]

    def trashed(self, space: str = "") -> list[str]:
        """The paths of what can be restored."""
        return sorted(m.path for run in self.over(space).trash.runs() for m in run.space.objects)

    def acts(self, space: str = "", ref: str | None = None) -> list[dict[str, Any]]:
        """What the audit log has of a space."""
        return log(self.over(space), None, None, ref)

    def say(self, *said: str | tuple[str, str], session: str = "", space: str = "", **at: str) -> Session:
        """Adds what a user, or who is named, says to a session, or else to a new one."""
        over = self.over(space)
        name = session or sessions.start(over, at.pop("title", "")).id
        for one in said:
            role, text = one if isinstance(one, tuple) else ("user", one)
            sessions.add(over, name, role, text, **at)  # type: ignore[arg-type]
        return sessions.find(over, name)

    def end(self, session: Session, outcome: str = "") -> session_end.Ended:
        """Ends a session; one that has ended goes on before."""
        over = self.over("" if session.space == "main" else session.space)
        sessions.change_state(over, session.id, "active")
        return session_end.end(over, sessions.find(over, session.id), outcome)

    def bytes(self, space: str = "main") -> bytes:
        return (self.root / "spaces" / f"{space}.json").read_bytes()

    def holding(self, *words: bytes) -> list[str]:
        """The files of the store that contain one of the words."""
        files = [path for path in self.root.rglob("*") if path.is_file()]
        return [str(path) for path in files if any(word in path.read_bytes() for word in words)]

    def damage(self) -> Sequence[Any]:
        """What `memcli check store` and `memcli store fmt --check` find."""
        layout = Layout(str(self.root))
        found = [damage for damage, _ in check_store(layout, lambda _: None, repair=False)]
        return found or [name for name in space_names(layout, ()) if not format_space(layout, name, check=True)]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A new, empty store."""
    return Project(tmp_path)
