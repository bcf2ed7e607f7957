"""Questions in the background: their progress is heard, and they can be given up."""

import asyncio
from pathlib import Path

import pytest

from memcli.extras.tui.status import Recaller, Stopped
from memcli.model.memory import Memory
from memcli.model.recall import Query
from memcli.wiring.roots import make_store
from memcli.wiring.workspace import open_workspace
from tests.conftest import rewrite

T = "2026-01-01T00:00:00Z"
QUERY = Query(topic="number 7", now=T)


def test_a_question_is_given_up_and_the_next_one_answered(tmp_path: Path) -> None:
    make_store({"root": str(tmp_path)}, {})
    recaller, heard = Recaller(), []
    environ = {"MEMCLI_EMBEDDER": "hashed"}
    workspace = open_workspace({"root": str(tmp_path)}, environ, warn=recaller.warn, progress=recaller.progress)
    memories = [
        Memory(id=f"mem_{n}", path=f"a/{n}", kind="fact", raw=f"This is number {n}.", created_at=T, updated_at=T)
        for n in range(500)
    ]
    rewrite(workspace.store, lambda space: space.put(memories, T))

    def hear(text: str) -> None:
        heard.append(text)
        recaller.stop()

    async def scene() -> None:
        recaller.listen(str, hear)
        assert await recaller.ask(workspace, QUERY) is None
        recaller.listen(str, heard.append)
        bundle = await recaller.ask(workspace, QUERY)
        assert bundle is not None
        assert bundle.sections[0].memory.id == "mem_7"

    asyncio.run(scene())
    recaller.close()
    assert heard[0].startswith("embedding ")
    assert heard[0].endswith("of 500 for the first question")


def test_progress_raises_once_it_is_to_stop() -> None:
    recaller = Recaller()
    recaller.progress(1, 2)
    recaller.close()
    with pytest.raises(Stopped):
        recaller.progress(2, 2)
