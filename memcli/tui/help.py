"""The help screen."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from memcli.tui.dialog import Dialog

_KEYS = (
    ("Find", (
        ("/", "filter by words in path, tags, kind and text; #tag for a tag"),
        ("Enter", "in the filter: ask the words as a question"),
        ("Esc", "clear the filter, or leave the answers"),
        ("a", "show forgotten and superseded memories too, or hide them"),
        ("s", "switch to another space"),
        ("r", "reload, which also happens by itself within two seconds"),
    )),
    ("Move", (
        ("Up Down", "or k j: one line; PgUp PgDn Home End"),
        ("Right Left", "or l h: open and close a heading"),
        ("x", "open or close all headings"),
        ("Tab", "between filter, list and memory"),
        ("1 - 9", "follow a link of the memory"),
        ("b", "back to where the link was followed from"),
    )),
    ("Change", (
        ("n", "add a new memory in the editor: $VISUAL, $EDITOR, or nano or vi"),
        ("p", "pin or unpin"),
        ("t", "edit the tags"),
        ("e", "edit the text in the editor"),
        ("E", "edit all fields, as JSON, in the editor"),
        ("f", "forget: left out of recall, kept in the file"),
        ("u", "bring back a forgotten one, or the one forgotten last"),
        ("y", "copy the id"),
    )),
    ("Marks", (
        ("*", "pinned"),
        ("-", "forgotten"),
        (">", "superseded by another"),
    )),
)  # fmt: skip


class Help(Dialog[None]):
    """Every key and every mark."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("q,question_mark,enter,space", "leave", "Leave", show=False)]

    DEFAULT_CSS = "Help > VerticalScroll { width: 76; }"
    title_text = "keys"
    keys_text = "? or Esc closes this"

    def body(self) -> list[Widget]:
        return [Static(_text(), markup=False)]


def _text() -> Content:
    parts = []
    for title, keys in _KEYS:
        lines = [Content.assemble((f"{key:<12}", "bold"), text) for key, text in keys]
        parts.append(Content("\n").join([Content.styled(title, "bold $text-accent"), *lines]))
    return Content("\n\n").join(parts)
