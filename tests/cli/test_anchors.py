"""Anchors from end to end: made, looked at by recall, verified and followed where the code went, on real files and real git."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from memcli.app.recall import recall
from memcli.code.anchors import CodeLines
from memcli.ingest.code import WorkTree
from memcli.model.recall import Query
from tests.cli.conftest import wrong
from tests.conftest import NOW, Run, memory, open_at, rewrite
from tests.ingest.conftest import Repo, new_repo

CODE = "class Token:\n    def refresh(self):\n        return 1\n\n    def revoke(self):\n        return 2\n"
TEXT = "Tokens are refreshed once an hour."


@pytest.fixture
def work(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repo:
    made = new_repo(tmp_path / "work")
    made.commit("first", {"src/auth.py": CODE, "src/other.py": "a = 1\n"})
    monkeypatch.chdir(made.root)
    run("init")
    return made


def anchors(run: Run, ref: str = "tokens") -> list[dict[str, object]]:
    found: list[dict[str, object]] = run("get", ref, "--json").json.get("anchors", [])
    return found


def told(run: Run, topic: str = "tokens") -> dict[str, list[str]]:
    """The states that recall tells, by path, in its order."""
    sections = run("recall", topic, "--json").json["sections"]
    return {s["path"]: [a["state"] for a in s.get("anchors", [])] for s in sections}


def test_an_anchor_is_made_of_what_stands_there(run: Run, work: Repo) -> None:
    head = work.git("rev-parse", "HEAD")
    assert run("remember", TEXT, "-p", "tokens", "--anchor", "src/auth.py::Token.refresh", "--anchor", "src/auth.py:1-3",
               "--anchor=src/other.py").code == 0  # fmt: skip
    first, second, third = anchors(run)
    assert first == {
        "file": "src/auth.py", "lines": [2, 3], "symbol": "Token.refresh", "commit": head, "hash": first["hash"],
    }  # fmt: skip
    assert second == {"file": "src/auth.py", "lines": [1, 3], "commit": head, "hash": second["hash"]}
    assert third == {"file": "src/other.py", "commit": head, "hash": third["hash"]}
    assert len({str(a["hash"]) for a in (first, second, third)}) == 3


def test_the_commit_is_told_only_of_files_that_are_as_they_are_there(run: Run, work: Repo) -> None:
    work.write("src/auth.py", CODE + "\n# more\n")
    work.write("src/new.py", "a = 1\n")
    work.write("src/other.py", "a = 1\r\n")
    names = ("src/auth.py", "src/new.py", "src/other.py")
    run("remember", TEXT, "-p", "tokens", *(part for name in names for part in ("--anchor", name)))
    assert [a["file"] for a in anchors(run) if "commit" in a] == ["src/other.py"]


def test_without_git_there_is_no_commit(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.py").write_text(CODE)  # in a folder that only looks like a repository
    assert run("remember", TEXT, "-p", "tokens", "--anchor", "a.py").code == 0
    assert "commit" not in anchors(run)[0]
    monkeypatch.setenv("PATH", str(tmp_path))
    assert run("remember", TEXT, "-p", "other", "--anchor", "a.py").code == 0
    assert told(run)["other"] == ["fresh"]


def test_an_anchor_is_named_from_where_one_is(run: Run, work: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(work.root / "src")
    run("remember", TEXT, "-p", "tokens", "--anchor", "auth.py:1-2")
    run("edit", "tokens", "--set", "anchors=../src/auth.py::Token.revoke")
    assert (anchors(run)[0]["file"], anchors(run)[0]["lines"]) == ("src/auth.py", [5, 6])
    run("edit", "tokens", "--set", 'anchors=[{"file": "src/other.py"}]')
    assert [a["file"] for a in anchors(run)] == ["src/other.py"]
    run("edit", "tokens", "--set", "anchors=null")
    assert anchors(run) == []


def test_every_way_in_makes_anchors(run: Run, work: Repo) -> None:
    lines = [{"raw": "One.", "path": "a", "anchors": ["src/auth.py:1-2"]},
             {"raw": "Two.", "path": "b", "anchors": [{"file": "src/auth.py", "symbol": "Token"}]},
             {"raw": "Three.", "path": "c", "anchors": [{"file": "elsewhere.py", "hash": "sha256:0", "mine": 1}]}]  # fmt: skip
    assert run("remember", "--batch", "-", stdin="\n".join(map(json.dumps, lines))).code == 0
    assert [a["lines"] for ref in "ab" for a in anchors(run, ref)] == [[1, 2], [1, 6]]
    assert anchors(run, "c") == [{"file": "elsewhere.py", "hash": "sha256:0", "mine": 1}]
    run("remember", "--object", json.dumps({"raw": "Four.", "path": "d", "anchors": ["src/auth.py"]}))
    assert told(run, "four") == {"d": ["fresh"]}
    run("remember", TEXT)
    run("remember", TEXT, "--anchor", "src/auth.py")
    run("remember", TEXT)
    assert list(told(run).values()) == [["fresh"]]


def test_what_cannot_be_anchored(run: Run, work: Repo) -> None:
    for name, data in (("binary", b"a\0b"), ("latin", b"\xe9t\xe9\n"), ("huge", b"x\n" * 600_000)):
        work.write(name, data)
    os.symlink("src/auth.py", work.root / "link.py")
    os.symlink("src", work.root / "folder")
    os.mkfifo(work.root / "pipe")
    refused = {
        (3, "there is no such file"): ("nix.py", ".", ""), (2, "not a regular file"): ("src", "pipe"),
        (2, "cannot anchor to"): ("../x.py", "/etc/passwd", ".git/config", ".memory/.gitignore", "a\nb", "\udcff"),
        (2, "not a range of lines"): ("src/auth.py:9-4", "src/auth.py:0-4"), (3, "has 6 lines"): ("src/auth.py:1-700",),
        (3, "does not define"): ("src/auth.py::Token.nix",), (2, "not text"): ("binary",), (2, "not UTF-8"): ("latin",),
        (2, "larger than 1 MB"): ("huge",), (2, "symbolic link"): ("link.py", "folder/auth.py"),
    }  # fmt: skip
    table = [([anchor], *why) for why, anchors in refused.items() for anchor in anchors]
    assert wrong(run, table, "remember", TEXT, "--anchor") == ""
    assert not told(run)


def test_recall_tells_what_became_of_the_code(run: Run, work: Repo) -> None:
    run("remember", f"{TEXT} A", "-p", "a", "--anchor", "src/auth.py::Token.refresh")
    run("remember", f"{TEXT} B", "-p", "b", "--anchor", "src/auth.py:5-6", "--anchor", "src/other.py")
    assert told(run) == {"a": ["fresh"], "b": ["fresh", "fresh"]}
    work.write("src/auth.py", "# new\r\n" + CODE.replace("return 2", "return 3").replace("\n", "\r\n"))
    assert told(run) == {"a": ["moved"], "b": ["stale", "fresh"]}
    prompt = run("recall", "tokens", "--format", "prompt").out
    assert " · moved: src/auth.py::Token.refresh\n" in prompt
    assert " · stale: src/auth.py:5-6\n" in prompt
    assert "stale: src/auth.py:5-6" in run("recall", "tokens", "--format", "md").out
    assert "~ b: stale: src/auth.py:5-6\n" in run("recall", "tokens", "--format", "table").out
    work.git("rm", "-q", "-f", "src/auth.py")
    assert told(run) == {"a": ["gone"], "b": ["gone", "fresh"]}


def test_stale_ranks_lower(run: Run, work: Repo) -> None:
    run("remember", "Tokens and tokens: refresh tokens.", "-p", "best", "--anchor", "src/auth.py")
    run("remember", "Something else about tokens.", "-p", "second")
    run("remember", "Pinned tokens.", "-p", "pinned", "--pin", "--anchor", "src/auth.py")
    assert list(told(run)) == ["pinned", "best", "second"]
    work.write("src/auth.py", "a = 1\n")
    assert list(told(run)) == ["pinned", "second", "best"]
    best = run("recall", "tokens", "--json", "--explain").json["sections"][2]
    assert best["why"]["anchors"] == pytest.approx(-best["score"], abs=0.001)
    assert sum(best["why"].values()) == pytest.approx(best["score"], abs=0.001)


def test_the_past_is_not_compared_with_the_code_of_now(run: Run, work: Repo) -> None:
    run("remember", TEXT, "-p", "tokens", "--anchor", "src/auth.py")
    work.git("add", "-A")
    work.commit("remember")
    (work.root / "src" / "auth.py").unlink()
    assert "anchors" not in run("recall", "tokens", "--rev", "HEAD", "--json").json["sections"][0]
    assert told(run) == {"tokens": ["gone"]}


HOSTILE = [
    {"file": "../secret"}, {"file": "SECRET"}, {"file": ".git/config"}, {"file": "link"}, {"file": "folder/secret"},
    {"file": "../secret", "lines": [1, 1]}, {"file": "pipe"}, {"file": "src"}, {"file": "a\0b"}, {"file": "\ud800"},
    {"file": "x" * 5000}, {"file": "src/auth.py", "lines": [2**60, 2**61], "hash": "y"}, {"file": ""}, {"file": 3}, {}, 3, None,
]  # fmt: skip


def test_a_hostile_store_reads_nothing_it_should_not(run: Run, work: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    secret = work.root.parent / "secret"
    secret.write_text("a = 1\n")
    os.symlink(secret, work.root / "link")
    os.symlink(work.root.parent, work.root / "folder")
    os.mkfifo(work.root / "pipe")
    stored = [{**a, "file": str(secret)} if isinstance(a, dict) and a.get("file") == "SECRET" else a for a in HOSTILE]
    workspace = open_at(work.root)
    held = memory(
        "tokens", raw=TEXT, path="tokens", kind="decision", anchors=tuple(a for a in stored if a != {"file": "\ud800"})
    )
    rewrite(workspace.store, lambda space: space.put([held], NOW))
    opened: list[str] = []
    real = os.open

    def watched(path: str, *arguments: object, **more: object) -> int:
        opened.append(os.fspath(path))
        return real(path, *arguments, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(os, "open", watched)
    states = told(run)["tokens"]
    assert states == ["gone"] * 10 + ["stale"]
    assert run("check", "code").code == 6
    assert run("check", "code", "--reanchor").code == 6
    assert not [path for path in opened if "secret" in path or ".git/config" in path]
    assert "gone" in run("recall", "tokens").out


def test_a_file_that_vanishes_while_it_is_read(work: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    code = WorkTree(str(work.root))
    real = os.path.realpath

    def vanishing(path: str) -> str:
        (work.root / "src" / "auth.py").unlink(missing_ok=True)
        return real(path)

    monkeypatch.setattr(os.path, "realpath", vanishing)
    with pytest.raises(Exception, match="there is no such file"):
        code.text("src/auth.py")


def test_each_file_is_read_once(work: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace = open_at(work.root)
    anchor = {"file": "src/auth.py", "lines": [1, 2], "hash": CodeLines(CODE).hash((1, 2))}
    many = [memory(f"m{n}", raw=f"tokens {n}", anchors=(anchor, anchor)) for n in range(5)]
    rewrite(workspace.store, lambda space: space.put(many, NOW))
    read: list[str] = []
    from memcli.ingest import code

    real = code.read_bytes
    monkeypatch.setattr(code, "read_bytes", lambda path, root: [read.append(path), real(path, root)][1])
    (bundle,) = recall(workspace, [Query(topic="tokens", now=NOW, limit=3)])
    assert len(bundle.sections) == 3
    assert [Path(path).name for path in read] == ["auth.py"]


def test_a_recall_looks_at_so_much_code_and_no_more(run: Run, work: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    from memcli.app import anchors as looking

    run("remember", TEXT, "-p", "tokens", *["--anchor", "src/auth.py", "--anchor", "src/other.py"] * 3)
    assert told(run) == {"tokens": ["fresh"] * 6}
    monkeypatch.setattr(looking, "MAX_LOOKED_AT", 50)
    assert told(run) == {"tokens": ["fresh"]}
    assert run("check", "code", "--json").json["anchors"] == 6


GUIDE = "# Guide\n\nAbout.\n\n## Release\n\n{}\n\n## Test\n\nRun `make test` before a push.\n"


def test_what_was_ingested_says_when_the_file_went_on_without_it(run: Run, work: Repo) -> None:
    text = GUIDE.format("Tag it. " * 200)
    work.write("docs/guide.md", text)
    assert run("ingest", "docs/guide.md").code == 0
    assert told(run, "run make test before a push")["docs/guide.md/test"] == ["fresh"]
    work.write("docs/guide.md", text.replace("About.", "About.\n\nMore of it."))
    assert told(run, "run make test before a push")["docs/guide.md/test"] == ["moved"]
    work.write("docs/guide.md", text.replace("make test", "tox"))
    assert told(run, "run make test before a push")["docs/guide.md/test"] == ["stale"]
    assert run("ingest", "docs/guide.md").code == 0
    assert told(run, "run tox before a push")["docs/guide.md/test"] == ["fresh"]


def test_what_was_read_from_a_file_does_not_lead_where_that_file_changes(run: Run, work: Repo) -> None:
    run("ingest", "src/auth.py")
    run("remember", TEXT, "-p", "tokens", "-k", "decision", "--anchor", "src/auth.py")
    work.write("src/auth.py", CODE.replace("return 1", "return 3"))
    work.git("add", "-A")
    sections = run("recall", "--changed", "HEAD", "--json").json["sections"]
    assert [s["path"] for s in sections if s.get("matched_by") == "anchor"] == ["tokens"]


HELPER = "def rotate(key):\n    old = key.value\n    key.value = fresh_value(old)\n    return old\n"
REST = "def unrelated():\n    return None\n"


def verified(run: Run) -> dict[str, list[str]]:
    """The states and files that verify tells, by path of the memory."""
    found: dict[str, list[str]] = {}
    for one in run("check", "code", "--json").json["found"]:
        found.setdefault(one["path"], []).append(f"{one['state']} {one['file']}")
    return found


def seen(run: Run) -> dict[str, list[str]]:
    """The same as recall tells it."""
    sections = run("recall", "tokens", "--json").json["sections"]
    return {
        s["path"]: [f"{a['state']} {a['file']}" for a in s["anchors"] if a["state"] != "fresh"]
        for s in sections
        if any(a["state"] != "fresh" for a in s.get("anchors", []))
    }


def both(run: Run) -> dict[str, list[str]]:
    """What recall and verify tell alike."""
    found = seen(run)
    assert found == verified(run)
    return found


@pytest.fixture
def known(run: Run, work: Repo) -> Repo:
    work.commit("helper", {"src/keys.py": HELPER + "\n\n" + REST, "lib/vault.py": "a = 1\n"})
    run("remember", f"{TEXT} A", "-p", "symbol", "-k", "decision", "--anchor", "src/keys.py::rotate")
    run("remember", f"{TEXT} B", "-p", "lines", "-k", "decision", "--anchor", "src/keys.py:1-4")
    run("remember", f"{TEXT} C", "-p", "whole", "-k", "decision", "--anchor", "src/keys.py")
    return work


@pytest.mark.parametrize("how", ["staged", "committed", "untracked", "changed"])
def test_a_renamed_file_is_followed(run: Run, known: Repo, how: str) -> None:
    if how == "untracked":
        shutil.move(known.root / "src/keys.py", known.root / "src/vault.py")
    else:
        known.git("mv", "src/keys.py", "src/vault.py")
    if how == "changed":
        known.write("src/vault.py", HELPER.replace("return old", "return 0") + "\n\n" + REST)
    if how in ("committed", "changed"):
        known.commit("move")
    state, code = ("stale", 6) if how == "changed" else ("moved", 0)
    assert both(run) == {path: [f"{state} src/vault.py"] for path in ("symbol", "lines", "whole")}
    assert run("check", "code").code == code


@pytest.mark.parametrize("how", ["edited", "staged", "committed"])
def test_a_function_that_went_into_another_file_is_followed(run: Run, known: Repo, how: str) -> None:
    known.write("src/keys.py", REST)
    known.write("lib/vault.py", f"a = 1\n\n\n{HELPER}")
    if how != "edited":
        known.git("add", "-A", "src", "lib")
    if how == "committed":
        known.commit("move the function")
    assert both(run) == {
        "symbol": ["moved lib/vault.py"],
        "lines": ["moved lib/vault.py"],
        "whole": ["stale src/keys.py"],
    }
    run("forget", "whole")
    assert run("check", "code").code == 0
    assert run("check", "code", "--reanchor").code == 0
    assert run("check", "code").out == "2 anchors: 2 fresh\n"


def test_a_function_that_went_away_and_changed_is_stale_where_it_is(run: Run, known: Repo) -> None:
    known.commit("move", {"src/keys.py": REST, "lib/vault.py": HELPER.replace("return old", "return 0")})
    assert both(run)["symbol"] == ["stale lib/vault.py"]
    known.commit("another", {"lib/other.py": HELPER.replace("return old", "return 1")})
    assert both(run)["symbol"] == ["gone src/keys.py"]  # which of the two is not known


def test_a_copy_that_was_there_before_is_no_move(run: Run, work: Repo) -> None:
    work.commit("twins", {"src/keys.py": HELPER, "src/twin.py": f"{HELPER}a = 1\n"})
    run("remember", f"{TEXT} A", "-p", "symbol", "--anchor", "src/keys.py::rotate")
    run("remember", f"{TEXT} B", "-p", "lines", "--anchor", "src/keys.py:1-4")
    work.commit("remove", {"src/keys.py": REST, "src/twin.py": f"{HELPER}a = 2\n"})
    assert both(run) == {"symbol": ["gone src/keys.py"], "lines": ["stale src/keys.py"]}


def test_a_commit_that_is_no_longer_there(run: Run, known: Repo) -> None:
    (anchor,) = run("get", "symbol", "--json").json["anchors"]
    run("edit", "symbol", "--set", f"anchors={json.dumps([{**anchor, 'commit': '0' * 40}])}")
    known.git("mv", "src/keys.py", "src/vault.py")
    assert both(run)["symbol"] == ["moved src/vault.py"]


def test_a_diff_finds_what_is_anchored_to_code_that_was_moved(run: Run, known: Repo) -> None:
    known.commit("move", {"src/keys.py": REST, "lib/vault.py": f"a = 1\n\n\n{HELPER}"})
    diff = (
        "--- a/lib/vault.py\n+++ b/lib/vault.py\n@@ -5,2 +5,2 @@\n-    old = key.value\n+    old = key\n"
        "     key.value = fresh_value(old)\n"
    )
    sections = run("recall", "--from-diff", "-", "--json", "--explain", stdin=diff).json["sections"]
    assert {s["path"] for s in sections if s.get("matched_by") == "anchor"} >= {"symbol", "lines"}
    elsewhere = diff.replace("-5,2 +5,2", "-1,2 +1,2")
    sections = run("recall", "--from-diff", "-", "--json", stdin=elsewhere).json["sections"]
    assert not [s for s in sections if s.get("matched_by") == "anchor"]


def test_without_git_nothing_is_followed(run: Run, known: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.move(known.root / "src/keys.py", known.root / "src/vault.py")
    monkeypatch.setenv("PATH", str(known.root))
    assert {state for states in told(run).values() for state in states} == {"gone"}


def test_no_program_of_the_repository_is_run(run: Run, known: Repo) -> None:
    for name in ("core.fsmonitor", "diff.external", "filter.evil.clean", "filter.evil.process", "diff.evil.textconv"):
        known.git("config", name, f"touch {known.root}/ran-{name}")
    known.write(".gitattributes", "* filter=evil diff=evil\n")
    known.write("src/keys.py", CODE)
    known.write("lib/vault.py", HELPER)
    assert both(run)["symbol"] == ["moved lib/vault.py"]
    assert not list(known.root.glob("ran*"))


@pytest.mark.parametrize("how", ["staged", pytest.param("committed", marks=pytest.mark.slow)])
def test_what_was_anchored_at_many_commits_is_followed(run: Run, work: Repo, how: str) -> None:
    """Recall asks git once for all commits, and not at all beyond a bound: it must not call the rest lost."""
    for n in range(14):
        code = HELPER.replace("rotate", f"rotate{n}").replace("fresh_value", f"fresh_value{n}")
        work.commit(f"number {n}", {f"src/f{n}.py": code})
        run("remember", f"{TEXT} {n}", "-p", f"m{n:02}", "--anchor", f"src/f{n}.py::rotate{n}")
    for n in range(14):
        work.git("mv", f"src/f{n}.py", f"src/g{n}.py")
    if how == "committed":
        work.commit("move all")
    assert verified(run) == {f"m{n:02}": [f"moved src/g{n}.py"] for n in range(14)}
    sections = run("recall", "tokens", "--limit", "20", "--json").json["sections"]
    assert {s["path"]: [str(a["state"]) for a in s["anchors"]] for s in sections} == {
        path: ["moved"] for path in verified(run)
    }


def stored(run: Run, path: str = "a") -> dict[str, Any]:
    found: dict[str, Any] = run("get", path, "--json").json
    return found


def test_a_revision_is_stored_as_its_hash(run: Run, work: Repo) -> None:
    head = work.git("rev-parse", "HEAD")
    for revision in ("HEAD", head[:9], "main", head):
        assert run("remember", f"Since {revision}.", "-p", "a", "--commit", revision).code == 0
        assert stored(run)["provenance"] == {"commit": head}


@pytest.mark.parametrize(("revision", "code"), [("nix", 3), ("f" * 40, 3), ("abcdef1", 3), ("a..b", 2), ("--all", 2)])
def test_what_names_no_commit(run: Run, work: Repo, revision: str, code: int) -> None:
    result = run("remember", "x", "-p", "a", f"--commit={revision}")
    assert (result.code, result.err.count("\n")) == (code, 1)
    assert run("get", "a").code == 3


def test_outside_of_a_repository(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run("init")
    (tmp_path / ".git").rmdir()
    assert run("remember", "x", "-p", "a", "--commit", "abcdef1").code == 0
    assert stored(run)["provenance"] == {"commit": "abcdef1"}
    assert run("remember", "x", "-p", "a", "--commit", "HEAD").code == 3


def test_a_file_is_the_source(run: Run, work: Repo, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    work.write("docs/rules.md", "Never deploy on Fridays.\n")
    monkeypatch.chdir(work.root / "docs")
    assert run("remember", "--file", "rules.md", "-p", "a").code == 0
    found = stored(run)
    assert (found["metadata"]["source"], found["provenance"]) == ("docs/rules.md", {"files": ["docs/rules.md"]})
    run("remember", "--file", "rules.md", "-p", "b", "--meta", "source=talk", "--source", "observed")
    found = stored(run, "b")
    assert (found["metadata"]["source"], found["provenance"]["source"]) == ("talk", "observed")
    (tmp_path / "mine.txt").write_text("Elsewhere.")
    run("remember", "--file", str(tmp_path / "mine.txt"), "-p", "c")
    assert "source" not in stored(run, "c")["metadata"]
