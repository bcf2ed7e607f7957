"""The parts of an installation: each knows how to come into the text of a file, how to leave it, and whether it is there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

from memcli.extras.agents import splice
from memcli.extras.agents.splice import Splice
from memcli.model.memory import Json
from memcli.record import Record

ACTIVE, STALE, ABSENT, FOREIGN = "active", "stale", "absent", "foreign"
INSTRUCTIONS, MCP, HOOKS, SKILL = ROLES = ("instructions", "mcp", "hooks", "skill")
_OURS = "memcli"


class InstalledPart(Protocol):
    """One part in one file. `role` is one of ROLES; `file` is relative to the folder of the scope. Texts are whole files.

    All raise UsageError for a text that is not what the file should hold.
    """

    @property
    def role(self) -> str: ...

    @property
    def file(self) -> str: ...

    @property
    def key(self) -> str:
        """What the part takes in the file: parts with the same file and key are shared by agents."""

    def put(self, text: str) -> Splice | None:
        """What brings it into the text, or up to date; None if that is done, or if something foreign is in its place."""

    def remove(self, text: str) -> Splice | None:
        """The next thing to take out of the text; None once nothing of it is left."""

    def state(self, text: str) -> str:
        """`active`, `stale`, `absent`, or `foreign` if something else is in its place."""


class InstructionBlock(Record):
    """The block of instructions. With `unless`, it is not needed in a text that has this line."""

    file: str
    body: str
    unless: str = ""
    role: str = INSTRUCTIONS
    key: str = "block"

    def put(self, text: str) -> Splice | None:
        return None if self._is_needless(text) else splice.put_block(text, self.body)

    def remove(self, text: str) -> Splice | None:
        return splice.remove_block(text)

    def state(self, text: str) -> str:
        if self._is_needless(text) or (splice.has_block(text) and self.put(text) is None):
            return ACTIVE
        return STALE if splice.has_block(text) else ABSENT

    def _is_needless(self, text: str) -> bool:
        lines = [line.strip() for line in text.splitlines()]
        return bool(self.unless) and not splice.has_block(text) and self.unless in lines


class Whole(Record):
    """A file of memcli's own. `mark` is in every version of it."""

    file: str
    text: str
    role: str
    mark: str
    is_executable: bool = False
    key: str = "file"

    def put(self, text: str) -> Splice | None:
        return Splice(0, len(text), self.text) if self.state(text) in (ABSENT, STALE) else None

    def remove(self, text: str) -> Splice | None:
        return Splice(0, len(text), "") if text and self.state(text) in (ACTIVE, STALE) else None

    def state(self, text: str) -> str:
        if not text:
            return ABSENT
        if text.replace("\r\n", "\n") == self.text:
            return ACTIVE
        return STALE if self.mark in text else FOREIGN


class JsonValue(Record):
    """A value under a key of memcli's own in a JSON file."""

    file: str
    path: tuple[str, ...]
    value: Json
    role: str = MCP

    @property
    def key(self) -> str:
        return ".".join(self.path)

    def put(self, text: str) -> Splice | None:
        return splice.put(text, self.path, self.value)

    def remove(self, text: str) -> Splice | None:
        return _remove_with_empty(text, self.path)

    def state(self, text: str) -> str:
        found = splice.find(text, self.path)
        if found is None:
            return ABSENT
        return ACTIVE if found.value == self.value else STALE


class JsonDefault(Record):
    """A value that a JSON file must have, and that others may have set: it is made if missing, and never changed."""

    file: str
    path: tuple[str, ...]
    value: Json
    role: str = HOOKS

    @property
    def key(self) -> str:
        return ".".join(self.path)

    def put(self, text: str) -> Splice | None:
        return splice.put(text, self.path, self.value) if splice.find(text, self.path) is None else None

    def remove(self, text: str) -> Splice | None:
        """It goes only with all that it was made for."""
        node = splice.parse(text)
        is_alone = node is not None and len(node.members) == 1 and node.value == {self.path[0]: self.value}
        return splice.remove(text, self.path) if is_alone else None

    def state(self, text: str) -> str:
        return ABSENT if splice.find(text, self.path) is None else ACTIVE


