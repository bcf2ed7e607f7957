"""Results on standard output, messages and errors on standard error, and the reading of standard input.

The other end may be a terminal, a pipe, or a program that called the verb in its own process (see `calls.py`).
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

from memcli.codec.canonical import encode, encode_line
from memcli.errors import MemcliError, NotFoundError, StoreError, UsageError, hint_of
from memcli.model.memory import Json
from memcli.render.clean import clean, clean_line, clean_marked, coloured, escape, fitted, is_coloured, paint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

    from memcli.model.memory import Memory


_ON_STREAMS = object()
_input: ContextVar[bytes | object | None] = ContextVar("input", default=_ON_STREAMS)


@contextmanager
def called(data: bytes | None) -> Iterator[None]:
    """A context for a verb that a program calls: it reads `data` as standard input (None: no input) and asks no questions,
    because the streams of the process belong to the program."""
    token, before = _input.set(data), coloured.set("never")
    try:
        yield
    finally:
        _input.reset(token)
        coloured.reset(before)


def is_called() -> bool:
    """Whether a program called the verb in its own process."""
    return _input.get() is not _ON_STREAMS


def is_terminal() -> bool:
    """Whether standard output is a terminal."""
    return not is_called() and sys.stdout.isatty()


def can_ask() -> bool:
    """Whether a user can answer questions: standard input and error are terminals."""
    return not is_called() and sys.stdin.isatty() and sys.stderr.isatty()


def has_input() -> bool:
    """Whether standard input is a pipe or file, or the input of a call."""
    data = _input.get()
    return not sys.stdin.isatty() if data is _ON_STREAMS else data is not None


def read_input(limit: int) -> bytes:
    """At most `limit` bytes of standard input. Raises UsageError if there is none, or if it cannot be read."""
    data = _input.get()
    if data is _ON_STREAMS:
        try:
            return sys.stdin.buffer.read(limit)
        except OSError as error:
            raise UsageError(f"cannot read standard input: {error.strerror}") from None
    if not isinstance(data, bytes):
        raise UsageError("there is no standard input to read", "give the value itself, or a file")
    return data[:limit]


# Not at once: to import Rich takes longer than most commands.
_PROGRESS_AFTER_SECONDS = 1.0
_LINE_AFTER_SECONDS = 10.0


class Output:
    """The output of a command.

    `json` prints results as JSON; `quiet` prints only results and errors; with `pages`, a result with more lines than the
    terminal goes through a pager.
    """

    def __init__(self, json: bool = False, quiet: bool = False, pages: bool = True) -> None:
        self.json = json
        self.quiet = quiet
        self._pages = pages

    def answer(self, data: Json, text: str, *, on_one_line: bool = False) -> None:
        """Prints a result: `data` as JSON, or `text`."""
        write = encode_line if on_one_line else encode
        self.write(escape(write(data).decode()) if self.json else text)

    def confirm(self, data: Json, text: str) -> None:
        """Prints a confirmation, like `answer`, unless quiet."""
        if self.json or not self.quiet:
            self.answer(data, fitted(text, "  "))

    def array(self, values: Iterable[Json]) -> int:
        """Prints JSON values as one array in the form of `answer`, each as soon as it is made. Returns their number."""
        count = 0
        # One by one, since a list may have 100,000 memories.
        for count, value in enumerate(values, 1):
            item = escape(encode(value).decode()).replace("\n", "\n  ")
            self._put(clean(f"{'[' if count == 1 else ','}\n  {item}"))
        self._put("\n]\n" if count else "[]\n")
        return count

    def lines(self, values: Iterable[Json]) -> None:
        """Prints JSON values, one per line, flushing after each."""
        for value in values:
            self.write(escape(encode_line(value).decode()))
            finish()

    def write(self, text: str) -> None:
        """Prints sanitized text with a final newline; prints nothing for empty text."""
        self._send(clean(text))

    def page(self, text: str) -> None:
        """Prints a text built from clean parts, with the colours that `styled` marks; through the pager if it has more lines
        than the terminal."""
        shown = paint(clean_marked(text)) if is_coloured() else clean(text)
        if self._pages and _paged(shown):
            return
        if is_coloured():
            self._send(shown)
        else:
            self.write(text)  # not `_send`: the output of a call overrides `write` to collect the text

    def raw(self, text: str) -> None:
        """Prints text unchanged, such as an export; sanitized on a terminal, where escape sequences would act."""
        self._send(clean(text) if is_terminal() else text)

    def _send(self, text: str) -> None:
        if text:
            self._put(text if text.endswith("\n") else text + "\n")

    def _put(self, text: str) -> None:
        with _reporting_failure():
            sys.stdout.write(text)

    def note(self, text: str) -> None:
        """Prints a message on standard error."""
        if not self.quiet:
            sys.stderr.write(_at_width(f"memcli: {clean_line(text)}"))


def _terminal_size() -> os.terminal_size:
    import shutil

    return shutil.get_terminal_size((80, 24))


def _at_width(line: str) -> str:
    """A line for standard error; on a terminal wrapped to its width."""
    if not sys.stderr.isatty() or len(line) < (width := _terminal_size().columns):
        return f"{line}\n"
    import textwrap

    return textwrap.fill(line, width, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False) + "\n"


def _paged(text: str) -> bool:
    """Shows the text in a pager, MEMCLI_PAGER, PAGER or less, if it has more lines than the terminal. Returns whether it did."""
    # TERM is dumb in the shells of editors, which cannot show a pager.
    if not (is_terminal() and sys.stdin.isatty()) or os.environ.get("TERM") == "dumb":
        return False
    if text.count("\n") < _terminal_size().lines:
        return False
    import shlex
    import subprocess

    command = next((os.environ[name] for name in ("MEMCLI_PAGER", "PAGER") if name in os.environ), "less")
    if command in ("", "cat"):
        return False
    # As git sets less: quit if the text fits on the screen (F), pass colours (R), leave the text on the screen (X).
    environ = {"LESS": "FRX", "LESSCHARSET": "utf-8", **os.environ}
    try:
        subprocess.run(shlex.split(command), input=text.encode(), env=environ, check=True)
    except (OSError, ValueError, subprocess.CalledProcessError):
        return False
    return True


@contextmanager
def _reporting_failure() -> Iterator[None]:
    """Converts an OSError of standard output into StoreError, but not BrokenPipeError: a closed pipe is not a failure."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        silence()
        raise StoreError(f"cannot write the answer: {error.strerror}", "the command itself succeeded") from None


