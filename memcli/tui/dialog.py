"""Dialogs: boxes in front of everything else, which Escape closes; to choose a space, edit tags, read the help."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Generic, TypeVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from memcli.errors import UsageError
from memcli.model.names import check_tag
from memcli.record import Record
from memcli.render.clean import clean_line

T = TypeVar("T")


class Dialog(ModalScreen[T | None], Generic[T]):
    """A titled box. Its answer is None when it was left with Escape."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", "Leave", show=False)]
    DEFAULT_CSS = """
    Dialog {
        align: center middle;
        & > VerticalScroll {
            width: 64; max-width: 96%; height: auto; max-height: 94%;
            border: round $primary; border-title-style: bold; padding: 0 1; background: $surface;
        }
        & .keys { color: $text-muted; margin-top: 1; }
        & .problem { color: $text-error; height: auto; }
    }
    """

    AUTO_FOCUS = "VerticalScroll"
    title_text = ""
    keys_text = "Esc closes"

    def compose(self) -> ComposeResult:
        with VerticalScroll() as box:
            box.border_title = Content(self.title_text)
            yield from self.body()
            yield Static(self.keys_text, markup=False, classes="keys")

    def body(self) -> list[Widget]:
        """What stands in the box."""
        return []

    def action_leave(self) -> None:
        """Takes the box away, with no answer."""
        self.dismiss(None)


class Forget(Dialog[bool]):
    """The question before a memory is forgotten."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y,enter", "yes", "Yes", show=False),
        Binding("n,q", "leave", "No", show=False),
    ]

    title_text = "Forget this memory?"
    keys_text = "y or Enter: forget   n or Esc: keep"

    def __init__(self, path: str) -> None:
        super().__init__()
        self._text = f"{path}\n\nRecall will no longer return it. It stays in the file; press u to undo."

    def body(self) -> list[Widget]:
        return [Static(self._text, markup=False)]

    def action_yes(self) -> None:
        """Answers yes."""
        self.dismiss(True)


class ChooseSpace(Dialog[str]):
    """All spaces of the store; the one that is open bears the cursor at first."""

    AUTO_FOCUS = "OptionList"
    title_text = "spaces"
    keys_text = "Enter: open   Esc: close"

    def __init__(self, names: Sequence[str], current: str) -> None:
        super().__init__()
        self._names = names
        self._list = OptionList(*(Option(Content(clean_line(name))) for name in names), compact=True, markup=False)
        self._current = current

    def body(self) -> list[Widget]:
        return [self._list]

    def on_mount(self) -> None:
        """Puts the cursor on the open space."""
        self._list.highlighted = self._names.index(self._current) if self._current in self._names else 0

    @on(OptionList.OptionSelected)
    def choose(self, event: OptionList.OptionSelected) -> None:
        """Answers with the name."""
        self.dismiss(self._names[event.option_index])


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


class TagChange(Record):
    """Tags to add, and tags to take away."""

    add: tuple[str, ...]
    remove: tuple[str, ...]

    def __bool__(self) -> bool:
        return bool(self.add or self.remove)


class EditTags(Dialog[TagChange]):
    """The tags as words in a field."""

    AUTO_FOCUS = "Input"
    keys_text = "Enter: save   Esc: cancel"

    def __init__(self, path: str, tags: Sequence[str]) -> None:
        super().__init__()
        self.title_text = f"tags of {path}"
        self._tags = {"-".join(clean_line(tag).split()): tag for tag in tags}
        self._field = Input(" ".join(self._tags), placeholder="words, separated by spaces", select_on_focus=False)
        self._problem = Static("", markup=False, classes="problem")

    def body(self) -> list[Widget]:
        return [self._field, self._problem]

    @on(Input.Submitted)
    def save(self, event: Input.Submitted) -> None:
        """Answers with what changed, unless a word can be no tag."""
        try:
            wanted = tag_change(self._tags, event.value)
        except UsageError as error:
            self._problem.update(f"{error.message}: {error.hint}")
            return
        self.dismiss(wanted)


def tag_change(shown: dict[str, str], typed: str) -> TagChange:
    """What changed from the tags that were `shown` (as shown, to as stored). Raises UsageError for what is no tag."""
    words = typed.replace("#", " ").replace(",", " ").split()
    add = dict.fromkeys(check_tag(word) for word in words if word not in shown)
    kept = {*words, *add}
    return TagChange(
        tuple(tag for tag in add if tag not in shown.values()),
        tuple(tag for name, tag in shown.items() if name not in kept and tag not in kept),
    )