class JsonHook(Record):
    """A hook in a list of a JSON file, known by its command, which is in the entry or in its list `hooks`."""

    file: str
    path: tuple[str, ...]
    entry: Mapping[str, Json]
    command: str
    role: str = HOOKS

    @property
    def key(self) -> str:
        return self.command

    def put(self, text: str) -> Splice | None:
        found = list(self._own(text))
        if not found:
            return splice.append(text, self.path, dict(self.entry))
        index, entry = found[0]
        if entry == self.entry or not self._is_alone(entry):
            return None
        node = splice.find(text, self.path)
        assert node is not None
        return splice.replaced(text, node.members[index].node, dict(self.entry))

    def remove(self, text: str) -> Splice | None:
        for index, entry in self._own(text):
            if self._is_alone(entry):
                node = splice.find(text, self.path)
                if node is not None and len(node.members) == 1:
                    return _remove_with_empty(text, self.path)
                return splice.remove(text, self.path, index)
            return self._remove_handler(text, index)
        return None

    def state(self, text: str) -> str:
        found = [entry for _, entry in self._own(text)]
        if not found:
            return ABSENT
        return ACTIVE if found[0] == self.entry or not self._is_alone(found[0]) else STALE

    def handlers(self, text: str) -> Iterator[tuple[int, int, Mapping[str, Json], Mapping[str, Json]]]:
        """Each handler of memcli's in a group: the places of both, the group and the handler."""
        for index, entry in self._own(text):
            for n, handler in enumerate(_handlers(entry)):
                if isinstance(entry, dict) and isinstance(handler, dict) and self._is_handler(handler):
                    yield index, n, entry, handler

    def _own(self, text: str) -> Iterator[tuple[int, Json]]:
        for index, entry in splice.items(splice.find(text, self.path)):
            if any(self._is_handler(handler) for handler in (entry, *_handlers(entry))):
                yield index, entry

    def _is_handler(self, handler: Json) -> bool:
        return isinstance(handler, dict) and any(
            str(handler.get(name, "")).startswith(self.command) for name in ("command", "bash")
        )

    def _is_alone(self, entry: Json) -> bool:
        return all(self._is_handler(handler) for handler in _handlers(entry))

    def _remove_handler(self, text: str, index: int) -> Splice | None:
        """Takes the hook out of an entry that somebody has added others to."""
        node = splice.find(text, self.path)
        assert node is not None
        inner = node.members[index].node.find("hooks")
        if inner is None:
            return None
        for n, handler in splice.items(inner.node):
            if self._is_handler(handler):
                return splice.removed(text, inner.node, n)
        return None


class RetiredHook(JsonHook):
    """A hook that older versions installed: it is taken out where it is found."""

    def put(self, text: str) -> Splice | None:
        return self.remove(text)

    def state(self, text: str) -> str:
        return STALE if any(True for _ in self._own(text)) else ACTIVE


class TomlTable(Record):
    """A table of memcli's own in a TOML file."""

    file: str
    path: tuple[str, ...]
    values: splice.TomlValues
    role: str = MCP

    @property
    def key(self) -> str:
        return ".".join(self.path)

    def put(self, text: str) -> Splice | None:
        return splice.put_table(text, self.path, self.values)

    def remove(self, text: str) -> Splice | None:
        return splice.remove_table(text, self.path)

    def state(self, text: str) -> str:
        if splice.table_at(text, self.path) is None:
            return ABSENT
        return ACTIVE if self.put(text) is None else STALE


def _handlers(entry: Json) -> Sequence[Json]:
    inner = entry.get("hooks") if isinstance(entry, dict) else None
    return inner if isinstance(inner, list) else ()


def _remove_with_empty(text: str, path: Sequence[str]) -> Splice | None:
    """Removes a member, and what holds nothing else: no empty key is left that an agent might refuse."""
    if splice.find(text, path) is None:
        return None
    depth = len(path)
    while depth > 1:
        holder = splice.find(text, path[: depth - 1])
        if holder is None or len(holder.members) != 1:
            break
        depth -= 1
    return splice.remove(text, path[:depth])
