"""Keys: every key of the browser, with its action and its text in the help."""

from __future__ import annotations

from collections.abc import Sequence

from textual.binding import Binding, BindingType

from memcli.present.memory import MARKS
from memcli.record import Record


class Key(Record):
    """An action of Textual, its keys by Textual's names, and its text in the help. Only keys with a `footer` are in the footer."""

    keys: str
    action: str
    text: str
    footer: str = ""


def bindings(*tables: Sequence[Key]) -> list[BindingType]:
    """The keys as bindings of Textual."""
    return [
        Binding(
            key.keys, key.action, key.footer or key.text, show=bool(key.footer),
            key_display=shown(key) if key.footer else None,
        )
        for table in tables
        for key in table
    ]  # fmt: skip


def shown(key: Key) -> str:
    """The keys of an action by their names on keyboards."""
    return " ".join(_NAMES.get(name, name) for name in key.keys.split(","))


_NAMES = {
    "slash": "/", "question_mark": "?", "plus": "+", "minus": "-", "enter": "Enter", "escape": "Esc", "space": "Space",
    "up": "Up", "down": "Down", "left": "Left", "right": "Right", "pageup": "PgUp", "pagedown": "PgDn", "home": "Home",
    "end": "End", "tab": "Tab", "shift+tab": "Shift-Tab", "backspace": "Backspace", "ctrl+c": "Ctrl-C", "ctrl+s": "Ctrl-S",
}  # fmt: skip

# Only few keys have a `footer`: all of them fit on eighty columns.
APP = (
    Key("i", "screen.inbox", "inbox: review proposed memories", "inbox"),
    Key("s", "space", "switch to another space"),
    Key("r", "reload", "reload (automatic within two seconds)"),
    Key("question_mark", "help", "show this help", "help"),
    Key("q", "quit", "quit", "quit"),
)
FIND = (
    Key("slash", "filter", "filter by words in path, tags, kind and text; #tag for a tag", "filter"),
    Key("a", "everything", "show or hide forgotten and superseded memories"),
    Key("x", "fold_all", "open or close all headings"),
    Key("b,backspace", "back", "go back after following a link"),
    Key("escape", "clear", "clear the filter or the search; return to the list"),
)
LOOK = (
    Key("H", "history", "history: commits and the audit log of this machine"),
    Key("c", "compare", "compare: mark this memory, then press c on another one"),
    Key("L", "links", "linked memories, several steps away"),
    *(Key(str(n), f"follow({n})", "follow this link of the memory") for n in range(1, 10)),
)
CHANGE = (
    Key("n", "add", "add a memory: kind, path and text", "new"),
    Key("N", "add(True)", "add a memory in the editor ($VISUAL, $EDITOR, nano or vi)"),
    Key("p", "pin", "pin or unpin", "pin"),
    Key("t", "tags", "edit the tags", "tags"),
    Key("e", "edit", "edit the text in the editor", "edit"),
    Key("E", "edit(True)", "edit all fields as JSON in the editor"),
    Key("f", "forget", "forget: exclude from recall, keep in the file", "forget"),
    Key("u", "bring_back", "undo: make a forgotten memory active again"),
    Key("y", "copy", "copy the id"),
)
LIST = (
    Key("down,j", "move(1)", "one line down"),
    Key("up,k", "move(-1)", "one line up"),
    Key("pagedown", "page(1)", "one page down"),
    Key("pageup", "page(-1)", "one page up"),
    # A move ends at the first and at the last line, however far it goes.
    Key("home,g", "move(-1000000000)", "the first line"),
    Key("end,G", "move(1000000000)", "the last line"),
    Key("right,l", "open", "open a heading"),
    Key("left,h", "close", "close a heading, or go to the one above"),
    Key("enter,space", "choose", "open or close a heading; go to the memory"),
)
TEXT = (
    Key("j", "scroll_down", "one line down; also Down"),
    Key("k", "scroll_up", "one line up; also Up"),
    Key("g", "scroll_home", "the beginning"),
    Key("G", "scroll_end", "the end"),
    Key("left,h", "screen.focus_rows", "return to the list"),
)
FILTER = (
    Key("enter", "submit", "search by meaning", "search by meaning"),
    Key("escape", "screen.clear", "clear", "clear"),
    Key("down", "screen.focus_rows", "go to the list", "go to the list"),
)
# A key that Textual binds by default.
FOCUS = (Key("tab", "", "move between filter, list and memory"),)

FORM = (
    Key("ctrl+s", "save", "save"),
    Key("escape", "leave", "cancel; asks first if something was typed"),
)
INBOX = (
    Key("a", "accept", "accept: add to the space", "accept"),
    Key("A", "accept_all", "accept all proposals", "accept all"),
    Key("r", "reject", "reject: never propose this text again", "reject"),
    Key("e", "edit", "edit the text in the editor", "edit"),
    Key("E", "edit(True)", "edit all fields as JSON in the editor"),
    Key("escape,i,q", "dismiss", "close the inbox", "close"),
)
COMPARE = (
    Key("v", "layout", "side by side, or one above the other", "side by side"),
    Key("escape,c,q", "dismiss", "close the comparison", "close"),
)
HISTORY = (
    Key("enter,c", "compare", "compare this version with the current one", "compare with now"),
    Key("escape,H,q", "dismiss", "close the history", "close"),
)
LINKS = (
    Key("plus,right,l", "depth(1)", "one step further", "further"),
    Key("minus,left,h", "depth(-1)", "one step less", "less"),
    Key("enter", "choose", "go to this memory", "go to"),
    Key("escape,L,q", "dismiss", "close", "close"),
)
LINES = (
    Key("j", "cursor_down", "one line down; also Down"),
    Key("k", "cursor_up", "one line up; also Up"),
    Key("g", "first", "the first line; also Home"),
    Key("G", "last", "the last line; also End"),
)
"""Keys of the lists in the windows."""

SECTIONS = (
    ("Find", (*FIND, *FOCUS)),
    ("Look", LOOK),
    ("Change", CHANGE),
    ("Spaces and program", APP),
    ("In the filter", FILTER),
    ("In the list", LIST),
    ("In the memory", TEXT),
    ("In a form", FORM),
    ("In the inbox", INBOX),
    ("In the history", HISTORY),
    ("In a comparison", COMPARE),
    ("In linked memories", LINKS),
    ("In the lists of windows", LINES),
)
"""All keys by the place where they work, in the order of the help."""

MARK_WORDS = (
    *((mark, f"{word}: excluded from recall" if word == "untrusted" else word) for mark, word in MARKS),
    ("=", "marked for comparison"),
)
"""The marks of the list, with their meanings."""
