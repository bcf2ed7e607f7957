"""The history of an index, and the seed of hashes, decide nothing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from memcli.model.memory import Memory
from memcli.ranking import RANKERS
from tests.conftest import ROOT, memory, slow_but
from tests.ranking.asking import ranked

WORDS = "harbour tide anchor sailor thread weaving shuttle cotton dough yeast crust oven".split()
TOPIC = "sailor yeast harbour"


def made(n: int) -> Memory:
    told = [WORDS[n * step % len(WORDS)] for step in (1, 2, 3, 5)]
    return memory(
        f"m{n:03}",
        path=f"{told[0]}/part-{n % 4}/{told[1]}-{n:03}",
        raw=f"{' '.join(told)} load_{told[2]}() {told[3]}.",
        tags=(told[0], told[3]),
        pinned=n == 17,
        metadata={"group": f"g{n // 5}", "source": f"src/{told[1]}.py"},
        created_at=f"2026-01-{1 + n % 28:02}T00:00:00Z",
        links=({"to": f"mem_m{n * 7 % 60:03}", "relation": "relates_to", "weight": 0.5},),
    )


MEMORIES = [made(n) for n in range(60)]


def scores(folder: Path, backend: str) -> list[tuple[str, float, dict[str, float]]]:
    return [(n, hit.score, dict(hit.why)) for n, hit in ranked(folder, backend, TOPIC, []).items()]


@pytest.mark.parametrize("backend", sorted(RANKERS))
def test_the_order_of_writing_decides_nothing(tmp_path: Path, backend: str) -> None:
    ranked(tmp_path / "one", backend, TOPIC, MEMORIES)
    for part in (MEMORIES[40:], MEMORIES[:20], [memory("m003", raw="Another text.")], MEMORIES[:41]):
        ranked(tmp_path / "two", backend, TOPIC, part)
    assert scores(tmp_path / "one", backend) == scores(tmp_path / "two", backend) != []


@pytest.mark.parametrize("backend", slow_but(("fusion",), sorted(RANKERS)))
def test_the_seed_of_hashes_decides_nothing(tmp_path: Path, backend: str) -> None:
    ranked(tmp_path, backend, TOPIC, MEMORIES)
    told = set()
    for seed in ("1", "2"):
        command = [sys.executable, "-m", "memcli", "recall", TOPIC, "--backend", backend, "--json", "--explain"]
        environ = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT), "MEMCLI_EMBEDDER": "hashed"}
        done = subprocess.run(
            [*command, "--root", str(tmp_path), "--limit", "60"], env=environ, capture_output=True, check=True
        )
        told.add(done.stdout)
    assert len(told) == 1
    assert b"score" in told.pop()
