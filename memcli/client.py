"""The client of the helper (`extras/helper`): has a process of memcli that runs anyway answer a command.

It imports built-in modules alone, since it saves a command the time that importing the rest takes: `_socket` is what the
standard library's `socket` is made of, without ten milliseconds of enumerations. It falls back to the process as it is
whenever anything is not as expected.

A request is two lengths of four bytes, then fields between NUL bytes, then the standard input. An answer is frames: a kind
of one byte, a length of four bytes, and data.
"""

from __future__ import annotations

import os
import sys
from time import monotonic

from memcli import __version__

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _socket import socket
    from collections.abc import Mapping, Sequence
    from typing import Any

VARIABLE = "MEMCLI_HELPER"
OFF, AUTO, REQUIRE = "off", "auto", "require"
VERBS = frozenset(("recall", "get", "show", "list", "guard", "hook"))
"""The commands that a helper answers: those that read, the hooks of agents, and the git hook that writes into a message."""
RUN, JOIN, LEAVE, END, STATUS = "run", "join", "leave", "end", "status"
"""What a request is for: to run a command; to begin, or to end, a session that needs the helper; to end it; to report."""
ACCEPTED, DECLINED, STDOUT, STDERR, EXIT = b"a", b"n", b"1", b"2", b"x"
"""The kinds of frames. The data of `EXIT` is the exit code, that of `DECLINED` the reason."""
HEAD = 8
MAX_INPUT = 1 << 24
"""The most standard input that is sent, in bytes."""
# So long at most a helper that is busy delays a command.
_ACCEPT_SECONDS = 0.02
_ANSWER_SECONDS = 10.0
# How long after its start a hook whose helper died may still begin anew: an agent waits for it.
_HOOK_SECONDS = 0.5
# Both for the hook of a commit message. Git waits less; but no shorter than the helper may take until it writes.
_GIT_ANSWER_SECONDS, _GIT_HOOK_SECONDS = 0.4, 0.1
# An agent writes what a hook reads before it waits for the answer.
_INPUT_SECONDS = 0.25
_OF_SESSIONS = (["session-start"], ["session-end"])
_OF_MESSAGE = ["hook", "run", "prepare-commit-msg"]
# What a shell reports for a program that SIGPIPE has ended.
_BROKEN_PIPE = 141


def run_folder(environ: Mapping[str, str]) -> str:
    """The folder of the user's sockets."""
    base = environ.get("XDG_RUNTIME_DIR") or environ.get("XDG_STATE_HOME")
    if not base:
        base = os.path.join(os.path.expanduser("~"), ".local", "state")
    return os.path.join(base, "memcli")


def is_own(folder: str) -> bool:
    """Whether the folder of sockets is one that only this user can enter, and no link."""
    try:
        facts = os.lstat(folder)
    except OSError:
        return False
    return facts.st_mode == 0o040700 and facts.st_uid == os.geteuid()


def socket_name(root: str) -> str:
    """The name of the socket for the store at `root`, this version of memcli and this interpreter. Raises OSError."""
    store, package = os.stat(root), os.stat(os.path.dirname(__file__))
    numbers = (store.st_dev, store.st_ino, package.st_dev, package.st_ino, sys.hexversion)
    return f"{__version__}-{'-'.join(f'{number:x}' for number in numbers)}"


def is_peer(connection: socket) -> bool:
    """Whether the process at the other end has the same user and group. Where the system does not say, the folder of the
    socket alone keeps others out."""
    import _socket

    if not hasattr(_socket, "SO_PEERCRED"):
        return True
    data = connection.getsockopt(_socket.SOL_SOCKET, _socket.SO_PEERCRED, 12)
    _, uid, gid = (int.from_bytes(data[n : n + 4], sys.byteorder) for n in (0, 4, 8))
    return (uid, gid) == (os.geteuid(), os.getegid())


def connect(folder: str, name: str, seconds: float) -> socket:
    """A connection to the helper, each operation of which waits for `seconds` at most. Raises OSError."""
    import _socket

    connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    try:
        connection.settimeout(seconds)
        connection.connect(os.path.join(folder, name))
        if not is_peer(connection):
            raise PermissionError(f"{name} belongs to somebody else")
    except OSError:
        connection.close()
        raise
    return connection


def send(connection: socket, fields: Sequence[str], data: bytes = b"", files: Sequence[int] = ()) -> None:
    """Sends a request; `files` are descriptors that it passes on. Raises OSError."""
    import _socket

    body = b"\0".join(map(os.fsencode, fields))
    head = len(body).to_bytes(4, "big") + len(data).to_bytes(4, "big")
    passed = b"".join(one.to_bytes(4, sys.byteorder) for one in files)
    rights = [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, passed)] if files else []
    # The descriptors go with the first bytes, so that one read takes both.
    connection.sendmsg([head], rights)
    connection.sendall(body + data)


def receive(connection: socket, length: int) -> bytes:
    """The next `length` bytes. Raises OSError if the other end has sent fewer."""
    data = b""
    while len(data) < length:
        chunk = connection.recv(min(length - len(data), 1 << 18))
        if not chunk:
            raise ConnectionError("the other end has gone")
        data += chunk
    return data


def receive_frame(connection: socket) -> tuple[bytes, bytes]:
    """The kind and the data of the next frame. Raises OSError."""
    kind = receive(connection, 1)
    return kind, receive(connection, int.from_bytes(receive(connection, 4), "big"))


