"""The git hooks of a repository: their folder, state, installation and removal.

An existing hook is saved under another name, and memcli's hook calls it first; uninstalling restores the same file.

A hook is a small POSIX shell script that calls the saved hook and then memcli. It never makes git fail or wait: the saved hook
alone decides the exit code, and slow work runs in the background. Each script contains a digest of itself, by which an edited
one is detected.

The merge driver: git calls `memcli merge-driver` to merge a space that both sides changed, and to show differences.

It needs attributes, which are committed with the store, and configuration that names the program, which must be set in every
clone, since git lets no repository name programs to run. Without the configuration git merges and compares lines.
"""

from __future__ import annotations

import errno
import os
import re
import shlex
import stat
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress

from memcli import beneath
from memcli.digests import sha256
from memcli.errors import MemcliError, ProviderError, RefusedError, StoreError
from memcli.git.index_file import common_dir
from memcli.git.repository import Repository, run_anywhere
from memcli.model.names import show
from memcli.record import Record


def this_program() -> tuple[str, ...]:
    """The command line of this memcli, the program first.

    The interpreter gets -P, because git calls it in the work tree, where a folder `memcli` would be imported instead.
    """
    script = os.path.abspath(sys.argv[0])
    if os.path.basename(script) in ("memcli", "memcli.exe") and os.path.isfile(script) and os.access(script, os.X_OK):
        return (script,)
    return (sys.executable, "-P", "-m", "memcli")


NAME = "memcli"
_TITLE = "memcli merge driver"
_ARGUMENTS = "merge-driver %O %A %B --path=%P"
_DRIVER = f"merge.{NAME}.driver"
_TEXTCONV = f"diff.{NAME}.textconv"


def configure(repository: Repository) -> bool:
    """Sets the merge driver and the textconv in the configuration of this clone; whether that changed it. Raises
    ProviderError."""
    program = shlex.join(this_program())
    # git replaces %O, %A and the like in a driver's command, so a % of the path is doubled; a textconv has none.
    wanted = {
        f"merge.{NAME}.name": _TITLE,
        _DRIVER: f"{program.replace('%', '%%')} {_ARGUMENTS}",
        # Without it git diff shows lines that moved, and not memories.
        _TEXTCONV: f"{program} merge-driver --textconv",
    }
    changed = {key: value for key, value in wanted.items() if _configured_driver(repository, key) != value}
    for key, value in changed.items():
        repository.run("config", "--local", "--replace-all", key, value)
    return bool(changed)


def unconfigure(repository: Repository) -> bool:
    """Removes memcli from the configuration of this clone; whether it was there. Raises ProviderError."""
    sections = [f"merge.{NAME}", f"diff.{NAME}"]
    there = [
        one for one, key in zip(sections, (_DRIVER, _TEXTCONV), strict=True) if _configured_driver(repository, key)
    ]
    for section in there:
        repository.run("config", "--local", "--remove-section", section)
    return bool(there)


def problem(repository: Repository, file: str) -> str | None:
    """Why git would not use memcli to merge `file` (a path from the root of the work tree), or to show its changes.

    Empty when it would; None when no attribute requires it. Raises ProviderError.
    """
    attributes = repository.run("check-attr", "-z", "merge", "diff", "--", file).split("\0")[2::3]
    if NAME not in attributes[:1]:
        return None
    found = _problem(_configured_driver(repository, _DRIVER).replace("%%", "%"), "the merge driver")
    if found or attributes[1:] != [NAME]:
        return found
    # Where its program is gone, git diff shows nothing at all.
    return _problem(_configured_driver(repository, _TEXTCONV), "the textconv")


def _problem(command: str, what: str) -> str:
    if not command:
        return f".gitattributes requires {what}, but this clone does not have it"
    try:
        program = shlex.split(command)[0]
    except (ValueError, IndexError):
        return f"{what} of this clone is not a valid command"
    from shutil import which  # of a module that loads slowly, and that no hook needs

    return "" if which(program) else f"{what} of this clone does not exist: {program}"


def merge_lines(base: str, ours: str, theirs: str) -> bytes | None:
    """The merge of three files by lines, with conflict markers, as git makes it; None when git cannot."""
    labels = [word for label in ("ours", "base", "theirs") for word in ("-L", label)]
    try:
        code, output = run_anywhere("merge-file", "-p", *labels, "--", ours, base, theirs)
    except MemcliError:
        return None
    return output if 0 <= code <= _MOST_CONFLICTS else None


