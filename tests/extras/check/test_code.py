"""`memcli check code`: what is fit for CI, and what accepting does."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.test_anchors import CODE, TEXT, anchors
from tests.cli.test_anchors import work as work  # noqa: PLC0414 - a fixture is taken over by its name
from tests.conftest import Run
from tests.ingest.conftest import Repo


def states(run: Run, *options: str) -> dict[str, str]:
    found = run("check", "code", "--json", *options).json["found"]
    return {f"{one['path']} {one['file']}": one["state"] for one in found}


@pytest.fixture
def known(run: Run, work: Repo) -> Repo:
    run("remember", TEXT, "-p", "rule", "-k", "decision", "--anchor", "src/auth.py::Token.refresh")
    run("remember", f"{TEXT} B", "-p", "note", "-k", "fact", "--anchor", "src/auth.py:5-6", "--anchor", "src/other.py")
    work.commit("remember")
    return work


def test_well_anchored_code_passes_and_what_binds_nobody_is_only_told(run: Run, known: Repo) -> None:
    result = run("check", "code")
    assert (result.code, result.out, result.err) == (0, "3 anchors: 3 fresh\n", "")
    known.write("src/auth.py", f"\n{CODE}")
    known.write("src/other.py", "a = 2\n")
    assert run("check", "code").code == 0
    told = {"rule src/auth.py": "moved", "note src/auth.py": "moved", "note src/other.py": "stale"}
    assert states(run) == told


@pytest.mark.parametrize("kind", ["decision", "constraint", "negative", "procedure"])
def test_what_binds_and_is_stale_fails(run: Run, known: Repo, kind: str) -> None:
    run("edit", "rule", "--set", f"kind={kind}")
    known.write("src/auth.py", CODE.replace("return 1", "return 7"))
    name = run("get", "rule", "--json").json["id"]
    result = run("check", "code")
    assert (result.code, result.out) == (
        6,
        f"rule: {name} stale src/auth.py:2-3 Token.refresh\n3 anchors: 2 fresh, 1 stale\n",
    )
    assert result.err.startswith("memcli: stale: the code changed: `memcli edit`")
    known.git("rm", "-q", "-f", "src/auth.py")
    assert run("check", "code").err.startswith(
        "memcli: gone: the code is no longer there: `memcli edit ID --set anchors="
    )
    run("forget", "rule")
    assert run("check", "code").code == 0


def test_only_some_files(run: Run, known: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    known.git("rm", "-q", "-f", "src/auth.py", "src/other.py")
    assert states(run, "src/other.py") == {"note src/other.py": "gone"}
    assert len(states(run, "src")) == len(states(run, ".")) == 3
    monkeypatch.chdir(known.root / ".memory")
    assert states(run, "../src/other.py") == {"note src/other.py": "gone"}
    assert run("check", "code", "/etc/passwd").code == 2


def test_only_what_changed_since(run: Run, known: Repo) -> None:
    first = known.git("rev-parse", "HEAD")
    known.commit("second", {"src/other.py": "a = 2\n"})
    known.commit("third", {"README": "x"})
    assert states(run, "--changed", first) == {"note src/other.py": "stale"}
    assert run("check", "code", "--json", "--changed", "HEAD").json["anchors"] == 0
    known.write("src/auth.py", "# not committed\n")
    assert states(run, "--changed", "HEAD") == {"rule src/auth.py": "gone", "note src/auth.py": "stale"}
    known.git("rm", "-q", "--cached", "src/other.py")
    (known.root / "src" / "other.py").unlink()
    assert states(run, "--changed", "HEAD")["note src/other.py"] == "gone"
    for revision, code in (("nix", 3), ("--output=x", 2), ("", 2), ("a..b", 2)):
        assert run("check", "code", f"--changed={revision}").code == code
    assert not (known.root / "x").exists()


def test_accepting(run: Run, known: Repo) -> None:
    before = anchors(run, "note")
    known.commit("second", {"src/auth.py": f"\n{CODE.replace('return 1', 'return 7')}"})
    known.git("rm", "-q", "src/other.py")
    result = run("check", "code", "--reanchor", "--freeze-clock", "2026-03-01T00:00:00Z")
    assert result.code == 0
    assert result.out.splitlines()[-1] == "3 anchors: 2 reanchored, 1 gone"
    head = known.git("rev-parse", "HEAD")
    (rule,) = anchors(run, "rule")
    assert (rule["lines"], rule["symbol"], rule["commit"]) == ([3, 4], "Token.refresh", head)
    moved, gone = anchors(run, "note")
    assert moved == {**before[0], "lines": [6, 7], "commit": head}
    assert gone == before[1]
    memory = run("get", "rule", "--json").json
    assert (memory["version"], memory["updated_at"]) == (2, "2026-03-01T00:00:00Z")
    assert states(run) == {"note src/other.py": "gone"}
    assert "check code: update" in run("store", "audit").out
    assert len(run("store", "audit").out.splitlines()) == 3  # two were remembered, and one write accepted both
    again = run("check", "code", "--reanchor")
    assert "reanchored" not in again.out


def test_spaces(run: Run, known: Repo) -> None:
    run("remember", "Tokens again.", "-p", "there", "-k", "procedure", "-s", "two", "--anchor", "src/other.py")
    known.write("src/other.py", "b\n")
    assert states(run) == {"note src/other.py": "stale", "there src/other.py": "stale"}
    assert run("check", "code").code == 6
    assert "(space two)" in run("check", "code").out
    assert states(run, "-s", "main") == {"note src/other.py": "stale"}
    assert run("check", "code", "--reanchor").code == 0
    assert states(run) == {}


def test_the_user_wide_store(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMCLI_GLOBAL", str(tmp_path / "mine"))
    run("remember", TEXT, "--scope", "global")
    result = run("check", "code", "--root", str(tmp_path / "mine"))
    assert (result.code, "not in a work tree" in result.err) == (2, True)


AFTERWARDS = 30 * 24 + 20
"""The hour of a commit after the memories were made."""


@pytest.fixture
def negatives(run: Run, work: Repo) -> Repo:
    """Memories whose triggers match files, and one for what is never to be there."""
    work.commit("legacy", {"legacy/a.py": "x = 1\n", "legacy/b.py": "y = 2\n"})
    run("remember", "Add nothing to legacy.", "-p", "no/legacy", "-k", "negative", "--trigger", "path:legacy/**")
    run("remember", "Keep out keys.", "-p", "no/keys", "-k", "negative", "--trigger", "path:*.pem", "--trigger", "eval")
    return work


def unmatched(run: Run, *options: str) -> dict[str, str]:
    found = run("check", "code", "--json", *options).json["found"]
    return {one["path"]: f"{one['trigger']} {one['file']} {one.get('now', '-')}" for one in found if "trigger" in one}


@pytest.mark.parametrize("how", ["moved", "staged", "committed", "deleted"])
def test_a_negative_whose_files_are_gone_cannot_come_up_and_fails(run: Run, negatives: Repo, how: str) -> None:
    assert (run("check", "code").code, unmatched(run)) == (0, {})
    if how == "moved":
        (negatives.root / "legacy").rename(negatives.root / "old")
    elif how == "deleted":
        negatives.git("rm", "-q", "-r", "legacy")
    else:
        negatives.git("mv", "legacy", "old")
    if how in ("committed", "deleted"):
        negatives.hour = AFTERWARDS
        negatives.commit("away")
    result = run("check", "code")
    now = "old/a.py" if how in ("staged", "committed") else "-"
    assert (result.code, unmatched(run)) == (6, {"no/legacy": f"path:legacy/** legacy/a.py {now}"})
    assert "no/legacy: " in result.out
    assert "matches no file: 'path:legacy/**' (matched 'legacy/a.py'" in result.out
    assert "--set triggers=path:GLOB" in result.err
    assert unmatched(run, "legacy") == unmatched(run)
    assert unmatched(run, "src") == {}


def test_a_trigger_that_was_reviewed_no_longer_fails(run: Run, negatives: Repo) -> None:
    negatives.git("mv", "legacy", "old")
    negatives.hour = AFTERWARDS
    negatives.commit("away")
    assert unmatched(run, "--changed", "HEAD~1")
    assert unmatched(run, "--changed", "HEAD") == {}
    assert run("edit", "no/legacy", "--set", "triggers=path:old/**").code == 0
    assert run("check", "code").code == 0


def test_a_trigger_whose_files_went_before_the_memory_was_made_is_none_of_its_business(run: Run, work: Repo) -> None:
    work.commit("legacy", {"legacy/a.py": "x = 1\n"})
    work.git("rm", "-q", "legacy/a.py")
    work.commit("away")
    run("remember", "Add nothing to legacy.", "-p", "no/legacy", "-k", "negative", "--trigger", "path:legacy/**")
    assert (run("check", "code").code, unmatched(run)) == (0, {})


def test_other_kinds_have_no_triggers_that_come_up(run: Run, negatives: Repo) -> None:
    run("edit", "no/legacy", "--set", "kind=fact")
    negatives.git("rm", "-q", "-r", "legacy")
    assert run("check", "code").code == 0
    run("edit", "no/legacy", "--set", "enforce=true")
    assert run("check", "code").code == 6
