"""The right side: one memory, or a heading, as text to read and scroll."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.style import Style
from textual.widgets import Static

from memcli.codec.canonical import encode, encode_line
from memcli.codec.memory import memory_to_json
from memcli.model.memory import Json, Memory
from memcli.model.recall import Section
from memcli.model.references import MUTUAL, elsewhere
from memcli.render.clean import clean, clean_line
from memcli.safety.injection.screening import is_marked
from memcli.tui.catalogue import PathCatalogue, Tie
from memcli.tui.keys import TEXT, bindings
from memcli.tui.view import BrowseView, ViewRow, memories_below

_MOST_CHARACTERS = 20_000
_MOST_LINES = 200
_LONG_TEXT = 600
_LABEL_WIDTH = 10
_TAB = 4
_ELSEWHERE = frozenset(
    (
        "id", "path", "kind", "raw", "summary_micro", "summary_short", "summary_long", "tags", "metadata", "relevance",
        "pinned", "created_at", "updated_at", "content", "chunks", "context", "links", "active", "superseded_by",
        "version", "proposal",
    )
)  # fmt: skip
_HEAD = "bold"
_LABEL = "$text-muted"


def of_row(row: ViewRow | None, view: BrowseView, now: str = "") -> Content:
    """What there is to say of a row; of no row, nothing."""
    if row is None:
        return Content("")
    if row.memory is None:
        return of_heading(row, view.catalogue)
    return of_memory(view.catalogue.show(row.memory), view.catalogue, view.section(row.memory), now)


def of_memory(memory: Memory, catalogue: PathCatalogue, section: Section | None = None, now: str = "") -> Content:
    """One memory: path and facts, what it says, where it leads, and all else that is stored of it."""
    parts = [
        _facts(memory, now),
        _why(section),
        _block("Contradicted by", [_contradiction(n, other, catalogue) for n, other in catalogue.contradicted(memory)]),
        Content(_body(memory)),
        _block("Summary", [Content(_text(memory.summary_short))] if len(memory.raw) > _LONG_TEXT else []),
        _block("Context", [Content(_context(item)) for item in memory.context]),
        _block("Links", [_link(n, tie, catalogue) for n, tie in enumerate(catalogue.ties(memory), 1)]),
        _block("Details", _details(memory)),
        _block("Metadata", _metadata(memory)),
    ]
    return Content("\n\n").join([part for part in parts if part.plain])


def of_heading(row: ViewRow, catalogue: PathCatalogue) -> Content:
    """What lies below a heading."""
    memories = memories_below(row.node)
    kinds = Counter(clean_line(m.kind) for m in memories)
    facts = f"{plural(len(memories))}: " + ", ".join(f"{kind} {n:,}" for kind, n in kinds.most_common())
    lines = [_below(catalogue.show(m), row.path) for m in memories[:_MOST_LINES]]
    if len(memories) > _MOST_LINES:
        lines.append(Content.styled(f"… and {len(memories) - _MOST_LINES:,} more", _LABEL))
    head = Content.assemble((f"{clean_line(row.path)}/", _HEAD), "\n", facts)
    return Content("\n\n").join([head, Content("\n").join(lines)])


def plural(n: int) -> str:
    """So many memories, in words."""
    return "1 memory" if n == 1 else f"{n:,} memories"


def _facts(memory: Memory, now: str) -> Content:
    states = {
        "pinned": memory.pinned,
        "forgotten (u makes it active again)": not memory.active,
        "superseded": bool(memory.superseded_by),
        f"expired {memory.valid_until}": bool(now and memory.valid_until and memory.valid_until <= now),
        "untrusted: excluded from recall": is_marked(memory),
    }
    facts = [memory.id, memory.kind, memory.relevance, *(state for state, holds in states.items() if holds)]
    head = Content.assemble((clean_line(memory.path), _HEAD), "\n", clean_line(" · ".join(facts)))
    tags = " ".join(f"#{clean_line(tag)}" for tag in memory.tags)
    return head + Content(f"\n{tags}") if tags else head


def _why(section: Section | None) -> Content:
    if section is None or not section.why:
        return Content("")
    why = ", ".join(f"{name} {value:.2f}" for name, value in section.why.items())
    return Content.styled(f"score {section.score:.2f}: {why}", _LABEL)


def _body(memory: Memory) -> str:
    text = _text(memory.raw)
    content = _text(encode(memory.content).decode()) if memory.content is not None else ""
    return "\n\n".join(part for part in (text, content) if part)


def _text(text: str) -> str:
    """Stored text as it is shown: harmless, without tabs, of bearable length."""
    kept = clean(text[:_MOST_CHARACTERS]).expandtabs(_TAB).strip()
    more = len(text) - _MOST_CHARACTERS
    return f"{kept}\n… and {more:,} more characters; see `memcli get`" if more > 0 else kept


def _context(item: Json) -> str:
    if not isinstance(item, dict):
        return ""
    origin = " ".join(clean_line(str(item[name])) for name in ("role", "source") if item.get(name))
    return ": ".join(part for part in (origin, _text(str(item.get("text", "")))) if part)


def _contradiction(n: int, other: Memory, catalogue: PathCatalogue) -> Content:
    told = catalogue.show(other)
    path = (clean_line(told.path), Style.from_meta({"@click": f"screen.follow({n})"}))
    return Content.assemble(
        (f"{n:>2}  ", "$text-warning"), path, f": {clean_line(told.summary_micro or told.raw[:_LONG_TEXT])}"
    )


def _link(n: int, tie: Tie, catalogue: PathCatalogue) -> Content:
    target = catalogue.find(tie.other)
    relation = clean_line(tie.relation).replace("_", " ")
    arrow = "<>" if tie.relation in MUTUAL else "<-" if tie.incoming else "->"
    name = clean_line(target.path if target else tie.other)
    label = (f"{n:>2}  {arrow} {relation}  ", _LABEL)
    if target is None:
        if elsewhere(tie.other) is None:
            return Content.assemble(label, f"{name} (not in this space)")
        return Content.assemble(label, (name, Style.from_meta({"@click": f"screen.follow({n})"})))
    return Content.assemble(label, (name, Style.from_meta({"@click": f"screen.follow({n})"})))


def _details(memory: Memory) -> list[Content]:
    updated = f"{_moment(memory.updated_at)}, version {memory.version}"
    rest = {name: value for name, value in memory_to_json(memory).items() if name not in _ELSEWHERE}
    fields = {"created": _moment(memory.created_at), "updated": updated, **dict(sorted(rest.items()))}
    if memory.chunks:
        fields["chunks"] = str(len(memory.chunks))
    return [_field(name, value) for name, value in fields.items()]


def _field(name: str, value: Json) -> Content:
    text = value if isinstance(value, str) else encode_line(value).decode()
    return Content.assemble((f"{clean_line(name):<{_LABEL_WIDTH}} ", _LABEL), clean_line(text[:_MOST_CHARACTERS]))


def _metadata(memory: Memory) -> list[Content]:
    shown = {**memory.metadata, **({"hash": _short(memory.hash)} if memory.hash else {})}
    return [_field(name, value) for name, value in sorted(shown.items())]


def _short(digest: str) -> str:
    return f"{digest[:19]}…" if len(digest) > 20 else digest


def _moment(time: str) -> str:
    """`2026-01-31T09:30:00Z` for the eye."""
    return f"{time[:10]} {time[11:16]} UTC" if len(time) == len("2026-01-31T09:30:00Z") else time


def _block(title: str, lines: Sequence[Content]) -> Content:
    shown = [line for line in lines if line.plain]
    return Content("\n").join([Content.styled(title, _HEAD), *shown]) if shown else Content("")


def _below(memory: Memory, path: str) -> Content:
    name = clean_line(memory.path.removeprefix(f"{path}/"))
    return Content.assemble((name, _HEAD), f": {clean_line(memory.summary_micro or memory.raw[:_LONG_TEXT])}")


class Detail(VerticalScroll, can_focus=True):
    """Text with a scroll bar. Shown the same thing again, it stays where it was."""

    BINDINGS: ClassVar[list[BindingType]] = bindings(TEXT)
    DEFAULT_CSS = """
    Detail { width: 3fr; border: round $border-blurred; padding: 0 1; }
    Detail:focus { border: round $border; }
    """

    def __init__(self) -> None:
        super().__init__()
        self._text = Static("", markup=False)
        self._shown = ""

    def compose(self) -> ComposeResult:
        yield self._text

    def show(self, what: str, text: Content) -> None:
        """Shows `text`, which is about `what`."""
        self._text.update(text)
        if what != self._shown:
            self._shown = what
            self.scroll_home(animate=False)

    @property
    def text(self) -> str:
        """What is shown, without style."""
        content = self._text.content
        return content.plain if isinstance(content, Content) else str(content)
