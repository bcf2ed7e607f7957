"""Each command does what its help says, through the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conftest import NOW, Run


def remember(run: Run, text: str, *options: str) -> dict[str, object]:
    result = run("remember", text, "--json", *options)
    assert result.code == 0, result.err
    answer = result.json
    assert isinstance(answer, dict)
    return answer


def stored(run: Run, ref: str) -> dict[str, object]:
    found = run("get", ref, "--json").json
    assert isinstance(found, dict)
    return found


def test_the_first_memory_makes_the_store(run: Run, tmp_path: Path) -> None:
    result = run("remember", "We chose PostgreSQL because of JSONB.")
    assert "created a store" in result.err
    assert result.out.startswith("created mem_")
    ignored = (tmp_path / ".memory" / ".gitignore").read_text().splitlines()
    assert ignored[-7:] == "local/ cache/ audit/ exports/ .*.tmp-* spaces/repo.json spaces/journal.json".split()


def test_text_comes_from_argument_file_and_pipe(run: Run, tmp_path: Path) -> None:
    (tmp_path / "note.txt").write_bytes(b"\xef\xbb\xbfFrom a file.\r\nTwo lines.\r\n")
    remember(run, "From an argument.", "--path", "a")
    assert run("remember", "--file", "note.txt", "--path", "b").code == 0
    assert run("remember", "--path", "c", stdin="From a pipe.").code == 0
    assert run("remember", "-", "--path", "d", stdin="From a dash.").code == 0
    assert run("remember", "--object", '{"raw": "From an object.", "path": "e", "x_mine": [1]}').code == 0
    texts = [stored(run, path)["raw"] for path in "abcde"]
    assert texts == [
        "From an argument.", "From a file.\nTwo lines.\n", "From a pipe.", "From a dash.", "From an object.",
    ]  # fmt: skip
    assert stored(run, "e")["x_mine"] == [1]


def test_every_field_is_an_option(run: Run) -> None:
    fields = {
        "--kind": "decision", "--relevance": "high", "--summary-micro": "Micro.", "--summary-short": "Short.",
        "--summary-long": "Long.", "--importance": "0.9", "--confidence": "0.8", "--trust": "0.7",
        "--created-at": "2020-01-01", "--valid-from": "2020-02-01", "--valid-until": "2030-01-01", "--source": "observed",
        "--reason": "because", "--commit": "abc1234", "--trigger": "force-push", "--link": "relates_to:mem_other",
        "--group": "S1", "--speaker": "Ann", "--meta": "a=b", "--id": "mine:1", "--project": "demo",
    }  # fmt: skip
    options = [part for pair in fields.items() for part in pair]
    Path("x.py").write_text("a = 1\n")
    remember(run, "Another.", "--id", "mem_other", "--path", "other")
    flags = ("--path", "a/b", "--tag", "One Two", "--pin", "--enforce", "--set", 'anchors=[{"file": "x.py"}]')
    remember(run, "Text.", *flags, *options)
    found = stored(run, "mine:1")
    assert found.pop("metadata") == {
        "a": "b", "group": "S1", "speaker": "Ann", "project": "demo", "space": "main",
        "hash": "sha256:f06dce27b84e18ccb3c7e94a0679c279cd42027da23bcf1e1ca1f94e365ea420",
    }  # fmt: skip
    assert found == {
        "id": "mine:1", "path": "a/b", "kind": "decision", "raw": "Text.", "summary_micro": "Micro.",
        "summary_short": "Short.", "summary_long": "Long.", "tags": ["one-two"], "relevance": "high", "pinned": True,
        "created_at": "2020-01-01T00:00:00Z", "updated_at": NOW, "importance": 0.9, "confidence": 0.8, "trust": 0.7,
        "valid_from": "2020-02-01T00:00:00Z", "valid_until": "2030-01-01T00:00:00Z",
        "provenance": {"source": "observed", "reason": "because", "commit": "abc1234"}, "triggers": ["force-push"],
        "enforce": True, "links": [{"relation": "relates_to", "to": "mem_other", "created_at": NOW}], "anchors": [{"file": "x.py", "hash": "sha256:cb78bd8a17f7b751fe0d4663366dcbc257204033ef7ddd64b1f2969573b5b2e2"}],
    }  # fmt: skip


def test_batch_stores_in_order(run: Run) -> None:
    lines = "".join(json.dumps({"raw": f"Memory {n}.", "id": f"D1:{n}"}) + "\n" for n in range(30))
    answer = run("remember", "--batch", "-", "--json", "--kind", "log", stdin=lines).json
    assert (answer["created"], [m["id"] for m in answer["memories"]]) == (30, [f"D1:{n}" for n in range(30)])
    assert stored(run, "D1:7")["kind"] == "log"


def test_pins_lead_and_edits_count(run: Run) -> None:
    remember(run, "We chose PostgreSQL.", "--path", "a")
    remember(run, "PostgreSQL needs care.", "--path", "b")
    assert run("pin", "b", "--freeze-clock", "2026-02-01").out.startswith("pinned mem_")
    assert stored(run, "b")["updated_at"] == "2026-02-01T00:00:00Z"
    found = run("recall", "chose", "--json").json
    assert ([s["path"] for s in found["sections"]], [s["path"] for s in found["always"]]) == (["a"], ["b"])
    assert run("pin", "b", "--remove").code == 0
    edited = run("edit", "a", "--set", "tags=x,y", "--set", "importance=0.9", "--set", "raw=We chose SQLite.")
    assert edited.out == f"updated {stored(run, 'a')['id']} a (version 2)\n"
    assert (stored(run, "a")["tags"], stored(run, "a")["raw"]) == (["x", "y"], "We chose SQLite.")
    assert run("edit", "a", "--set", "importance=null").code == 0
    assert "importance" not in stored(run, "a")


def test_forgetting_and_coming_back(run: Run) -> None:
    for path in ("a/x", "a/y", "b"):
        remember(run, f"The text of {path}.", "--path", path)
    assert run("forget", "a", "--recursive").out.count("forgotten") == 2
    assert [m["path"] for m in run("list", "--json").json] == ["b"]
    assert len(run("list", "--all", "--json").json) == 3
    done = run("forget", "b")
    assert done.err == f"memcli: `memcli restore {stored(run, 'b')['id']}` brings it back\n"
    assert run("restore", "a/x", "b").out.count("restored") == 2
    assert [m["path"] for m in run("list", "--json").json] == ["a/x", "b"]
    assert run("edit", "a/y", "--set", "active=true").code == 0
    run("space", "policy", "main", "--set", "allow_delete=true")
    assert run("forget", "b", "--purge", "--yes").out.startswith("purged")
    assert run("get", "b").code == 3


def test_tags_tree_and_list(run: Run, tmp_path: Path) -> None:
    remember(run, "One.", "--path", "a/one", "--tag", "x")
    remember(run, "Two.", "--path", "a/two", "--tag", "y")
    run("edit", "a/one", "--tag", "New Tag", "--untag", "x")
    assert stored(run, "a/one")["tags"] == ["new-tag"]
    assert run("list", "--tree").out == "a/\n  one: One.\n  two: Two.\n"
    (tmp_path / "a.md").write_text("# Three\n\nThree.\n")
    run("ingest", "a.md")
    assert (run("list", "--tree").out, run("list", "--tree").err) == (
        "a/\n  one: One.\n  two: Two.\n",
        "memcli: 1 in repo: -s repo\n",
    )
    assert run("list", "--tree", "--json").json["children"][0]["name"] == "a"
    assert [m["path"] for m in run("list", "a", "--tag", "y", "--json").json] == ["a/two"]


def test_spaces(run: Run, tmp_path: Path) -> None:
    assert run("space", "create", "notes", "--meta", "team=core").out == "created space notes\n"
    assert run("space", "create", "notes").out == "exists already: space notes\n"
    remember(run, "Apart.", "--space", "notes")
    assert [s["space"] for s in run("space", "list", "--json").json] == ["notes"]
    assert run("space", "show", "notes", "--json").json["metadata"] == {"team": "core"}
    (tmp_path / "policy.json").write_text('{"allow_delete": true, "ttl_days": 5}')
    set_ = run("space", "policy", "notes", "--file", "policy.json", "--json").json
    assert set_ == {"allow_delete": True, "ttl_days": 5}
    assert run("space", "create", "notes", "--reset").out == "reset space notes\n"
    assert run("space", "show", "notes", "--json").json["objects"] == 0
    assert run("space", "delete", "notes").out == "deleted space notes (0 memories)\n"
    assert run("recall", "x", "--space", "notes").err.startswith("memcli: space 'notes' is empty")


def test_topics_answer_line_by_line(run: Run) -> None:
    remember(run, "We chose PostgreSQL.", "--path", "db")
    remember(run, "Never force-push.", "--path", "git")
    lines = run("recall", "--topics", "-", stdin="postgresql\n\nforce-push\nnothing at all like it\n").out.splitlines()
    bundles = [json.loads(line) for line in lines]
    assert [b["topic"] for b in bundles] == ["postgresql", "", "force-push", "nothing at all like it"]
    assert [b["sections"][0]["path"] for b in (bundles[0], bundles[2])] == ["db", "git"]


def test_formats_and_quiet(run: Run) -> None:
    remember(run, "We chose PostgreSQL.", "--path", "db/choice", "--kind", "decision")
    assert run("recall", "postgresql").out.startswith("<memory-")  # piped: a prompt
    assert "## db/choice" in run("recall", "postgresql", "--format", "md").out
    assert "db/choice" in run("recall", "postgresql", "--format", "table").out
    full = run("recall", "postgresql", "--format", "json", "--include-raw").json
    assert full["raw"] == [{"path": "db/choice", "raw": "We chose PostgreSQL.", "kind": "decision"}]
    assert {*full} == {*"space topic generated_at global_summary sections raw limit matched confidence".split()}
    result = run("remember", "Quiet.", "-q")
    assert (result.code, result.out, result.err) == (0, "", "")
    assert run("recall", "quiet", "-q").out


def test_a_recall_does_not_wait_for_thousands_of_vectors(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMCLI_EMBEDDER", "hashed")
    for n, animal in enumerate(("zebra", "okapi", "tapir")):
        remember(run, f"The {animal} lives in the zoo.", "--path", f"zoo/{n}")
    with monkeypatch.context() as patch:
        patch.setattr("memcli.index.meaning._AT_ONCE", 2)
        by_words = run("recall", "okapi", "--json")
        assert "degraded" not in by_words.json  # the one that the words find got a vector
        assert by_words.json["missing_vectors"] == 2
        assert by_words.json["sections"][0]["path"] == "zoo/1"
        assert by_words.err == ""
        assert run("store", "index", "--json").json["vectors"] == 1
        assert run("store", "index", "embed").out == "3 vectors of space 'main'\n"
        by_both = run("recall", "okapi", "--json")
        assert not {"degraded", "missing_vectors"}.intersection(by_both.json)
        for n, animal in enumerate(("gnu", "kudu", "emu"), 3):
            remember(run, f"The {animal} lives in the zoo.", "--path", f"zoo/{n}")
        told = run("recall", "okapi").out
        assert "3 passages searched by words only (`memcli store index embed` computes the vectors)." in told
        by_some = run("recall", "kudu", "--json").json
        assert (by_some["missing_vectors"], by_some["sections"][0]["path"]) == (2, "zoo/4")
    with monkeypatch.context():
        assert "degraded" not in run("recall", "gnu", "--json").json
    monkeypatch.setenv("MEMCLI_EMBEDDER", "off")
    assert (run("store", "index", "embed").code, run("store", "index", "embed").out) == (7, "")


def test_doctor_names_a_way_to_meaning_where_notes_are_in_another_language(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    for n, text in enumerate(("Wir sichern die Datenbank.", "数据库备份保留十四天。", "We chose PostgreSQL.")):
        remember(run, text, "--path", f"notes/{n}")
    assert "languages" not in run("doctor").out
    monkeypatch.setenv("MEMCLI_EMBEDDER", "onnx")
    (told,) = [line for line in run("doctor").out.splitlines() if "languages" in line]
    assert "2 of 3 notes are not in English" in told
    assert "MEMCLI_EMBEDDER=onnx:DIR" in told


def test_doctor_stats_schema_index(run: Run, tmp_path: Path) -> None:
    remember(run, "We chose PostgreSQL.", "--path", "db")
    assert run("doctor").code == 0
    assert run("status", "--stats", "--json").json["objects"] == 1
    assert run("store", "index", "rebuild").out == "indexed 1 memories of space 'main'\n"
    assert run("store", "index", "--json").json["objects"] == 1
    for what in ("space", "object", "policy", "bundle", "export"):
        assert run("schema", what).json["$schema"].startswith("https://json-schema.org/")
    (tmp_path / ".memory" / "spaces" / "main.json").write_text("{")
    broken = run("doctor")
    assert broken.code == 8
    assert "FAIL  space main" in broken.out


def test_get_says_first_whether_a_memory_still_holds(run: Run) -> None:
    old = remember(run, "We use MySQL.", "--path", "old")
    new = remember(run, "We use PostgreSQL.", "--path", "new", "--supersedes", str(old["id"]))
    run("forget", "old")
    assert run("get", "old").out.splitlines()[:2] == ["old", f"SUPERSEDED by {new['id']} (new) · FORGOTTEN"]
    assert "superseded_by" not in run("get", "old").out
    remember(run, "Until January.", "--path", "past", "--valid-until", "2026-01-02")
    assert run("get", "past").out.splitlines()[1] == "EXPIRED 2026-01-02T00:00:00Z"
