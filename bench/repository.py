"""Repositories to ask: a clone whose documentation and newest commits are in a store of its own.

A repository may be given as data, gzipped JSON: {"docs": [{"path", "text"}], "commits": [{"date", "subject", "body",
"files": [{"path", "hunks"}]}]}, oldest commit first. Data holds hunks, not files, so each commit stands on top of a
merge that brings just the lines it needs: merges are not ingested.
"""

from __future__ import annotations

import glob
import gzip
import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from processes import memcli, run, surroundings

DOCUMENTS = ("README*", "CHANGE*", "CONTRIBUTING*", "docs", "bench/README*")
HUNKS = 4_000
"""Characters of the hunks of one file of a commit, at most."""

_PROSE = (".md", ".rst", ".txt")
_WHO = b"A <a@example.org>"
_HUNK = re.compile(r"@@ -(\d+)(?:,\d+)? \+\d+(?:,\d+)? @@ ?(.*)")
_LONG_AGO = "1970-01-01T00:00:00+00:00"  # the root is never among the newest
_APART = 8
"""Lines between two hunks, at least: enough for git to see them as two."""


@dataclass(frozen=True, slots=True)
class Commit:
    """What a commit says: its message, and the hunks of each file by path."""

    name: str
    subject: str
    body: str
    hunks: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Repository:
    """A clone with a store. `span` are the revisions that were ingested, `now` the date of the last of them."""

    root: str
    span: str
    now: str
    settings: Mapping[str, str]

    def git(self, *args: str) -> str:
        """What a git command prints."""
        return run(("git", "-C", self.root, *args), **self.settings).decode("utf-8", "replace")

    def memcli(self, *args: str) -> None:
        """Runs a command in the clone."""
        run(("env", "-C", self.root, memcli(), *args, "--quiet"), **self.settings)

    def named(self) -> list[str]:
        """The files and folders of documentation."""
        return [path for pattern in DOCUMENTS for path in sorted(glob.glob(pattern, root_dir=self.root))]

    def documents(self) -> Iterator[tuple[str, str]]:
        """The path and the text of each document."""
        for path in self.git("ls-files", "-z", "--", *self.named()).split("\0"):
            if path.endswith(_PROSE):
                with open(os.path.join(self.root, path), encoding="utf-8", errors="replace") as file:
                    yield path, file.read()

    def commits(self) -> Iterator[Commit]:
        """The commits that were ingested, newest first."""
        shape = "--format=%x00%h%x01%s%x01%b%x01"
        log = self.git("log", "--no-merges", "--no-color", "--no-ext-diff", "--no-textconv", "-p", shape, self.span)
        for told in log.split("\0")[1:]:
            name, subject, body, patch = told.split("\1", 3)
            yield Commit(name, subject, body, dict(_hunks(patch)))


