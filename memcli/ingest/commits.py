"""Commits: one candidate for each file that a commit changed, oldest commit first, from one git process."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice

from memcli.errors import MemcliError
from memcli.git.repository import check_revisions, find_repository
from memcli.git.tree import Secrets, is_generated, noise
from memcli.ingest.change import STAGED, Origin, candidate, staged_path
from memcli.ingest.patch import FORMAT, FileDiff, read_diffs, read_log
from memcli.model.failure import Failure, reason_of
from memcli.model.names import readable

WINDOW = 500
"""How many commits are read at a time: one git process each."""
TINY_FILES, TINY_LINES = 3, 6
"""A commit that only modifies files, at most so many of them and lines, is one memory: its parts say nothing alone."""
_ATTRIBUTES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "diff.gitattributes")
# Every option that a repository's configuration could turn otherwise is given, so that the same
# commits read the same on every machine. A file above the threshold counts as binary.
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
    *_SETTINGS, "log", "--reverse", "--date-order", "--no-decorate", "--no-notes", "--no-show-signature",
    "--encoding=UTF-8", *_DIFF, FORMAT,
)  # fmt: skip
_INDEX = (*_SETTINGS, "diff", "--cached", *_DIFF, "--")

Candidates = Iterator[Mapping[str, object]]


class CommitSource:
    """The commits of a range such as `HEAD~5..`, `v1..v2`, or `HEAD` for all that led to it, in windows: those of the
    newest window first, so that what is there after an interruption is what matters most. `skip` leaves out the newest,
    and at most `most` of the others are read.

    `commits` counts those read so far and `skipped` what gave no candidate, by reason: merge, shallow, binary,
    lock, vendored, generated, ignored, submodule, link, mode, empty.
    """

    def __init__(self, work_tree: str, revisions: str, skip: int = 0, most: int | None = None) -> None:
        self._repository = find_repository(work_tree)
        self._revisions = check_revisions(revisions)
        self._skip = skip
        self._most = most
        self.commits = 0
        self.skipped: Counter[str] = Counter()
        self.failed: list[Failure] = []
        self._sieve = _Sieve(self._repository.root, self.skipped)

    def total(self) -> int:
        """How many commits there are to read. Raises NotFoundError for a range that git does not know."""
        left = max(0, self._repository.count(self._revisions) - self._skip)
        return left if self._most is None else min(left, self._most)

    def done(self) -> int:
        """How many of them have been read."""
        return self.commits

    def candidates(self) -> Candidates:
        """One for each commit and file, or for a tiny commit. A commit that cannot be read is put into `failed`.

        Raises NotFoundError, ProviderError.
        """
        read: set[str] = set()
        total = self.total()
        for start in range(0, max(total, 1), WINDOW):
            window = (f"--skip={self._skip + start}", f"--max-count={min(WINDOW, total - start)}")
            try:
                yield from self._read(self._revisions, read, window)
            except MemcliError:
                raise
            except Exception:  # noqa: BLE001 - whatever is in one commit, the others are worth having
                yield from self._read_each(read, window)

    def _read_each(self, read: set[str], window: Sequence[str]) -> Candidates:
        """The commits of the window that were not `read`, one by one."""
        listed = self._repository.run(
            "rev-list", "--reverse", "--date-order", *window, "--end-of-options", self._revisions, "--"
        )
        for commit in listed.split():
            try:
                if commit not in read:
                    yield from self._read(f"{commit}^!", read)
            except MemcliError:
                raise
            except Exception as error:  # noqa: BLE001
                self.failed.append(Failure(reason_of(error), commit=commit))

    def _read(self, revisions: str, read: set[str], window: Sequence[str] = ()) -> Candidates:
        shallow = self._repository.shallow()
        for commit, diffs in read_log(self._repository.stream(*_LOG, *window, "--end-of-options", revisions, "--")):
            if len(commit.parents) > 1:
                self.skipped["merge"] += 1
            elif commit.hash in shallow:
                self.skipped["shallow"] += 1
            else:
                yield from _of_commit(Origin(commit), self._sieve.fit(diffs))
            read.add(commit.hash)
            self.commits = len(read)


class StagedSource:
    """What is staged now: one candidate for each file. `skipped` counts as for commits, and also conflict."""

    def __init__(self, work_tree: str) -> None:
        self._repository = find_repository(work_tree)
        self.skipped: Counter[str] = Counter()
        self.failed: list[Failure] = []
        self._sieve = _Sieve(self._repository.root, self.skipped)

    def candidates(self) -> Candidates:
        """One for each file; they take the place of all that was staged before. Raises ProviderError."""
        everything = [{"under": STAGED, "group": STAGED}]
        yield {"replaces": everything}
        diffs, conflicts = read_diffs(self._repository.stream(*_INDEX))
        self.skipped.update({"conflict": conflicts} if conflicts else {})
        for diff in self._sieve.fit(diffs):
            try:
                made = candidate(Origin(None), [diff])
            except Exception as error:  # noqa: BLE001 - whatever is in one file, the others are worth having
                self.failed.append(Failure(reason_of(error), file=readable(diff.file)))
            else:
                yield {**made, "replaces": everything}


class _Sieve:
    """Lets through the diffs that are worth a memory, and counts the others by reason."""

    def __init__(self, root: str, skipped: Counter[str]) -> None:
        self._secrets = Secrets(root)
        self._skipped = skipped

    def fit(self, diffs: Iterable[FileDiff]) -> Iterator[FileDiff]:
        for diff in diffs:
            reason = self._unfit(diff)
            if reason:
                self._skipped[reason] += 1
            else:
                yield diff

    def _unfit(self, diff: FileDiff) -> str:
        if diff.is_submodule:
            return "submodule"
        if diff.is_link or diff.status == "retyped":
            return "link"
        if self._secrets.cover(diff.file) or self._secrets.cover(diff.was):
            return "ignored"
        if reason := noise(diff.file):
            return reason
        if diff.is_binary:
            return "binary"
        if not diff.hunks and diff.status != "renamed":
            return "mode" if diff.is_same_content else "empty"
        is_new = diff.status == "added"
        return "generated" if is_new and is_generated(diff.hunks[:600].decode(errors="replace")) else ""


def _of_commit(origin: Origin, diffs: Iterator[FileDiff]) -> Candidates:
    first = list(islice(diffs, TINY_FILES + 1))  # the rest of a large commit is read as it goes
    if _is_tiny(first):
        yield {**candidate(origin, first), "replaces": _staged(first)}
        return
    for part in (first, diffs):
        for diff in part:
            yield {**candidate(origin, [diff]), "replaces": _staged([diff])}


def _is_tiny(diffs: Sequence[FileDiff]) -> bool:
    lines = sum(diff.added + diff.removed for diff in diffs)
    return 1 < len(diffs) <= TINY_FILES and lines <= TINY_LINES and all(diff.status == "modified" for diff in diffs)


def _staged(diffs: Sequence[FileDiff]) -> list[Mapping[str, object]]:
    """What was told of these files while they were staged: the commit says it now."""
    return [{"under": staged_path(diff.file), "group": STAGED} for diff in diffs]
