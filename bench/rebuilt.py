"""The route of a repository: a task's changes as a git history, read by `memcli ingest --git`, and asked again.

A task holds hunks without their files, so each change is a commit on top of a merge that brings just the lines it
needs: merges are not ingested. Messages are empty, for the questions are made of them.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from processes import memcli, run
from tasks import Space, recall

_GAP = [b""] * 8
_WHO = b"A <a@example.org>"


def answers(space: Space, depth: int) -> list[list[str]]:
    """The documents of the space that recall gives for each question, best first, after an ingest of its history."""
    root = os.path.join(space.root, f"{space.name}-history")
    if not os.path.exists(os.path.join(root, ".git")):
        _build(root, space.corpus)
        run([memcli(), "init", "--root", root, "--quiet"])
        run(["env", "-C", root, memcli(), "ingest", "--git", "HEAD", "--quiet", "--root", root, "--space", space.name])
        run([memcli(), "store", "index", "embed", "--quiet", "--root", root, "--space", space.name])
    rebuilt = Space(root, space.name, space.corpus, space.questions)
    documents = _documents(root, space)
    return [[doc for name in ids for doc in documents.get(name, ())][:depth] for ids in recall(rebuilt, depth)]


def _build(root: str, corpus: Sequence[Mapping[str, Any]]) -> None:
    subprocess.run(["git", "init", "-q", "-b", "main", root], check=True)
    stream = b"".join(_stream(corpus))
    subprocess.run(["git", "fast-import", "--quiet"], cwd=root, input=stream, check=True)


def _stream(corpus: Sequence[Mapping[str, Any]]) -> Iterator[bytes]:
    yield b"commit refs/heads/root\nmark :1\ncommitter %s 0 +0000\ndata 0\n\n" % _WHO
    last = 1
    for number, (group, members) in enumerate(groupby(corpus, key=lambda document: document["group"])):
        changes = [(document["meta"]["path"], *_sides(document["text"])) for document in members]
        before, after = 2 * number + 2, 2 * number + 3
        yield _commit(before, last, [(path, old) for path, old, _ in changes], is_merge=True)
        yield _commit(after, before, [(path, new) for path, _, new in changes], note=group)
        last = after


def _commit(
    mark: int, parent: int, files: Sequence[tuple[str, bytes]], *, is_merge: bool = False, note: str = ""
) -> bytes:
    # The author's name carries the group over, to find the documents by.
    who = b"%s %d +0000" % (_WHO, 1_600_000_000 + mark)
    author = b"author %s <a@example.org> %d +0000\n" % (note.encode() or b"A", 1_600_000_000 + mark)
    head = b"commit refs/heads/main\nmark :%d\n%scommitter %s\ndata 0\n\nfrom :%d\n" % (mark, author, who, parent)
    return b"".join(
        [head, b"merge :1\n" if is_merge else b"", b"deleteall\n",
         *(b"M 100644 inline %s\ndata %d\n%s\n" % (path.encode(), len(data), data) for path, data in files)]
    )  # fmt: skip


def _sides(text: str) -> tuple[bytes, bytes]:
    """A file that has the lines of the hunks, apart, before and after the change."""
    old: list[bytes] = []
    new: list[bytes] = []
    for line in text.encode().split(b"\n")[1:]:
        if line.startswith(b"@@"):
            for side in (old, new):
                side += [*_GAP, line[2:].strip(), *_GAP]
            continue
        old += [line[1:]] if line[:1] != b"+" else []
        new += [line[1:]] if line[:1] != b"-" else []
    return b"\n".join([*old, *_GAP, b""]), b"\n".join([*new, *_GAP, b""])


def _documents(root: str, space: Space) -> dict[str, list[str]]:
    """The documents that each memory of the history stands for, by its id."""
    by_place = {(document["group"], document["meta"]["path"]): document["id"] for document in space.corpus}
    with open(os.path.join(root, ".memory", "spaces", f"{space.name}.json"), "rb") as file:
        memories = json.load(file)["objects"]
    return {
        memory["id"]: [by_place[memory["metadata"]["author"], path] for path in memory["provenance"]["files"]]
        for memory in memories
    }
