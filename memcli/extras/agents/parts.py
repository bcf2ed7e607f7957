"""The parts of an installation: each adds itself to the text of its file, removes itself, and reports its state.

`put(text)` is the splice that adds or updates a part in the whole text of its file; None if it is up to date, or if something
foreign is in its place. `remove(text)` is the splice that removes the next piece of it; None once nothing of it is left.
`state(text)` is one of the states below. All raise UsageError for a text that is not in the format of the file.

`role` is one of ROLES; `file` is relative to the folder of the scope. Parts of two agents that are equal are one part, which
stays as long as one of the agents is installed.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence

from memcli.errors import UsageError
from memcli.extras.agents import splice
from memcli.extras.agents.splice import Splice
from memcli.model.memory import Json
from memcli.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

ACTIVE, STALE, ABSENT, FOREIGN = "active", "stale", "absent", "foreign"
INSTRUCTIONS, MCP, HOOKS, SKILL = ROLES = ("instructions", "mcp", "hooks", "skill")
# Claude Code removes HTML comments before it injects a file, so the markers cost no tokens.
BEGIN = "<!-- memcli: begin. `memcli agent uninstall` removes this block. -->"
END = "<!-- memcli: end -->"
_BLOCK = re.compile(r"<!-- memcli: begin\b[^\n]*-->.*?<!-- memcli: end -->(?:\r?\n)?", re.DOTALL)


class InstructionBlock(Record):
    """A block of Markdown between markers. A text that has the line `unless`, if that is set, does not need it."""

    file: str
    body: str
    unless: str = ""
    role: str = INSTRUCTIONS

    def put(self, text: str) -> Splice | None:
        return None if self._is_needless(text) else self._splice(text)

    def remove(self, text: str) -> Splice | None:
        """The splice that removes the block, with the blank line before it."""
        found = _BLOCK.search(text)
        if found is None:
            return None
        start = found.start()
        before = text[:start]
        if before.endswith(("\n\n", "\n\r\n")):
            start -= 2 if before.endswith("\r\n") else 1
        return Splice(start, found.end(), "")

    def state(self, text: str) -> str:
        if self._is_needless(text):
            return ACTIVE
        if not _BLOCK.search(text):
            return ABSENT
        return ACTIVE if self._splice(text) is None else STALE

    def _splice(self, text: str) -> Splice | None:
        """The splice that gives the block this body, or adds it at the end of the text; None if it has this body."""
        nl = splice.newline_of(text)
        made = nl.join([BEGIN, *self.body.strip().split("\n"), END]) + nl
        found = _BLOCK.search(text)
        if found is not None:
            made = made if found[0].endswith("\n") else made.removesuffix(nl)
            return None if found[0] == made else Splice(found.start(), found.end(), made)
        return splice.at_end(text, made)

    def _is_needless(self, text: str) -> bool:
        lines = [line.strip() for line in text.splitlines()]
        return bool(self.unless) and not _BLOCK.search(text) and self.unless in lines


class Whole(Record):
    """A file of memcli's own. Every version of it contains `mark`, by which it is recognised."""

    file: str
    text: str
    role: str
    mark: str
    is_executable: bool = False

    def put(self, text: str) -> Splice | None:
        return Splice(0, len(text), self.text) if self.state(text) in (ABSENT, STALE) else None

    def remove(self, text: str) -> Splice | None:
        return Splice(0, len(text), "") if text and self.state(text) in (ACTIVE, STALE) else None

    def state(self, text: str) -> str:
        if not text:
            return ABSENT
        # Git writes files with CRLF where it is set up so.
        if text.replace("\r\n", "\n") == self.text:
            return ACTIVE
        return STALE if self.mark in text else FOREIGN


