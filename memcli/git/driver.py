"""The merge driver: what makes git call `memcli merge-driver` when both sides of a merge changed a space, and to show
differences.

Two things make it work: attributes, which travel with the store, and lines of configuration that name the program,
which every clone must be given by hand, since a repository must not be able to name programs to run. Without the latter
git merges and compares lines.
"""

from __future__ import annotations

import os
import shlex
import shutil
import sys

from memcli.errors import MemcliError, ProviderError
from memcli.git.repository import Repository, run_anywhere


def this_program() -> tuple[str, ...]:
    """The words of the command line, the program first.

    Through the interpreter it runs with -P: git calls it in the work tree, whose own `memcli` folder is not to be run.
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
    """Names this memcli in the configuration of this clone; whether that was news. Raises ProviderError."""
    program = shlex.join(this_program())
    wanted = {
        f"merge.{NAME}.name": _TITLE,
        _DRIVER: f"{program.replace('%', '%%')} {_ARGUMENTS}",
        _TEXTCONV: f"{program} merge-driver --textconv",
    }
    changed = {key: value for key, value in wanted.items() if _configured(repository, key) != value}
    for key, value in changed.items():
        repository.run("config", "--local", "--replace-all", key, value)
    return bool(changed)


def problem(repository: Repository, file: str) -> str | None:
    """Why git would not merge `file` (a path from the root of the work tree) by memcli, or show how it changed.

    Empty when it would; None when nothing asks for it. Raises ProviderError.
    """
    asked = repository.run("check-attr", "-z", "merge", "diff", "--", file).split("\0")[2::3]
    if NAME not in asked[:1]:
        return None
    found = _problem(_configured(repository, _DRIVER).replace("%%", "%"), "the merge driver")
    return found or ("" if asked[1:] != [NAME] else _problem(_configured(repository, _TEXTCONV), "the textconv"))


def _problem(command: str, what: str) -> str:
    if not command:
        return f".gitattributes requires {what}, but this clone does not have it"
    try:
        program = shlex.split(command)[0]
    except (ValueError, IndexError):
        return f"{what} of this clone is not a valid command"
    return "" if shutil.which(program) else f"{what} of this clone does not exist: {program}"


def merge_lines(base: str, ours: str, theirs: str) -> bytes | None:
    """What git itself makes of three files, line by line, with the marks of its conflicts; None when it cannot."""
    labels = [word for label in ("ours", "base", "theirs") for word in ("-L", label)]
    try:
        code, output = run_anywhere("merge-file", "-p", *labels, "--", ours, base, theirs)
    except MemcliError:
        return None
    return output if 0 <= code <= _MOST_CONFLICTS else None


_MOST_CONFLICTS = 127  # beyond it the exit code of `git merge-file` is an error


def _configured(repository: Repository, key: str) -> str:
    try:
        return repository.run("config", "--get", key).removesuffix("\n")
    except ProviderError:  # git says nothing and fails when there is no such key
        return ""
