"""How the tests of backends ask: one store, one question, and what each memory scored."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

from memcli.model.memory import Memory
from memcli.model.recall import Hit, Query, Ranking
from memcli.ranking import open_ranker
from tests.conftest import NOW, memory, open_at, rewrite


def ranking(
    folder: Path, backend: str, topic: str, memories: Iterable[Memory], embedder: str = "off", **options: object
) -> Ranking:
    """What a backend says of these memories, beside those that the store has; each score is the sum of its parts."""
    workspace = open_at(folder, MEMCLI_EMBEDDER=embedder)
    told = list(memories)
    if told:
        rewrite(workspace.store, lambda space: space.put(told, NOW))
    with closing(workspace.store.open("main")) as snapshot:
        query = Query(topic=topic, now=NOW, **options)  # type: ignore[arg-type]
        view = workspace.index.view(snapshot)
        view.embed()
        found = open_ranker(backend)(query, view)
    for hit in found.hits:
        assert abs(hit.score - sum(hit.why.values())) < 1e-9
    return found


def ranked(folder: Path, backend: str, topic: str, memories: Iterable[Memory], **options: object) -> dict[str, Hit]:
    """The hits by words alone, by the names of the memories, best first."""
    found = ranking(folder, backend, topic, memories, **options)  # type: ignore[arg-type]
    return {hit.entry.id.removeprefix("mem_"): hit for hit in found.hits}


def link(to: str, relation: str, weight: float | None = None) -> dict[str, object]:
    given = {} if weight is None else {"weight": weight}
    return {"to": f"mem_{to}", "relation": relation, "created_at": "2026-01-01T00:00:00Z", **given}


def noise(count: int = 20) -> list[Memory]:
    """Memories that answer nothing, of which all have one tag."""
    return [memory(f"n{n:02}", path=f"misc/note-{n:02}", raw="Nothing.", tags=("common",)) for n in range(count)]
