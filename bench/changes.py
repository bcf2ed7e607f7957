"""How well a change finds what was written about it: `python bench/changes.py TASK.json.gz`; see bench/README.md.

The questions of a task of changes become the memories, and each is looked for by the diff that answers it: the reverse
of what `quality.py` asks. It is what the topic that `recall --from-diff` makes of a change was chosen on.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from processes import memcli, run
from report import DEPTH, SHOWN, mean, percent, score, section, table
from stores import work_folder
from tasks import Question, Space, ranked

from memcli.code.change_topic import topic_of
from memcli.ingest.patch import read_diff
from memcli.model.recall import DEFAULT_BACKEND
from memcli.ranking import open_ranker

_FAR = 20


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description="Measures how well a change finds what was written about it.")
    parser.add_argument("task", metavar="TASK.json.gz", help="a task of changes")
    parser.add_argument("--work", metavar="DIR", help="keep the store here [a temporary folder]")
    options = parser.parse_args()
    with gzip.open(options.task, "rt", encoding="utf-8") as file:
        data = json.load(file)
    (changes,) = data["spaces"]
    with work_folder(options.work) as work:
        view = _remembered(os.path.join(work, f"{data['name']}-questions"), changes["queries"]).view()
        ranker = open_ranker(DEFAULT_BACKEND)
        found = []
        for query in changes["queries"]:
            wanted = frozenset([query["id"]])
            asked = Question(topic_of(read_diff(_diff(changes, query["id"]), query["id"])), wanted)
            found.append(score(ranked(ranker, view, asked, DEPTH), wanted))
    scores = mean(found)
    rows = [("the topic of the change", *(percent(scores[name]) for name in SHOWN))]
    section(f"Changes: {data['name']}", table(("", *SHOWN), rows))


def _remembered(root: str, queries: Sequence[Mapping[str, Any]]) -> Space:
    if not os.path.exists(os.path.join(root, "complete")):
        os.makedirs(root)
        path = os.path.join(root, "batch.jsonl")
        with open(path, "w", encoding="utf-8") as file:
            for n, query in enumerate(queries):
                memory = {"id": query["id"], "raw": query["text"], "path": f"subjects/{n}", "kind": "decision"}
                file.write(f"{json.dumps(memory)}\n")
        run([memcli(), "init", "--quiet", "--root", root])
        run([memcli(), "remember", "--batch", path, "--quiet", "--root", root])
        with open(os.path.join(root, "complete"), "w", encoding="utf-8"):
            pass
    return Space(root, "main", (), ())


def _diff(changes: Mapping[str, Any], question: str) -> bytes:
    relevant = set(changes["qrels"][question])
    documents = [document for document in changes["corpus"] if document["id"] in relevant]
    return "".join(f"{line}\n" for document in documents for line in _lines(document)).encode()


def _lines(document: Mapping[str, Any]) -> Iterator[str]:
    """The hunks of a document with the numbers that they lack."""
    name = document["meta"]["path"]
    yield from (f"diff --git a/{name} b/{name}", f"--- a/{name}", f"+++ b/{name}")
    start = 1
    for hunk in document["text"].split("\n@@")[1:]:
        head, *body = hunk.split("\n")
        if not any(line[:1] in ("+", "-") for line in body):  # the task has cut it
            continue
        old, new = (sum(line[:1] != other for line in body) for other in "+-")
        yield f"@@ -{start},{old} +{start},{new} @@ {head.strip()}"
        yield from (line or " " for line in body)
        start += len(body) + _FAR


if __name__ == "__main__":
    main()
