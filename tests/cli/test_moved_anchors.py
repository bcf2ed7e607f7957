"""Anchored code that was moved: recall, verify and recall from a diff say the same of it."""

from __future__ import annotations

import json
import shutil

import pytest

from tests.cli.test_anchors import CODE, TEXT
from tests.cli.test_anchors import told as recalled
from tests.cli.test_anchors import work as work  # noqa: PLC0414 - a fixture is taken over by its name
from tests.conftest import Run
from tests.ingest.conftest import Repo

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


@pytest.mark.parametrize("how", ["staged", "committed", "untracked"])
def test_a_renamed_file_is_followed(run: Run, known: Repo, how: str) -> None:
    if how == "untracked":
        shutil.move(known.root / "src/keys.py", known.root / "src/vault.py")
    else:
        known.git("mv", "src/keys.py", "src/vault.py")
    if how == "committed":
        known.commit("move")
    assert both(run) == {path: ["moved src/vault.py"] for path in ("symbol", "lines", "whole")}
    assert run("check", "code").code == 0


def test_a_file_that_was_renamed_and_changed_is_stale(run: Run, known: Repo) -> None:
    known.git("mv", "src/keys.py", "src/vault.py")
    known.write("src/vault.py", HELPER.replace("return old", "return 0") + "\n\n" + REST)
    known.commit("move and change")
    assert both(run) == {path: ["stale src/vault.py"] for path in ("symbol", "lines", "whole")}
    assert run("check", "code").code == 6


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
    assert {state for states in recalled(run).values() for state in states} == {"gone"}


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
