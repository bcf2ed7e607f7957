"""No secret on any way in, and none on any way out: the whole store is searched for it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from memcli.app.transfer import Selection, export_space, written
from memcli.cli.main import VERBS
from memcli.codec.bundle import seal
from memcli.codec.exports import FORMATS
from memcli.model.space import Space
from tests.cli.test_ingest import commit, git
from tests.conftest import NOW, ROOT, Run, memory, open_at, rewrite
from tests.policy.secrets_corpus import secret

TOKEN = secret("github_token", 900)[1]
MAIL = secret("email", 900)[1]
SAID = f"The deploy uses {TOKEN}, ask {MAIL} for it."


def holds(folder: Path, *secrets: str) -> list[str]:
    """The files below the folder's stores whose bytes hold one of the secrets, in any case."""
    wanted = [text.lower().encode() for text in secrets or (TOKEN, MAIL)]
    return [
        str(file)
        for file in sorted((folder / ".memory").rglob("*"))
        if file.is_file() and any(text in file.read_bytes().lower() for text in wanted)
    ]


def _remember(run: Run, folder: Path) -> None:
    run("remember", SAID, "--tag", MAIL, "--meta", f"who={MAIL}", "--reason", SAID, "--trigger", TOKEN, "--embed")
    run("remember", "x", "--path", f"ops/{TOKEN}", "--id", f"my-{TOKEN}", "--summary-micro", SAID)
    run(
        "remember",
        "x",
        "--path",
        "a",
        "--path-hint",
        TOKEN,
        "--project",
        TOKEN,
        "--set",
        f'content={{"a": ["{SAID}"]}}',
    )
    run("remember", "--object", json.dumps({"raw": "y", "content": {TOKEN: 1}, "later_field": SAID}))
    run("remember", "no token here", "--scope", "global", "--meta", f"who={MAIL}")
    run("remember", "-", stdin=SAID)


def _batch(run: Run, folder: Path) -> None:
    (folder / "b.jsonl").write_text(f"{json.dumps({'raw': SAID})}\n{json.dumps({'raw': 'z', 'tags': [TOKEN]})}\n")
    run("remember", "--batch", "b.jsonl")


def _edit(run: Run, folder: Path) -> None:
    run("remember", "plain", "--path", "a")
    run("edit", "a", "--set", f"raw={SAID}", "--set", f"tags={MAIL}", "--set", f'metadata={{"m": "{MAIL}"}}')
    editor = folder / "editor.py"
    editor.write_text(
        f"import sys; p = sys.argv[1]; s = open(p).read(); open(p, 'w').write(s.replace('deploy', '{TOKEN}'))"
    )
    os.environ["EDITOR"] = f"{sys.executable} {editor}"
    try:
        run("edit", "a")
        run("edit", "a", "--object")
    finally:
        del os.environ["EDITOR"]


def _tag(run: Run, folder: Path) -> None:
    run("remember", "plain", "--path", "a")
    run("tag", "a", "--add", MAIL, "--add", TOKEN)


def _import(run: Run, folder: Path) -> None:
    objects = tuple(memory(name, raw=f"{name}: {SAID}", summary_micro=SAID, tags=(TOKEN,)) for name in "ab")
    space = Space("main", objects, metadata={"owner": MAIL}, updated_at=NOW)
    (folder / "bundle.json").write_bytes(b"".join(FORMATS["json"].encode(seal(space))))
    run("import", "bundle.json")
    run("import", "bundle.json", "--mode", "replace", "-s", "other")


def _ingest(run: Run, folder: Path) -> None:
    (folder / "notes.md").write_text(f"# Deploy\n\n{SAID}\n")
    (folder / f"{TOKEN}.md").write_text("# Named badly\n")
    run("ingest", "notes.md", f"{TOKEN}.md")


def _commits(run: Run, folder: Path) -> None:
    (folder / ".git").rmdir()
    git(folder, "init", "-q", "-b", "main")
    commit(folder, "app.py", f"print('{TOKEN}')\n", f"Ask {MAIL}\n\nSigned-off-by: Ann <{MAIL}>")
    run("ingest", "--git", "HEAD")


def _hook(run: Run, folder: Path) -> None:
    (folder / ".git").rmdir()
    git(folder, "init", "-q", "-b", "main")
    commit(folder, "app.py", f"print('{TOKEN}')\n", f"Ask {MAIL}")
    run("init")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MEMCLI_HOOK_FOREGROUND", "1")
        run("hook", "run", "post-commit")


def _watch(run: Run, folder: Path) -> None:
    run("watch", "--once", "--no-git")
    (folder / "notes.md").write_text(f"# Deploy\n\n{SAID}\n")
    run("watch", "--once", "--no-git")


def _space(run: Run, folder: Path) -> None:
    run("space", "create", "ops", "--meta", f"owner={MAIL}")


