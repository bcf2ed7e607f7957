"""How scores are printed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from memcli.ranking import RANKERS
from memcli.render import RENDERERS
from tests.conftest import NOW, open_at, rewrite
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
