"""Anchors from end to end: made, looked at by recall, verified, on real files and real git."""

from __future__ import annotations

import json
import os
from pathlib import Path

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
