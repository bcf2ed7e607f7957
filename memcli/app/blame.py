"""Blame: the commit that last changed each field of a memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from memcli.app.lookup import load
from memcli.app.workspace import Workspace
from memcli.codec.canonical import encode
from memcli.codec.memory import memory_to_json
from memcli.codec.space import find_memory
from memcli.errors import CorruptError
from memcli.model.changes import Blame, Commit
from memcli.model.memory import Memory
from memcli.ports import History

_UNTOLD = frozenset(["id", "created_at", "updated_at", "version"])
_ADDED = ""  # stands among the fields for the memory itself
_Fields = Mapping[str, bytes]


def blame(workspace: Workspace, history: History, ref: str) -> Blame:
    """Who wrote what of the memory that `ref` names. Raises NotFoundError, CorruptError, ProviderError."""
    memory = load(workspace).find(ref)
    now = _fields(memory)
    start = history.commit("HEAD")
    with history.reading() as read:
        found = _Walk(history, read, memory.id, now).run(start, f"{workspace.space}.json")
    fields = tuple((name, found.get(name)) for name in sorted(now) if name != _ADDED)
    return Blame(memory, found.get(_ADDED), fields)


class _Walk:
    """From a commit back along the history of one file: a field goes to each parent that has it as it is now, and
    where none has it, the commit is to blame."""

    def __init__(
        self, history: History, read: Callable[[str, str], bytes | None], identifier: str, now: _Fields
    ) -> None:
        self._history = history
        self._read = read
        self._id = identifier
        self._now = now
        self._known: dict[tuple[str, str], _Fields] = {}
        self._found: dict[str, Commit] = {}

    def run(self, start: str, name: str) -> dict[str, Commit]:
        """The commit to blame for each field; those are missing that `start` does not have as they are now."""
        places = [(start, name, self._shared(start, name, set(self._now)))]
        while places:
            commit, file, wanted = places.pop()
            places += self._along(commit, file, wanted) if wanted else []
        return self._found

    def _along(self, start: str, name: str, wanted: set[str]) -> list[tuple[str, str, set[str]]]:
        """Walks the commits that know the file by this name; returns where it came from, and which fields with it."""
        origins = []
        commits = self._history.commits(start, name)
        pending: dict[str, set[str]] = {commits[0].hash: wanted} if commits else {}
        for commit in commits:
            left = pending.pop(commit.hash, set())
            for parent in commit.parents if left else ():
                passed = self._shared(parent, name, left)
                pending.setdefault(parent, set()).update(passed)
                left = left - passed
            if left and not commit.parents and (origin := self._history.renamed_from(commit.hash, name)):
                older, parent = origin
                passed = self._shared(parent, older, left)
                origins.append((parent, older, passed))
                left = left - passed
            self._found.update((field, commit) for field in left)
        return origins

    def _shared(self, commit: str, name: str, fields: set[str]) -> set[str]:
        """Those of `fields` that the memory has at this commit as it has them now."""
        then = self._known.get((commit, name))
        if then is None:
            then = self._known[commit, name] = self._at(commit, name)
        return {field for field in fields if then.get(field) == self._now[field]}

    def _at(self, commit: str, name: str) -> _Fields:
        data = self._read(commit, name)
        try:
            memory = find_memory(data, self._id, f"{commit[:10]}:{name}") if data else None
        except CorruptError:  # a file that was broken for a while tells nothing
            memory = None
        return {} if memory is None else _fields(memory)


def _fields(memory: Memory) -> _Fields:
    """Each field as its bytes, the metadata key by key."""
    data = memory_to_json(memory)
    metadata = {
        f"metadata.{name}": value for name, value in data.pop("metadata").items() if name not in ("hash", "space")
    }
    told = {name: encode(value) for name, value in {**data, **metadata}.items() if name not in _UNTOLD}
    return {_ADDED: b"", **told}
