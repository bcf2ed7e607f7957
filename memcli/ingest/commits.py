"""Commits: one candidate for each file that a commit changed, oldest commit first, from one git process."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping

from memcli.clock import normalize_time
from memcli.errors import UsageError
from memcli.git.repository import check_revisions, find_repository
from memcli.ingest.ignore import Secrets
from memcli.ingest.labels import memory_path, readable, tags_of
from memcli.ingest.noise import is_generated, noise
from memcli.ingest.patch import FORMAT, Commit, FileDiff, read_log

MAX_TEXT = 6_000
MAX_LINE = 400
_MAX_MESSAGE = 1_500
_MAX_SUBJECT = 200
_SHORT = 10
_ATTRIBUTES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "diff.gitattributes")
# Every option that a repository's configuration could turn otherwise is given, so that the same
# commits read the same on every machine. A file above the threshold counts as binary.
_LOG = (
    "-c", f"core.attributesFile={_ATTRIBUTES}", "-c", "core.bigFileThreshold=2m", "-c", "log.showRoot=true",
    "-c", "diff.suppressBlankEmpty=false", "-c", "diff.noprefix=false", "-c", "diff.mnemonicPrefix=false",
    "log", "--reverse", "--date-order", "--no-decorate", "--no-notes", "--no-show-signature", "--encoding=UTF-8",
    "--raw", "-p", "--no-abbrev", "--full-index", "--unified=3", "--inter-hunk-context=0", "--diff-algorithm=myers",
    "--indent-heuristic", "-M50%", "-l400", "-O/dev/null", "--no-relative", "--submodule=short",
    "--ignore-submodules=none", "--no-color", "--no-ext-diff", "--no-textconv", FORMAT, "--end-of-options",
)  # fmt: skip
# `Signed-off-by: Ann <ann@example.org>` and its like are addresses, not what was done.
_CREDIT = re.compile(r"[A-Za-z-]+-by: .*|(Change-Id|Git-Svn-Id|git-svn-id): .*")


class CommitSource:
    """The commits of a range such as `HEAD~5..`, `v1..v2`, or `HEAD` for all that led to it.

    `commits` counts those read so far and `skipped` what gave no candidate, by reason: merge, shallow, binary,
    lock, vendored, generated, ignored, submodule, link, mode, empty.
    """

    def __init__(self, work_tree: str, revisions: str) -> None:
        self._repository = find_repository(work_tree)
        self._revisions = check_revisions(revisions)
        self._secrets = Secrets(self._repository.root)
        self.commits = 0
        self.skipped: Counter[str] = Counter()

    @classmethod
    def since(cls, work_tree: str, revision: str) -> CommitSource:
        """The commits after `revision`, up to the current one."""
        return cls(work_tree, f"{check_revisions(revision)}..HEAD")

    def total(self) -> int:
        """How many commits there are to read. Raises NotFoundError for a range that git does not know."""
        return self._repository.count(self._revisions)

    def candidates(self) -> Iterator[Mapping[str, object]]:
        """One for each commit and file. Raises NotFoundError, ProviderError."""
        shallow = self._repository.shallow()
        for commit, diffs in read_log(self._repository.stream(*_LOG, self._revisions, "--")):
            self.commits += 1
            if len(commit.parents) > 1:
                self.skipped["merge"] += 1
            elif commit.hash in shallow:
                self.skipped["shallow"] += 1
            else:
                yield from self._of_commit(commit, diffs)

    def _of_commit(self, commit: Commit, diffs: Iterator[FileDiff]) -> Iterator[Mapping[str, object]]:
        created = _created_at(commit)
        message = _message(commit)
        for diff in diffs:
            reason = self._unfit(diff)
            if reason:
                self.skipped[reason] += 1
            else:
                yield _candidate(commit, diff, message, created)

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


def _candidate(commit: Commit, diff: FileDiff, message: str, created: str | None) -> Mapping[str, object]:
    subject = message.partition("\n")[0]
    file = readable(diff.file)
    symbols = diff.symbols()
    metadata: dict[str, object] = {
        "source": file,
        "group": commit.hash,
        "subject": subject,
        "status": diff.status,
        "added": diff.added,
        "removed": diff.removed,
    }
    if author := "".join(c for c in commit.author if c.isprintable()).strip():
        metadata["author"] = author
    if diff.was != diff.file:
        metadata["was"] = readable(diff.was)
    if symbols:
        metadata["functions"] = symbols
    fields: dict[str, object] = {
        "path": memory_path(diff.file, "code", commit.hash[:_SHORT]),
        "kind": "diff",
        "raw": _text(diff, message),
        "summary_micro": _summary(diff, subject, symbols),
        "tags": tags_of(diff.file),
        "metadata": metadata,
        "provenance": {"source": "observed", "files": [file], "commit": commit.hash},
    }
    if created:
        fields["created_at"] = created
    return fields


def _text(diff: FileDiff, message: str) -> str:
    head = f"{message}\n\n{_title(diff)}" if message else _title(diff)
    lines, left_out = diff.lines(MAX_TEXT - len(head), MAX_LINE)
    if left_out:
        lines.append(f"({left_out} more {'line' if left_out == 1 else 'lines'} left out)")
    return "\n".join([head, *lines])


def _title(diff: FileDiff) -> str:
    file = readable(diff.file)
    if diff.status in ("renamed", "copied"):
        return f"{readable(diff.was)} -> {file} ({diff.status})"
    return file if diff.status == "modified" else f"{file} ({diff.status})"


def _summary(diff: FileDiff, subject: str, symbols: list[str]) -> str:
    """The subject, the file, and what in it: what a reader of a log would want on one line."""
    place = readable(diff.file)
    if symbols:
        place += f": {', '.join(symbols[:3])}"
    return f"{subject} ({place})" if subject else f"{diff.status} {place}"


def _message(commit: Commit) -> str:
    """The message, its subject cut to a line, without credits and blank ends."""
    lines = [line.rstrip() for line in commit.message.splitlines() if not _CREDIT.fullmatch(line.strip())]
    text = "\n".join(lines).strip()
    subject, newline, body = text.partition("\n")
    text = subject[:_MAX_SUBJECT] + newline + body
    return text if len(text) <= _MAX_MESSAGE else text[:_MAX_MESSAGE].rstrip() + " ..."


def _created_at(commit: Commit) -> str | None:
    """The author's date, or the committer's where that one is no date; None when neither is."""
    for moment in (commit.authored, commit.committed):
        try:
            return normalize_time(moment)
        except UsageError:
            continue
    return None