def finish() -> None:
    """Flushes standard output. Raises StoreError if that fails."""
    with _reporting_failure():
        sys.stdout.flush()


def silence() -> None:
    """Redirects stdout to the null device, so that the interpreter's final flush cannot fail."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def confirm_changed(
    output: Output, memories: Sequence[Memory], lines: Sequence[str], missing: MemcliError | None
) -> None:
    """Prints the changed memories, as lines or as JSON; then raises `missing`, the error for references that named none."""
    from memcli.render.memory import summary_json

    output.confirm([summary_json(memory) for memory in memories], "\n".join(lines))
    # What was found has been changed by now: the error about the rest must not hide that.
    if missing is not None:
        raise missing


def ask(question: str, default: bool = False) -> bool:
    """Asks a yes/no question on the terminal; Enter means `default`. Returns False without a terminal."""
    if not can_ask():
        return False
    sys.stderr.write(f"{clean_line(question)} [{'Y/n' if default else 'y/N'}] ")
    sys.stderr.flush()
    answer = sys.stdin.readline()
    # At the end of the input nobody has answered: the default is for Enter alone.
    return answer.strip().lower() in ("y", "yes") or (default and answer == "\n")


def report(error: MemcliError, json: bool) -> None:
    """Prints an error as one line on standard error; with `json` also as JSON on standard output."""
    sys.stderr.write(_at_width(f"memcli: {on_one_line(error)}"))
    # On standard output: a program that reads JSON there is to find the error in its place.
    if json:
        sys.stdout.write(escape(encode({"error": shown(error)}).decode("utf-8", "replace")) + "\n")


def shown(error: MemcliError) -> dict[str, str]:
    """An error as JSON, with secrets redacted."""
    return {"code": error.code, "message": _without_secrets(error.message), "hint": _without_secrets(error.hint)}


def on_one_line(error: MemcliError) -> str:
    """The message and the hint of an error on one line, with secrets redacted and without control characters."""
    message, hint = _without_secrets(error.message), _without_secrets(error.hint)
    return clean_line(f"{message} ({hint})" if hint else message)


def _without_secrets(text: str) -> str:
    """Redacts a part of an error message, which may quote user input."""
    from memcli.safety.secrets.detector import Detector
    from memcli.safety.secrets.rules import EMAIL

    return Detector({"detectors": [f"-{EMAIL}"]}, lambda _: "").redact(text)[0]


_NAMES = {
    "email": "e-mail address", "api": "API", "aws": "AWS", "gcp": "GCP", "jwt": "JWT", "oauth": "OAuth", "pgp": "PGP", "sas": "SAS", "ssh": "SSH", "url": "URL",
}  # fmt: skip
"""Words of kinds of secrets as people write them."""


def redaction_note(kinds: Mapping[str, int]) -> str:
    """The number of redacted secrets by kind, as the end of a line: `; redacted 1 AWS key, 2 e-mail addresses`; empty for none."""
    from memcli.model.names import counted

    shown = []
    for kind, number in sorted(kinds.items()):
        name = " ".join(_NAMES.get(word, word) for word in kind.split("_"))
        shown.append(
            counted(number, name, {"e-mail address": "e-mail addresses", "basic credentials": name}.get(name, ""))
        )
    return f"; redacted {', '.join(shown)}" if shown else ""


class ProgressBar:
    """A progress bar on standard error, from a second after the first call on. If standard error is not a terminal, it prints
    nothing or, with `has_lines`, a line every ten seconds.

    A call raises KeyboardInterrupt if the caller of the verb has cancelled it.
    """

    def __init__(self, what: str, quiet: bool, now: Callable[[], float] = time.monotonic) -> None:
        self._what = what
        self._now = now
        self.is_shown = not quiet and sys.stderr.isatty()
        self.has_lines = False
        self._is_quiet = quiet
        self._started: float | None = None
        self._bar: Progress | None = None
        self._task: TaskID | None = None

    def __call__(self, done: int, total: int) -> None:
        from memcli.cancel import check_cancelled

        check_cancelled()
        now = self._now()
        self._started = now if self._started is None else self._started
        if not self.is_shown:
            # In the log of a job a bar is of no use, but a line now and then shows that it goes on.
            if self.has_lines and not self._is_quiet and now - self._started >= _LINE_AFTER_SECONDS and done < total:
                self._started = now
                sys.stderr.write(f"memcli: {self._what} {done:,} of {total:,}\n")
                sys.stderr.flush()
            return
        if self._bar is None and now - self._started >= _PROGRESS_AFTER_SECONDS and done < total:
            self._start(total)
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, completed=done, total=total)
        if done >= total:
            self.close()

    def close(self) -> None:
        """Removes the bar."""
        if self._bar is not None:
            self._bar.stop()
        self._bar, self._started = None, None

    def _start(self, total: int) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        self._bar = Progress(*columns, console=Console(stderr=True), transient=True)
        self._task = self._bar.add_task(self._what, total=total)
        self._bar.start()


# As shells report a process that SIGINT or SIGPIPE ended: 128 and the number of the signal.
_INTERRUPTED = 130
_BROKEN_PIPE = 141


def prepare_streams() -> None:
    """Makes output UTF-8 with `\\n` whatever the locale, and replaces streams that the caller closed, as `>&-` does."""
    # Standard output is replaced by one that cannot be written: a command whose result is lost must fail.
    for name, way in (("stdin", os.O_RDONLY), ("stdout", os.O_RDONLY), ("stderr", os.O_WRONLY)):
        if getattr(sys, name) is None:
            mode = "r" if name == "stdin" else "w"
            setattr(sys, name, open(os.open(os.devnull, way), mode, encoding="utf-8"))  # noqa: SIM115 - lasts as long as the process
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            # Replacing: the name of a file may be no UTF-8, which must not end the output.
            stream.reconfigure(encoding="utf-8", errors="replace", newline="\n")


def reported(error: BaseException, json: bool) -> int:
    """Prints the error that ended a command and returns its exit code. Raises the error again if it is no Exception, or if it
    is a bug and MEMCLI_DEBUG is set."""
    if isinstance(error, BrokenPipeError):
        silence()  # the reader has ended, as in `| head`
        return _BROKEN_PIPE
    # By name: Typer has its own copy of Click, and the classes of its errors are private.
    if isinstance(error, KeyboardInterrupt) or type(error).__name__ == "Abort":
        return _INTERRUPTED
    if not isinstance(error, Exception):
        raise error
    if type(error).__name__ == "NoArgsIsHelpError":
        print(error.format_message())  # type: ignore[attr-defined]
        return UsageError.exit_code
    known = as_error(error)
    if type(known) is MemcliError and known is not error and os.environ.get("MEMCLI_DEBUG"):
        raise error
    report(known, json)
    return known.exit_code


def exit_code_of(error: BaseException) -> int:
    """The exit code of a command that ends with this error."""
    if isinstance(error, KeyboardInterrupt):
        return _INTERRUPTED
    if isinstance(error, BrokenPipeError):
        return _BROKEN_PIPE
    return as_error(error).exit_code if isinstance(error, Exception) else MemcliError.exit_code


def as_error(error: Exception) -> MemcliError:
    """The error to report for an exception: a MemcliError itself; for errors of usage, memory, SQLite and the system the one
    with a hint; for any other, a report of a bug."""
    is_debugged = bool(os.environ.get("MEMCLI_DEBUG"))  # then errors of SQLite and the system end with a traceback too
    if isinstance(error, MemcliError):
        return error
    if hasattr(error, "format_message"):
        context = getattr(error, "ctx", None)
        # The default command of a group has a name of its own in Typer, which no user can give.
        command = "memcli" if context is None else context.command_path.removesuffix(" default")
        return UsageError(error.format_message().rstrip("."), f"see `{command} --help`")
    if isinstance(error, UnicodeEncodeError):  # Python decodes the bytes of arguments that are not UTF-8 to surrogates
        return UsageError(f"not valid UTF-8: {error.object[:40]!a}", "convert the argument to UTF-8")
    if isinstance(error, MemoryError):
        return StoreError("out of memory", "close other programs, or give memcli more (`ulimit -v`)")
    # By the name of its module: commands that do not use SQLite do not import it.
    if type(error).__module__ == "sqlite3" and not is_debugged:
        return StoreError(f"the cache is damaged: {error}", "run `memcli store index rebuild`; no memory is lost")
    if isinstance(error, OSError) and not is_debugged:
        if isinstance(error, FileNotFoundError) and not error.filename:
            return NotFoundError("the working directory no longer exists", "change to an existing directory")
        where = f": {error.filename}" if error.filename else ""
        return StoreError(f"{error.strerror or error}{where}", hint_of(error, "check permissions and free space"))
    hint = "please report it; MEMCLI_DEBUG=1 shows a traceback"
    return MemcliError(f"internal error: {type(error).__name__}: {error}", hint)
