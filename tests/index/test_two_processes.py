"""The index of many memories is made by two processes, and is that of one."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from memcli.record import replace
from tests.conftest import NOW, ROOT, memory, open_at, rewrite

SCRIPT = """
import os, sys
from memcli.app.workspace import opened
from memcli.index import update
from memcli.wiring.workspace import open_workspace
forks = []
os.register_at_fork(after_in_parent=lambda: forks.append(1))
update._MANY = int(sys.argv[1])
with opened(open_workspace({"root": "."}, os.environ), "main") as (_, view):
    connection = view._tables.connection
    for table in ("memory", "passage", "term", "link", "anchor", "window", "meta"):
        print(table, *connection.execute(f"SELECT * FROM {table} ORDER BY 1, 2"), sep="\\n")
print(len(forks), file=sys.stderr)
"""


@pytest.mark.skipif(sys.platform != "linux" or len(os.sched_getaffinity(0)) < 2, reason="nothing is forked here")
def test_the_index_of_two_processes_is_that_of_one(tmp_path: Path) -> None:
    workspace = open_at(tmp_path)
    commits = [
        memory(f"c{n}", kind="diff", raw=f"Change {n // 3}\n\n@@ -1 +1 @@\n-a\n+b{n}\n", path=f"git/{n}")
        for n in range(12)
    ]
    told = [replace(one, provenance={"commit": f"{n // 3:040x}"}) for n, one in enumerate(commits)]
    notes = [
        memory(f"n{n}", raw=f"# Part {n}\n\nText {n} of Größe.", links=({"to": "mem_n0", "relation": "relates_to"},))
        for n in range(20)
    ]
    rewrite(workspace.store, lambda space: space.put([*told, *notes], NOW))

    def made(many: int) -> tuple[str, str]:
        for file in (tmp_path / ".memory" / "cache").glob("main.*"):
            file.unlink()
        environ = {**os.environ, "PYTHONPATH": str(ROOT), "MEMCLI_EMBEDDER": "off"}
        command = [sys.executable, "-c", SCRIPT, str(many)]
        done = subprocess.run(command, cwd=tmp_path, env=environ, capture_output=True, text=True, check=True)
        return done.stdout, done.stderr.strip()

    alone, both = made(1000), made(5)
    assert (alone[1], both[1]) == ("0", "1")
    assert alone[0] == both[0]
    assert "mem_n19" in both[0]