_MOST_CONFLICTS = 127  # the exit code of `git merge-file` is the number of conflicts, or above this an error


def _configured_driver(repository: Repository, key: str) -> str:
    try:
        return repository.run("config", "--get", key).removesuffix("\n")
    except ProviderError:  # git fails without a message when there is no such key
        return ""


SAVED = ".memcli-saved"
"""The suffix of the name under which an existing hook is saved."""
_MARK = re.compile(rb"#!/bin/sh\n# memcli hook ([0-9a-f]{16}):[^\n]*\n")
_HEAD = """\
#!/bin/sh
# memcli hook {digest}: written by `memcli hook install`; `memcli hook uninstall` restores what was here.
"""
_SAVED_FIRST = """\
kept="${{0%/*}}/{hook}{ending}"
code=0
{before}if [ -f "$kept" ] && [ -x "$kept" ]; then
  {call}
  code=$?
fi
"""
_RUN = """\
run() {{
  if [ -x {program} ]; then {command} hook run "$@"
  elif command -v memcli > /dev/null 2>&1; then memcli hook run "$@"
  fi
}}
"""
_QUIET = '[ -n "${MEMCLI_HOOK_VERBOSE-}" ] || exec 2> /dev/null\n'
_NOT_WHILE_REBASING = """\
for folder in rebase-merge rebase-apply; do
  [ ! -d "${GIT_DIR:-.git}/$folder" ] || exit $code  # post-rewrite comes when it is over
done
"""
# A background process would hold inherited descriptors open: a lock of git's caller, or a pipe that somebody reads to its
# end. A redirection for one command leaves a copy in the shell until the command ends, so the subshell closes them by exec.
_BEHIND = """\
if [ -n "${{MEMCLI_HOOK_FOREGROUND-}}" ]; then {into}run {hook} -- "$@" {stdin}> /dev/null
else (
  exec {stdin}> /dev/null 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-
  {into}run --detached {hook} -- "$@" &
)
fi
"""
_PAIRS = "printf '%s\\n' \"$pairs\" | "
_ONLY: Mapping[str, str] = {
    "post-commit": _NOT_WHILE_REBASING,
    "post-checkout": '[ "${3-}" = 1 ] || exit $code  # files, and no branch\n' + _NOT_WHILE_REBASING,
    # Only where a person will edit the message: not for -m, merge, squash or amend, nor without an editor.
    "prepare-commit-msg": 'case "$code ${2-}" in "0 " | "0 template") ;; *) exit $code ;; esac\n'
    '[ "${GIT_EDITOR-}" != : ] || exit $code\n',
    "pre-push": "[ $code = 0 ] || exit $code\n",
}


def script(hook: str, program: Sequence[str], *, shell: str = "") -> bytes:
    """The script of the hook, which calls memcli by the command line `program`.

    With `shell`, a shell with its options, that shell reads the saved hook under the hook's own name.
    """
    call = '"$kept" "$@"'
    if shell:
        call = f"""{shell} -c 'kept=$1; shift; . "$kept"' "$0" "$kept" "$@\""""
    # git writes the pairs of commits to stdin, which both the saved hook and memcli must read.
    takes_pairs = hook == "post-rewrite"
    saved = _SAVED_FIRST.format(
        hook=hook,
        ending=SAVED,
        before="pairs=$(cat)\n" if takes_pairs else "",
        call=_PAIRS + call if takes_pairs else call,
    )
    run = _RUN.format(program=shlex.quote(program[0]), command=shlex.join(program))
    if hook == "pre-push":
        end = 'run pre-push -- "$@" < /dev/null > /dev/null\n'
    elif hook == "prepare-commit-msg":
        end = f'{_QUIET}run prepare-commit-msg -- "$@" < /dev/null > /dev/null\n'
    else:
        into, stdin = (_PAIRS, "") if takes_pairs else ("", "< /dev/null ")
        end = _QUIET + _BEHIND.format(hook=hook, into=into, stdin=stdin)
    data = f"{saved}{_ONLY.get(hook, '')}{run}{end}exit $code\n".encode("utf-8", "surrogateescape")
    return _HEAD.format(digest=sha256(data).hexdigest()[:_DIGITS]).encode() + data


