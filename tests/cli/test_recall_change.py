"""Recall by a change, and the part that leads: what has a trigger or an anchor that matches."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from memcli.model.memory import Memory
from tests.cli.conftest import git
from tests.conftest import NOW, Run, memory, open_at, rewrite

GOLDEN = Path(__file__).parent / "golden"
DIFF = """\
diff --git a/src/auth/tokens.py b/src/auth/tokens.py
--- a/src/auth/tokens.py
+++ b/src/auth/tokens.py
@@ -10,2 +10,3 @@ def refresh_token(session):
-    expires = now + HOUR
+    expires = time.time() + HOUR
+    eval(session)
     return expires
"""


def anchored(name: str, file: str, *lines: int, **fields: object) -> Memory:
    anchor = {"file": file, "lines": list(lines)} if lines else {"file": file}
    return memory(name, anchors=(anchor,), **fields)


@pytest.fixture
def project(run: Run, tmp_path: Path) -> Path:
    memories = [
        memory("eval", raw="Never call eval.", kind="negative", triggers=("eval\\(",)),
        memory("clock", raw="Take the clock from the port.", kind="constraint", triggers=("symbol:time.time", "path:lib")),
        memory("port", raw="The clock comes from a port.", kind="constraint", triggers=("symbol:time.time", "path:src")),
        memory("tokens", raw="A token is refreshed when it expires, once an hour.", kind="decision"),
        anchored("hour", "src/auth/tokens.py", 1, 12, raw="An hour, for phones are slow.", kind="decision"),
        anchored("whole", "src/auth/tokens.py", raw="Written by Ann.", kind="fact"),
        anchored("below", "src/auth/tokens.py", 40, 50, raw="Elsewhere.", kind="negative"),
        anchored("other", "src/other.py", raw="Nothing to do with it.", kind="negative"),
        memory("bread", raw="Bread needs yeast."),
        memory("old", raw="Forgotten.", kind="negative", triggers=("eval",), active=False),
        memory("bad", raw="Odd.", kind="negative", triggers=("(",), anchors=({"file": 7, "lines": "x"}, {}, 3)),
    ]  # fmt: skip
    rewrite(open_at(tmp_path).store, lambda space: space.put(memories, NOW))
    return tmp_path


def matched(out: str) -> list[tuple[str, str]]:
    return [(s["id"].removeprefix("mem_"), s["matched_by"]) for s in json.loads(out)["sections"]]


def test_what_binds_comes_first_then_what_is_anchored_then_the_text(project: Path, run: Run) -> None:
    found = matched(run("recall", "--from-diff", "-", "--json", stdin=DIFF).out)
    assert found[:4] == [("port", "trigger"), ("eval", "trigger"), ("hour", "anchor"), ("whole", "anchor")]
    assert ("tokens", "text") in found[4:]
    assert not {"clock", "below", "other", "old", "bread", "bad"} & {name for name, by in found if by != "text"}
    limited = matched(run("recall", "--from-diff", "-", "--json", "--limit", "2", stdin=DIFF).out)
    assert limited == found[:2]
    assert matched(run("recall", "--from-diff", "-", "--json", "--kind", "decision", stdin=DIFF).out)[0][0] == "hour"


@pytest.mark.parametrize("form", ["prompt", "md", "table", "text"])
def test_the_formats(project: Path, run: Run, form: str, update_golden: bool) -> None:
    told = run("recall", "--from-diff", "-", "--format", form, stdin=DIFF).out
    golden = GOLDEN / f"recall_change.{form}"
    if update_golden:
        golden.write_text(told)
    assert told == golden.read_text()


@pytest.mark.parametrize("budget", [150, 200, 300, 400])
def test_a_budget_holds(project: Path, run: Run, budget: int) -> None:
    from memcli.model.tokens import count_tokens

    told = run("recall", "--from-diff", "-", "--format", "prompt", "--budget", str(budget), stdin=DIFF).out
    assert count_tokens(told) <= budget
    assert "Keep to:" in told or "Do not:" in told


def test_since_a_revision(project: Path, run: Run) -> None:
    (project / ".git").rmdir()
    git(project, "init", "-q")
    (project / "src").mkdir()
    git(project, "commit", "-q", "--allow-empty", "-m", "zero")
    (project / "src" / "a.py").write_text("eval(1)\n")
    git(project, "add", "-A")
    assert matched(run("recall", "--changed", "HEAD", "--json").out)[0] == ("eval", "trigger")
    diff = subprocess.run(["git", "diff", "--cached"], cwd=project, capture_output=True, check=True).stdout
    (project / "x.diff").write_bytes(diff)
    assert run("recall", "--from-diff", "x.diff", "--json").out == run("recall", "--changed", "HEAD", "--json").out
    assert run("recall", "--changed", "nowhere").code == 3


def test_a_rename_finds_what_the_old_name_is_known_for(project: Path, run: Run) -> None:
    diff = "diff --git a/src/other.py b/src/new.py\nsimilarity index 100%\nrename from src/other.py\nrename to src/new.py\n"
    assert matched(run("recall", "--from-diff", "-", "--json", stdin=diff).out)[0] == ("other", "anchor")


def test_an_empty_diff(project: Path, run: Run) -> None:
    run("pin", "notes/bread")
    bundle = run("recall", "--from-diff", "-", "--json").json
    assert (bundle["reason"], bundle["sections"]) == ("empty_diff", [])
    assert run("recall", "--from-diff", "-", "--fail-empty").code == 3


@pytest.mark.parametrize("arguments", [["x", "--from-diff", "-"], ["--from-diff", "-", "--changed", "HEAD"],
                                       ["--topics", "-", "--changed", "HEAD"]], ids=str)  # fmt: skip
def test_one_question_at_a_time(project: Path, run: Run, arguments: list[str]) -> None:
    assert run("recall", *arguments).code == 2


def test_a_trigger_leads_when_it_is_in_the_topic(run: Run, tmp_path: Path, update_golden: bool) -> None:
    memories = [
        memory("deploy", raw="To deploy: make release, then tag.", kind="procedure", triggers=("deploy",)),
        memory("friday", raw="No releases on a Friday.", kind="negative", triggers=("deploy",), updated_at="2025-01-01T00:00:00Z"),
        memory("said", raw="We deploy to Frankfurt.", kind="fact", triggers=("deploy",)),
        memory("first", raw="We deploy with a script.", kind="decision", pinned=True),
        memory("bread", raw="Bread needs yeast.", kind="negative", triggers=("bread",)),
    ]  # fmt: skip
    rewrite(open_at(tmp_path).store, lambda space: space.put(memories, NOW))
    sections = run("recall", "how do we deploy?", "--json").json["sections"]
    assert [s["id"] for s in sections] == ["mem_friday", "mem_deploy", "mem_first", "mem_said"]
    assert [s.get("triggered") for s in sections] == [True, True, None, None]
    told = run("recall", "how do we deploy?", "--format", "prompt", "--explain").out
    golden = GOLDEN / "recall_triggered.prompt"
    if update_golden:
        golden.write_text(told)
    assert told == golden.read_text()
    assert "reason" not in run("recall", "bread", "--limit", "1", "--json").json
    assert "Do not" not in run("recall", "yeast", "--format", "prompt").out


def test_triggers_leave_half_of_the_places(run: Run, tmp_path: Path) -> None:
    many = [memory(f"n{n}", raw="Mind the gap.", kind="negative", triggers=("deploy",)) for n in range(9)]
    rest = [memory(f"d{n}", raw=f"We deploy to place {n}.") for n in range(9)]
    rewrite(open_at(tmp_path).store, lambda space: space.put([*many, *rest], NOW))
    sections = run("recall", "where do we deploy?", "--limit", "4", "--json").json["sections"]
    assert [bool(s.get("triggered")) for s in sections] == [True, True, False, False]
