"""Retrieval tasks: files of documents, questions and which documents answer them; put into stores and asked.

A task file is gzipped JSON: {"name", "spaces": [{"id", "corpus": [{"id", "text", "ts", "group", "meta"}],
"queries": [{"id", "text"}], "qrels": {question id: [document id]}}]}, documents in order of time. A document is a turn
of a talk when its `meta` names a speaker, else a hunk of a change.
"""

from __future__ import annotations

import gzip
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from processes import memcli, run, surroundings

from memcli.app.choice import order
from memcli.model.recall import Nearness, Query, RowSet
from memcli.ports import Ranker
from memcli.wiring.workspace import open_workspace

if TYPE_CHECKING:
    from memcli.index.view import IndexedSpace

_NOW = "2100-01-01T00:00:00Z"
_MISSING: list[Nearness] = []


@dataclass(frozen=True, slots=True)
class Question:
    """A question and the ids of the memories that answer it."""

    text: str
    relevant: frozenset[str]

    def query(self, limit: int) -> Query:
        return Query(topic=self.text, now=_NOW, limit=limit)


@dataclass(frozen=True, slots=True, eq=False)
class Space:
    """One space of a task, in a store of its own task."""

    root: str
    name: str
    corpus: Sequence[Mapping[str, Any]]
    questions: Sequence[Question]

    def view(self) -> KeptView:
        """A view that is left open: the process is short."""
        workspace = open_workspace({"root": self.root, "space": self.name}, surroundings())
        return KeptView(workspace.index.view(workspace.store.open(self.name)))


@dataclass(frozen=True, slots=True)
class Task:
    """A named task with its spaces."""

    name: str
    spaces: Sequence[Space]


class KeptView:
    """A view of a space that answers the same question twice without looking twice."""

    def __init__(self, view: IndexedSpace) -> None:
        self._view = view
        self._lexical: dict[tuple[tuple[str, ...], int, bool], Any] = {}
        self._dense: dict[str, Nearness] = {}
        self.has_meaning = True

    def __getattr__(self, name: str) -> Any:
        return getattr(self._view, name)

    def forget(self) -> None:
        """Looks again from now on."""
        self._lexical.clear()
        self._dense.clear()

    def lexical(
        self, terms: Sequence[str], limit: int, among: RowSet | None = None, *, with_common: bool = False
    ) -> Any:
        if among is not None and (among.only is not None or among.hidden):
            return self._view.lexical(terms, limit, among, with_common=with_common)
        key = (tuple(terms), limit, with_common)
        if key not in self._lexical:
            self._lexical[key] = self._view.lexical(terms, limit, with_common=with_common)
        return self._lexical[key]

    def dense(
        self, texts: Sequence[str], within: float | None = None, among: RowSet | None = None, *_: object, **__: object
    ) -> list[Nearness] | None:
        del within, among
        if not self.has_meaning:
            return None
        if new := [text for text in texts if text not in self._dense]:
            self._dense.update(zip(new, self._view.dense(new) or _MISSING, strict=True))
        return [self._dense[text] for text in texts]


def load(path: str, work: str) -> Task:
    """The task in the file at `path`, in a store below `work`, which is used again when it is there."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        data = json.load(file)
    root = os.path.join(work, data["name"])
    if not os.path.exists(os.path.join(root, "complete")):
        os.makedirs(root, exist_ok=True)
        run([memcli(), "init", "--root", root])
        for space in data["spaces"]:
            _remember(root, space)
        with open(os.path.join(root, "complete"), "w", encoding="utf-8"):
            pass
    return Task(data["name"], [_space(root, space) for space in data["spaces"]])


def ranked(ranker: Ranker, view: KeptView, question: Question, limit: int) -> list[str]:
    """The ids that recall gives for a question, best first, without going through the command line."""
    hits = ranker(question.query(limit), view).hits
    return [hit.entry.id for hit in order(hits, limit)]


def recall(space: Space, limit: int, *options: str) -> list[list[str]]:
    """The ids that `memcli recall` gives for each question of the space, best first."""
    path = os.path.join(space.root, f"{space.name}.topics")
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(f"{question.text}\n" for question in space.questions)
    out = run(
        [memcli(), "recall", "--topics", path, "--limit", str(limit), "--json", "--no-global", *options,
         "--root", space.root, "--space", space.name]
    )  # fmt: skip
    bundles = [json.loads(line) for line in out.splitlines()]
    assert len(bundles) == len(space.questions), "one bundle for each question"
    return [[name for section in bundle["sections"] for name in _ids(section)] for bundle in bundles]


def _ids(section: Mapping[str, Any]) -> list[str]:
    """A memory, or all of a commit."""
    return [section["id"], *(other["id"] for other in section.get("also", ()))]


def _remember(root: str, space: Mapping[str, Any]) -> None:
    path = os.path.join(root, f"{_name(space)}.jsonl")
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(f"{json.dumps(line)}\n" for line in _lines(space))
    run([memcli(), "remember", "--batch", path, "--quiet", "--root", root, "--space", _name(space)])
    run([memcli(), "store", "index", "embed", "--quiet", "--root", root, "--space", _name(space)])


def _lines(space: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for document in space["corpus"]:
        meta = document.get("meta", {})
        source = meta.get("path", space["id"])
        metadata = {"group": document.get("group"), "speaker": meta.get("speaker"), "source": source}
        yield {
            "id": document["id"],
            "raw": document["text"],
            "path": f"{source}/{document['id']}",
            "kind": "log" if "speaker" in meta else "diff",
            "metadata": {name: value for name, value in metadata.items() if value},
            **({"created_at": document["ts"]} if "ts" in document else {}),
        }


def _space(root: str, space: Mapping[str, Any]) -> Space:
    questions = [
        Question(" ".join(query["text"].split()), frozenset(space["qrels"][query["id"]])) for query in space["queries"]
    ]
    return Space(root, _name(space), space["corpus"], questions)


def _name(space: Mapping[str, Any]) -> str:
    return re.sub(r"[^a-z0-9-]+", "-", space["id"].lower()).strip("-")
