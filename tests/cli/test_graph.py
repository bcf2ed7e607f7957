"""`memcli graph`: what it shows of a store, where it writes it, and what it says when it cannot."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conftest import Run


@pytest.fixture
def store(run: Run) -> Run:
    for path, tag in (("db/engine", "db"), ("db/pool", "db"), ("ops/deploy", "ops"), ("zz/alone", "rest")):
        assert run("remember", f"About {path}.", "--path", path, "--tag", tag).code == 0
    assert run("remember", "A study.", "--path", "study", "-s", "notes", "--tag", "db").code == 0
    assert run("link", "db/engine", "db/pool", "-r", "depends_on").code == 0
    assert run("link", "ops/deploy", "db/engine").code == 0
    assert run("link", "db/engine", "notes:study", "-r", "derived_from").code == 0
    return run


def labels(run: Run, *arguments: str) -> list[str]:
    done = run("graph", *arguments, "--json")
    assert done.code == 0, done.err
    return [node["label"] for node in done.json["nodes"] if node["type"] == "memory"]


def test_what_is_around(store: Run) -> None:
    assert labels(store) == ["db/engine", "db/pool", "notes:study", "ops/deploy", "zz/alone"]
    assert labels(store, "-s", "notes") == ["notes:study"]
    assert labels(store, "db", "--depth", "0") == ["db/engine", "db/pool"]
    roots = store("graph", "db", "--json").json["roots"]
    assert len(roots) == 2
    assert labels(store, "notes:study", "--depth", "1") == ["db/engine", "notes:study"]
    assert store("forget", "db/pool").code == 0
    assert "db/pool" not in labels(store)
    assert "db/pool" in labels(store, "--all")
    assert "db/pool" in labels(store, "db/pool")


@pytest.mark.parametrize("depth", [0, 1, 2])
@pytest.mark.parametrize("form", ["path", "id", "space:path", "prefix"])
def test_around_a_memory(store: Run, form: str, depth: int) -> None:
    name = store("get", "ops/deploy", "--json").json["id"]
    ref = {"path": "ops/deploy", "id": name, "space:path": "main:ops/deploy", "prefix": name[:9]}[form]
    around = ["ops/deploy"], ["db/engine", "ops/deploy"], ["db/engine", "db/pool", "notes:study", "ops/deploy"]
    assert labels(store, ref, "--depth", str(depth)) == around[depth]


@pytest.mark.parametrize(
    ("name", "start"),
    [("g.html", "<!doctype html>"), ("g.dot", "digraph"), ("g.gv", "digraph"), ("g.mmd", "flowchart"), ("g.json", "{"), ("g.txt", "db/engine")],
)  # fmt: skip
def test_the_name_of_the_file_says_the_format(store: Run, tmp_path: Path, name: str, start: str) -> None:
    done = store("graph", "--output", f"new/{name}")
    assert (done.code, f"wrote 8 nodes and 8 edges to new/{name}" in done.out) == (0, True), done
    assert (tmp_path / "new" / name).read_text().startswith(start)
    again = (tmp_path / "new" / name).read_bytes()
    assert store("graph", "--output", f"new/{name}").code == 0
    assert (tmp_path / "new" / name).read_bytes() == again


@pytest.mark.parametrize("form", ["dot", "html", "json", "mermaid", "text"])
def test_a_pipe_gets_what_a_file_gets(store: Run, tmp_path: Path, form: str) -> None:
    assert store("graph", "-f", form, "-o", "out").code == 0
    assert store("graph", "-f", form).out == (tmp_path / "out").read_text()


def test_a_file_that_shows_what_is_private_says_so(store: Run) -> None:
    assert store("remember", "Mine.", "--path", "me/plan", "-s", "diary").code == 0
    assert store("space", "policy", "diary", "--set", "visibility=private").code == 0
    assert store("link", "diary:me/plan", "db/engine").code == 0
    assert "diary" not in store("graph", "-f", "html").out
    assert "me/plan" not in store("graph", "db/engine", "--json").out
    done = store("graph", "diary:me/plan", "-o", "mine.html")
    assert "mine.html shows 1 of private space 'diary'" in done.err


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (("nope",), 3, "nothing at 'nope'"), (("-f", "png"), 2, "no format 'png'"), (("--depth", "-1"), 2, "--depth must be"),
        (("--json", "-f", "dot"), 2, "--json cannot be used with --format dot"), (("-o", "dir/"), 8, "it is a folder"),
        (("mem_",), 2, "matches"),
    ],
)  # fmt: skip
def test_what_it_cannot_show(store: Run, arguments: tuple[str, ...], code: int, told: str) -> None:
    done = store("graph", *arguments)
    assert (done.code, told in done.err, len(done.err.splitlines())) == (code, True, 1)


def test_an_empty_store_has_an_empty_graph(run: Run) -> None:
    assert run("init").code == 0
    assert run("graph", "--json").json == {"edges": [], "nodes": []}
    assert "0 memories" in run("graph", "-f", "text").out


def test_clusters_are_nodes(run: Run) -> None:
    topics = {
        "db": "The database keeps rows in tables and an index on the table speeds up queries",
        "ui": "The button in the dialog has a blue border and a label in the dialog font",
    }
    rows = [{"raw": f"{text}, case {n}.", "path": f"{name}/{n}"} for name, text in topics.items() for n in range(12)]
    assert run("remember", "--batch", "-", stdin="".join(json.dumps(row) + "\n" for row in rows)).code == 0
    graph = run("graph", "--json").json
    found = {node["id"]: node["label"] for node in graph["nodes"] if node["type"] == "cluster"}
    assert len(found) == 2
    ties = [edge for edge in graph["edges"] if edge["relation"] == "in_cluster"]
    paths = {node["id"]: node["path"] for node in graph["nodes"] if node["type"] == "memory"}
    for name in found:
        assert len({paths[edge["start"]].split("/")[0] for edge in ties if edge["end"] == name}) == 1
    around = run("graph", "db/1", "--depth", "1", "--json").json
    assert [node["type"] for node in around["nodes"]].count("cluster") == 1
