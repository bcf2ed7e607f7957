"""How soon after an ingest questions are answered as with all vectors: `python bench/first_hour.py`; see bench/README.md."""

from __future__ import annotations

import os
import shutil
import time
from bisect import bisect_left
from collections.abc import Sequence
from contextlib import closing
from itertools import accumulate
from unittest.mock import patch

from answers import NONE, Question, by_recall, evaluate, load, open_named, parser_of, right
from report import percent, section, table
from repository import Repository, environment
from stores import work_folder

import memcli.embed
from memcli.app.space import embed_spaces
from memcli.embed.onnx import OnnxEmbedder, cores
from memcli.index.vectors import VectorFile, text_key
from memcli.store.layout import FOLDER, Layout
from memcli.wiring.workspace import open_workspace

ENOUGH, MUST = 0.95, 0.25
"""The share of the final quality that is waited for, and the share of the time to all vectors that this may take."""
PATIENCE = (1.0, 0.0)
"""For how many seconds a question computes missing vectors: that of a person, and the least, which gives four vectors."""
POINTS = (0.0, 0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.5, 0.75, 1.0)
"""The shares of the time to all vectors at which the questions are asked."""


class Recorder(OnnxEmbedder):
    """The bundled model, which computes each vector once; `clock` is how many seconds all requests would take on these cores."""

    def __init__(self) -> None:
        super().__init__()
        super().embed(["The session is opened before time is measured."] * 8)
        self.vectors: dict[str, bytes] = {}
        self.took: dict[str, float] = {}
        self.clock = 0.0

    def embed(self, texts: Sequence[str], *_: object, **__: object) -> list[bytes]:
        new = [text for text in dict.fromkeys(texts) if text not in self.vectors]
        began = time.process_time()
        self.vectors |= zip(new, super().embed(new), strict=True)
        per_character = (time.process_time() - began) / cores() / max(1, sum(map(len, new)))
        self.took |= {text: per_character * len(text) for text in new}
        self.clock += sum(self.took[text] for text in texts)
        return [self.vectors[text] for text in texts]


def main() -> None:
    """Prints the table."""
    options = parser_of("Measures how soon after an ingest questions are answered as with all vectors.").parse_args()
    questions = [one for one in load(options.questions) if one.type != NONE]
    recorder = Recorder()
    embedder = patch.dict(memcli.embed.EMBEDDERS, onnx=lambda: recorder)
    clocks = [patch(f"memcli.{module}.monotonic", lambda: recorder.clock) for module in ("index.view", "app.recall")]
    with work_folder(options.work) as work, embedder, clocks[0], clocks[1]:
        name, repository = open_named(options, work, with_vectors=False)
        _report(name, repository, questions, recorder)


def _report(name: str, repository: Repository, questions: Sequence[Question], recorder: Recorder) -> None:
    """Prints how many questions are answered at each of POINTS, and from which of them on there are enough."""
    folder = Layout(os.path.join(repository.root, FOLDER)).cache("")
    files = [os.path.join(folder, f"{recorder.model}.{end}") for end in ("vectors", "places")]
    _remove(files)
    embed_spaces(open_workspace({"root": repository.root}, environment(repository)))
    texts = list(recorder.took)
    ends = list(accumulate(recorder.took.values()))
    counts = [bisect_left(ends, share * ends[-1] - 1e-9) + 1 if share else 0 for share in POINTS]
    found: list[list[float]] = []
    for count in counts:
        _remove(files)
        with closing(VectorFile(folder, recorder.model, recorder.dimensions)) as stored:
            stored.add({text_key(text): recorder.vectors[text] for text in texts[:count]})
        found.append([_answered(repository, questions, files, patience) for patience in PATIENCE])
    rows = [
        (f"{at:.2f}", f"{count:,}", *map(percent, shares))
        for at, count, shares in zip(POINTS, counts, found, strict=True)
    ]
    columns = ("time over that to all vectors", "vectors", *(f"answered, {one:g} s for vectors" for one in PATIENCE))
    reached = [
        next(at for n, at in enumerate(POINTS) if min(shares[n:]) >= ENOUGH * shares[-1])
        for shares in zip(*found, strict=True)
    ]
    note = f"{percent(ENOUGH, 0)} % of the last row from {' and '.join(f'{at:.2f}' for at in reached)} on; must: {MUST:.2f}"
    section(f"The first hour: {name}", table(columns, rows), note)


def _answered(repository: Repository, questions: Sequence[Question], files: Sequence[str], patience: float) -> float:
    """The share of the questions that are answered, each with the vectors in `files` as they are now."""
    for file in files:
        os.replace(file, f"{file}.before")
    asked = []
    for question in questions:
        for file in files:
            shutil.copy(f"{file}.before", file)  # without what the question before this one computed
        asked += evaluate([question], by_recall(repository, patience), ["@budget"])
    for file in files:
        os.replace(f"{file}.before", file)
    return right(asked, "@budget")


def _remove(files: Sequence[str]) -> None:
    for file in filter(os.path.exists, files):
        os.unlink(file)


if __name__ == "__main__":
    main()
