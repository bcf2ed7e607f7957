"""How scores are printed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from memcli.ranking import RANKERS
from memcli.render import RENDERERS
from tests.conftest import NOW, Run, open_at, rewrite
from tests.ranking.test_contract import MEMORIES, ask

FRACTION = re.compile(r"\d\.(\d+)")


@pytest.mark.parametrize("backend", sorted(RANKERS))
def test_no_score_has_more_than_four_decimals(tmp_path: Path, backend: str) -> None:
    workspace = open_at(tmp_path)
    rewrite(workspace.store, lambda space: space.put(MEMORIES, NOW))
    bundle = ask(workspace, backend, "which port does postgresql use?", explain=True)
    told = [render()(bundle) for render in RENDERERS.values()]
    decimals = FRACTION.findall("\n".join(told))
    assert decimals
    assert max(map(len, decimals)) <= 4


def test_nor_has_that_of_a_search(run: Run) -> None:
    for n in range(3):
        run(
            "remember",
            f"PostgreSQL listens on port {5432 + n}.",
            "--path",
            f"db/{n}",
            "--created-at",
            f"2025-0{n + 1}-07",
        )
    for form in ([], ["--json"]):
        decimals = FRACTION.findall(run("search", "which port?", *form).out)
        assert decimals
        assert max(map(len, decimals)) <= 4