class JsonValue(Record):
    """A value at a path of a JSON file: memcli's own, or with `is_default` one that the file must have. A default is added
    if missing, and never changed, for others may have set it."""

    file: str
    path: tuple[str, ...]
    value: Json
    role: str = MCP
    is_default: bool = False

    def put(self, text: str) -> Splice | None:
        if self.is_default and splice.find(text, self.path) is not None:
            return None
        return splice.put(text, self.path, self.value)

    def remove(self, text: str) -> Splice | None:
        """The splice that removes the value; a default is removed only when it alone is left in the file."""
        if not self.is_default:
            return _remove_with_empty(text, self.path)
        node = splice.parse(text)
        # opencode adds `$schema` by itself, too: a file with nothing else was made for memcli's entry.
        is_alone = node is not None and len(node.members) == 1 and node.value == {self.path[0]: self.value}
        return splice.remove(text, self.path) if is_alone else None

    def state(self, text: str) -> str:
        found = splice.find(text, self.path)
        if found is None:
            return ABSENT
        return ACTIVE if self.is_default or found.value == self.value else STALE


class JsonHook(Record):
    """A hook in a list of a JSON file, recognised by its command, which is in the entry or in its list `hooks`. A hook that
    `is_retired` was installed by older versions, and is removed where it is found."""

    file: str
    path: tuple[str, ...]
    entry: Mapping[str, Json]
    command: str
    is_retired: bool = False
    role: str = HOOKS

    def put(self, text: str) -> Splice | None:
        if self.is_retired:
            return self.remove(text)
        found = next(self._own(text), None)
        if found is None:
            return splice.append(text, self.path, dict(self.entry))
        index, entry = found
        if entry == self.entry or not self._is_alone(entry):
            return None
        node = splice.find(text, self.path)
        assert node is not None
        return splice.replaced(text, node.members[index], dict(self.entry))

    def remove(self, text: str) -> Splice | None:
        index, entry = next(self._own(text), (0, None))
        node = splice.find(text, self.path)
        if node is None or entry is None:
            return None
        if self._is_alone(entry):
            is_only = len(node.members) == 1
            return _remove_with_empty(text, self.path) if is_only else splice.removed(text, node, index)
        # The entry also has handlers of others, so only memcli's own are removed from its list.
        inner = node.members[index].find("hooks")
        for n, handler in enumerate(_handlers(entry)):
            if inner is not None and self._is_handler(handler):
                return splice.removed(text, inner, n)
        return None

    def state(self, text: str) -> str:
        _, entry = next(self._own(text), (0, None))
        if self.is_retired:
            return ACTIVE if entry is None else STALE
        if entry is None:
            return ABSENT
        return ACTIVE if entry == self.entry or not self._is_alone(entry) else STALE

    def handlers(self, text: str) -> Iterator[tuple[int, int, Mapping[str, Json], Mapping[str, Json]]]:
        """Each of memcli's handlers: the index of its group, its index in the group, the group and the handler."""
        for index, entry in self._own(text):
            for n, handler in enumerate(_handlers(entry)):
                if isinstance(entry, dict) and isinstance(handler, dict) and self._is_handler(handler):
                    yield index, n, entry, handler

    def _own(self, text: str) -> Iterator[tuple[int, Json]]:
        """The entries of the list that contain the command, with their indexes."""
        node = splice.find(text, self.path)
        for index, entry in enumerate(node.value if node is not None and isinstance(node.value, list) else ()):
            if any(self._is_handler(handler) for handler in (entry, *_handlers(entry))):
                yield index, entry

    def _is_handler(self, handler: Json) -> bool:
        # By the beginning: `--next-turn` or a fallback of the shell may follow the command.
        return isinstance(handler, dict) and any(
            str(handler.get(name, "")).startswith(self.command) for name in ("command", "bash")
        )

    def _is_alone(self, entry: Json) -> bool:
        return all(self._is_handler(handler) for handler in _handlers(entry))


