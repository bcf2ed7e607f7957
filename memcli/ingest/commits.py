"""Commits: one candidate for each file that a commit changed, newest commit first, from one git process.

A candidate is made from the change of a commit, or of the index, to a file; or from a tiny commit with all of its files.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain, islice
from types import MappingProxyType

from memcli.clock import time_or_none
from memcli.code.symbols import touched
from memcli.errors import MemcliError
from memcli.git.repository import check_revisions, find_repository, folder_in, pathspec
from memcli.git.tree import Secrets, is_generated, noise
from memcli.ingest.labels import memory_path, tags_of
from memcli.ingest.patch import FORMAT, LINK, SUBMODULE, Commit, FileDiff, read_diffs, read_log
from memcli.model.findings import Failure, reason_of
from memcli.model.names import readable
from memcli.model.shapes import OBSERVED

MAX_DIFF = 4_500
"""The most characters of changes in one memory, not counting the message."""
MAX_LINE = 400
STAGED = "staged"
"""The path prefix and the group of memories of staged changes, which go when these are committed or unstaged."""
_MAX_MESSAGE = 8_000
"""The most characters of a message: enough for long ones, whose reason is often at the end."""
_MAX_SUBJECT = 200
_MAX_SYMBOLS = 20
_SHORT = 10
# Lines such as `Signed-off-by: Ann <ann@example.org>` have addresses, and nothing about the change.
_CREDIT = re.compile(r"[A-Za-z-]+-by: .*|(Change-Id|Git-Svn-Id|git-svn-id): .*")


def candidate(commit: Commit | None, message: str, diffs: Sequence[FileDiff]) -> Mapping[str, object]:
    """The memory of the change of one file, or of a whole tiny commit, whose path is then that of the most changed file.
    Without `commit` it is of the index, which has no message and no author yet."""
    main = max(diffs, key=lambda diff: diff.added + diff.removed)
    files = [readable(diff.file) for diff in diffs]
    symbols = list(dict.fromkeys(name for diff in diffs for name in touched(diff.hunks, diff.file)))[:_MAX_SYMBOLS]
    title = message.partition("\n")[0]
    metadata: dict[str, object] = {
        "source": readable(main.file),
        "group": commit.hash if commit else STAGED,
        "status": main.status,
        "added": sum(diff.added for diff in diffs),
        "removed": sum(diff.removed for diff in diffs),
    }
    if commit:
        metadata["subject"] = title
        if author := "".join(c for c in commit.author if c.isprintable()).strip():
            metadata["author"] = author
    if main.was != main.file:
        metadata["was"] = readable(main.was)
    if symbols:
        metadata["functions"] = symbols
    provenance: dict[str, object] = {"source": OBSERVED, "files": files}
    subject = title or ("" if commit else "Staged")
    place = ", ".join(files) + (f": {', '.join(symbols[:3])}" if symbols else "")
    fields: dict[str, object] = {
        "path": memory_path(main.file, "code", commit.hash[:_SHORT]) if commit else memory_path(main.file, STAGED),
        "kind": "diff",
        "raw": _text(message, diffs),
        # The subject, the files and the symbols, as on one line of a log.
        "summary_micro": f"{subject} ({place})" if subject else f"{main.status} {place}",
        "tags": tags_of(main.file),
        "metadata": metadata,
        "provenance": {**provenance, "commit": commit.hash} if commit else provenance,
    }
    # git accepts any number as the author's time, also one beyond all calendars.
    created_at = (time_or_none(commit.authored) or time_or_none(commit.committed)) if commit else None
    if created_at:
        fields["created_at"] = created_at
    return fields


def _text(message: str, diffs: Sequence[FileDiff]) -> str:
    parts = [message, ""] if message else []
    room = MAX_DIFF
    for diff in diffs:
        title = readable(diff.file)
        if diff.status in ("renamed", "copied"):
            title = f"{readable(diff.was)} -> {title}"
        if diff.status != "modified":
            title = f"{title} ({diff.status})"
        lines, left_out = diff.lines(room - len(title), MAX_LINE)
        if left_out:
            lines.append(f"({left_out} more {'line' if left_out == 1 else 'lines'} left out)")
        parts += [title, *lines]
        room -= len(title) + sum(map(len, lines))
    return "\n".join(parts)


TINY_FILES, TINY_LINES = 3, 6
"""A commit that modifies at most so many files and lines, and does nothing else, is one memory: its parts mean little alone."""
_ATTRIBUTES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "diff.gitattributes")
# All options that a repository's configuration could change are given, so that the same commits give the same candidates on
# every machine. git takes a file above the threshold for binary.
_SETTINGS = (
    "-c", f"core.attributesFile={_ATTRIBUTES}", "-c", "core.bigFileThreshold=2m", "-c", "log.showRoot=true",
    "-c", "diff.suppressBlankEmpty=false", "-c", "diff.noprefix=false", "-c", "diff.mnemonicPrefix=false",
)  # fmt: skip
_DIFF = (
    "--raw", "-p", "--no-abbrev", "--full-index", "--unified=3", "--inter-hunk-context=0", "--diff-algorithm=myers",
    "--indent-heuristic", "-M50%", "-l400", "-O/dev/null", "--no-relative", "--submodule=short",
    "--ignore-submodules=none", "--no-color", "--no-ext-diff", "--no-textconv",
)  # fmt: skip
_LOG = (
    *_SETTINGS, "log", "--stdin", "--no-walk=unsorted", "--no-decorate", "--no-notes", "--no-show-signature",
    "--encoding=UTF-8", *_DIFF, FORMAT,
)  # fmt: skip
_INDEX = (*_SETTINGS, "diff", "--cached", *_DIFF, "--")

Candidates = Iterator[Mapping[str, object]]


class CommitSource:
    """The commits of a range such as `HEAD~5..`, `v1..v2`, or `HEAD` for all of its ancestors, without the `known` ones,
    which are given with their numbers of memories. The newest come first, so that an interruption leaves the most useful.

    `commits` counts the commits read so far, and `skipped` the changes without a candidate, by reason: merge, shallow,
    binary, lock, vendored, generated, ignored, submodule, link, mode, empty. Reading ends before the next commit when
    `is_stopped` returns true. For a store in a folder of the work tree, `within` is that folder: commits and changes
    elsewhere belong to other stores. For a store outside of the work tree all are read.
    """

    def __init__(
        self,
        work_tree: str,
        revisions: str,
        known: Mapping[str, int] = MappingProxyType({}),
        is_stopped: Callable[[], bool] = lambda: False,
        within: str = "",
    ) -> None:
        self._repository = find_repository(work_tree)
        self._folder = folder_in(self._repository.root, within)
        self._revisions = check_revisions(revisions)
        self._known = known
        self._is_stopped = is_stopped
        self.commits = 0
        self.skipped: Counter[str] = Counter()
        self.failed: list[Failure] = []
        self._secrets = Secrets(self._repository.root)

    def total(self) -> int:
        """The number of commits to read. Raises NotFoundError for a range that git does not know."""
        return len(self._listed) - len(self._met)

    @cached_property
    def _listed(self) -> list[str]:
        return self._repository.commits(self._revisions, self._folder)

    @cached_property
    def _met(self) -> frozenset[str]:
        """The commits of the range that are known."""
        return frozenset(self._known).intersection(self._listed)

    def candidates(self) -> Candidates:
        """Yields a candidate for each commit and file, or for a tiny commit; after all of a commit an entry with `read`, its
        hash; and first an entry with `unchanged`, the number of memories of known commits.

        A commit that cannot be read is added to `failed`. Raises NotFoundError, ProviderError.
        """
        if self._met:
            yield {"unchanged": sum(self._known[commit] for commit in self._met)}
        # Known commits are not read again, since a second run would take as long as the first.
        left = [commit for commit in self._listed if commit not in self._met]
        while left:
            before = self.commits
            try:
                yield from self._read(left)
                return
            except MemcliError:
                raise
            except Exception as error:  # noqa: BLE001 - one odd commit must not stop the ingestion of others
                bad = self.commits - before
                self.failed.append(Failure(reason_of(error), commit=left[bad]))
                left = left[bad + 1 :]

    def _read(self, commits: Sequence[str]) -> Candidates:
        shallow = self._repository.shallow()
        for commit, diffs in read_log(
            self._repository.stream(*_LOG, *pathspec(self._folder), stdin="\n".join(commits))
        ):
            if self._is_stopped():
                return
            if commit.hash in shallow:
                self.skipped["shallow"] += 1
            else:
                if len(commit.parents) > 1:
                    self.skipped["merge"] += 1
                else:
                    yield from _of_commit(commit, _fit(diffs, self._secrets, self.skipped))
                yield {"read": commit.hash}
            self.commits += 1


class StagedSource:
    """The staged changes: one candidate for each file. `skipped` has the reasons of commits, and also conflict."""

    def __init__(self, work_tree: str) -> None:
        self._repository = find_repository(work_tree)
        self.skipped: Counter[str] = Counter()
        self.failed: list[Failure] = []

    def candidates(self) -> Candidates:
        """Yields a candidate for each file; together they replace all memories of staged changes. Raises ProviderError."""
        everything = [{"under": STAGED, "group": STAGED}]
        # Also where nothing is staged any more, so that the memories of what was are retired.
        yield {"replaces": everything}
        diffs, conflicts = read_diffs(self._repository.stream(*_INDEX))
        self.skipped.update({"conflict": conflicts} if conflicts else {})
        for diff in _fit(diffs, Secrets(self._repository.root), self.skipped):
            try:
                made = candidate(None, "", [diff])
            except Exception as error:  # noqa: BLE001 - one odd file must not stop the ingestion of others
                self.failed.append(Failure(reason_of(error), file=readable(diff.file)))
            else:
                yield {**made, "replaces": everything}


def _fit(diffs: Iterable[FileDiff], secrets: Secrets, skipped: Counter[str]) -> Iterator[FileDiff]:
    """The diffs to make memories of; counts the others in `skipped` by reason."""
    for diff in diffs:
        if reason := _unfit(diff, secrets):
            skipped[reason] += 1
        else:
            yield diff


def _unfit(diff: FileDiff, secrets: Secrets) -> str:
    """The reason to make no memory of a diff; empty for none."""
    if SUBMODULE in diff.modes:
        return "submodule"
    if LINK in diff.modes or diff.status == "retyped":
        return "link"
    # A secret under a new name is still one.
    if secrets.cover(diff.file) or secrets.cover(diff.was):
        return "ignored"
    if reason := noise(diff.file):
        return reason
    if diff.is_binary:
        return "binary"
    if not diff.hunks and diff.status != "renamed":
        return "mode" if diff.is_same_content else "empty"
    # Only the diff of a new file has its beginning, where such a mark is.
    is_new = diff.status == "added"
    return "generated" if is_new and is_generated(diff.hunks[:600].decode(errors="replace")) else ""


def _of_commit(commit: Commit, diffs: Iterator[FileDiff]) -> Candidates:
    lines = [line.rstrip() for line in commit.message.splitlines() if not _CREDIT.fullmatch(line.strip())]
    subject, newline, body = "\n".join(lines).strip().partition("\n")
    message = subject[:_MAX_SUBJECT] + newline + body
    message = message if len(message) <= _MAX_MESSAGE else message[:_MAX_MESSAGE].rstrip() + " ..."
    first = list(islice(diffs, TINY_FILES + 1))  # a large commit is not read whole into memory
    changed = sum(diff.added + diff.removed for diff in first)
    has_few = 1 < len(first) <= TINY_FILES and changed <= TINY_LINES
    is_tiny = has_few and all(diff.status == "modified" for diff in first)
    for group in [first] if is_tiny else ([diff] for diff in chain(first, diffs)):
        # Memories of these changes while they were staged are replaced by those of the commit.
        staged = [{"under": memory_path(diff.file, STAGED), "group": STAGED} for diff in group]
        yield {**candidate(commit, message, group), "replaces": staged}
