"""Dialogs: boxes in front of the main screen, which Escape closes. They choose a space, edit tags, and show the help.

Forms are dialogs with fields: for a new memory, and for a text where no editor can run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, Generic, TypeVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.suggester import SuggestFromList
from textual.widget import Widget
from textual.widgets import Input, Label, OptionList, Static, TextArea
from textual.widgets.option_list import Option

from memcli.errors import MemcliError, UsageError
from memcli.extras.tui.keys import FORM, LINES, MARK_WORDS, SECTIONS, TEXT, Key, bindings, shown
from memcli.model.memory import Json
from memcli.model.names import check_path, check_tag
from memcli.model.shapes import KINDS
from memcli.render.clean import clean_line

T = TypeVar("T")


class Box(VerticalScroll, can_focus=True):
    """Text that scrolls with the same keys as the right pane."""

    BINDINGS: ClassVar[list[BindingType]] = bindings([key for key in TEXT if key.action.startswith("scroll")])


class Lines(OptionList):
    """A list whose cursor moves with the same keys as in the main list."""

    BINDINGS: ClassVar[list[BindingType]] = bindings(LINES)


class Dialog(ModalScreen[T | None], Generic[T]):
    """A box with a title. Its result is None if the user leaves it with Escape."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss", "Leave", show=False)]
    DEFAULT_CSS = """
    Dialog {
        align: center middle;
        & > Box {
            width: 64; max-width: 96%; height: auto; max-height: 94%;
            border: round $primary; border-title-style: bold; padding: 0 1; background: $surface;
        }
        & .keys { color: $text-muted; margin-top: 1; }
        & .problem { color: $text-error; height: auto; }
    }
    """

    # The keys that scroll work in the box alone.
    AUTO_FOCUS = "Box"

    def __init__(self, title: str, keys: str, *body: Widget) -> None:
        """`keys` is the last line, which explains the keys of the dialog."""
        super().__init__()
        self._title, self._keys, self._body = title, keys, body

    def compose(self) -> ComposeResult:
        with Box() as box:
            box.border_title = Content(self._title)
            yield from self._body
            yield Static(self._keys, markup=False, classes="keys")