class TomlTable(Record):
    """A table of memcli's own in a TOML file."""

    file: str
    path: tuple[str, ...]
    values: Mapping[str, Json]
    role: str = MCP

    def put(self, text: str) -> Splice | None:
        """The splice that gives the table these values; None if it has them. Raises UsageError where it cannot be added."""
        before = self._value(text)
        if before == self.values:
            return None
        name, nl = ".".join(self.path), splice.newline_of(text)
        span = self._span(text)
        if before is not None and span is None:
            raise UsageError(f"{name} is not a table of its own")
        # Texts and lists in JSON are valid in TOML, too.
        lines = [f"[{name}]", *(f"{key} = {json.dumps(value)}" for key, value in self.values.items()), ""]
        made = Splice(*span, nl.join(lines)) if span is not None else splice.at_end(text, nl.join(lines))
        # Read back: a table at the end cannot extend a parent that is written inline, such as `mcp_servers = {}`.
        try:
            is_set = self._value(made.apply(text)) == self.values
        except UsageError:
            is_set = False
        if not is_set:
            raise UsageError(f"cannot add the table {name}: {self.path[0]} is not written as tables")
        return made

    def remove(self, text: str) -> Splice | None:
        """The splice that removes the table, with the blank line before it."""
        span = self._span(text)
        if span is None:
            return None
        start, end = span
        before = text[:start]
        if before.endswith(("\n\n", "\r\n\r\n")) and not text[end:].strip():
            start -= 2 if before.endswith("\r\n") else 1
        return Splice(start, end, "")

    def state(self, text: str) -> str:
        if self._value(text) is None:
            return ABSENT
        return ACTIVE if self.put(text) is None else STALE

    def _value(self, text: str) -> Any:
        """The value at the path; None if there is none. Raises UsageError for a text that is not TOML."""
        found: Any = parse_toml(text)
        for key in self.path:
            if not isinstance(found, dict) or key not in found:
                return None
            found = found[key]
        return found

    def _span(self, text: str) -> tuple[int, int] | None:
        """The start and end of the table in the text: its header and lines, without the blank lines and comments before the
        next header, which belong to that."""
        keys = r"\s*\.\s*".join(rf"(?:{re.escape(key)}|\"{re.escape(key)}\"|'{re.escape(key)}')" for key in self.path)
        header = re.search(rf"^[ \t]*\[\s*{keys}\s*\][^\n]*(?:\n|\Z)", text, re.MULTILINE)
        if header is None:
            return None
        end = header.end()
        for line in re.finditer(r"[^\n]*(?:\n|\Z)", text[end:]):
            content = line[0].strip()
            if content.startswith("[") or not line[0]:
                break
            if content and not content.startswith("#"):
                end = header.end() + line.end()
        return header.start(), end


InstalledPart = InstructionBlock | Whole | JsonValue | JsonHook | TomlTable


def parse_toml(text: str) -> dict[str, Any]:
    """The tables of a TOML text. Raises UsageError."""
    try:
        # The parser of the standard library refuses the byte order mark that some editors write.
        return tomllib.loads(text.lstrip("\ufeff").replace("\r\n", "\n"))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise UsageError(f"not valid TOML: {error}") from None


def is_proof(part: InstalledPart) -> bool:
    """Whether the part, where it is present, proves that its agent is installed: others may have written the rest."""
    match part:
        case JsonValue():
            return not part.is_default
        case JsonHook():
            return not part.is_retired
        case InstructionBlock():
            return not part.unless
    return True


def _handlers(entry: Json) -> Sequence[Json]:
    inner = entry.get("hooks") if isinstance(entry, dict) else None
    return inner if isinstance(inner, list) else ()


def _remove_with_empty(text: str, path: Sequence[str]) -> Splice | None:
    """The splice that removes the member at `path`, with all objects and lists that hold nothing else."""
    if splice.find(text, path) is None:
        return None
    depth = len(path)
    # An empty key that is left might be refused by an agent.
    while depth > 1:
        holder = splice.find(text, path[: depth - 1])
        if holder is None or len(holder.members) != 1:
            break
        depth -= 1
    return splice.remove(text, path[:depth])
