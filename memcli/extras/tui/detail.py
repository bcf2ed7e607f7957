"""The right pane: a memory or a heading as text that scrolls."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import ClassVar

from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.style import Style
from textual.widgets import Static

from memcli.codec.canonical import encode
from memcli.extras.tui.catalogue import PathCatalogue
from memcli.extras.tui.keys import TEXT, bindings
from memcli.extras.tui.view import ViewRow
from memcli.model.links import elsewhere
from memcli.model.memory import Json, Memory
from memcli.model.recall import Section
from memcli.present.links import BOTH, IN, OUT, MemoryLink, direction, relation_words
from memcli.present.memory import context_pieces, count_of, detail_of, field_text, readable_time
from memcli.render.clean import clean, clean_line

ARROWS = {BOTH: "<>", OUT: "->", IN: "<-"}
LABEL = "$text-muted"
_HEAD = "bold"
_MOST_CHARACTERS = 20_000
_MOST_LINES = 200
_LONG_TEXT = 600
"""A text of more characters is shown with its summary; a text that stands in for a summary is cut after so many."""
_LABEL_WIDTH = 10
_LONG_HASH = 19  # characters: `sha256:` and twelve digits
_TAB = 4


def of_memory(memory: Memory, catalogue: PathCatalogue, section: Section | None = None, now: str = "") -> Content:
    """A memory: its path, states and facts, its text, its links, and all other fields. `section` has its score in an answer."""
    successor = catalogue.find(memory.superseded_by or "")
    path = catalogue.show(successor).path if successor else ""
    detail = detail_of(memory, now, path, placed=("links", "version", "proposal"))
    states = [" ".join(state).rstrip() for state in detail.states]
    head = [
        " · ".join(f"{state} (u makes it active again)" if state == "forgotten" else state for state in states),
        " · ".join(detail.facts),
        " ".join(f"#{tag}" for tag in memory.tags),
    ]
    why = ", ".join(f"{name} {value:.2f}" for name, value in section.why.items()) if section else ""
    texts = [memory.raw, encode(memory.content).decode() if memory.content is not None else ""]
    dates = [(name, f"{readable_time(at)}{f', {note}' if note else ''}") for name, at, note in detail.dates]
    metadata = dict(detail.metadata)
    if len(memory.hash) > _LONG_HASH:
        metadata["hash"] = f"{memory.hash[:_LONG_HASH]}…"
    fields = [*dates, *detail.fields, *([("chunks", len(memory.chunks))] if memory.chunks else [])]
    parts = [
        Content("\n").join([Content.styled(clean_line(memory.path), _HEAD), *(Content(clean_line(one)) for one in head if one)]),
        Content.styled(f"score {section.score:.2f}: {why}", LABEL) if section and why else Content(""),
        _block("Contradicted by", [
            Content.assemble((f"{n:>2}  ", "$text-warning"), (clean_line(other.path), _follow(n)), f": {brief(other)}")
            for n, other in ((n, catalogue.show(other)) for n, other in catalogue.contradicting(memory))
        ]),
        Content("\n\n".join(filter(None, map(_text, texts)))),
        _block("Summary", [Content(_text(memory.summary_short))] if len(memory.raw) > _LONG_TEXT else []),
        _block("Context", [Content(": ".join(filter(None, (clean_line(origin), _text(text)))))
                           for origin, text in context_pieces(memory)]),
        _block("Links", [_link(n, link, catalogue) for n, link in enumerate(catalogue.links(memory), 1)]),
        _block("Details", [*(_field(name, value) for name, value in fields),
                           *(_field("conflict", one) for one in detail.conflicts)]),
        _block("Metadata", [_field(name, value) for name, value in metadata.items()]),
    ]  # fmt: skip
    return Content("\n\n").join([part for part in parts if part.plain])


def of_heading(row: ViewRow, catalogue: PathCatalogue) -> Content:
    """A heading: the number and kinds of the memories below it, and each of these in a line."""
    kinds = Counter(one.kind for one in row.below)
    facts = f"{count_of(len(row.below), 'memory', 'memories')}: " + ", ".join(
        f"{clean_line(kind)} {n:,}" for kind, n in kinds.most_common()
    )
    lines = [
        Content.assemble((clean_line(m.path.removeprefix(f"{row.path}/")), _HEAD), f": {brief(m)}")
        for m in map(catalogue.show, catalogue.read([one.id for one in row.below[:_MOST_LINES]]))
    ]
    if len(row.below) > _MOST_LINES:
        lines.append(Content.styled(f"… and {len(row.below) - _MOST_LINES:,} more", LABEL))
    head = Content.assemble((f"{clean_line(row.path)}/", _HEAD), "\n", facts)
    return Content("\n\n").join([head, Content("\n").join(lines)])


def brief(memory: Memory) -> str:
    """A memory in one line."""
    return clean_line(memory.summary_micro or memory.raw[:_LONG_TEXT])


def _text(text: str) -> str:
    """Stored text without control characters and tabs, cut after _MOST_CHARACTERS."""
    shown = clean(text[:_MOST_CHARACTERS]).expandtabs(_TAB).strip()
    more = len(text) - _MOST_CHARACTERS
    return f"{shown}\n… and {more:,} more characters; see `memcli get`" if more > 0 else shown


def _block(title: str, lines: Iterable[Content]) -> Content:
    """A title above lines; empty if all of them are."""
    shown = [line for line in lines if line.plain]
    return Content("\n").join([Content.styled(title, _HEAD), *shown]) if shown else Content("")


def _link(n: int, link: MemoryLink, catalogue: PathCatalogue) -> Content:
    """The line of the n-th link: number, arrow, relation and the other memory."""
    target = catalogue.find(link.other)
    label = (
        f"{n:>2}  {ARROWS[direction(link.relation, is_out=link.is_out)]} {relation_words(clean_line(link.relation))}  ",
        LABEL,
    )
    name = clean_line(target.path if target else link.other)
    if target is None and elsewhere(link.other) is None:
        return Content.assemble(label, f"{name} (not in this space)")
    return Content.assemble(label, (name, _follow(n)))


def _follow(n: int) -> Style:
    """The style of text on which a click follows the n-th link."""
    return Style.from_meta({"@click": f"screen.follow({n})"})


def _field(name: str, value: Json) -> Content:
    return Content.assemble(
        (f"{clean_line(name):<{_LABEL_WIDTH}} ", LABEL), clean_line(field_text(name, value)[:_MOST_CHARACTERS])
    )


class Detail(VerticalScroll, can_focus=True):
    """Text with a scroll bar."""

    BINDINGS: ClassVar[list[BindingType]] = bindings(TEXT)
    DEFAULT_CSS = """
    Detail { width: 3fr; border: round $border-blurred; padding: 0 1; }
    Detail:focus { border: round $border; }
    """

    def __init__(self) -> None:
        # Textual reads brackets in a text as its markup, by which a stored text could hide words, or run an action on a
        # click.
        self._text = Static("", markup=False)
        self._shown = ""
        super().__init__(self._text)

    def show(self, what: str, text: Content) -> None:
        """Shows `text`. It scrolls to the top if its subject `what`, a path, is another than before."""
        self._text.update(text)
        if what != self._shown:
            self._shown = what
            self.scroll_home(animate=False)
