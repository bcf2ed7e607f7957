"""Anchors: made of what a user names, and checked against the code as it is now."""

from __future__ import annotations

from collections.abc import Mapping

from memcli.app.workspace import Workspace
from memcli.errors import MemcliError, UsageError
from memcli.model.anchors import Checked
from memcli.model.memory import Json
from memcli.model.names import show
from memcli.policy.anchoring import Anchor, Code, is_inside, make, parse, state
from memcli.ports import CodeReader


def anchored(workspace: Workspace, fields: Mapping[str, Json]) -> Mapping[str, Json]:
    """The fields of a memory with `anchors` as they are stored.

    They are given as texts such as `src/auth.py:10-42`, told from the working directory, and as objects, told from the
    work tree. One that has a hash is taken as it is; what is no anchor too, for the check of fields.
    Raises UsageError and NotFoundError for a place that is not there, or where nothing may be anchored.
    """
    return {**fields, "anchors": _resolved(workspace, fields["anchors"])}


class Checker:
    """Holds anchors against the code as it is now; each file is read and cut into lines once."""

    def __init__(self, reader: CodeReader) -> None:
        self._reader = reader
        self._files: dict[str, Code | None] = {}

    def check(self, anchor: Anchor) -> Checked:
        """What has become of an anchor."""
        return state(anchor, self._code(anchor.file))

    def is_missing(self, file: str) -> bool:
        """Whether the file of an anchor that was checked is not there, or cannot be read."""
        return self._files[file] is None

    def size(self, file: str) -> int:
        """How many characters the file of an anchor that was checked has."""
        code = self._files[file]
        return len(code.text) if code else 0

    def _code(self, file: str) -> Code | None:
        if file not in self._files:
            try:
                self._files[file] = Code(self._reader.text(file))
            except MemcliError:
                self._files[file] = None
        return self._files[file]


def _is_open(item: Json) -> bool:
    """Whether an anchor is still to be made of it."""
    if isinstance(item, Mapping):
        is_readable = isinstance(item.get("file"), str) and isinstance(item.get("symbol", ""), str)
        return is_readable and not item.get("hash")
    return isinstance(item, str)


def _made(item: str | Mapping[str, Json], code: CodeReader | None) -> Mapping[str, Json]:
    if code is None:
        raise UsageError("this store belongs to no work tree that could be anchored to", "leave --anchor out")
    if not isinstance(item, str):
        return {**item, **make(item, code.text(item["file"]))}
    fields = parse(item)
    fields["file"] = code.name(fields["file"])
    return make(fields, code.text(fields["file"]))


def _resolved(workspace: Workspace, given: Json) -> Json:
    if not isinstance(given, list | tuple):
        return given
    code = workspace.load_code() if any(_is_open(item) for item in given) else None
    made = [_made(item, code) if _is_open(item) else item for item in given]
    for item in made:
        if isinstance(item, Mapping) and isinstance(item.get("file"), str) and not is_inside(item["file"]):
            raise UsageError(
                f"no place for an anchor: {show(item['file'])}", "name a file by its path in the work tree"
            )
    opened = [item["file"] for item, before in zip(made, given, strict=True) if item is not before]
    commits = code.commits(sorted({*opened})) if code and opened else {}
    return [
        {**item, "commit": commits[item["file"]]} if item is not before and item["file"] in commits else item
        for item, before in zip(made, given, strict=True)
    ]
