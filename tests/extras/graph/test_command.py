"""`memcli graph`: what it shows of a store, where it writes it, and what it says when it cannot."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.app.conftest import Project
from tests.cli.conftest import wrong
from tests.conftest import Run


@pytest.fixture
def store(run: Run, tmp_path: Path) -> Run:
    project = Project(tmp_path)
    for path, tag in (("db/engine", "db"), ("db/pool", "db"), ("ops/deploy", "ops"), ("zz/alone", "rest")):
        project.add(f"About {path}.", path, tags=[tag])
    project.add("A study.", "study", space="notes", tags=["db"])
    project.link("db/engine", "db/pool", "depends_on")
    project.link("ops/deploy", "db/engine")
    project.link("db/engine", "notes:study", "derived_from")
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


def test_around_a_memory(store: Run) -> None:
    name = store("get", "ops/deploy", "--json").json["id"]
    around = ["ops/deploy"], ["db/engine", "ops/deploy"], ["db/engine", "db/pool", "notes:study", "ops/deploy"]
    for n, ref in enumerate(("ops/deploy", name, "main:ops/deploy", name[:9])):
        assert labels(store, ref, "--depth", str(n % 3)) == around[n % 3]


def test_the_name_of_the_file_says_the_format_and_a_pipe_gets_the_same(store: Run, tmp_path: Path) -> None:
    starts = {
        "g.html": "<!doctype html>", "g.dot": "digraph", "g.gv": "digraph", "g.mmd": "flowchart", "g.json": "{", "g.txt": "db/engine",
    }  # fmt: skip
    for name, start in starts.items():
        done = store("graph", "--output", f"new/{name}")
        assert (done.code, f"wrote 8 nodes and 8 edges to new/{name}" in done.out) == (0, True), done
        before = (tmp_path / "new" / name).read_text()
        assert before.startswith(start)
        assert store("graph", "--output", f"new/{name}").code == 0
        assert (tmp_path / "new" / name).read_text() == before
    for form in ("dot", "html", "json", "mermaid", "text"):
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


def test_what_it_cannot_show(store: Run) -> None:
    table = [
        ("nope", 3, "nothing at 'nope'"), ("-f png", 2, "no format 'png'"), ("--depth -1", 2, "--depth must be"),
        ("-o dir/", 8, "it is a folder"), ("mem_", 2, "matches"),
    ]  # fmt: skip
    assert wrong(store, table, "graph") == ""
    assert "--json cannot be used with --format dot" in store("graph", "--json", "-f", "dot").err


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
