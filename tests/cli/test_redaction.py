"""What redaction leaves of a secret, in answers, flags, exports and names. Every way in is in `test_canaries.py`."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from memcli.model.space import Policy
from memcli.safety.secrets.redact_memory import clean_paths
from tests.cli.conftest import git
from tests.conftest import NOW, ROOT, Run, memory, open_at, rewrite
from tests.safety.secrets_corpus import secret

TOKEN = secret("github_token", 900)[1]
MAIL = secret("email", 900)[1]
SAID = f"The deploy uses {TOKEN}, ask {MAIL} for it."
MAIN = ".memory/spaces/main.json"


def holds(folder: Path, *secrets: str) -> list[str]:
    """The files below the folder's stores whose bytes hold one of the secrets, in any case."""
    wanted = [text.lower().encode() for text in secrets or (TOKEN, MAIL)]
    files = [file for file in sorted((folder / ".memory").rglob("*")) if file.is_file()]
    return [str(file) for file in files if any(text in file.read_bytes().lower() for text in wanted)]


def flags_of(run: Run, path: str) -> list[str]:
    found: list[str] = run("get", path, "--json").json["metadata"]["pii_flags"]
    return found


def test_the_answer_says_what_was_taken_out(run: Run) -> None:
    assert run("remember", SAID, "--path", "a").out.rstrip().endswith("; redacted 1 e-mail address, 1 github token")
    assert run("remember", SAID, "--path", "b", "--json").json["redactions"] == {"email": 1, "github_token": 1}
    assert run("remember", "plain", "--json").json["redactions"] == {}
    assert run("edit", "a", "--set", f"raw={TOKEN}").out.splitlines()[0].endswith("; redacted 1 github token")


