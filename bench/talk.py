"""A task of talk as people have it: sessions that are imported from transcripts, and asked with `--scope session`."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from typing import Any

from processes import memcli, run
from tasks import Space


def answers(space: Space, limit: int) -> list[list[str]]:
    """The ids of the documents that recall gives for each question, best first, after `session import`."""
    with tempfile.TemporaryDirectory() as folder:
        named = _import(folder, space.corpus)
        return _recall(folder, space, named, limit)


def _import(folder: str, corpus: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Imports a transcript for each group; for the id of each memory that of its document."""
    root = os.path.join(folder, ".memory")
    run([memcli(), "init", "--root", root])
    groups: dict[str, list[Mapping[str, Any]]] = {}
    for document in corpus:
        groups.setdefault(document["group"], []).append(document)
    paths = [os.path.join(folder, f"{number}.jsonl") for number in range(len(groups))]
    for path, own in zip(paths, groups.values(), strict=True):
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(f"{json.dumps(_line(document))}\n" for document in own)
    told = json.loads(run([memcli(), "session", "import", *paths, "--json", "--root", root]))
    named = {}
    for session, own in zip(told["sessions"], groups.values(), strict=True):
        assert session["messages"] == len(own), session
        named |= {f"{session['id']}:{n:06}": document["id"] for n, document in enumerate(own, 1)}
    run([memcli(), "store", "index", "embed", "--quiet", "--root", root])
    return named


def _line(document: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "role": document["meta"].get("role", "user"),
        "name": document["meta"]["speaker"],
        "content": document["text"],
        "timestamp": document["ts"],
        "id": document["id"],
    }


def _recall(folder: str, space: Space, named: Mapping[str, str], limit: int) -> list[list[str]]:
    topics = os.path.join(folder, "topics")
    with open(topics, "w", encoding="utf-8") as file:
        file.writelines(f"{question.text}\n" for question in space.questions)
    root = os.path.join(folder, ".memory")
    asked = ["recall", "--topics", topics, "--limit", str(limit), "--json", "--no-global", "--root", root]
    out = run(
        [memcli(), *asked, "--scope", "session", "--exclude", "episodes", "--freeze-clock", "2100-01-01T00:00:00Z"]
    )
    bundles = [json.loads(line) for line in out.splitlines()]
    return [[named[one["id"]] for one in bundle["sections"] if one["id"] in named] for bundle in bundles]