class Question(Dialog[bool]):
    """A question. Its result is True for yes, None for no."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y,enter", "dismiss(True)", "Yes", show=False),
        Binding("n,q", "dismiss", "No", show=False),
    ]

    def __init__(self, title: str, text: str, yes: str, no: str = "keep") -> None:
        super().__init__(title, f"y or Enter: {yes}   n or Esc: {no}", Static(text, markup=False))


class ChooseSpace(Dialog[str]):
    """The list of spaces, with the cursor on the open one. Its result is the name of a space."""

    AUTO_FOCUS = "OptionList"

    def __init__(self, names: Sequence[str], current: str) -> None:
        self._names = names
        spaces = OptionList(*(Option(Content(clean_line(name))) for name in names), compact=True, markup=False)
        spaces.highlighted = names.index(current) if current in names else 0
        super().__init__("spaces", "Enter: open   Esc: close", spaces)

    @on(OptionList.OptionSelected)
    def choose(self, event: OptionList.OptionSelected) -> None:
        """Closes the dialog with the chosen name as its result."""
        self.dismiss(self._names[event.option_index])


class Window(Dialog[T], Generic[T]):
    """A dialog over the whole screen. Its last line has the keys with a `footer`."""

    DEFAULT_CSS = """
    Window {
        & > Box { width: 100%; max-width: 100%; height: 100%; max-height: 100%; }
        & .keys { dock: bottom; margin: 0; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("question_mark", "app.help", "Help", show=False)]

    def __init__(self, title: str, keys: Sequence[Key], *body: Widget) -> None:
        named = [f"{shown(key).partition(' ')[0]} {key.footer}" for key in keys if key.footer]
        super().__init__(title, "  ".join([*named, "? help"]), *body)


class ListWindow(Window[T], Generic[T]):
    """A window with a list, and below it a text about the line under the cursor."""

    AUTO_FOCUS = "Lines"
    DEFAULT_CSS = """
    ListWindow {
        & Lines { height: auto; max-height: 50%; text-wrap: nowrap; text-overflow: ellipsis; }
        & .note { color: $text-muted; height: auto; }
        & .about { height: 1fr; border-top: solid $border-blurred; }
        & .about:focus { border-top: solid $border; }
    }
    """

    def __init__(self, title: str, keys: Sequence[Key]) -> None:
        self._list = Lines(compact=True, markup=False)
        self._note = Static("", markup=False, classes="note")
        self._about = Static("", markup=False)
        super().__init__(title, keys, self._note, self._list, Box(self._about, classes="about"))

    def on_mount(self) -> None:
        self.refill()

    def refill(self) -> None:
        """Calls `fill` with the current lines."""
        raise NotImplementedError

    def about(self, n: int) -> Content:
        """The text about the n-th line."""
        raise NotImplementedError

    def fill(self, lines: Sequence[Content], note: str, at: int = 0) -> None:
        """Shows these lines below a note, with the cursor on the line `at`."""
        self._list.clear_options().add_options([Option(line) for line in lines])
        self._list.highlighted = min(at, len(lines) - 1) if lines else None
        self._list.display = bool(lines)
        self._note.update(Content(clean_line(note)))
        self._describe()

    @property
    def index(self) -> int | None:
        """The number of the line under the cursor, from 0; None if there are no lines."""
        return self._list.highlighted

    @on(OptionList.OptionHighlighted)
    def _describe(self) -> None:
        self._about.update(Content("") if self.index is None else self.about(self.index))


class Help(Dialog[None]):
    """The help: every key, and every mark of the list."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("q,question_mark,enter,space", "dismiss", "Leave", show=False)]
    DEFAULT_CSS = """
    Help {
        & > Box { width: 80; max-width: 100%; height: 100%; max-height: 100%; }
        & .keys { dock: bottom; margin: 0; }
    }
    """

    def __init__(self) -> None:
        super().__init__("keys", "? or Esc closes the help", Static(help_text(), markup=False))


def help_text() -> Content:
    """All keys by the place where they work, and all marks."""
    parts = []
    for title, keys in SECTIONS:
        groups: dict[tuple[str, str], list[Key]] = {}
        for key in keys:  # keys of one action, such as 1 to 9, share a line
            groups.setdefault((key.action.partition("(")[0], key.text), []).append(key)
        lines = [
            (shown(group[0]) if len(group) == 1 else f"{shown(group[0])} - {shown(group[-1])}", text)
            for (_, text), group in groups.items()
        ]
        parts.append((title, lines))
    sections = [
        Content("\n").join(
            [
                Content.styled(title, "bold $text-accent"),
                *(Content.assemble((f"{name:<12}", "bold"), " ", text) for name, text in lines),
            ]
        )
        for title, lines in [*parts, ("Marks", MARK_WORDS)]
    ]
    return Content("\n\n").join(sections)


TagChange = tuple[tuple[str, ...], tuple[str, ...]]
"""The tags to add, and the tags to remove."""


class EditTags(Dialog[TagChange]):
    """A field with the tags of a memory as words."""

    AUTO_FOCUS = "Input"

    def __init__(self, path: str, tags: Sequence[str]) -> None:
        # A stored tag may have blanks or control characters, which a field of words cannot have.
        self._tags = {"-".join(clean_line(tag).split()): tag for tag in tags}
        # Not selected, as Textual does by default: the first key would replace all tags.
        field = Input(" ".join(self._tags), placeholder="words, separated by spaces", select_on_focus=False)
        self._problem = Static("", markup=False, classes="problem")
        super().__init__(f"tags of {path}", "Enter: save   Esc: cancel", field, self._problem)

    @on(Input.Submitted)
    def save(self, event: Input.Submitted) -> None:
        """Closes the dialog with the changes as its result, unless a word is not a valid tag."""
        try:
            wanted = tag_change(self._tags, event.value)
        except UsageError as error:
            self._problem.update(f"{error.message}: {error.hint}")
            return
        self.dismiss(wanted)


def tag_change(shown: dict[str, str], typed: str) -> TagChange:
    """The changes between the tags that were `shown` (the words of the field, and the stored tags) and the words `typed`.
    Raises UsageError for a word that is not a valid tag."""
    words = typed.replace("#", " ").replace(",", " ").split()
    add = dict.fromkeys(check_tag(word) for word in words if word not in shown)
    wanted = {*words, *add}
    # A stored tag stays if the field has its word, or the tag itself.
    return (
        tuple(tag for tag in add if tag not in shown.values()),
        tuple(tag for name, tag in shown.items() if name not in wanted and tag not in wanted),
    )


class TextForm(Dialog[Mapping[str, Json]]):
    """A dialog whose last field is a text. Its result is the text, under `raw`. Escape has to be pressed twice if the text was
    changed."""

    AUTO_FOCUS = "TextArea"
    BINDINGS: ClassVar[list[BindingType]] = bindings(FORM)
    DEFAULT_CSS = """
    TextForm {
        & > Box { width: 100; height: 94%; }
        & TextArea { height: 1fr; min-height: 3; border: none; padding: 0; }
        & Label { color: $text-muted; }
    }
    """

    def __init__(self, title: str, text: str, *above: Widget, problem: str = "") -> None:
        self._field = TextArea(text, tab_behavior="focus", compact=True)
        self._problem = Static(problem, markup=False, classes="problem")
        self._before = text
        self._is_warned = False
        keys = "Ctrl-S: save   Tab: next field   Esc: cancel"
        super().__init__(title, keys, *above, self._field, self._problem)

    def action_leave(self) -> None:
        """Closes the form without a result; after a change of the text, only the second time."""
        if self._field.text != self._before and not self._is_warned:
            self._is_warned = True
            self._problem.update("not saved: press Esc again to discard the text, Ctrl-S to save it")
        else:
            self.dismiss(None)

    def action_save(self) -> None:
        """Closes the form with its result."""
        self.dismiss({"raw": self._field.text})

    @on(TextArea.Changed)
    def clear_warning(self) -> None:
        """Removes the warning when the user continues to type."""
        if self._is_warned:
            self._is_warned = False
            self._problem.update("")


class AddForm(TextForm):
    """A form for a new memory. Its result has the fields; without kind or path, memcli derives them from the text."""

    def __init__(self, fields: Mapping[str, Json], problem: str = "") -> None:
        self._kind = Input(
            str(fields.get("kind", "")), placeholder="derived from the text", compact=True,
            suggester=SuggestFromList(sorted(KINDS)),
        )  # fmt: skip
        self._path = Input(str(fields.get("path", "")), placeholder="project/module/topic, or derived", compact=True)
        above = Label("kind"), self._kind, Label("path"), self._path, Label("text")
        super().__init__("new memory", str(fields.get("raw", "")), *above, problem=problem)
        self._before = ""  # a text that could not be stored is to be lost no more easily than a new one

    @on(Input.Submitted)
    def next_field(self) -> None:
        """Moves the focus to the next field, after Enter in a field of one line."""
        self.focus_next()

    def action_save(self) -> None:
        """Closes the form with the fields as its result, unless the path is not valid or the text is empty."""
        given = {"kind": self._kind.value.strip(), "path": self._path.value.strip(), "raw": self._field.text.strip()}
        try:
            if given["path"]:
                check_path(given["path"])
        except MemcliError as error:
            self._problem.update(f"{error.message}: {error.hint}")
            return
        if not given["raw"]:
            self._problem.update("the text is empty: type what to remember")
            return
        self.dismiss({name: value for name, value in given.items() if value})