def test_flags_are_the_same_on_every_machine(run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Kinds and counts; hashes only under the key that a team shares."""
    for machine in ("one", "two"):
        (tmp_path / machine / ".git").mkdir(parents=True)
        monkeypatch.chdir(tmp_path / machine)
        run("init")
        run("remember", f"{TOKEN} and {TOKEN} of {MAIL}", "--path", "a")
    assert (tmp_path / "one" / MAIN).read_bytes() == (tmp_path / "two" / MAIN).read_bytes()
    assert flags_of(run, "a") == ["email:1", "github_token:2"]
    run("remember", f"once more {TOKEN}", "--path", "a")
    assert flags_of(run, "a") == ["email:1", "github_token:2"]
    monkeypatch.setenv("MEMCLI_REDACTION_KEY", "a key that a team has in common")
    run("remember", f"c {TOKEN}", "--path", "c")
    assert flags_of(run, "c") == ["github_token:1", "github_token:8d71ffde"]


def test_no_flag_smuggles_a_secret_and_none_is_lost(run: Run, tmp_path: Path) -> None:
    flags = [TOKEN, "github_token:1", "email:0badcafe", 5]
    run("remember", "--object", json.dumps({"raw": "x", "path": "a", "metadata": {"pii_flags": flags}}))
    assert flags_of(run, "a") == ["email:0badcafe", "github_token:1"]
    assert not holds(tmp_path)
    run("remember", f"first {TOKEN}", "--path", "b")
    run("remember", f"then {MAIL}", "--path", "b")
    run("edit", "b", "--set", "raw=nothing now", "--set", 'metadata={"x": 1}')
    assert [flag.partition(":")[0] for flag in flags_of(run, "b")] == ["email", "github_token"]


def test_the_key_is_made_for_a_name_and_kept_private(run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    run("remember", "x", "--path", f"ops/{TOKEN}")
    key = tmp_path / ".memory" / "local" / "redaction.key"
    assert (len(key.read_bytes()), key.stat().st_mode & 0o777) == (32, 0o600)
    key.write_bytes(b"torn")
    told = run("remember", "x", "--path", TOKEN)
    assert (told.code, "is not a key (4 bytes)" in told.err) == (8, True)
    key.unlink()
    key.symlink_to("/etc/hostname")
    assert run("remember", "x", "--path", TOKEN).code == 8
    monkeypatch.setenv("MEMCLI_REDACTION_KEY", "short")
    assert run("remember", TOKEN).code == 2
    assert not holds(tmp_path)


def test_the_policy_of_the_space_holds(run: Run) -> None:
    run("space", "create", "main")
    rules = {"detectors": ["-email"], "patterns": [{"name": "ticket", "regex": r"TICK-\d+"}]}
    assert run("space", "policy", "main", "--set", f"pii_redaction={json.dumps(rules)}").code == 0
    run("remember", f"{MAIL} works on TICK-42 with {TOKEN}", "--path", "a")
    redacted = f"{MAIL} works on [REDACTED:ticket] with [REDACTED:github_token]"
    assert run("get", "a", "--json").json["raw"] == redacted


def test_a_policy_that_cannot_be_used_weakens_nothing(run: Run, tmp_path: Path) -> None:
    run("remember", "plain", "--path", "a")
    refused = run("space", "policy", "main", "--set", 'pii_redaction={"patterns": [{"name": "x", "regex": "(?=y)"}]}')
    assert (refused.code, "pii_redaction.patterns[0].regex" in refused.err) == (2, True)
    file = tmp_path / MAIN
    written = file.read_text().replace('"policy": {}', '"policy": {"pii_redaction": {"detectors": ["nothing"]}}')
    file.write_text(written)
    refused = run("remember", "more", "--path", "b")
    assert (refused.code, "pii_redaction.detectors[0] 'nothing'" in refused.err) == (2, True)
    assert file.read_text() == written
    shown = run("recall", "plain")
    assert (shown.code, "built-in" in shown.err) == (0, True)


def test_a_policy_holds_no_secret(run: Run, tmp_path: Path) -> None:
    run("remember", "plain")
    for field, value in {
        "export_path": f"exports/{TOKEN}.json", "auto_pin": json.dumps([{"under": TOKEN}]),
        "pii_redaction": json.dumps({"patterns": [{"name": "own", "regex": TOKEN}]}),
    }.items():  # fmt: skip
        refused = run("space", "policy", "main", "--set", f"{field}={value}")
        assert (refused.code, f"policy.{field} holds a secret" in refused.err) == (2, True)
    assert not holds(tmp_path)


@pytest.fixture
def hand_written(run: Run, tmp_path: Path) -> Path:
    """A store into which somebody wrote a secret with an editor."""
    words = dict.fromkeys(("raw", "summary_micro", "summary_short", "summary_long"), f"Deploy: {SAID}")
    bad = memory("a", **words, tags=("deploy",), path=f"ops/{MAIL}", metadata={"who": MAIL}, content={"t": TOKEN})
    rewrite(open_at(tmp_path).store, lambda space: space.put([bad], NOW))
    return tmp_path


def test_no_way_out(run: Run, hand_written: Path) -> None:
    whole = "recall deploy --include-raw --include-metadata --format"
    for line in (
        *(f"{whole} {form}" for form in ("json", "md", "prompt", "table", "text")), "recall deploy --budget 400 --json",
        "recall --kind fact", "recall --under /", "get mem_a", "get mem_a --json", "get mem_a --field raw", "list",
        "list --json", "list --json --include-raw", "list --tree", "list --tree --json", "check secrets", "check secrets --json",
    ):  # fmt: skip
        told = run(*line.split())
        assert told.out, line
        assert TOKEN not in told.out + told.err, line
        assert MAIL not in told.out + told.err, line


def test_no_branch_of_a_large_tree_gives_it_away(tmp_path: Path) -> None:
    workspace = open_at(tmp_path)
    names = [f"n{n}/x/y" for n in range(500)]
    detector = workspace.redactor.on_the_way_out(Policy())
    shown = clean_paths(detector, [*names[:321], f"ops/{MAIL}/x", *names[321:]])
    assert [path for path in shown if not path.startswith("ops/")] == names
    assert shown[321].startswith("ops/redacted-email-")
    assert MAIL not in shown[321]
    assert clean_paths(detector, []) == []


def test_an_export_refuses_what_redaction_takes_out(run: Run, hand_written: Path) -> None:
    refused = run("export")
    assert (refused.code, "1 place has secrets in the export of space 'main'" in refused.err) == (5, True)
    assert not (hand_written / ".memory" / "exports" / "main.json").exists()
    for form in ("json", "jsonl", "md"):
        out = hand_written / f"e.{form}"
        assert run("export", "--redact", "--out", str(out)).code == 0
        assert [word for word in (TOKEN, MAIL) if word in out.read_text()] == []
    assert run("export", "--redact", "--out", "-").out.count(TOKEN) == 0
    assert run("import", "e.json", "--space", "copy").code == 0
    assert run("export", "--tag", "none", "--out", "part.json").code == 0


def test_an_export_looks_at_the_header_too(run: Run, tmp_path: Path) -> None:
    run("remember", "plain")
    run("space", "create", "main", "--meta", "owner=ann")
    file = tmp_path / MAIN
    file.write_text(file.read_text().replace('"ann"', f'"{TOKEN}"'))
    assert run("export").code == 5
    assert run("export", "--redact").code == 0
    assert TOKEN not in (tmp_path / ".memory" / "exports" / "main.json").read_text()


def test_what_was_redacted_is_imported_as_it_is(run: Run, tmp_path: Path) -> None:
    for n in range(3):
        run("remember", f"{n}: {SAID}", "--tag", "x")
    before = (tmp_path / MAIN).read_bytes()
    run("export", "--out", "e.json")
    (tmp_path / MAIN).unlink()
    assert "redacted" not in run("import", "e.json").out
    assert (tmp_path / MAIN).read_bytes() == before


def test_a_diff_shows_no_secret(run: Run, repository: Path) -> None:
    run("remember", "Deploy on Monday", "--path", "ops/deploy")
    git(repository, "add", "-A")
    git(repository, "commit", "-q", "-m", "one")
    file = repository / MAIN
    file.write_text(file.read_text().replace("Deploy on Monday", f"Deploy with {TOKEN}"))
    for line in ("diff", "diff --json", "diff --stat"):
        told = run(*line.split())
        assert ("changed" in told.out, TOKEN in told.out) == (True, False)
    assert "[REDACTED:github_token]" in run("diff").out


def test_no_ordinary_text_stops_a_command(run: Run) -> None:
    """An empty password made a rule fail, and with it every command that met the text."""
    assert run("remember", "Authorization: Basic YWRtaW46").code == 0
    for line in ("list", "recall authorization", "recall authorization", "export", "check secrets"):
        assert run(*line.split()).code == 0, line


DYING = """
import os, shutil, sys  # shutil looks at what os can do
left = int(sys.argv.pop(1))
def deadly(name):
    real = getattr(os, name)
    def call(*args, **kwargs):
        global left
        left -= name != "open" or bool(args[1] & os.O_CREAT)  # to open or close what is there changes nothing
        if left == 0:
            os._exit(99)
        return real(*args, **kwargs)
    setattr(os, name, call)
for name in ("open", "write", "fsync", "replace", "rename", "unlink", "link", "truncate", "ftruncate", "mkdir", "pwrite"):
    deadly(name)
sys.argv[0] = "memcli"
from memcli.__main__ import main
main()
"""


@pytest.mark.parametrize("step", [9, pytest.param(1, marks=pytest.mark.slow)])
def test_a_crash_leaves_no_secret_behind(tmp_path: Path, step: int) -> None:
    """The process dies at every `step`th of its calls to the system; nothing it leaves, whole or torn, has the secret."""
    (tmp_path / ".git").mkdir()
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    for point in range(1, 400, step):
        words = ["remember", f"{point}: {SAID}", "--path", f"a/{point}", "--freeze-clock", NOW]
        command = [sys.executable, "-P", "-c", DYING, str(point), *words]
        done = subprocess.run(command, cwd=tmp_path, env=environ, capture_output=True, check=False)
        assert not holds(tmp_path)
        if done.returncode == 0:
            break
        assert done.returncode == 99, done.stderr
    else:
        pytest.fail("it never came through")
    assert point > 10


NAMES = ("docs/jane.doe@corp.org.md", "docs/john.doe@corp.org.md", "jack.roe@corp.org/notes.md")


def memories_of(folder: Path) -> list[dict[str, Any]]:
    found = json.loads((folder / ".memory/spaces/repo.json").read_text())["objects"]
    return [memory for memory in found if memory.get("active", True)]


def test_addresses_in_names_of_files_are_redacted_and_these_files_missed(run: Run, tmp_path: Path) -> None:
    for name in NAMES:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(f"# Notes\n\nThe cache of {len(name)} is Redis, {name[5]}.\n")
    assert run("ingest", ".", "--json").json["created"] == 3
    again = run("ingest", ".", "--json").json
    assert (again["deduplicated"], again.get("retired", 0)) == (3, 0)
    assert not holds(tmp_path, "jane", "john", "jack", "corp")
    assert len({memory["metadata"]["source"] for memory in memories_of(tmp_path)}) == 3
    run("remember", "The font is here.", "--path", "assets/icon@2x.png", "--tag", "x")
    assert run("get", "assets/icon@2x.png").code == 0
    (tmp_path / NAMES[0]).unlink()
    assert run("ingest", "jack.roe@corp.org", "--json").json["retired"] == 0
    assert run("ingest", "docs", "--json").json["retired"] == 1
    shutil.rmtree(tmp_path / "jack.roe@corp.org")
    assert run("ingest", ".", "--json").json["retired"] == 1
    assert [memory["summary_micro"] for memory in memories_of(tmp_path)] == ["Notes: The cache of 25 is Redis, j."]


def test_addresses_in_names_of_files_are_redacted_in_what_is_told_of_commits(run: Run, repository: Path) -> None:
    names = [NAMES[0], NAMES[2], "john.doe@corp.org.py", "x@mail.163.com"]
    for n, name in enumerate(names):
        (repository / name).parent.mkdir(exist_ok=True)
        (repository / name).write_text(f"text of {name}\n" * (n + 1))
    git(repository, "add", "-A")
    git(repository, "commit", "-qm", "Add notes")
    git(repository, "mv", names[0], "docs/june.doe@corp.org.md")
    git(repository, "commit", "-qm", f"Rename {names[0]}")
    (repository / names[1]).write_text("a\n")
    (repository / names[2]).write_text("b\n")
    git(repository, "commit", "-qam", "Two at once")
    (repository / names[3]).write_text("c\n")
    git(repository, "add", "-A")
    assert run("ingest", "--git", "HEAD", "--json").json["created"] >= 6
    assert run("ingest", "--staged", "--json").json["created"] == 1
    assert not holds(repository, "jane", "june", "jack", "john", "corp.org", "mail.163")
    assert run("ingest", "--git", "HEAD", "--json").json["created"] == 0


def test_sections_of_a_file_whose_name_was_redacted_are_missed(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "jane.doe@corp.org.md"
    sections = [f"## Part {n}\n\n" + f"Words of part {n}. " * 80 for n in range(3)]
    file.write_text("\n\n".join(sections))
    run("ingest", ".")
    file.write_text("\n\n".join(sections[:2]))
    assert run("ingest", ".", "--json").json["retired"] == 1
    assert len(memories_of(tmp_path)) == 2
