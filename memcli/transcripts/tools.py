"""Tool calls, kept short: what was run, and whether it failed."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from memcli.record import Record
from memcli.transcripts import reasons
from memcli.transcripts.transcript import Said
from memcli.transcripts.values import dict_of, list_of, parse, text_of

MAX_CHARACTERS = 200
_REACH = 10 * MAX_CHARACTERS
"""How much of a text is looked at for them."""
_MAIN = (
    "command", "cmd", "commands", "file_path", "filePath", "path", "notebook_path", "pattern", "query", "url", "code",
    "input", "patchText", "prompt", "description",
)  # fmt: skip
"""The arguments that say most about a call, the best first."""
_SHELLS = (
    "bash", "shell", "exec_command", "local_shell", "shell_command", "run_terminal_cmd", "container.exec",
    "run_shell_command", "run_commands", "execute_command",
)  # fmt: skip
"""Tools of which the command alone says what was run."""
_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|</?tool_use_error>")
_OWN = re.compile(
    r"(?:^|[;&|(]\s*)(?:(?:uvx|uv run|pipx run|python3? -m)\s+)?memcli\s|^(?:\S*[_.:/])?memcli(?:[_.:/ ]|$)|[;&|(]\s*\S*/memcli\s"
)
_EXIT = re.compile(r"^(?:Exit code: |Process exited with code )(-?\d+)", re.MULTILINE)
_EXIT_REACH = 400
_MOST_OPEN = 1_000


class Call(Record, frozen=False):
    """A call whose outcome may come later."""

    what: str
    at: object
    key: str
    failed: bool = False
    message: str = ""

    def said(self) -> Said:
        """The line that is kept of it."""
        if not self.failed:
            return Said("tool", f"ran: {self.what}", self.at, key=self.key)
        message = "" if is_own(self.what) else shortened(self.message, from_end=True)
        return Said("tool", f"ran: {self.what} (failed)" + (f": {message}" if message else ""), self.at, key=self.key)


class OpenCalls:
    """The calls since the last message, in order, until their outcomes are known."""

    def __init__(self, skipped: Counter[str]) -> None:
        self._open: dict[str, Call] = {}
        self._skipped = skipped

    def begin(self, key: str, what: str, at: object = None) -> Iterator[Said]:
        """A call; `key` is what its result names. Gives the lines of the calls before it, where there are too many."""
        if len(self._open) >= _MOST_OPEN:
            yield from self.flush()
        self._open.setdefault(key or f"\0{len(self._open)}", Call(what, at, key))

    def finish(self, key: str, output: str, *, failed: bool) -> None:
        """The outcome of a call."""
        call = self._open.get(key)
        if call is None:
            self._skipped[reasons.ORPHAN] += 1
        elif failed and not call.failed:
            call.failed, call.message = True, output[-_REACH:]

    def is_open(self, key: str) -> bool:
        """Whether a result may name this call."""
        return key in self._open

    def flush(self) -> Iterator[Said]:
        """The lines of all calls, for what comes next was said after them."""
        calls, self._open = self._open, {}
        for call in calls.values():
            yield call.said()


def described(name: str, arguments: Any) -> str:
    """What was run: the command of a shell, or the tool and its main argument."""
    if isinstance(arguments, str):
        arguments = _parsed(arguments)
    main = arguments if isinstance(arguments, str) else ""
    for field in _MAIN:
        if not main and (value := dict_of(arguments).get(field)):
            main = _command(value)
    if main and name.rpartition("__")[2].rpartition("/")[2].lower() in _SHELLS:
        return shortened(main)
    return shortened(f"{name or 'a tool'} {main}")


def is_own(what: str) -> bool:
    """Whether the tool was memcli, as a server or as a command: what it answers is stored already."""
    return _OWN.search(what) is not None


def shortened(text: str, *, from_end: bool = False) -> str:
    """`text` on one line of at most MAX_CHARACTERS: its beginning, or its end, where an error says what it is."""
    line = " ".join(_ESCAPES.sub("", text[-_REACH:] if from_end else text[:_REACH]).split())
    if len(line) <= MAX_CHARACTERS:
        return line
    return f"…{line[1 - MAX_CHARACTERS :]}" if from_end else f"{line[: MAX_CHARACTERS - 1]}…"


def says_failed(output: str) -> bool:
    """Whether the head of the output reports an exit code other than 0."""
    found = _EXIT.search(output[:_EXIT_REACH])
    return found is not None and int(found[1]) != 0


def _command(value: Any) -> str:
    """The text of an argument; of a list of words, what its shell is to run."""
    words = [text_of(word) for word in list_of(value)]
    if len(words) == 3 and words[1] in ("-c", "-lc"):
        return words[2]
    return " ".join(words) or text_of(value)


def _parsed(arguments: str) -> Any:
    try:
        value = parse(arguments.encode("utf-8", "replace"))
    except ValueError:
        return arguments
    return value if isinstance(value, dict) else arguments
