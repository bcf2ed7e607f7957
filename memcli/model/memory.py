"""The memory: one stored fact, decision, rule, note or piece of code or history of a project."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from memcli.record import Record, field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeAlias

Json: TypeAlias = "Any"
"""A JSON value: None, bool, int, float, str, list or dict."""

LARGEST = 2**53 - 1
"""The largest integer that is stored: readers that parse JSON numbers as doubles still get it exactly."""

SESSION = "session"
"""The scope of memories that are deleted after their session has ended."""
EXTRACTED = "extracted"
"""The source of memories that were made from a session."""
_DEFAULT_IMPORTANCE = 0.5
_IMPORTANCE: Mapping[str, float] = {
    "decision": 0.7, "preference": 0.6, "correction": 0.8, "negative": 0.8, "constraint": 0.6, "goal": 0.8,
    "inferred": 0.3,
}  # fmt: skip
TALK_KINDS = ("log", "episode")
"""The kinds of the messages of a conversation, which are a group."""
RULE_KINDS = ("constraint", "negative")
"""The kinds of rules: what must or must not be done."""
TRIGGERED_KINDS = ("constraint", "negative", "procedure")
"""The kinds that are recalled, or checked by `guard`, when one of their triggers matches."""


class Memory(Record, kw_only=True, mark="is_vetted"):
    """One stored object. Times are RFC 3339 in UTC; nested values are plain JSON, never changed in place.

    `extra` has the fields that this version does not know; they are written back unchanged.
    """

    id: str
    path: str
    kind: str
    raw: str = ""
    summary_micro: str = ""
    summary_short: str = ""
    summary_long: str = ""
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, Json] = field(default_factory=dict)
    relevance: str = "medium"
    pinned: bool = False
    created_at: str
    updated_at: str

    content: Json = None
    importance: float | None = None
    confidence: float = 1.0
    trust: float = 1.0
    strength: int = 1
    version: int = 1
    active: bool = True
    superseded_by: str | None = None
    valid_from: str | None = None
    valid_until: str | None = None
    season: str | None = None
    scope: str = "project"
    provenance: Mapping[str, Json] = field(default_factory=dict)
    links: tuple[Mapping[str, Json], ...] = ()
    triggers: tuple[str, ...] = ()
    enforce: bool = False
    procedure: Mapping[str, Json] | None = None
    episode: Mapping[str, Json] | None = None
    chunks: tuple[Mapping[str, Json], ...] = ()
    context: tuple[Mapping[str, Json], ...] = ()
    anchors: tuple[Mapping[str, Json], ...] = ()
    extra: Mapping[str, Json] = field(default_factory=dict)

    @property
    def heading(self) -> str:
        """The last segment of the path."""
        return self.path.rpartition("/")[2]

    @property
    def hash(self) -> str:
        """The hash of the text and content, by which duplicates are found; empty if there is none."""
        value = self.metadata.get("hash", "")
        return value if isinstance(value, str) else ""

    @property
    def order(self) -> tuple[str, str]:
        """The sort key of memories in a space file."""
        return self.updated_at, self.id

    @property
    def session(self) -> str:
        """The id of the session that a memory of scope `session` is deleted with. Empty for other memories, and for those that
        were made from a session when it ended, which outlive it."""
        name = self.provenance.get("session")
        is_lasting = self.scope != SESSION or self.provenance.get("source") == EXTRACTED
        return name if isinstance(name, str) and not is_lasting else ""

    def effective_importance(self) -> float:
        """The importance of the memory, 0..1; by default that of its kind."""
        return default_importance(self.kind) if self.importance is None else self.importance


def vetted(memory: Memory) -> Memory:
    """The same memory, marked as read from bytes in which this user's memcli found no secret and no instruction."""
    object.__setattr__(memory, "is_vetted", True)
    return memory


def is_vetted(memory: Memory) -> bool:
    """Whether this object has the mark of `vetted`."""
    return hasattr(memory, "is_vetted")


def holds(memory: Memory, at: str) -> bool:
    """Whether the memory is valid at the time `at`: not superseded, and `valid_until` not reached."""
    return memory.superseded_by is None and (memory.valid_until is None or at < memory.valid_until)


def increased(count: int, by: int = 1) -> int:
    """A counter after an increment, at most the largest number that can be stored."""
    return min(count + by, LARGEST)


def default_importance(kind: str) -> float:
    """The default importance, 0..1, of a kind."""
    return _IMPORTANCE.get(kind, _DEFAULT_IMPORTANCE)


_LEAST_CHARACTERS = 8
"""A shorter text occurs in many files by chance."""


def telling_line(text: str) -> str:
    """The longest line of a text, to search for quotes of it; empty where that is too short to be specific."""
    line = max((line.strip() for line in text.splitlines()), key=len, default="")
    return line if len(line) >= _LEAST_CHARACTERS else ""


def json_texts(value: Json, *, keys: bool = True) -> Iterator[str]:
    """The leaves of a JSON value as text, in order, each key before its value if `keys`."""
    if isinstance(value, dict):
        for key in sorted(value):
            if keys:
                yield key
            yield from json_texts(value[key], keys=keys)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from json_texts(item, keys=keys)
    elif value is not None:
        yield value if isinstance(value, str) else str(value)
