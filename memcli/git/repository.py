"""The repository: the one module that runs git, so that it runs no program which a repository configures.

Files of a work tree and git objects are read with limits: no special, changing or huge file can block or mislead the reader.
"""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache

from memcli.beneath import open_file
from memcli.errors import MemcliError, NotFoundError, ProviderError, UsageError
from memcli.git.index_file import common_dir
from memcli.model.names import show
from memcli.record import Record, replace

MAX_BYTES = 1 << 20
_BINARY_REACH = 8192  # git looks for a NUL byte in about as many
_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC  # O_NONBLOCK so that opening a FIFO returns at once
_REASONS = {
    errno.ENOENT: "vanished", errno.ENOTDIR: "vanished", errno.ELOOP: "link", errno.ENXIO: "special",
    errno.ENODEV: "special",
}  # fmt: skip


class UnfitError(UsageError):
    """Why a file is not read: vanished, unreadable, link, special, huge, binary, encoding, empty."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"it cannot be stored: {reason}", "use a UTF-8 text file")
        self.reason = reason


def to_text(data: bytes) -> str:
    """`data` as text, without byte order mark and with `\\n` as line end. Raises UnfitError."""
    if b"\0" in data[:_BINARY_REACH]:
        raise UnfitError("binary")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UnfitError("encoding") from None
    if not text.strip():
        raise UnfitError("empty")
    return with_newlines(text)


def with_newlines(text: str) -> str:
    """`text` with `\\n` as line end."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def read_bytes(file: str, root: str = "") -> bytes:
    """The content of a regular file of at most MAX_BYTES. Below the `root`, where there is one, no link is followed.
    Raises UnfitError."""
    try:
        descriptor = open_file(file, _FLAGS, root=root) if root else os.open(file, _FLAGS)
    except OSError as error:
        raise UnfitError(_REASONS.get(error.errno or 0, "unreadable")) from None
    try:
        # On the open descriptor: between a check by name and the open, the name may come to mean another file.
        facts = os.fstat(descriptor)
        if not stat.S_ISREG(facts.st_mode):
            raise UnfitError("special")
        if facts.st_size > MAX_BYTES:
            raise UnfitError("huge")
        # One byte more than allowed shows what is too long: files in /proc have no size, and a log may grow.
        blocks, room = [], MAX_BYTES + 1
        while room and (block := os.read(descriptor, room)):
            blocks.append(block)
            room -= len(block)
    except OSError as error:
        raise UnfitError(_REASONS.get(error.errno or 0, "unreadable")) from None
    finally:
        os.close(descriptor)
    if not room:
        raise UnfitError("huge")
    return b"".join(blocks)


