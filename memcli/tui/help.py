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
        ("Enter", "in the filter: search by meaning"),
        ("Esc", "clear the filter or the search"),
        ("a", "show or hide forgotten and superseded memories"),
        ("s", "switch to another space"),
        ("r", "reload (automatic within two seconds)"),
    )),
    ("Move", (
        ("Up Down", "or k j: one line; PgUp PgDn Home End"),
        ("Right Left", "or l h: open or close a heading"),
        ("x", "open or close all headings"),
        ("Tab", "move between filter, list and memory"),
        ("1 - 9", "follow a link of the memory"),
        ("b", "go back after following a link"),
    )),
    ("Change", (
        ("n", "add a memory in the editor ($VISUAL, $EDITOR, nano or vi)"),
        ("p", "pin or unpin"),
        ("t", "edit the tags"),
        ("e", "edit the text in the editor"),
        ("E", "edit all fields as JSON in the editor"),
        ("f", "forget: exclude from recall, keep in the file"),
        ("u", "undo: make a forgotten memory active again"),
        ("y", "copy the id"),
    )),
    ("Marks", (
        ("*", "pinned"),
        ("-", "forgotten"),
        (">", "superseded"),
    )),
)  # fmt: skip


class Help(Dialog[None]):
    """Every key and every mark."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("q,question_mark,enter,space", "leave", "Leave", show=False)]

    DEFAULT_CSS = "Help > VerticalScroll { width: 76; }"
    title_text = "keys"
    keys_text = "? or Esc closes the help"

    def body(self) -> list[Widget]:
        return [Static(_text(), markup=False)]


def _text() -> Content:
    parts = []
    for title, keys in _KEYS:
        lines = [Content.assemble((f"{key:<12}", "bold"), text) for key, text in keys]
        parts.append(Content("\n").join([Content.styled(title, "bold $text-accent"), *lines]))
    return Content("\n\n").join(parts)