def _inbox(run: Run, folder: Path) -> None:
    run("remember", SAID, "--path", "a", "--propose")
    run("inbox", "edit", "a", "--set", f"raw=Now {SAID}", "--set", f"tags={MAIL}")
    run("inbox", "accept", "a")


def _adopt(run: Run, folder: Path) -> None:
    (folder / "CLAUDE.md").write_text(f"# Deploying\n\n- {SAID}\n- Ask {MAIL} first.\n")
    (folder / "notes").mkdir()
    (folder / "notes" / "deploy.md").write_text(f"---\ntitle: Deploy\nowner: {MAIL}\n---\n{SAID}\n")
    run("import", "CLAUDE.md")
    run("import", "notes")


ROUTES: dict[str, tuple[Callable[[Run, Path], None], ...]] = {
    "remember": (_remember, _batch), "edit": (_edit,), "tag": (_tag,), "import": (_import, _adopt), "inbox": (_inbox,),
    "ingest": (_ingest, _commits), "watch": (_watch,), "space": (_space,), "hook": (_hook,),
}  # fmt: skip
NO_TEXT_COMES_IN = frozenset(
    "init demo doctor recall search get list tree browse pin unpin forget gc export index stats schema scan completions audit fsck fmt restore diff blame merge-driver trust verify guard".split()
)


def test_every_command_is_known_to_let_text_in_or_not() -> None:
    """A new command that stores what it is told belongs into ROUTES."""
    assert set(VERBS) == ROUTES.keys() | NO_TEXT_COMES_IN


