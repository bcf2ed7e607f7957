"""How the tests of backends ask: one store, one question, and what each memory scored."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

from memcli.model.memory import Memory
from memcli.model.recall import Hit, Query
from memcli.ranking import RANKERS
from tests.conftest import NOW, open_at, rewrite


def ranked(folder: Path, backend: str, topic: str, memories: Iterable[Memory], **options: object) -> dict[str, Hit]:
    """The hits by the names of the memories, best first."""
    workspace = open_at(folder, MEMCLI_EMBEDDER="off")
    told = list(memories)
    if told:
        rewrite(workspace.store, lambda space: space.put(told, NOW))
    with closing(workspace.store.open("main")) as snapshot:
        view = workspace.index.view(snapshot)
        query = Query(topic=topic, now=NOW, **options)  # type: ignore[arg-type]
        hits = RANKERS[backend]().rank(query, view).hits
    for hit in hits:
        assert abs(hit.score - sum(hit.why.values())) < 1e-9
    return {hit.entry.id.removeprefix("mem_"): hit for hit in hits}
