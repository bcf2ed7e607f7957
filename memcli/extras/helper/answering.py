"""The process of the helper: takes one request after the other, and runs each as the command line would.

A request brings its arguments, environment, working directory, umask and input, and the process takes them on for as long
as it answers: so every command works as it does in a process of its own, without a second way through its code. What it
prints is collected, with the buffers that the interpreter would have, and goes to the client piece by piece.
"""

from __future__ import annotations

import array
import contextvars
import fcntl
import gc
import io
import os
import signal
import socket
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from typing import Any, cast

from memcli import client
from memcli.app.workspace import Workspace
from memcli.cli.options import CommonOptions
from memcli.cli.output import reported
from memcli.cli.verb import CommandContext, read_line
from memcli.errors import MemcliError
from memcli.store.layout import Layout, identity
from memcli.store.private import STATE
from memcli.wiring.roots import global_root, locate
from memcli.wiring.workspace_cache import WorkspaceCache

IDLE_SECONDS = 600.0
MODEL_SECONDS = 60.0
"""How long the model stays in memory without a question, in seconds."""
_LOOK_SECONDS = 2.0
"""How often the helper looks whether its store and its sessions are still there."""
_REQUEST_SECONDS = 0.5
_ANSWER_SECONDS = 1.0
_LONGEST = 10
# After so many seconds the system ends a helper that does not answer; its client goes on alone.
_LONGEST_HOOK = 3
_COLLECT_AFTER = 50_000
_MOST_FIELDS = 1 << 22
_BACKLOG = 32
# The block size of pipes and files, by which the interpreter buffers standard output.
_BLOCK = 4096
# Variables that a process reads at its start, or that change what it keeps: with other ones a command runs alone.
_OF_THE_INTERPRETER = ("PYTHON", "LC_", "LANG", "TZ", "MEMCLI_DEBUG", "MEMCLI_OTEL", "MEMCLI_STORE")


class DeclinedError(BaseException):
    """Raised where a command must run in its own process. Not an `Exception`: hooks ignore those."""


def serve(root: str, session: str, parents: Sequence[int]) -> None:
    """Answers requests for the store at `root` until nobody needs it. Returns at once if another helper does."""
    folder = client.run_folder(os.environ)
    with suppress(FileExistsError):
        os.makedirs(os.path.dirname(folder), exist_ok=True)
        os.mkdir(folder, 0o700)
    if not client.is_own(folder):
        return
    place = os.path.join(folder, client.socket_name(root))
    with closing(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)) as door:
        if not _take(door, place):
            return
        try:
            os.chdir(os.sep)  # the folder that it was started in may go
            Helper(root, place, session, parents).run(door)
        finally:
            for path in (place, f"{place}.store", f"{place}.user"):
                with suppress(FileNotFoundError):
                    os.unlink(path)