@pytest.mark.parametrize(
    "route", [route for routes in ROUTES.values() for route in routes], ids=lambda r: r.__name__[1:]
)
def test_no_way_in(
    route: Callable[[Run, Path], None], run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMCLI_GLOBAL", str(tmp_path / "global"))
    route(run, tmp_path)
    assert (tmp_path / ".memory" / "spaces").is_dir()
    run("recall", "deploy token")  # which makes the index
    assert not holds(tmp_path)
    assert not holds(tmp_path / "global")
    stored = "".join(file.read_text() for file in (tmp_path / ".memory" / "spaces").iterdir())
    assert "edacted" in stored.casefold()
    assert "pii_flags" in stored


def test_the_answer_says_what_was_taken_out(run: Run) -> None:
    assert run("remember", SAID, "--path", "a").out.rstrip().endswith("; redacted 1 email, 1 github_token")
    assert json.loads(run("remember", SAID, "--path", "b", "--json").out)["redactions"] == {
        "email": 1,
        "github_token": 1,
    }
    assert json.loads(run("remember", "plain", "--json").out)["redactions"] == {}
    assert run("edit", "a", "--set", f"raw={TOKEN}").out.rstrip().endswith("; redacted 1 github_token")


def test_the_same_secret_leaves_the_same_mark(run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def flags(path: str) -> list[str]:
        run("remember", f"{path} {TOKEN}", "--path", path)
        found: list[str] = json.loads(run("get", path, "--json").out)["metadata"]["pii_flags"]
        return found

    (first,) = flags("a")
    assert flags("b") == [first]
    key = tmp_path / ".memory" / "local" / "redaction.key"
    assert len(key.read_bytes()) == 32
    assert key.stat().st_mode & 0o777 == 0o600
    monkeypatch.setenv("MEMCLI_REDACTION_KEY", "a key that a team has in common")
    assert flags("c") == ["github_token:8d71ffde"] != [first]


def test_what_was_ever_redacted_stays_known(run: Run) -> None:
    run("remember", f"first {TOKEN}", "--path", "a")
    run("remember", f"then {MAIL}", "--path", "a")
    run("edit", "a", "--set", "raw=nothing now", "--set", 'metadata={"x": 1}')
    kinds = [flag.partition(":")[0] for flag in json.loads(run("get", "a", "--json").out)["metadata"]["pii_flags"]]
    assert kinds == ["email", "github_token"]


def test_a_bad_key_is_told(run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("MEMCLI_REDACTION_KEY", "short")
    assert run("remember", TOKEN).code == 2
    monkeypatch.delenv("MEMCLI_REDACTION_KEY")
    key = tmp_path / ".memory" / "local" / "redaction.key"
    key.parent.mkdir(exist_ok=True)
    key.write_bytes(b"torn")
    told = run("remember", TOKEN)
    assert told.code == 8
    assert "is no key (4 bytes)" in told.err
    key.unlink()
    key.symlink_to("/etc/hostname")
    assert run("remember", TOKEN).code == 8
    assert not holds(tmp_path)


def test_the_policy_of_the_space_holds(run: Run) -> None:
    run("space", "create", "main")
    rules = {"detectors": ["-email"], "patterns": [{"name": "ticket", "regex": r"TICK-\d+"}]}
    assert run("space", "policy", "main", "--set", f"pii_redaction={json.dumps(rules)}").code == 0
    run("remember", f"{MAIL} works on TICK-42 with {TOKEN}", "--path", "a")
    assert (
        json.loads(run("get", "a", "--json").out)["raw"]
        == f"{MAIL} works on [REDACTED:ticket] with [REDACTED:github_token]"
    )


def test_a_policy_that_cannot_be_used_weakens_nothing(run: Run, tmp_path: Path) -> None:
    run("remember", "plain", "--path", "a")
    refused = run("space", "policy", "main", "--set", 'pii_redaction={"patterns": [{"name": "x", "regex": "(?=y)"}]}')
    assert (refused.code, "pii_redaction.patterns[0].regex" in refused.err) == (2, True)
    file = tmp_path / ".memory" / "spaces" / "main.json"
    written = file.read_text().replace('"policy": {}', '"policy": {"pii_redaction": {"detectors": ["nothing"]}}')
    file.write_text(written)
    refused = run("remember", "more", "--path", "b")
    assert (refused.code, "pii_redaction.detectors[0] 'nothing'" in refused.err) == (2, True)
    assert file.read_text() == written
    shown = run("recall", "plain")
    assert shown.code == 0
    assert "built in" in shown.err


@pytest.fixture
def hand_written(run: Run, tmp_path: Path) -> Path:
    """A store into which somebody wrote a secret with an editor."""
    workspace = open_at(tmp_path)
    words = dict.fromkeys(("raw", "summary_micro", "summary_short", "summary_long"), f"Deploy: {SAID}")
    bad = memory("a", **words, tags=("deploy",), path=f"ops/{MAIL}", metadata={"who": MAIL}, content={"t": TOKEN})
    rewrite(workspace.store, lambda space: space.put([bad], NOW))
    return tmp_path


@pytest.mark.parametrize(
    "arguments",
    [
        *(
            ["recall", "deploy", "--include-raw", "--include-metadata", "--format", f]
            for f in ("json", "md", "prompt", "table")
        ),
        ["recall", "deploy", "--budget", "400", "--json"],
        ["recall", "--kind", "fact"],
        ["search", "deploy"],
        ["search", "deploy", "--json"],
        ["get", "mem_a"],
        ["get", "mem_a", "--json"],
        ["get", "mem_a", "--field", "raw"],
        ["list"],
        ["list", "--json"],
        ["tree"],
        ["tree", "--json"],
        ["scan"],
        ["scan", "--json"],
    ],
    ids=" ".join,
)
def test_no_way_out(run: Run, hand_written: Path, arguments: list[str]) -> None:
    told = run(*arguments)
    assert told.out
    assert TOKEN not in told.out + told.err
    assert MAIL not in told.out + told.err


def test_an_export_is_what_is_stored_and_warns(hand_written: Path) -> None:
    warned: list[str] = []
    workspace = replace(open_at(hand_written), warn=warned.append)
    assert TOKEN.encode() in b"".join(written(export_space(workspace, "main", Selection()), "json"))
    assert warned == ["1 memory has secrets in what is exported; `memcli scan` shows where"]


def test_export_and_import_give_the_same_bytes(run: Run, tmp_path: Path) -> None:
    for n in range(3):
        run("remember", f"{n}: {SAID}", "--tag", "x")
    before = (tmp_path / ".memory" / "spaces" / "main.json").read_bytes()
    run("export", "--out", "e.json")
    run("space", "policy", "main", "--set", "allow_delete=true")
    run("space", "delete", "main")
    assert "redacted" not in run("import", "e.json").out
    assert (tmp_path / ".memory" / "spaces" / "main.json").read_bytes() == before


DYING = """
import os, sys
left = int(sys.argv.pop(1))
def deadly(name):
    real = getattr(os, name)
    def call(*args, **kwargs):
        global left
        left -= 1
        if left == 0:
            os._exit(99)
        return real(*args, **kwargs)
    setattr(os, name, call)
for name in ("open", "write", "fsync", "replace", "rename", "unlink", "close", "link", "truncate", "ftruncate", "mkdir", "pwrite"):
    deadly(name)
sys.argv[0] = "memcli"
from memcli.__main__ import main
main()
"""


def test_a_crash_leaves_no_secret_behind(tmp_path: Path) -> None:
    """The process dies at each of its calls to the system in turn; nothing it leaves, whole or torn, has the secret."""
    (tmp_path / ".git").mkdir()
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    for point in range(1, 400):
        words = ["remember", f"{point}: {SAID}", "--path", f"a/{point}", "--freeze-clock", NOW]
        done = subprocess.run(
            [sys.executable, "-P", "-c", DYING, str(point), *words],
            cwd=tmp_path,
            env=environ,
            capture_output=True,
            check=False,
        )
        assert not holds(tmp_path) if (tmp_path / ".memory").exists() else True
        if done.returncode == 0:
            break
        assert done.returncode == 99, done.stderr
    else:
        pytest.fail("it never came through")
    assert point > 10