def open_repository(
    source: str, work: str, rev: str = "HEAD", newest: int = 500, *, with_vectors: bool = True
) -> Repository:
    """The repository at `source` as of `rev`, with a store of its `newest` commits and its documentation, below `work`.

    A store that is there is used again. The clock stands still at the date of `rev`.
    """
    head = run(("git", "-C", source, "rev-parse", "--verify", f"{rev}^{{commit}}")).decode().strip()
    top = os.path.join(work, f"{os.path.basename(os.path.abspath(source))}-{head[:12]}-{newest}")
    root, home = os.path.join(top, "repository"), os.path.join(top, "home")
    own = {"HOME": home, "XDG_CONFIG_HOME": home, "XDG_DATA_HOME": home}
    complete = os.path.join(top, "complete")
    is_there = os.path.exists(complete)
    if not is_there:
        shutil.rmtree(top, ignore_errors=True)
        os.makedirs(home)
        run(("git", "clone", "--quiet", "--no-checkout", os.path.abspath(source), root), **own)
        run(("git", "-C", root, "checkout", "--quiet", "--detach", head), **own)
    date = int(run(("git", "-C", root, "log", "-1", "--format=%ct"), **own))
    now = datetime.fromtimestamp(date, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    found = Repository(root, _span(root, newest), now, {**own, "MEMCLI_FREEZE_CLOCK": now})
    if not is_there:
        _fill(found)
        with open(complete, "w", encoding="utf-8"):
            pass
    # A store that is used again may lack vectors of passages that are cut anew.
    if with_vectors:
        found.memcli("store", "index", "embed")
    return found


def environment(repository: Repository, **own: str) -> dict[str, str]:
    """The environment to open the store in."""
    return surroundings(**{**repository.settings, **own})


def build(data: str, work: str) -> str:
    """The repository that is made of the data in the file `data`, below `work`; it is used again when it is there."""
    root = os.path.join(work, os.path.basename(data).partition(".")[0])
    complete = os.path.join(root, ".git", "complete")
    if not os.path.exists(complete):
        shutil.rmtree(root, ignore_errors=True)
        with gzip.open(data, "rt", encoding="utf-8") as file:
            stream = b"".join(_stream(json.load(file)))
        run(("git", "init", "--quiet", "-b", "main", root))
        subprocess.run(("git", "fast-import", "--quiet"), cwd=root, input=stream, check=True)
        with open(complete, "w", encoding="utf-8"):
            pass
    return root


def _span(root: str, newest: int) -> str:
    """The revisions that have the newest commits, without merges."""
    names = run(("git", "-C", root, "rev-list", "--no-merges", "-n", str(newest), "HEAD")).decode().split()
    parents = run(("git", "-C", root, "log", "-1", "--format=%P", names[-1])).decode().split()
    return f"{parents[0]}..HEAD" if parents and len(names) == newest else "HEAD"


def _fill(repository: Repository) -> None:
    repository.memcli("init")
    repository.memcli("ingest", "--git", repository.span)
    repository.memcli("ingest", *repository.named())


def _hunks(patch: str) -> Iterator[tuple[str, str]]:
    """The path and the hunks of each text file in a patch."""
    for file in re.split(r"(?m)^diff --git ", patch)[1:]:
        head, mark, hunks = file.partition("\n@@")
        if mark:
            lines = head.split("\n")
            path = lines[-1] if lines[-1] != "+++ /dev/null" else lines[-2]
            yield path[6:].rstrip("\t"), f"@@{hunks}"[:HUNKS]


def _stream(data: Mapping[str, Any]) -> Iterator[bytes]:
    """What `git fast-import` reads: a root, for each commit a merge with the lines before it, at last the documents."""
    commits = data["commits"]
    yield _commit(1, _LONG_AGO, "", (), {})
    last = 1
    for number, commit in enumerate(commits, 1):
        sides = {file["path"]: _sides(file["hunks"]) for file in commit["files"]}
        message = f"{commit['subject']}\n\n{commit['body']}".rstrip() + "\n"
        before = {path: old for path, (old, _) in sides.items()}
        after = {path: new for path, (_, new) in sides.items()}
        yield _commit(2 * number, commit["date"], "Prepare\n", (last, 1), before)
        yield _commit(2 * number + 1, commit["date"], message, (2 * number,), after)
        last = 2 * number + 1
    documents = {document["path"]: document["text"].encode() for document in data["docs"]}
    yield _commit(last + 1, commits[-1]["date"], "Documents\n", (last, 1), documents)


def _commit(mark: int, date: str, message: str, parents: Sequence[int], files: Mapping[str, bytes]) -> bytes:
    text, when = message.encode(), _date(date)
    head = b"commit refs/heads/main\nmark :%d\nauthor %s %s\ncommitter %s %s\n" % (mark, _WHO, when, _WHO, when)
    links = [b"%s :%d\n" % (b"merge" if n else b"from", parent) for n, parent in enumerate(parents)]
    blobs = [b"M 100644 inline %s\n%s" % (path.encode(), _data(text)) for path, text in files.items()]
    return b"".join([head, _data(text), *links, b"deleteall\n", *blobs])


def _data(text: bytes) -> bytes:
    return b"data %d\n%s\n" % (len(text), text)


def _date(text: str) -> bytes:
    """A date with its zone as git writes it."""
    date = datetime.fromisoformat(text)
    return b"%d %s" % (int(date.timestamp()), (date.strftime("%z")[:5] or "+0000").encode())


def _sides(hunks: str) -> tuple[bytes, bytes]:
    """A file that has the lines of the hunks before and after the change, about where the hunks say that they stand."""
    old: list[str] = []
    new: list[str] = []
    for line in hunks.split("\n"):
        if hunk := _HUNK.match(line):
            gap = max(_APART, int(hunk[1]) - len(old) - 1) if int(hunk[1]) else 0
            # Git repeats the line above a hunk that begins a definition in the head of the hunk.
            above = [*[""] * (gap // 2), hunk[2], *[""] * (gap - gap // 2 - 1)] if gap else []
            old += above
            new += above
        elif not line.startswith("\\"):
            old += [line[1:]] if line[:1] != "+" else []
            new += [line[1:]] if line[:1] != "-" else []
    return "\n".join([*old, *[""] * _APART]).encode(), "\n".join([*new, *[""] * _APART]).encode()