def _take(door: socket.socket, place: str) -> bool:
    """Binds the socket to the path `place`. Returns False if another helper answers there, or the path is too long."""
    # Two helpers that start at once would both find none, and the second would unlink the socket of the first.
    with open(f"{place}.lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        folder, name = os.path.split(place)
        try:
            client.connect(folder, name, _ANSWER_SECONDS).close()
            return False
        except OSError:
            pass
        with suppress(FileNotFoundError):
            os.unlink(place)  # of one that was killed
        try:
            door.bind(place)
        except OSError:
            return False
        door.listen(_BACKLOG)
    return True


class Helper:
    """Answers the requests of one store."""

    def __init__(self, root: str, place: str, session: str, parents: Sequence[int]) -> None:
        self._root, self._place = root, place
        self._store = identity(root)
        self._cache = WorkspaceCache()
        self._sources = Sources()
        self._sessions = {session: _Parents(parents)}
        self._used = self._looked = time.monotonic()
        self._answers, self._is_over = 0, False
        self._environ = dict(os.environ)

    def run(self, door: socket.socket) -> None:
        """Answers until the last session has ended, the store has gone, or nobody has asked for ten minutes."""
        gc.set_threshold(_COLLECT_AFTER)
        self._link()
        self._warm_up()
        gc.collect()
        gc.freeze()  # what is loaded by now stays: no collection looks at it again
        door.settimeout(_LOOK_SECONDS)
        while not self._is_over:
            try:
                connection, _ = door.accept()
            except TimeoutError:
                self._look()
                continue
            with closing(connection), suppress(OSError, ValueError):
                connection.settimeout(_REQUEST_SECONDS)
                if client.is_peer(connection):
                    self._take_request(connection)
            if time.monotonic() - self._looked > _LOOK_SECONDS:
                self._look()

    def _look(self) -> None:
        """Ends the helper if nobody needs it, drops a model that is idle, and collects child processes that have ended."""
        now = self._looked = time.monotonic()
        self._sessions = {name: one for name, one in self._sessions.items() if one.are_there(now)}
        if not self._sessions or identity(self._root) != self._store or now - self._used > IDLE_SECONDS:
            self._is_over = True
        if self._cache.has_model and now - self._used > MODEL_SECONDS:
            import ctypes

            self._cache.close()
            self._cache = WorkspaceCache()
            gc.collect()
            # The C library would keep the memory of the model and the indexes for later.
            with suppress(OSError, AttributeError):
                ctypes.CDLL(None).malloc_trim(0)
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass

    def _take_request(self, connection: socket.socket) -> None:
        fields, given, files = _request(connection)
        try:
            match fields:
                case [client.RUN, place, mask, folder, is_typed, count, *rest]:
                    args, own = rest[: int(count)], rest[int(count) :]
                    environ = dict(one.split("=", 1) for one in own)
                    if reason := self._reason_to_decline(environ, files, place):
                        _send(connection, client.DECLINED, reason.encode())
                        return
                    _send(connection, client.ACCEPTED, b"")
                    frames = self._answer(args, given, environ, folder, int(mask), is_typed=bool(is_typed))
                    connection.settimeout(_ANSWER_SECONDS)
                    connection.sendall(b"".join(_frame(kind, data) for kind, data in frames))
                    return
                case [client.JOIN, session, *parents]:
                    if session or not any(self._sessions):
                        self._sessions[session] = _Parents([int(one) for one in parents])
                case [client.LEAVE, session]:
                    self._sessions.pop(session, None)
                    self._is_over = not self._sessions
                case [client.END]:
                    self._is_over = True
                case [client.STATUS]:
                    pass
                case _:
                    return
            _send(connection, client.ACCEPTED, f"{os.getpid()} {self._answers}".encode())
        finally:
            for one in files:
                os.close(one)

    def _reason_to_decline(self, environ: Mapping[str, str], files: Sequence[int], place: str) -> str:
        """Why the client must run the command itself; empty if this process may. `files` are the descriptors that it has sent,
        `place` is its `client.surroundings`."""
        if place != client.surroundings():
            return "another sandbox"
        # An old helper would answer with code that is no longer there, and import the rest from the new one.
        if self._sources.have_changed():
            self._is_over = True
            return "memcli was changed"
        names = {name for one in (environ, self._environ) for name in one if name.startswith(_OF_THE_INTERPRETER)}
        # PYTHONPATH is another one in every helper: `starting.py` puts this memcli first in it.
        if any(environ.get(name) != self._environ.get(name) for name in names - {"PYTHONPATH"}):
            return "another interpreter"
        # Compared by the descriptors that came along: a caller that sees another store at this path has other files
        # there.
        expected = [path for path in self._link(environ) if path is not None]
        if [identity(path) for path in expected] != [(facts.st_dev, facts.st_ino) for facts in map(os.fstat, files)]:
            return "another store"
        # A caller in a sandbox that can only read the store must not have it written by this process.
        modes = [fcntl.fcntl(file, fcntl.F_GETFL) & os.O_ACCMODE for file in files]
        return "a store that the caller cannot write" if set(modes) - {os.O_RDWR} else ""

    def _link(self, environ: Mapping[str, str] | None = None) -> tuple[str | None, str | None]:
        """Makes links to the files that a client must be able to write, and returns their targets: the state of the store, or
        another file of it while there is no state, and a file of the user-wide store, None if there is no such store."""
        layout = Layout(self._root)
        state = layout.private(STATE)
        if not os.path.lexists(state):
            state = layout.ignore
        other = Layout(global_root(self._environ if environ is None else environ)).ignore
        shared = other if os.path.lexists(other) else None
        for path, target in ((f"{self._place}.store", state), (f"{self._place}.user", shared)):
            try:
                there = os.readlink(path)
            except OSError:
                there = None
            if there != target:
                with suppress(FileNotFoundError):
                    os.unlink(path)
                if target is not None:
                    os.symlink(target, path)
        return state, shared

    def _answer(
        self, args: list[str], given: bytes, environ: Mapping[str, str], folder: str, mask: int, *, is_typed: bool
    ) -> list[tuple[bytes, bytes]]:
        """The frames of an answer, of what the command prints and its exit code."""
        frames: list[tuple[bytes, bytes]] = []
        self._used = time.monotonic()
        here, streams = os.getcwd(), (sys.stdin, sys.stdout, sys.stderr)
        # Without a handler, so that the signal ends the process even where it hangs outside of Python.
        signal.alarm(_LONGEST_HOOK if args[0] == "hook" else _LONGEST)
        try:
            os.chdir(folder)
            _become(environ)
            os.umask(mask)
            sent = _Input(given, is_typed=is_typed, is_sent=args[0] == "hook" or "-" in args)
            sys.stdin = io.TextIOWrapper(sent, encoding="utf-8", errors="surrogateescape")
            sys.stdout = _stream(client.STDOUT, frames)
            sys.stderr = _stream(client.STDERR, frames)
            code = contextvars.copy_context().run(self._run, args)
            sys.stdout.flush()
            sys.stderr.flush()
            self._answers += 1
            frames.append((client.EXIT, str(code).encode()))
        except BaseException as error:  # noqa: BLE001 - whatever it is, the client's own process shows it
            frames[:] = [(client.DECLINED, repr(error).encode())]
        finally:
            signal.alarm(0)
            sys.stdin, sys.stdout, sys.stderr = streams
            _become(self._environ)
            with suppress(OSError):
                os.chdir(here)
        return frames

    def _run(self, args: list[str]) -> int:
        """As `memcli.__main__.main` runs a command, and its exit code."""
        call = read_line(args)
        if call is None:
            raise DeclinedError("not for the parser")
        for named in (one.rpartition("=")[2] for one in args):
            # A pipe would keep the helper waiting, and a device may be another one in this process.
            if os.path.exists(named) and not os.path.isfile(named) and not os.path.isdir(named):
                raise DeclinedError("no regular file")
        verb, options, common = call
        try:
            session = CommandContext(verb.name, CommonOptions(**common), opener=self._open)
            session.is_resident, session.has_model = True, self._cache.has_model
            return verb.run_in(session, options)
        except (DeclinedError, SystemExit):
            raise
        except BaseException as error:  # noqa: BLE001 - what is no failure is raised again
            return reported(error, bool(common.get("json")))

    def _open(self, options: Mapping[str, str | None], environ: Mapping[str, str], **rest: Any) -> Workspace:
        """As `open_workspace`, for the store of this helper alone. Raises DeclinedError for any other one."""
        if rest.get("create") or options.get("rev") or options.get("store") or locate(options, environ) != self._root:
            raise DeclinedError("another store")
        workspace = self._cache.open(options, environ, **rest)
        if not workspace.keeps_here(workspace.space):
            raise DeclinedError("a store on a server")
        return workspace

    def _warm_up(self) -> None:
        """Loads what a question needs, without a trace of it: the modules, the index and the model."""
        with suppress(MemcliError, OSError, DeclinedError):
            quiet = {**self._environ, "MEMCLI_OFF": "1", "MEMCLI_BACKGROUND": "off"}
            folder = os.path.dirname(self._root)
            for args in (["recall", "what is decided here?"], ["list", "--limit", "1"], ["guard", "--staged"]):
                self._answer(args, b"", quiet, folder, 0o77, is_typed=False)
            self._answers = 0


class Sources:
    """The files of memcli's modules as they were when they were loaded: an upgrade, or an edit, makes a helper too old."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[int, int]] = {}
        self.have_changed()

    def have_changed(self) -> bool:
        """Whether a module that is loaded has another file than it was loaded from."""
        for name, module in list(sys.modules.items()):
            path = getattr(module, "__file__", None)
            if path is None or name.partition(".")[0] != "memcli":
                continue
            try:
                facts = os.stat(path)
            except OSError:
                return True
            if self._known.setdefault(path, (facts.st_mtime_ns, facts.st_size)) != (facts.st_mtime_ns, facts.st_size):
                return True
        return False


class _Parents:
    """The processes that a session belongs to: the shell that ran its hook, the agent, and what is above them.

    The nearest one that is still there after a moment is the agent, and the session ends with it.
    """

    _SETTLED_SECONDS = 1.5

    def __init__(self, parents: Sequence[int]) -> None:
        self._known = [(one, _started(one)) for one in parents]
        self._began = time.monotonic()
        self._agent: tuple[int, str] | None = None

    def are_there(self, now: float) -> bool:
        """Whether the agent still runs, or is not known yet."""
        if now - self._began < self._SETTLED_SECONDS or not self._known:
            return True
        if self._agent is None:
            self._agent = next((one for one in self._known if one[1] and _started(one[0]) == one[1]), self._known[-1])
        return _started(self._agent[0]) == self._agent[1] != ""


def _started(process: int) -> str:
    """The start time of a process, which tells it from a later one with the same number; empty if there is none."""
    try:
        with open(f"/proc/{process}/stat", "rb") as file:
            # The name of the program, in brackets, may have blanks and brackets; behind it are the state and, as the
            # twentieth, the start.
            fields = file.read().rpartition(b")")[2].split()
        return "" if fields[0] == b"Z" else fields[19].decode()
    except OSError:
        pass
    if os.path.isdir("/proc/self"):
        return ""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return ""
    except PermissionError:
        pass
    return "?"


class _Recorder(io.RawIOBase):
    """The raw end of a stream: collects what is written as frames."""

    def __init__(self, kind: bytes, frames: list[tuple[bytes, bytes]]) -> None:
        self._kind, self._frames = kind, frames

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._frames.append((self._kind, bytes(data)))
        return len(data)


def _stream(kind: bytes, frames: list[tuple[bytes, bytes]]) -> io.TextIOWrapper:
    """A stream with the buffers of the interpreter's, so that both reach a file that they share in the same order."""
    raw, is_unbuffered = _Recorder(kind, frames), bool(os.environ.get("PYTHONUNBUFFERED"))
    return io.TextIOWrapper(
        cast("Any", raw if is_unbuffered else io.BufferedWriter(raw, _BLOCK)), encoding="utf-8", errors="replace",
        newline="\n", line_buffering=kind == client.STDERR, write_through=is_unbuffered,
    )  # fmt: skip


class _Input(io.BytesIO):
    """Standard input as the client has it. What was not sent along cannot be read here: reading raises DeclinedError."""

    def __init__(self, data: bytes, *, is_typed: bool, is_sent: bool) -> None:
        super().__init__(data)
        self._is_typed, self._is_sent = is_typed, is_sent

    def isatty(self) -> bool:
        return self._is_typed

    def read(self, size: int | None = -1, /) -> bytes:
        if not self._is_sent:
            raise DeclinedError("standard input")
        return super().read(size)

    read1 = read


def _become(environ: Mapping[str, str]) -> None:
    """Makes the environment of this process equal to `environ`."""
    now = os.environ
    for name in [name for name in now if name not in environ]:
        del now[name]
    for name, value in environ.items():
        if now.get(name) != value:
            now[name] = value


def _request(connection: socket.socket) -> tuple[list[str], bytes, list[int]]:
    """The fields, the input and the descriptors of a request. Raises OSError, and ValueError for one that is too long."""
    size = array.array("i").itemsize
    head, ancillary, _, _ = connection.recvmsg(client.HEAD, socket.CMSG_SPACE(4 * size))
    files = array.array("i")
    for level, kind, data in ancillary:
        if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
            files.frombytes(data[: len(data) - len(data) % size])
    try:
        head += client.receive(connection, client.HEAD - len(head))
        lengths = int.from_bytes(head[:4], "big"), int.from_bytes(head[4:], "big")
        if lengths[0] > _MOST_FIELDS or lengths[1] > client.MAX_INPUT:
            raise ValueError("too long")
        fields = [os.fsdecode(one) for one in client.receive(connection, lengths[0]).split(b"\0")]
        return fields, client.receive(connection, lengths[1]), list(files)
    except BaseException:
        for one in files:
            os.close(one)
        raise


def _frame(kind: bytes, data: bytes) -> bytes:
    return kind + len(data).to_bytes(4, "big") + data


def _send(connection: socket.socket, kind: bytes, data: bytes) -> None:
    connection.sendall(_frame(kind, data))
