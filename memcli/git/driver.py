"""The merge driver: what makes git call `memcli merge-driver` when both sides of a merge changed a space.

Two things make it work: attributes, which travel with the store, and a line of configuration that names the program,
which every clone must be given by hand, since a repository must not be able to name programs to run.
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
_KEY = f"merge.{NAME}"


def configure(repository: Repository) -> bool:
    """Names this memcli in the configuration of this clone; whether that was news. Raises ProviderError."""
    wanted = {f"{_KEY}.name": _TITLE, f"{_KEY}.driver": f"{shlex.join(this_program()).replace('%', '%%')} {_ARGUMENTS}"}
    changed = {key: value for key, value in wanted.items() if _configured(repository, key) != value}
    for key, value in changed.items():
        repository.run("config", "--local", "--replace-all", key, value)
    return bool(changed)


def problem(repository: Repository, file: str) -> str | None:
    """Why git would not merge `file` (a path from the root of the work tree) by memcli.

    Empty when it would; None when nothing asks for it. Raises ProviderError.
    """
    asked = repository.run("check-attr", "-z", "merge", "--", file).split("\0")[2:3]
    if asked != [NAME]:
        return None
    command = _configured(repository, f"{_KEY}.driver")
    if not command:
        return ".gitattributes requires the merge driver, but this clone does not have it"
    try:
        program = shlex.split(command)[0].replace("%%", "%")
    except (ValueError, IndexError):
        return "the merge driver of this clone is not a valid command"
    return "" if shutil.which(program) else f"the merge driver of this clone does not exist: {program}"


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
