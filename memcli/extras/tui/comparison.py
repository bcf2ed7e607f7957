"""The comparison of two memories: what differs, aligned, side by side or one above the other."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from itertools import zip_longest
from typing import ClassVar

from textual.binding import BindingType
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from memcli.app.history import compare
from memcli.codec.canonical import encode
from memcli.codec.memory import memory_to_json
from memcli.extras.tui.dialog import Window
from memcli.extras.tui.keys import COMPARE, bindings
from memcli.model.memory import Json, Memory
from memcli.render.clean import clean, clean_line

_MOST_CHARACTERS = 20_000
_MOST_WORDS = 1000
_ALIKE = 0.3
"""Lines that share fewer of their words than this are not the same line changed."""
_LEAST_WIDTH = 60
"""Side by side needs so many columns."""
_DERIVED = frozenset(["id", "raw", "summary_micro", "summary_short", "summary_long", "chunks", "metadata.hash"])
_ALWAYS = ("path", "kind")
_GONE, _NEW, _LABEL = "$text-error underline", "$text-success underline", "$text-muted"
_WORDS = re.compile(r"\s+|\w+|[^\w\s]")
_SENTENCE_END = re.compile(r"(?<=[.!?。！？])\s+")

Pair = tuple[str | None, str | None]
"""A line of each side; None where one has none like it."""


def side_by_side(left: Memory, right: Memory, titles: tuple[str, str], width: int) -> Content:
    """Both memories in two columns; the sign between them says what differs: `≠` changed, `<` `>` on one side alone."""
    column = (width - 3) // 2
    left_title, right_title = (Content.styled(title, "bold") for title in titles)
    lines = _row(left_title, right_title, " │ ", column)
    for label, pairs in _parts(left, right):
        lines.append(Content.styled(f"── {label} ", _LABEL))
        for pair in pairs:
            lines += _row(*_marked(*pair), f" {_sign(*pair)} ", column)
    return Content("\n").join(lines)


def one_above_other(left: Memory, right: Memory, titles: tuple[str, str], width: int) -> Content:
    """Both memories in one column, `-` before lines of the first alone and `+` before those of the second."""
    lines = [Content.styled(f"- {titles[0]}", "bold"), Content.styled(f"+ {titles[1]}", "bold")]
    for label, pairs in _parts(left, right):
        lines.append(Content.styled(f"── {label} ", _LABEL))
        for pair in pairs:
            lines += _stacked(*pair, width)
    return Content("\n").join(lines)


def align(before: Sequence[str], after: Sequence[str]) -> list[Pair]:
    """The lines of both in pairs: equal ones, then those that share most of their words, in order."""
    pairs: list[Pair] = []
    for what, a, b, c, d in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if what == "equal":
            pairs += zip(before[a:b], after[c:d], strict=True)
        else:
            pairs += _alike(before[a:b], after[c:d])
    return pairs


def _alike(before: Sequence[str], after: Sequence[str]) -> Iterator[Pair]:
    """Lines that differ, each with the next one on the other side that is like it."""
    rest = list(after)
    for line in before:
        place = next((n for n, other in enumerate(rest) if _likeness(line, other) >= _ALIKE), None)
        if place is None:
            yield line, None
            continue
        yield from ((None, other) for other in rest[:place])
        yield line, rest[place]
        del rest[: place + 1]
    yield from ((None, other) for other in rest)


def _likeness(one: str, other: str) -> float:
    first, second = ({w for w in _WORDS.findall(text.casefold()) if w.strip()} for text in (one, other))
    return len(first & second) / max(1, len(first | second))


def _parts(left: Memory, right: Memory) -> Iterator[tuple[str, list[Pair]]]:
    """What is compared: path and kind, other fields that differ, and the text."""
    fields = {c.name: (c.before, c.after) for c in compare(memory_to_json(left), memory_to_json(right))}
    for name in _ALWAYS:
        yield name, [(clean_line(getattr(left, name)), clean_line(getattr(right, name)))]
    for name, (before, after) in fields.items():
        if name not in _DERIVED and name not in _ALWAYS:
            old, new = _value(before), _value(after)
            yield clean_line(name), [(old[0], new[0])] if len(old) == len(new) == 1 else align(old, new)
    yield "text", align(_sentences(left.raw), _sentences(right.raw))


def _value(value: Json) -> list[str]:
    if value is None:
        return []
    if isinstance(value, list | tuple):
        return [line for item in value for line in _value(item)]
    text = value if isinstance(value, str) else encode(value).decode()
    return clean(text[:_MOST_CHARACTERS]).splitlines()


def _sentences(text: str) -> list[str]:
    """The text in sentences, one a line, so that a word that is added moves no other line."""
    lines = clean(text[:_MOST_CHARACTERS]).expandtabs(4).strip().splitlines()
    return [sentence for line in lines for sentence in _SENTENCE_END.split(line)]


def _sign(left: str | None, right: str | None) -> str:
    return "│" if left == right else "<" if right is None else ">" if left is None else "≠"


def _marked(left: str | None, right: str | None) -> tuple[Content, Content]:
    """Both lines, with the words that differ marked."""
    if left is None or right is None:
        return Content.styled(left or "", _GONE), Content.styled(right or "", _NEW)
    old, new = _WORDS.findall(left), _WORDS.findall(right)
    if left == right or max(len(old), len(new)) > _MOST_WORDS:
        return Content(left), Content(right)
    opcodes = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    return (
        _joined(("".join(old[a:b]), _GONE if what != "equal" else "") for what, a, b, _, _ in opcodes),
        _joined(("".join(new[c:d]), _NEW if what != "equal" else "") for what, _, _, c, d in opcodes),
    )


def _joined(parts: Iterable[tuple[str, str]]) -> Content:
    return Content.assemble(*((text, style) if style else text for text, style in parts if text))


def _row(left: Content, right: Content, sign: str, width: int) -> list[Content]:
    """Two cells side by side, each wrapped to `width` columns; the sign stands beside the first line."""
    cells = zip_longest(_wrapped(left, width), _wrapped(right, width), fillvalue=Content(""))
    return [
        Content.assemble(one.pad_right(max(0, width - one.cell_length)), (" │ " if n else sign, _LABEL), other)
        for n, (one, other) in enumerate(cells)
    ]


def _stacked(left: str | None, right: str | None, width: int) -> list[Content]:
    if left == right:
        return [Content("  ") + line for line in _wrapped(Content(left or ""), width - 2)]
    one, other = _marked(left, right)
    gone = [Content("- ") + line for line in _wrapped(one, width - 2)] if left is not None else []
    new = [Content("+ ") + line for line in _wrapped(other, width - 2)] if right is not None else []
    return [*gone, *new]


def _wrapped(text: Content, width: int) -> list[Content]:
    return text.wrap(max(2, width)) if text.plain else [text]


class Comparison(Window[None]):
    """Two memories, or two versions of one."""

    BINDINGS: ClassVar[list[BindingType]] = bindings(COMPARE)
    keys = COMPARE
    title_text = "comparison"

    def __init__(self, left: Memory, right: Memory, titles: tuple[str, str]) -> None:
        super().__init__()
        self._memories = left, right
        self._titles = titles
        self._text = Static("", markup=False)
        self.is_split: bool | None = None

    def body(self) -> list[Widget]:
        return [self._text]

    def on_resize(self) -> None:
        """Fits the columns to the screen."""
        self.call_after_refresh(self._draw)

    def action_layout(self) -> None:
        """From side by side to one above the other, and back."""
        self.is_split = not self._is_split()
        self._draw()

    def _is_split(self) -> bool:
        return self._text.size.width >= _LEAST_WIDTH if self.is_split is None else self.is_split

    def _draw(self) -> None:
        draw = side_by_side if self._is_split() else one_above_other
        self._text.update(draw(*self._memories, self._titles, self._text.size.width))

    @property
    def text(self) -> str:
        """What is shown, without style."""
        return str(self._text.content)