class Objects:
    """The objects of a repository, read one by one through `git cat-file --batch`."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdin
        assert process.stdout
        self._requests, self._output = process.stdin, process.stdout
        if sys.platform == "linux":
            import fcntl

            with suppress(OSError):  # above the limit of this user
                fcntl.fcntl(self._output, fcntl.F_SETPIPE_SZ, MAX_BYTES)

    def read(self, name: str) -> bytes | None:
        """The content of an object, by its hash or as `commit:path`; None when there is none. Raises ProviderError."""
        blocks = self.blocks(name)
        return None if blocks is None else b"".join(blocks)

    def blocks(self, name: str, length: int = sys.maxsize) -> Iterator[bytes] | None:
        """As `read`, in blocks of `length` bytes; all of them must be consumed before another object is read."""
        if "\n" in name:  # git reads one name a line
            raise ProviderError("paths with a line break are not supported", "rename the folder")
        try:
            self._requests.write(os.fsencode(name) + b"\n")
            self._requests.flush()
            facts = self._output.readline()
            size = None if facts.endswith(b" missing\n") else int(facts.rsplit(b" ", 1)[-1])
        except (OSError, ValueError):
            raise _exited() from None
        return None if size is None else self._content(size, length)

    def _content(self, size: int, length: int) -> Iterator[bytes]:
        left = size
        try:
            while left and (block := self._output.read(min(left, length))):
                left -= len(block)
                yield block
            is_whole = not left and bool(self._output.read(1))
        except (OSError, ValueError):
            is_whole = False
        if not is_whole:
            raise _exited()


def _exited() -> ProviderError:
    return ProviderError("git exited while memcli was reading objects", "run `git fsck`")


_BLOCK = 1 << 17
_TIMEOUT = 120.0
_MAX_COMPLAINT = 4096

# A repository's configuration may name programs (fsmonitor, hooks, pager, external diff, gpg for signatures), and replace refs
# may show other content than a hash stands for. The other options make the output independent of the configuration.
_SAFE: Sequence[str] = (
    "--no-pager", "--no-replace-objects",
    "-c", "core.fsmonitor=false",
    "-c", "core.hooksPath=/dev/null",
    "-c", "core.pager=cat",
    "-c", "core.quotePath=false",
    "-c", "diff.external=",
    "-c", "log.follow=false",
    "-c", "log.showSignature=false",
)  # fmt: skip
# All other variables of git are dropped: a hook or an outer git sets some (GIT_DIR, GIT_INDEX_FILE, ...) that name another
# repository.
_INHERITED_VARIABLES = frozenset(["GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM",
                             "GIT_CEILING_DIRECTORIES", "GIT_DISCOVERY_ACROSS_FILESYSTEM", "GIT_EXEC_PATH"])  # fmt: skip
_SET_VARIABLES: Mapping[str, str] = {
    "LC_ALL": "C",
    "LANGUAGE": "C",
    "TZ": "UTC",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_FLUSH": "0",  # else git writes each commit of a list separately, and each costs a read
    # A partial clone would fetch missing objects, by a program that its configuration names.
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "none",
}
_UNKNOWN_REVISION = ("unknown revision", "bad revision", "ambiguous argument", "invalid revision range", "bad object",
                     "needed a single revision", "not a commit")  # fmt: skip


class Repository(Record):
    """A git work tree, by its root. Every method raises MemcliError, with a hint, when git fails.

    `index`: the index file to use instead of its own, which git names to a hook during a partial commit.
    """

    root: str
    index: str = ""

    def run(self, *arguments: str, stdin: str | None = None) -> str:
        """The output of git. Bytes that are not UTF-8 become surrogates, as in file names."""
        data = None if stdin is None else os.fsencode(stdin)
        code, output, complaint = _run(self.root, arguments, data, index=self.index)
        if code:
            raise self._failure(complaint)
        return os.fsdecode(output)

    def stream(self, *arguments: str, stdin: str | None = None) -> Iterator[bytes]:
        """The output of git, in blocks as they arrive; ending the iteration early ends git.

        Git must read all of its standard input before it prints.
        """
        pipe = subprocess.DEVNULL if stdin is None else subprocess.PIPE
        with _start(self.root, arguments, pipe, self.index) as process:
            assert process.stdout
            assert process.stderr
            errors, complaint = process.stderr, bytearray()

            def read_complaint() -> None:
                while block := errors.read1(_BLOCK):  # type: ignore[attr-defined]
                    complaint[:] = (complaint + block)[-_MAX_COMPLAINT:]

            reading = threading.Thread(target=read_complaint, daemon=True)  # so that neither pipe ever fills up
            reading.start()
            is_read = False
            try:
                if stdin is not None:
                    assert process.stdin
                    with suppress(BrokenPipeError), process.stdin as stream:  # git gives the reason on stderr
                        stream.write(os.fsencode(stdin))
                while block := process.stdout.read(_BLOCK):
                    yield block
                is_read = True
            finally:
                if not is_read:
                    process.kill()
                reading.join()
            if process.wait():
                raise self._failure(complaint.decode(errors="replace"))

    def head(self) -> str:
        """The full hash of the current commit; empty when there are no commits yet."""
        code, output, complaint = _run(self.root, ("rev-parse", "--verify", "--quiet", "HEAD^{commit}"))
        if code and complaint:
            raise self._failure(complaint)
        return output.decode().strip()

    def resolve(self, revision: str) -> str:
        """The full hash of the one commit that `revision` names. Raises UsageError, NotFoundError, ProviderError."""
        if not revision or revision.startswith("-") or ".." in revision or not revision.isprintable():
            raise UsageError(f"not a commit: {show(revision)}", "use one such as HEAD~3 or a branch")
        code, output, complaint = _run(self.root, ("rev-parse", "--verify", f"{revision}^{{commit}}"))
        if not code:
            return output.decode().strip()
        if not _is_about_revision(complaint):
            raise self._failure(complaint)
        if not self.head():
            raise NotFoundError(f"no commits yet in {show(self.root)}", "make a commit first")
        raise NotFoundError(f"unknown commit: {show(revision)}", self._lacks() or "`git log` lists the commits")

    def at_commit(self) -> Repository:
        """The same repository, with the index of the commit that is being made when memcli runs in a hook of it.

        It is used only if it is in the folder of the repository's own index: the variable may name any file.
        """
        named = os.environ.get("GIT_INDEX_FILE")
        if not named or not os.path.isfile(named):
            return self
        index = os.path.abspath(named)
        is_own = os.path.realpath(os.path.dirname(index)) == os.path.realpath(self.git_dir())
        return replace(self, index=index) if is_own else self

    @contextmanager
    def objects(self) -> Iterator[Objects]:
        """Reads any number of objects through one process."""
        # Above the threshold git streams an object instead of holding it in memory, unless it is packed as a delta.
        arguments = ("-c", "core.bigFileThreshold=1m", "cat-file", "--batch")
        with _start(self.root, arguments, subprocess.PIPE, self.index) as process:
            try:
                yield Objects(process)
            finally:
                process.kill()

    def identify(self, names: Sequence[str]) -> list[str]:
        """The hash of each object, by names such as `HEAD` or `HEAD:path`; empty for a missing one."""
        lines = b"".join(os.fsencode(name) + b"\n" for name in names)
        code, output, complaint = _run(self.root, ("cat-file", "--batch-check=%(objectname)"), lines)
        if code:
            raise self._failure(complaint)
        return ["" if b" " in line else line.decode() for line in output.splitlines()]

    def has_commit(self, commit: str) -> bool:
        """Whether the commit still exists: after a rebase, `git gc` removes the old ones."""
        return _run(self.root, ("cat-file", "-e", f"{check_revisions(commit)}^{{commit}}"))[0] == 0

    def commits(self, revisions: str, folder: str = "") -> list[str]:
        """The hashes of the commits in the range, newest first, merges included; with a `folder`, from the top of the work
        tree, only those that touch it."""
        limit = pathspec(folder) or ("--",)
        # Without --full-history git omits the commits of a branch whose changes a merge dropped.
        return self.run("rev-list", "--full-history", "--end-of-options", check_revisions(revisions), *limit).split()

    def git_dir(self) -> str:
        """The git folder of this work tree, with its HEAD."""
        return self.run("rev-parse", "--absolute-git-dir").removesuffix("\n")

    def shallow(self) -> frozenset[str]:
        """The commits whose parents a shallow clone does not have, so that their diffs would add the whole tree."""
        try:
            with open(os.path.join(common_dir(self.git_dir()), "shallow"), encoding="ascii") as file:
                return frozenset(file.read().split())
        except (OSError, UnicodeDecodeError):
            return frozenset()

    def _failure(self, complaint: str) -> MemcliError:
        error = _explain(complaint, self.root)
        if not isinstance(error, NotFoundError) or not _is_about_revision(complaint):
            return error
        if not self.head():
            return NotFoundError(f"no commits yet in {show(self.root)}", "make a commit first, or ingest files")
        return NotFoundError(error.message, self._lacks() or error.hint)

    def _lacks(self) -> str:
        """The hint for a commit that may be missing because the clone is shallow; empty for a full clone."""
        return "this is a shallow clone; `git fetch --unshallow` fetches the rest" if self.shallow() else ""


def find_repository(start: str) -> Repository:
    """The repository whose work tree contains the directory `start`. Raises NotFoundError, ProviderError."""
    if not os.path.isdir(start):
        raise NotFoundError(f"no such directory: {show(start)}", "name a directory inside a git work tree")
    code, output, complaint = _run(start, ("rev-parse", "--show-toplevel"))
    if code:
        raise _explain(complaint, start)
    return Repository(os.fsdecode(output).removesuffix("\n"))


def folder_in(work_tree: str, path: str) -> str:
    """The folder at `path` from the top of the work tree; empty for the top itself, and for what is outside."""
    inside = os.path.relpath(os.path.realpath(path), os.path.realpath(work_tree)) if path else "."
    return "" if inside == "." or inside.split(os.sep)[0] == ".." else inside


def pathspec(folder: str) -> tuple[str, ...]:
    """The arguments that limit a git command to a folder, given from the top of the work tree; none for the top itself."""
    return ("--", f":(literal){folder}") if folder else ()


def run_anywhere(*arguments: str) -> tuple[int, bytes]:
    """The exit code and the output of a git command that needs no repository. Raises ProviderError."""
    code, output, _ = _run(".", arguments)
    return code, output


def check_revisions(text: str) -> str:
    """`text`, a range of commits. Raises UsageError where git could take it for an option."""
    if not text or text.startswith("-") or not text.isprintable():
        raise UsageError(f"not a range of commits: {show(text)}", "use a range such as HEAD~5.. or v1.0..v1.1")
    return text


def _run(
    directory: str, arguments: Sequence[str], stdin: bytes | None = None, index: str = ""
) -> tuple[int, bytes, str]:
    with _start(directory, arguments, subprocess.DEVNULL if stdin is None else subprocess.PIPE, index) as process:
        try:
            output, complaint = process.communicate(stdin, timeout=_TIMEOUT)
        except subprocess.TimeoutExpired:
            process.kill()
            raise ProviderError(
                f"git {arguments[0]} did not answer within {_TIMEOUT:.0f} seconds", "try again, or run `git fsck`"
            ) from None
        return process.returncode, output, complaint[-_MAX_COMPLAINT:].decode(errors="replace")


def _start(
    directory: str, arguments: Sequence[str], stdin: int = subprocess.DEVNULL, index: str = ""
) -> subprocess.Popen[bytes]:
    program = find_program("git", os.path.abspath(directory))
    if program is None:
        raise ProviderError(
            "git is not installed, or not on the PATH outside of this repository", "install git, or ingest files"
        )
    names = [name for name in os.environ if not name.startswith("GIT_") or name in _INHERITED_VARIABLES]
    environ = {**{name: os.environ[name] for name in names}, **_SET_VARIABLES}
    try:
        return subprocess.Popen(
            [program, *_SAFE, "-C", directory, *arguments],
            stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env={**environ, "GIT_INDEX_FILE": index} if index else environ,
        )  # fmt: skip
    except (OSError, ValueError) as error:
        raise ProviderError(f"cannot run git: {error}", "check the git on your PATH") from None


def find_program(name: str, directory: str = "") -> str | None:
    """The absolute path of the program `name` on PATH; None when there is none. Relative folders of PATH are skipped, since
    they depend on the working directory, as are folders in the work tree around `directory`: a clone may contain a `git`."""
    return _find_program(name, directory, os.environ.get("PATH", os.defpath))


@cache
def _find_program(name: str, directory: str, path: str) -> str | None:
    tree = directory
    while tree and not os.path.lexists(os.path.join(tree, ".git")):
        tree = os.path.dirname(tree) if tree != os.path.dirname(tree) else ""
    inside = os.path.join(os.path.realpath(tree), "") if tree else os.devnull
    for folder in filter(os.path.isabs, path.split(os.pathsep)):
        file = os.path.join(folder, name)
        is_program = os.path.isfile(file) and os.access(file, os.X_OK)
        if is_program and not any(part.startswith(inside) for part in (os.path.realpath(file), file)):
            return file
    return None


def _is_about_revision(complaint: str) -> bool:
    return any(sign in complaint.lower() for sign in _UNKNOWN_REVISION)


def _explain(complaint: str, directory: str) -> MemcliError:
    from memcli.safety.injection import quotable

    low = complaint.lower()
    where = show(directory)
    if "dubious ownership" in low:
        return ProviderError(
            f"git does not trust {where}: it belongs to another user",
            "if you trust it, run `git config --global --add safe.directory DIRECTORY`",
        )
    if "not a git repository" in low:
        return NotFoundError(f"not in a git repository: {where}", "run `git init`, or ingest files instead")
    if "must be run in a work tree" in low:
        return NotFoundError(
            f"a bare repository has no work tree: {where}", "run the command in a clone with a work tree"
        )
    if "promisor remote" in low:
        return ProviderError(
            f"a partial clone lacks files, and memcli fetches nothing: {where}", "`git log -p > /dev/null` fetches them"
        )
    lines = [line for line in complaint.splitlines() if line.startswith(("fatal:", "error:"))] or complaint.splitlines()
    # The message may quote text of the repository, which an agent reads with the error.
    fault = quotable(lines[-1].split(": ", 1)[-1] if lines else "") or "no error message that can be shown"
    if _is_about_revision(complaint):
        return NotFoundError(f"unknown commit or range: {fault}", "`git log` lists the commits")
    return ProviderError(f"git failed: {fault}", "run `git status` there to see what is wrong")
