"""Files in git's objects: at a commit, in the whole history, or staged, read without the work tree.

The times of versions, tags and commits.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager

from memcli.errors import MemcliError, NotFoundError, ProviderError
from memcli.git.repository import Repository, find_repository
from memcli.model.changes import HistoryCommit
from memcli.model.names import readable
from memcli.record import Record
from memcli.text.periods import PRE_RELEASE

_FILE_MODES = ("100644", "100755")


class StoreHistory(Record):
    """The history of a folder in a repository. `folder` is relative to the root of the work tree, with `/`."""

    repository: Repository
    folder: str

    def files(self, commit: str) -> dict[str, str]:
        """The names of the regular files directly in the folder at this commit, each with the hash of its content."""
        listed = self.repository.run(
            "--literal-pathspecs", "ls-tree", "-z", "--full-tree", commit, "--", f"{self.folder}/"
        )
        found = {}
        for entry in listed.split("\0")[:-1]:
            facts, _, path = entry.partition("\t")
            mode, _, blob = facts.split(" ")
            if mode in _FILE_MODES:
                found[path.rpartition("/")[2]] = blob
        return found

    def read(self, blob: str) -> bytes:
        """The content of the object with this hash; empty for a missing one."""
        with self.repository.objects() as objects:
            return objects.read(blob) or b""

    @contextmanager
    def reading(self) -> Iterator[Callable[[str, str], bytes | None]]:
        """Yields a function that returns the content of a file by commit and name; None where the commit does not have it."""
        with self.repository.objects() as objects:
            yield lambda commit, name: objects.read(f"{commit}:{self.path(name)}")

    def commits(self, start: str, name: str) -> list[HistoryCommit]:
        """The commits up to `start` that changed the file `name` of the folder, newest first."""
        # Topological, so that a commit comes before its parents whatever the clocks of their machines said.
        output = self.repository.run(
            "--literal-pathspecs", "log", "-z", "--topo-order", "--parents", "--no-notes", "--no-mailmap",
            "--encoding=UTF-8", "--format=tformat:%H%x00%P%x00%an%x00%aI%x00%s", start, "--", self.path(name),
        )  # fmt: skip
        parts = iter(output.split("\0"))
        return [
            HistoryCommit(c, tuple(p.split()), a, d, s)
            for c, p, a, d, s in zip(parts, parts, parts, parts, parts, strict=False)
        ]

    def renamed_from(self, commit: str, name: str) -> tuple[str, str] | None:
        """The name of the file `name` before `commit` renamed it, and the parent commit with that name; None for a new file."""
        parents = self.repository.run("rev-list", "--parents", "-n", "1", commit).split()[1:]
        for parent in parents:
            output = self.repository.run(
                "--literal-pathspecs", "diff-tree", "-r", "-z", "-M", "--diff-filter=R", "--no-ext-diff", "--no-textconv",
                "--name-status", parent, commit, "--", f"{self.folder}/",
            )  # fmt: skip
            parts = output.split("\0")
            for status, old, new in zip(parts[0::3], parts[1::3], parts[2::3], strict=False):
                if status.startswith("R") and new == self.path(name):
                    return old.rpartition("/")[2], parent
        return None

    def path(self, name: str) -> str:
        """The path of the file `name` in the folder, from the root of the work tree."""
        return f"{self.folder}/{name}"


def open_history(folder: str) -> StoreHistory:
    """The history of the folder at `folder`, which need not exist any more. Raises NotFoundError, ProviderError."""
    base, missing = folder, []
    while not os.path.isdir(base):
        base, leaf = os.path.split(base)
        missing.append(leaf)
    repository = find_repository(base)
    prefix = Repository(base).run("rev-parse", "--show-prefix").removesuffix("\n").rstrip("/")
    inside = "/".join(part for part in (prefix, *reversed(missing)) if part)
    return StoreHistory(repository, inside)


# A version may have come with a merge (-m), the first commit (--root), or a branch whose changes a merge dropped (--full-history).
_LOG = (
    "log", "--all", "--full-history", "-m", "--root", "--raw", "--no-abbrev", "--no-renames", "--no-color", "--no-ext-diff",
    "--no-show-signature", "--no-decorate", "--no-notes", "--format=%H", "--diff-filter=AMT",
)  # fmt: skip
_BLOCK = 1 << 20

Version = tuple[str, str, bytes]
"""The path of a file, the commit that added this version of it (empty for the index), and its bytes."""


def history(folder: str) -> Iterator[Version]:
    """Every version of every file in the folder in any branch, each once, newest first. Raises NotFoundError, ProviderError."""
    repository = find_repository(os.path.dirname(folder))
    versions = _versions(repository, folder)
    with repository.objects() as objects:
        for (file, blob), commit in versions.items():
            yield readable(file), commit, objects.read(blob) or b""


def commits_with(folder: str, is_wanted: Callable[[Iterator[bytes]], bool]) -> Iterator[str]:
    """The commits in any branch that added a version of a file in the folder for which `is_wanted` is true, oldest first.
    `is_wanted` gets the bytes of each version once, in blocks, and must consume them all. No commits without a repository.

    Raises MemcliError; for versions that are missing in this clone after the last commit.
    """
    try:
        repository = find_repository(os.path.dirname(folder))
    except NotFoundError:
        return
    # Not by `git log -S`, which would show a searched text to other users of the machine, as an argument of its process.
    blobs: dict[str, str] = {}
    for (_, blob), commit in _versions(repository, folder).items():
        blobs[blob] = commit
    missing = 0
    commits = set[str]()
    with repository.objects() as objects:
        for blob, commit in reversed(blobs.items()):
            blocks = objects.blocks(blob, _BLOCK)
            if blocks is None:
                missing += 1
            elif is_wanted(blocks) and commit not in commits:
                commits.add(commit)
                yield commit
    if missing:
        what = "1 version of a file is" if missing == 1 else f"{missing} versions of files are"
        raise ProviderError(f"{what} not in this clone", "run `git fsck`")


def _versions(repository: Repository, folder: str) -> dict[tuple[str, str], str]:
    """The path and hash of every version of a file in the folder in any branch, newest first, with the first commit that has
    it."""
    found: dict[tuple[str, str], str] = {}
    commit = ""
    for line in repository.run(*_LOG, "--", _pathspec(repository, folder)).split("\n"):
        if not line.startswith(":"):
            commit = line.strip() or commit
            continue
        head, _, file = line.partition("\t")
        _, mode, _, blob, _ = head.split(" ")
        if mode in _FILE_MODES:
            found[file, blob] = commit  # overwritten by older commits
    return found


def staged(folder: str) -> Iterator[Version]:
    """The files in the folder that are staged and differ from the last commit. Raises NotFoundError, ProviderError."""
    repository = find_repository(os.path.dirname(folder)).at_commit()
    listed = repository.run(
        "diff", "--cached", "--name-only", "-z", "--no-renames", "--no-ext-diff", "--diff-filter=AMT", "--",
        _pathspec(repository, folder),
    )  # fmt: skip
    with repository.objects() as objects:
        for file in listed.split("\0"):
            if file and "\n" not in file:
                yield readable(file), "", objects.read(f":{file}") or b""


def _pathspec(repository: Repository, folder: str) -> str:
    inside = os.path.relpath(os.path.realpath(folder), os.path.realpath(repository.root)).replace(os.sep, "/")
    return f":(top,literal){inside}"


_VERSION = re.compile(rf"(.*?[^\d.])??(\d+(?:[._]\d+)*)((?:{PRE_RELEASE})*)(?:\+[\w.-]*)?\Z")
_PRE = re.compile(r"([a-z]+)[-._]?(\d*)")
_SAME_STAGE = {"alpha": "a", "beta": "b", "c": "rc", "pre": "rc", "preview": "rc"}
_LABELS = frozenset(["", "v", "ver", "version", "r", "rel", "release"])
"""Words before a version that are not the name of a package."""
_COMMIT = re.compile(r"[0-9a-f]{7,40}\Z")
_SHORT = 10
_TAGS = ("for-each-ref", "--format=%(creatordate:format-local:%Y-%m-%dT%H:%M:%SZ) %(refname:short)", "refs/tags")
_TIMES_LOG = ("log", "-1", "--date=format-local:%Y-%m-%dT%H:%M:%SZ", "--format=%cd", "--end-of-options")


_Version = tuple[tuple[str, ...], tuple[int, ...], tuple[tuple[str, int], ...]]
"""Package, numbers and stages of a version, equal for different spellings: `pkg@1.2.0-rc.1` and `pkg-v1.2rc1`."""


def time_of(root: str, name: str) -> tuple[str, str] | None:
    """The tag or commit `name` and its time, RFC 3339 in UTC; None where there is neither.

    A tag of exactly this name wins. Else `8.1` matches the tag `v8.1`, `release-8.1` or `8.1.0`, or without any of these,
    `pkg-8.1` or `pkg@8.1`; of several the first by time, then by name.
    """
    try:
        repository = Repository(root)
        if named := _tagged(_tags(repository), name):
            return named
        at = repository.run(*_TIMES_LOG, name).strip() if _COMMIT.match(name) else ""
        return (name[:_SHORT], at) if at else None
    except MemcliError:
        return None


def release_times(root: str, versions: Iterable[str]) -> dict[str, str]:
    """The time of the tag of each version, RFC 3339 in UTC, without versions that have no tag; empty where git fails."""
    try:
        tags = _tags(Repository(root))
    except MemcliError:
        return {}
    found = {name: _tagged(tags, name) for name in dict.fromkeys(versions)}
    return {name: named[1] for name, named in found.items() if named}


def _tags(repository: Repository) -> list[tuple[str, str]]:
    """The times and names of all tags."""
    lines = (line.partition(" ") for line in repository.run(*_TAGS).splitlines())
    return [(at, tag) for at, _, tag in lines if at]


def _tagged(tags: Sequence[tuple[str, str]], name: str) -> tuple[str, str] | None:
    """The tag that matches `name` by the rules of `time_of`, and its time."""
    wanted = _version(name.lower())
    found = []
    for at, tag in tags:
        version = _version(tag.lower())
        if tag.lower() == name.lower():
            found.append((0, at, tag))
        elif version is None or wanted is None:
            continue
        elif version == wanted:
            found.append((1, at, tag))
        # A single number may be anything (`nightly-2024-01-02`).
        elif not wanted[0] and version[1:] == wanted[1:] and re.search(r"\d[._]\d", tag):
            found.append((2, at, tag))
    if not found:
        return None
    _, at, tag = min(found)
    return tag, at


def _version(name: str) -> _Version | None:
    match = _VERSION.match(name)
    if match is None:
        return None
    package = tuple(word for word in re.split(r"[\W_]+", match[1] or "") if word not in _LABELS)
    numbers = [int(part) for part in re.split(r"[._]", match[2])]
    while len(numbers) > 1 and not numbers[-1]:  # 1.2.0 is 1.2
        numbers.pop()
    stages = ((_SAME_STAGE.get(stage, stage), int(n or 0)) for stage, n in _PRE.findall(match[3]))
    return package, tuple(numbers), tuple(stages)
