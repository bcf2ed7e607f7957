"""Editing the text of a memory, or all its fields as JSON, in the user's editor."""

from __future__ import annotations

import errno
import os
import shlex
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TypeVar

from memcli.cli.arguments import decode, read_file
from memcli.cli.output import ask, can_ask, has_input, is_called, is_terminal, report
from memcli.codec.canonical import decode_object, encode
from memcli.codec.memory import memory_to_json
from memcli.errors import ConflictError, MemcliError, ProviderError, UsageError
from memcli.model.memory import Json, Memory

_FIXED = ("id", "created_at", "updated_at", "version")
_FALLBACKS = ("sensible-editor", "nano", "vi")
_T = TypeVar("_T")


class EditorFile:
    """A temporary file for the user's editor with the text of `memory`, empty for a new memory.

    With `as_object`, or if the memory has no text, it has all fields as JSON. It exists until `remove` is called, so that edits
    are not lost if they cannot be saved.
    """

    def __init__(self, memory: Memory | None = None, as_object: bool = False) -> None:
        raw = memory.raw if memory else ""
        self._whole: Mapping[str, Json] | None = None
        if memory and (as_object or not raw.strip()):
            self._whole = {k: v for k, v in memory_to_json(memory).items() if k not in _FIXED}
        self._raw = raw
        text = raw if self._whole is None else encode(self._whole).decode()
        self._written = (text if text.endswith("\n") or not text else text + "\n").encode()
        # Not named after the memory, whose id may be from a repository of strangers.
        name = "memory.txt" if self._whole is None else "memory.json"
        self.path = os.path.join(tempfile.mkdtemp(prefix="memcli-"), name)
        with open(os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(self._written)

    @property
    def text(self) -> str:
        """The contents of the file. Raises UsageError if it cannot be read."""
        return decode(read_file(self.path), "the edited text")

    def write(self, text: str) -> None:
        """Writes `text` to the file, with a final line break as an editor does."""
        with open(self.path, "wb") as file:
            file.write((text if text.endswith("\n") or not text else text + "\n").encode())

    @property
    def is_changed(self) -> bool:
        """Whether the file has been edited, and can be read and is not empty."""
        try:
            return read_file(self.path) not in (self._written, b"")
        except MemcliError:
            return False

    def edit(self) -> None:
        """Opens the file in the editor and waits. Raises UsageError if there is no editor, ProviderError if it fails."""
        from memcli.git.repository import find_program

        program, *arguments = command = editor_command()
        name = shlex.join(command)
        # Ctrl-C reaches the editor too, and is for it alone. SIG_IGN would be inherited by the editor; a handler is not.
        before = signal.signal(signal.SIGINT, lambda *_: None)
        try:
            # Relative folders of PATH do not count: they could lead into the repository.
            file = program if os.path.dirname(program) else find_program(program)
            if file is None:
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), program)
            code = subprocess.run([file, *arguments, self.path], check=False).returncode
        except OSError as error:
            raise ProviderError(
                f"cannot run the editor {name!r}: {error.strerror}", "set EDITOR to a command that works"
            ) from None
        finally:
            signal.signal(signal.SIGINT, before)
        if code:
            raise ProviderError(f"the editor {name!r} failed with exit code {code}", "nothing was saved")

    def fields(self) -> dict[str, Json]:
        """The changed fields; removed ones are null. Raises UsageError if they cannot be saved."""
        data = read_file(self.path)
        if data == self._written:
            return {}
        text = decode(data, "the edited text")
        if self._whole is not None:
            whole = decode_object(encode(self._whole).decode(), "the memory")  # lists where the memory has tuples
            edited = decode_object(text, "the edited memory")
            changed = {name: value for name, value in edited.items() if name not in whole or whole[name] != value}
            return {**changed, **{name: None for name in whole if name not in edited}}
        if not text.strip():
            raise UsageError("the edited text is empty", "use `memcli forget` to remove a memory from recall")
        raw = text if self._raw.endswith("\n") else text.removesuffix("\n")
        return {} if raw == self._raw else {"raw": raw}

    def remove(self) -> None:
        """Deletes the file."""
        shutil.rmtree(os.path.dirname(self.path), ignore_errors=True)


def editor_command() -> list[str]:
    """$VISUAL, $EDITOR, or the first installed fallback. Raises UsageError if there is none."""
    for name in ("VISUAL", "EDITOR"):
        value = os.environ.get(name, "")
        try:
            words = shlex.split(value)
        except ValueError as error:
            raise UsageError(
                f"${name} is not a command: {value!r} ({error})", f"set {name} to a command that works"
            ) from None
        if words:
            return words
    if has_input() or not is_terminal():
        raise UsageError("no editor: VISUAL and EDITOR are not set", "set EDITOR, or use --text or --set")
    for name in _FALLBACKS:
        if shutil.which(name):
            return [name]
    raise UsageError(
        f"no editor: VISUAL and EDITOR are not set, and {', '.join(_FALLBACKS)} are not installed", "set EDITOR"
    )


def edit_memory(
    memory: Memory, as_object: bool, save: Callable[[Mapping[str, Json], Memory | None], _T], json: bool
) -> _T | None:
    """Opens the editor and returns the result of `save` on the changed fields; None if nothing changed.

    `save` also gets the memory as it was opened, to detect a concurrent change; None once the user has been warned of one. If
    saving fails, the user may edit again; without a terminal, the error names the file with the edited text.
    """
    # The terminal, if there is one, belongs to the program that called.
    if is_called():
        raise UsageError("nothing to change", "give the text or the fields to set")
    draft = EditorFile(memory, as_object)
    expected: Memory | None = memory
    while True:
        try:
            draft.edit()
            fields = draft.fields()
            saved = save(fields, expected) if fields else None
        except MemcliError as error:
            if not draft.is_changed:
                draft.remove()
                raise
            is_again = False
            if not json and can_ask():
                report(error, json=False)
                with suppress(KeyboardInterrupt):
                    is_again = ask("Edit again?", default=True)
            if not is_again:
                hint = "; ".join(part for part in (error.hint, f"the edited text is kept in {draft.path}") if part)
                raise type(error)(error.message, hint) from None  # the class has the exit code
            expected = None if isinstance(error, ConflictError) else expected
            continue
        draft.remove()
        return saved
