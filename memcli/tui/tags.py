"""The tags of a memory, to be edited on one line."""

from __future__ import annotations

from collections.abc import Sequence

from textual import on
from textual.widget import Widget
from textual.widgets import Input, Static

from memcli.errors import UsageError
from memcli.model.names import check_tag
from memcli.record import Record
from memcli.render.clean import clean_line
from memcli.tui.dialog import Dialog


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
