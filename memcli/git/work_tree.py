"""Comparison of the files of a work tree with a commit: which differ, and when the others were last changed.

memcli compares the files itself, because git would run filters that the repository configures.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from itertools import chain

from memcli.clock import normalize_time
from memcli.errors import MemcliError
from memcli.git.repository import Repository, check_revisions
from memcli.record import NamedTuple

# Limits on renames, since finding them takes time in the square of the number of files.
_CHANGES = (
    "--name-status", "-z", "--find-renames=50%", "-l200", "--diff-filter=AMRC", "--no-relative",
    "--no-ext-diff", "--no-textconv", "--no-color", "--ignore-submodules=all",
)  # fmt: skip
_HASH = re.compile(r"[0-9a-f]{7,64}")
_ENTRY = re.compile(
    r"([^\0]+)\0  ctime: [^\n]*\n  mtime: (\d+):(\d+)\n  dev: [^\n]*\n  uid: [^\n]*\n  size: (\d+)\t[^\n]*\n"
)
_DIGESTS = {40: "sha1", 64: "sha256"}


def unchanged_files(root: str, revision: str, contents: Mapping[str, bytes | None]) -> tuple[str, frozenset[str]]:
    """The full hash of the commit, and the files, by their paths from `root`, whose content is equal to that in it.

    The content None stands for a missing file. Line ends may differ. Raises MemcliError when git fails.
    """
    commit, *blobs = Repository(root).identify([f"{revision}^{{commit}}", *(f"{revision}:{f}" for f in contents)])
    pairs = zip(contents.items(), blobs, strict=True)
    return commit, frozenset(file for (file, data), blob in pairs if _is_blob(data, blob))


def uncommitted(folder: str, files: Sequence[str]) -> list[str]:
    """The files, by their paths from `folder`, that differ from the current commit or are not in it. Raises MemcliError when
    git fails, OSError for what cannot be read."""
    found = []
    for file, blob in zip(files, Repository(folder).identify([f"HEAD:./{file}" for file in files]), strict=True):
        data = None
        with suppress(FileNotFoundError), open(os.path.join(folder, file), "rb") as opened:
            data = opened.read()
        if not _is_blob(data, blob):
            found.append(file)
    return found


class Changes(NamedTuple):
    """The differences between a commit and the index: the new names of renamed files, by the old ones, and all added, changed
    or renamed files, by their current names."""

    renamed: Mapping[str, str]
    files: tuple[str, ...]


def changes_since(root: str, commit: str) -> Changes:
    """The changes between a commit and the index. Raises MemcliError."""
    return _changes(Repository(root).run("diff", "--cached", *_CHANGES, check_revisions(commit), "--"))


def changes_since_each(root: str, commits: Sequence[str]) -> dict[str, Changes]:
    """As `changes_since`, for many commits by three processes of git. Without commits that git does not have; empty where
    something is staged, or a file name makes the output ambiguous. Raises MemcliError."""
    repository = Repository(root)
    requested = [commit for commit in commits if _HASH.fullmatch(commit)]
    head, *known = repository.identify([f"{name}^{{commit}}" for name in ("HEAD", *requested)])
    # diff-tree compares commits, so HEAD stands for the index, which is equal to it only while nothing is staged.
    if not head or repository.run(
        "diff", "--cached", "--name-only", "--no-ext-diff", "--ignore-submodules=all", "HEAD", "--"
    ):
        return {}
    there = [(commit, full) for commit, full in zip(requested, known, strict=True) if full]
    pairs = "".join(f"{head} {full}\n" for _, full in there)
    parts = repository.run("diff-tree", "--stdin", "--always", "-r", *_CHANGES, stdin=pairs).split(f"{head}\0")[1:]
    if len(parts) != len(there):  # a file name may contain the hash by which the output is split
        return {}
    return {commit: _changes(part) for (commit, _), part in zip(there, parts, strict=True)}


def _changes(output: str) -> Changes:
    renamed: dict[str, str] = {}
    files: list[str] = []
    words = iter(output.split("\0"))
    for status in filter(None, words):
        name = next(words)
        if status[0] in "RC":
            old, name = name, next(words)
            if status[0] == "R":
                renamed[old] = name
        files.append(name)
    return Changes(renamed, tuple(files))


Deletion = tuple[str, str, str]
"""A deleted file, a commit that has it, and the time of its deletion; empty for one that is not committed yet."""


def existing_files(root: str) -> list[str]:
    """The files of the work tree that git tracks or would track. Raises MemcliError."""
    listed = Repository(root).run("ls-files", "-z", "--cached", "--others", "--exclude-standard", "--")
    return [name for name in listed.split("\0") if name and os.path.lexists(os.path.join(root, name))]


def deletions(root: str, since: str) -> list[Deletion]:
    """The files deleted or renamed since a time, the latest first. Raises MemcliError."""
    repository = Repository(root)
    log = repository.run(
        "log", "-z", "--format=%x01%P%x02%cI", "--name-only", "--no-renames", "--diff-filter=D", "--no-relative",
        "--no-ext-diff", "--no-textconv", "--no-color", f"--since={since}", "HEAD", "--",
    )  # fmt: skip
    committed = [
        (name.lstrip("\n"), parents.partition(" ")[0], normalize_time(time))
        for head, *names in (part.split("\0") for part in log.split("\x01")[1:])
        for parents, _, time in [head.partition("\x02")]
        for name in names
        if name.strip("\n")
    ]
    head = repository.run("ls-tree", "-r", "-z", "--name-only", "--full-tree", "HEAD").split("\0")
    missing = [name for name in head if name and not os.path.lexists(os.path.join(root, name))]
    return [*((name, "HEAD", "") for name in missing), *committed]


def tracked_files(root: str, ending: str) -> dict[str, tuple[int, int]]:
    """The tracked files whose names have this ending, each with the time (ns) and size (bytes) when git last read it.
    Raises MemcliError."""
    # `git diff-files` compares these too, but runs the filters of the repository in doubt.
    listed = Repository(root).run("ls-files", "-z", "--cached", "--debug", "--", f"*{ending}")
    return {m[1]: (int(m[2]) * 10**9 + int(m[3]), int(m[4])) for m in _ENTRY.finditer(listed)}


def _is_blob(data: bytes | None, blob: str) -> bool:
    """Whether the object with the hash `blob` has this content, up to its line ends; None and no hash are equal too."""
    if data is None or not blob:
        return data is None and not blob
    # git stores CRLF as LF where core.autocrlf or an attribute is set.
    for content in dict.fromkeys([data, data.replace(b"\r\n", b"\n")]):
        digest = hashlib.new(_DIGESTS[len(blob)], b"blob %d\0" % len(content), usedforsecurity=False)
        digest.update(content)
        if digest.hexdigest() == blob:
            return True
    return False


_FEW = 20
"""For up to so many files, git is run once a file; for more, the log is read until it has named all of them."""
_MAX_COMMITS = 20_000


def dates_of(root: str, contents: Mapping[str, bytes]) -> dict[str, str]:
    """The author's date, as git prints it, of the last commit that changed each file, without files that differ from the
    current commit; empty where git fails."""
    with suppress(MemcliError):
        # git reads one name a line.
        _, same = unchanged_files(root, "HEAD", {file: data for file, data in contents.items() if "\n" not in file})
        files = sorted(same & contents.keys())
        if len(files) > _FEW:
            return _dates_from_log(root, frozenset(files))
        log = ("--literal-pathspecs", "log", "-1", "--format=%aI", "HEAD", "--")
        dates = {file: Repository(root).run(*log, file).strip() for file in files}
        return {file: date for file, date in dates.items() if date}
    return {}


def _dates_from_log(root: str, files: frozenset[str]) -> dict[str, str]:
    stream = Repository(root).stream(
        "log", f"--max-count={_MAX_COMMITS}", "--format=%x00%x00%aI", "--name-only", "-z", "--no-renames", "--no-relative",
        "HEAD", "--",
    )  # fmt: skip
    found: dict[str, str] = {}
    rest = b""
    with closing(stream) as blocks:  # type: ignore[type-var]
        for block in chain(blocks, [b"\0\0"]):  # ends the last commit
            *commits, rest = (rest + block).split(b"\0\0")
            for commit in commits:
                date, *names = commit.strip(b"\0").split(b"\0")
                for name in map(os.fsdecode, (name.lstrip(b"\n") for name in names)):
                    if name in files:
                        found.setdefault(name, date.decode("ascii", "replace").strip())
            if len(found) == len(files):
                break
    return found