def state(hook: str, data: bytes | None, program: Sequence[str]) -> str:
    """`absent`, `installed`, `outdated` (written by another version or for another path of memcli), `edited` or `foreign`."""
    if data is None:
        return "absent"
    if not (mark := _MARK.match(data)):
        return "foreign"
    if sha256(data[mark.end() :]).hexdigest()[:_DIGITS].encode() != mark[1]:
        return "edited"
    named = _NAMED_CALL.search(data)
    shell = named[1].decode() if named else ""
    return "installed" if data == script(hook, program, shell=shell) else "outdated"


_SHELL = re.compile(rb"#! ?(?:/[\w./+-]*/)?(?:env +(?:-S +)?)?((?:sh|dash|bash|ash|ksh|zsh)(?: +-[a-z]+)*)[ \t\r]*\n")
_LOOKS_AT_NAME = re.compile(
    rb"basename[^\n]{0,9}\$\{?0|\$\{0##\*/\}|\. +\"(\$\{0%/\*\}|\$\(dirname[^\n]{0,9}\$0\"?\))/h\""
)
_LOOKS_AT_ARGV = re.compile(rb"argv\[[01]\]|\bargv0\b|__file__|__FILE__|__filename|\$0\b|\$PROGRAM_NAME")


_NAMED_CALL = re.compile(rb"^(?:  |.*\| )(\w+(?: -[a-z]+)*) -c 'kept=", re.MULTILINE)
_DIGITS = 16
_MAX_HOOK = 1 << 24
_TEMP = ".memcli-tmp"