def may_ask(args: Sequence[str], environ: Mapping[str, str]) -> bool:
    """Whether a helper may answer this command line.

    It answers what programs read: a terminal has a width, colours and a pager. Under a frozen clock and in CI nothing may
    depend on what another process holds, unless a helper is required.
    """
    mode = environ.get(VARIABLE, "")
    if mode == OFF or not args or args[0] not in VERBS:
        return False
    is_of_agent = "--agent" in args and args[1:2] == ["run"] and args[2:3] not in _OF_SESSIONS
    if args[0] == "hook" and not (is_of_agent or list(args[:3]) == _OF_MESSAGE):
        return False  # other git hooks work in the background, and those of a session start and end the helper
    if environ.get("MEMCLI_ROOT") or any(one.startswith(("--root", "--help")) or one == "-h" for one in args):
        return False
    if any("/dev/" in one or "/proc/" in one for one in args):  # which are of the process that opens them
        return False
    is_frozen = environ.get("MEMCLI_FREEZE_CLOCK") or any(one.startswith("--freeze-clock") for one in args)
    if mode != REQUIRE and (is_frozen or environ.get("CI")):
        return False
    try:
        for stream in (0, 1, 2):  # in place of a closed one the next file that is opened would be written to
            os.fstat(stream)
    except OSError:
        return False
    return not (os.isatty(1) or os.isatty(2))


def surroundings() -> str:
    """A text that identifies the root folder and the mounts that this process sees; that of a sandbox is another one."""
    found = os.stat(os.sep)
    try:
        mounts = os.stat("/proc/self/ns/mnt").st_ino
    except OSError:
        mounts = 0
    return f"{found.st_dev}-{found.st_ino}-{mounts}"


def find_store() -> str | None:
    """The `.memory` that is nearest above the working directory."""
    folder = os.getcwd()
    while True:
        root = os.path.join(folder, ".memory")
        if os.path.isdir(root):
            return root
        above = os.path.dirname(folder)
        if above == folder:
            return None
        folder = above


def ask(args: Sequence[str]) -> int | None:
    """Has the helper of the store answer the command. Returns its exit code; None if no helper answered, so that this process
    runs the command itself."""
    began, is_hook = monotonic(), args[0] == "hook"
    waits, begins_anew = _ANSWER_SECONDS, _HOOK_SECONDS
    if list(args[:3]) == _OF_MESSAGE:
        waits, begins_anew = _GIT_ANSWER_SECONDS, _GIT_HOOK_SECONDS
    files: list[int] = []
    connection = None
    try:
        root, folder = find_store(), run_folder(os.environ)
        if root is None or not is_own(folder):
            return None
        name = socket_name(root)
        if not os.path.lexists(os.path.join(folder, name)):
            return None
        # A caller in a sandbox may not be able to write the store, or not to see the one of the user: it shows what it can.
        files.append(os.open(os.path.join(folder, f"{name}.store"), os.O_RDWR))
        if os.path.lexists(other := os.path.join(folder, f"{name}.user")):
            files.append(os.open(other, os.O_RDWR))
        given = _read_input(is_hook=is_hook) if is_hook or "-" in args else b""
        is_required = os.environ.get(VARIABLE) == REQUIRE
        connection = connect(folder, name, _ANSWER_SECONDS if is_required else _ACCEPT_SECONDS)
        mask = os.umask(0o77)
        os.umask(mask)
        is_typed = "1" if os.isatty(0) else ""
        own = (f"{key}={value}" for key, value in os.environ.items())
        fields = (RUN, surroundings(), str(mask), os.getcwd(), is_typed, str(len(args)), *args, *own)
        send(connection, fields, given, files)
        if receive_frame(connection)[0] != ACCEPTED:
            return None
        connection.settimeout(waits)
        return _pass_on(connection)
    except ValueError:
        return None
    except OSError:
        return 0 if is_hook and monotonic() - began > begins_anew else None
    finally:
        for one in files:
            os.close(one)
        if connection is not None:
            connection.close()


def _read_input(*, is_hook: bool) -> bytes:
    """The standard input; this process can read it again afterwards. Raises ValueError if it is too long, or there is none, and
    if that of a hook does not end soon: the process itself drops what is too much, and waits as long as it may."""
    import io
    from select import select

    if sys.stdin is None:
        raise ValueError("there is no standard input")
    ends = monotonic() + _INPUT_SECONDS
    parts: list[bytes] = []
    length, chunk = 0, b"-"
    while chunk and length <= MAX_INPUT and (not is_hook or select([0], [], [], max(0.0, ends - monotonic()))[0]):
        chunk = os.read(0, 1 << 18)
        parts.append(chunk)
        length += len(chunk)
    whole = b"".join(parts)
    first = io.BytesIO(whole)

    class Resumed(io.RawIOBase):
        """What was read of the standard input, and then the rest of it."""

        def readable(self) -> bool:
            return True

        def readinto(self, buffer: Any) -> int:
            found = first.read(len(buffer)) or os.read(0, len(buffer))
            buffer[: len(found)] = found
            return len(found)

    sys.stdin = io.TextIOWrapper(io.BufferedReader(Resumed()), encoding="utf-8", errors="surrogateescape")
    if chunk or length > MAX_INPUT:
        raise ValueError("the standard input is too long, or does not end")
    return whole


def _pass_on(connection: socket) -> int | None:
    """Writes what the helper answers, and returns the exit code; None if it declines. Raises OSError."""
    frames = []
    while (frame := receive_frame(connection))[0] != EXIT:
        if frame[0] == DECLINED:
            return None
        frames.append(frame)
    # Nothing was written before the end, so that a command that was declined can begin anew.
    for kind, data in frames:
        rest = memoryview(data)
        try:
            while rest:
                rest = rest[os.write(1 if kind == STDOUT else 2, rest) :]
        except BrokenPipeError:
            return _BROKEN_PIPE
    return int(frame[1])
