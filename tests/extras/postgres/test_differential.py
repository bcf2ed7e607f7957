"""A server answers as files do: the same memories in the same order with the same scores, ties and floors included.

MEMCLI_DIFFERENTIAL=500 pytest tests/extras/postgres/test_differential.py makes that many spaces, every seventh with the model
that comes with memcli.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from memcli.app.recall import recall
from memcli.app.workspace import Workspace, opened
from memcli.model.catalogue import CatalogueFilter
from memcli.model.recall import Query
from memcli.render import RENDERERS
from tests.conftest import rewrite, slow_but
from tests.extras.postgres import made
from tests.extras.postgres.stores import both

SPACES = int(os.environ.get("MEMCLI_DIFFERENTIAL", "14"))
QUESTIONS = 12
HEADED = 448
"""A space with a joined word that stands in headings alone."""


@pytest.mark.parametrize("seed", slow_but((12, HEADED), sorted({*range(SPACES), HEADED})))
def test_a_server_answers_as_files_do(seed: int, tmp_path: Path, postgres: str) -> None:
    with both(tmp_path, postgres, MEMCLI_EMBEDDER="onnx" if seed % 7 == 6 else "hashed") as pair:
        for put, gone in made.steps(seed):
            for workspace in pair:
                rewrite(workspace.store, lambda space, put=put, gone=gone: made.after(space, put, gone))
            compare(pair, made.questions(seed, 1))
        compare(pair, made.questions(seed, QUESTIONS))
        assert catalogued(pair[1]) == catalogued(pair[0])


def compare(pair: tuple[Workspace, Workspace], queries: list[Query]) -> None:
    for query in queries:
        files, server = (RENDERERS["json"]()(next(iter(recall(one, [query])))) for one in pair)
        assert server == files, query


def catalogued(workspace: Workspace) -> list[object]:
    """What a catalogue says of the space, and the parts of a view that no ranker shows."""
    with opened(workspace) as (snapshot, view):
        catalogue = workspace.index.existing(snapshot)
        assert catalogue is not None
        wanted = [
            CatalogueFilter(depth=d, under=u, inactive=i)
            for d in (None, 1, 2)
            for u in ("", "auth", "db")
            for i in (True, False)
        ]
        entries = view.entries()
        ids = {row: entry.id for row, entry in entries.items()}
        return [
            catalogue.counts(), [list(catalogue.places(one)) for one in wanted], [catalogue.count(one) for one in wanted],
            [sorted(catalogue.listed(one)) for one in wanted], [catalogue.incoming(name) for name in sorted(ids.values())],
            catalogue.ids_with_prefix("mem_00"), catalogue.find("mem_000"), view.size, view.status(),
            sorted((entry.id, entry.path, entry.tags, entry.confirmed_at) for entry in entries.values()),
            sorted((ids[a], ids[b], relation, weight) for a, b, relation, weight in view.links()),
            sorted((ids[row], texts) for row, texts in view.triggers.items()), sorted(ids[row] for row in view.pinned()),
            sorted((ids[row], sorted(found)) for row, found in view.anchors(view.anchored_files()).items()),
            sorted((ids[row], terms) for row, terms in view.terms().items()),
            [(c.id, c.name, c.ids, c.strengths) for c in view.clusters().found],
            [memory.id for memory in view.fetch(sorted(ids, key=lambda row: ids[row]))],
        ]  # fmt: skip