class Hooks(Record):
    """The folder in which git looks for hooks. `is_seen`: it is in the work tree and not ignored, so that git status shows
    changes in it. `real` is the folder with links resolved, below `root`, a folder of the repository."""

    folder: str
    is_seen: bool
    real: str
    root: str

    def status(self, name: str) -> tuple[str, bool]:
        """The `state` of the hook of this name, and whether an earlier hook is saved beside it. Raises StoreError when it
        cannot be read."""
        path = os.path.join(self.real, name)
        return state(name, _read(path), this_program()), os.path.lexists(path + SAVED)

    def install(self, name: str) -> str:
        """Installs the hook: `installed`, `updated`, or `unchanged`. Raises RefusedError, StoreError."""
        path = os.path.join(self.real, name)
        saved = path + SAVED
        found = _read(path)
        now = state(name, found, this_program())
        if now == "installed" and os.access(path, os.X_OK):
            return "unchanged"
        if now == "edited":
            raise RefusedError(f"{name}: memcli's hook was edited: {show(path)}", "move it away, then install again")
        before = _read(saved)
        if now == "foreign" and before is not None and before != found:
            raise RefusedError(
                f"{name}: cannot keep two hooks; one is kept already: {show(saved)}", "move one of them away"
            )
        owner = found if now == "foreign" else before
        owner = owner or b""
        in_shell = _SHELL.match(owner)
        if owner.startswith(b"#!") and not in_shell and _LOOKS_AT_ARGV.search(owner):
            raise RefusedError(
                f"{name}: the existing hook depends on its own file name: {show(path)}",
                f"add `memcli hook run {name} -- ARGUMENTS` to it",
            )
        # A hook that reads from its name which one it is, as husky's do, must be read by its shell under that name. Other
        # languages cannot read the saved file under another name.
        shell = in_shell[1].decode() if in_shell and _LOOKS_AT_NAME.search(owner) else ""
        data = script(name, this_program(), shell=shell)
        with _attempting(f"install the hook {name}"):
            self._put(path, data, saved if now == "foreign" else None)
        return "updated" if now == "outdated" else "installed"

    def uninstall(self, name: str) -> str:
        """Removes the hook and restores a saved one: `removed`, `restored`, or `absent` when memcli has none. Raises
        RefusedError, StoreError."""
        path = os.path.join(self.real, name)
        saved = path + SAVED
        now = state(name, _read(path), this_program())
        is_saved = os.path.lexists(saved)
        if now == "edited" or (now == "foreign" and is_saved and _read(path) != _read(saved)):
            what = "memcli's hook was edited" if now == "edited" else "memcli's hook was overwritten"
            hint = f"remove it by hand{f'; the previous hook is {show(saved)}' if is_saved else ''}"
            raise RefusedError(f"{name}: {what}: {show(path)}", hint)
        if is_saved:
            with _attempting(f"restore the hook {name}"):
                # rename() does nothing for two names of one file, which a crash in `_put` leaves.
                if os.path.lexists(path) and os.path.samestat(os.lstat(saved), os.lstat(path)):
                    beneath.unlink(saved, self.root)
                else:
                    beneath.replace(saved, path, self.root)
            return "restored"
        if now in ("absent", "foreign"):
            return "absent"
        with _attempting(f"remove the hook {name}"):
            beneath.unlink(path, self.root)
        return "removed"

    def _put(self, path: str, data: bytes, saved: str | None) -> None:
        """Replaces the file at `path` atomically; with `saved`, the existing file stays under that name. Raises OSError."""
        folder, name = os.path.split(path)
        missing = [folder]
        while not os.path.isdir(missing[-1]):
            missing.append(os.path.dirname(missing[-1]))
        for one in reversed(missing[:-1]):
            beneath.make(one, 0o777, self.root)
        temp = os.path.join(folder, f".{name}{_TEMP}")
        with suppress(FileNotFoundError):
            beneath.unlink(temp, self.root)
        try:
            fd = beneath.open_file(temp, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o777, self.root)
            with os.fdopen(fd, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(fd)
            if saved is not None:
                with suppress(FileNotFoundError):
                    beneath.unlink(saved, self.root)
                try:
                    # A link and not a rename, so that `path` exists at every moment.
                    beneath.link(path, saved, self.root)
                except (OSError, NotImplementedError):  # a file system without links
                    beneath.replace(path, saved, self.root)
            beneath.replace(temp, path, self.root)
        finally:
            with suppress(OSError):
                beneath.unlink(temp, self.root)


def find_hooks(start: str) -> Hooks:
    """The hooks of the repository around the directory `start`. A linked work tree has those of the main one.

    Raises NotFoundError, ProviderError, and RefusedError for a folder outside of the repository.
    """
    here = Repository(start)
    bare, git_dir = here.run("rev-parse", "--is-bare-repository", "--absolute-git-dir").split("\n")[:2]
    root = git_dir if bare == "true" else here.run("rev-parse", "--show-toplevel").removesuffix("\n")
    shared = common_dir(git_dir)
    folder = os.path.join(shared, "hooks")
    with suppress(ProviderError):  # git fails when there is no such key
        parts = here.run("config", "--show-scope", "-z", "--type=path", "--get-all", "core.hooksPath").split("\0")
        for scope, configured in zip(parts[::2], parts[1::2], strict=False):
            if scope != "command":  # set by memcli itself, so that git runs no hooks
                folder = os.path.join(root, configured)  # the last one counts
    real = os.path.realpath(folder)
    bases = [os.path.realpath(shared), os.path.realpath(root)]
    base = next((base for base in bases if real.startswith(base.rstrip(os.sep) + os.sep)), None)
    if base is None:
        raise RefusedError(
            f"the hooks of this repository are outside of it, in a folder that others may use: {show(folder)}",
            "set its own with `git config --local core.hooksPath .git/hooks`, or call `memcli hook run` from your hooks",
        )
    is_seen = base != bases[0]
    if is_seen:
        with suppress(MemcliError):  # git fails where a hook in the folder would not be ignored
            here.run("check-ignore", "-q", "--", os.path.join(os.path.realpath(folder), "post-commit"))
            is_seen = False
    return Hooks(os.path.normpath(folder), is_seen, real, base)


def _read(path: str) -> bytes | None:
    """The content of the hook at `path`, also through a link; None when there is none. Raises StoreError."""
    try:
        if not os.path.lexists(path):
            return None
        if not os.path.exists(path):
            return b""  # a dangling link
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        with os.fdopen(fd, "rb") as file:
            if not stat.S_ISREG(os.fstat(fd).st_mode):
                raise OSError(errno.EINVAL, "not a file")
            return file.read(_MAX_HOOK)
    except OSError as error:
        raise StoreError(f"cannot read the hook {show(path)}: {error.strerror}", "move it away") from None


@contextmanager
def _attempting(what: str) -> Iterator[None]:
    """Raises StoreError naming `what` for an OSError inside."""
    try:
        yield
    except OSError as error:
        where = f": {show(error.filename)}" if isinstance(error.filename, str) else ""
        raise StoreError(f"cannot {what}: {error.strerror}{where}", "check the permissions of the folder") from None
