"""Dates of files: when the commit was written that last changed each."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import closing, suppress

from memcli.errors import MemcliError
from memcli.git.repository import Repository
from memcli.git.work_tree import unchanged_files

_FEW = 20
"""For so many files git is asked one by one; for more, the log is read until all have come."""
_MAX_COMMITS = 20_000


def dates_of(root: str, contents: Mapping[str, bytes]) -> dict[str, str]:
    """The author's date, as git prints it, of the last commit that changed each file; without those that are not as they
    are committed. Nothing where git cannot tell."""
    with suppress(MemcliError):
        # Git is asked for names line by line.
        _, same = unchanged_files(root, "HEAD", {file: data for file, data in contents.items() if "\n" not in file})
        files = sorted(same & contents.keys())
        return _one_by_one(root, files) if len(files) <= _FEW else _from_log(root, frozenset(files))
    return {}


def _one_by_one(root: str, files: list[str]) -> dict[str, str]:
    log = ("--literal-pathspecs", "log", "-1", "--format=%aI", "HEAD", "--")
    told = {file: Repository(root).run(*log, file).strip() for file in files}
    return {file: date for file, date in told.items() if date}


def _from_log(root: str, files: frozenset[str]) -> dict[str, str]:
    stream = Repository(root).stream(
        "log", f"--max-count={_MAX_COMMITS}", "--format=%x00%x00%aI", "--name-only", "-z", "--no-renames", "--no-relative",
        "HEAD", "--",
    )  # fmt: skip
    found: dict[str, str] = {}
    rest = b""
    with closing(stream) as blocks:  # type: ignore[type-var]
        for block in blocks:
            *commits, rest = (rest + block).split(b"\0\0")
            for commit in commits:
                _take(commit, files, found)
            if len(found) == len(files):
                return found
    _take(rest, files, found)
    return found


def _take(commit: bytes, files: frozenset[str], found: dict[str, str]) -> None:
    date, *names = commit.strip(b"\0").split(b"\0")
    for name in map(os.fsdecode, (name.lstrip(b"\n") for name in names)):
        if name in files:
            found.setdefault(name, date.decode("ascii", "replace").strip())
