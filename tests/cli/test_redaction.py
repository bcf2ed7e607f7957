"""No secret on any way in, and none on any way out: the whole store is searched for it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memcli.cli.calls import Calls
from memcli.cli.offer import make_offer
from memcli.cli.serving import answer
from memcli.cli.verb import names
from memcli.codec.bundle import FORMATS, seal
from memcli.codec.space import encode_space
from memcli.model.space import Policy, Space
from memcli.wiring.roots import make_store
from tests.cli.conftest import commit, git
from tests.conftest import NOW, ROOT, Run, memory, open_at, rewrite
from tests.local_state import rows
from tests.safety.secrets_corpus import secret

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
    run("remember", "--object", json.dumps({"raw": "y", "content": {TOKEN: 1}, "metadata": {"later": SAID}}))
    run("remember", "no token here", "--scope", "global", "--meta", f"who={MAIL}")
    run("remember", "-", stdin=SAID)


def _mcp(run: Run, folder: Path) -> None:
    offer = make_offer(Calls({}, lambda _: None), "all")
    tools = {tool.name: tool for tool in offer.tools}
    tools["remember"].call({"text": SAID, "tag": [MAIL], "reason": SAID, "trigger": [TOKEN], "path": f"ops/{TOKEN}"})
    for topic in (SAID, "deploy"):
        assert TOKEN not in tools["recall"].call({"topic": topic})


def _serve(run: Run, folder: Path) -> None:
    calls = Calls({}, lambda _: None)
    memory = {"raw": SAID, "tags": [MAIL], "provenance": {"reason": SAID}, "path": f"ops/{TOKEN}"}
    made = answer(calls, "remember", {"object": memory})["value"]
    answer(calls, "edit", {"ref": made["id"], "set": {"summary_micro": SAID, "metadata": {"m": MAIL}}})
    for verb, option in (("recall", "topic"), ("get", "refs"), ("edit", "refs")):
        assert TOKEN not in json.dumps(answer(calls, verb, {option: [SAID] if option == "refs" else SAID}))
    calls.close()


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
    run("edit", "a", "--tag", MAIL, "--tag", TOKEN)


def _import(run: Run, folder: Path) -> None:
    objects = tuple(memory(name, raw=f"{name}: {SAID}", summary_micro=SAID, tags=(TOKEN,)) for name in "ab")
    space = Space("main", objects, metadata={"owner": MAIL}, updated_at=NOW)
    (folder / "bundle.json").write_bytes(b"".join(FORMATS["json"].encode(seal(space))))
    run("import", "bundle.json")
    run("import", "bundle.json", "--mode", "replace", "-s", "other")


def _store(run: Run, folder: Path) -> None:
    objects = tuple(memory(name, raw=f"{name}: {SAID}", summary_micro=SAID) for name in "ab")
    team = folder / "team"  # another store, in which somebody wrote by hand
    make_store({"root": str(team)}, {})
    (team / ".memory" / "spaces" / "main.json").write_bytes(encode_space(Space("main", objects, updated_at=NOW)))
    run("init")
    assert run("store", "copy", "team", ".").code == 5
    assert run("store", "sync", "--with", "team").code == 0
    assert not holds(team)


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


def _session(run: Run, folder: Path) -> None:
    run("session", "start", "--title", SAID)
    run("session", "add", SAID, "--speaker", MAIL)
    header = {"format": "memcli/session", "version": 1, "id": "ses_x", "space": "main", "title": SAID, "key": TOKEN}
    said = {"number": 1, "role": "user", "text": SAID, "speaker": MAIL, "key": TOKEN}
    ended = {"state": "ended", "outcome": SAID}
    (folder / "s.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in (header, said, ended)))
    run("session", "import", "s.jsonl")


def _inbox(run: Run, folder: Path) -> None:
    run("remember", SAID, "--path", "a", "--propose")
    run("inbox", "edit", "a", "--set", f"raw=Now {SAID}", "--set", f"tags={MAIL}")
    run("inbox", "accept", "a")


def _feedback(run: Run, folder: Path) -> None:
    run("remember", "Plain.", "--path", "a")
    run("feedback", "a", "--unhelpful", "--reason", SAID)


def _gaps(run: Run, folder: Path) -> None:
    del os.environ["MEMCLI_FREEZE_CLOCK"]  # under which no question is kept
    run("remember", "Plain.", "--path", "a")
    run("space", "policy", "main", "--set", "gaps=true")
    run("recall", SAID)


def _adopt(run: Run, folder: Path) -> None:
    (folder / "CLAUDE.md").write_text(f"# Deploying\n\n- {SAID}\n- Ask {MAIL} first.\n")
    (folder / "notes").mkdir()
    (folder / "notes" / "deploy.md").write_text(f"---\ntitle: Deploy\nowner: {MAIL}\n---\n{SAID}\n")
    run("import", "CLAUDE.md")
    run("import", "notes")


ROUTES: dict[str, tuple[Callable[[Run, Path], None], ...]] = {
    "remember": (_remember, _batch), "edit": (_edit, _tag), "import": (_import, _adopt), "inbox": (_inbox,),
    "ingest": (_ingest, _commits), "watch": (_watch,), "space": (_space,), "store": (_store,), "hook": (_hook,), "mcp": (_mcp,), "serve": (_serve,),
    "session": (_session,), "feedback": (_feedback, _gaps),
}  # fmt: skip
NO_TEXT_COMES_IN = frozenset(
    "init demo doctor recall status help get list browse pin forget gc export schema completions restore diff blame merge-driver trust check guard agent off on link graph provider metrics".split()
)


def test_every_command_is_known_to_let_text_in_or_not() -> None:
    """A new command that stores what it is told belongs into ROUTES."""
    assert set(names()) == ROUTES.keys() | NO_TEXT_COMES_IN


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
    store = tmp_path / ".memory"
    sessions = (store / "local" / "sessions").glob("*/*.jsonl")
    files = [*(store / "spaces").iterdir(), *sessions]
    noted = [*rows(tmp_path, "usage"), *rows(tmp_path, "gap")]
    stored = "".join(file.read_text() for file in files) + str(noted)
    assert "edacted" in stored.casefold()
    assert "pii_flags" in stored or route in (_session, _feedback, _gaps)


def test_the_answer_says_what_was_taken_out(run: Run) -> None:
    assert run("remember", SAID, "--path", "a").out.rstrip().endswith("; redacted 1 email, 1 github_token")
    assert run("remember", SAID, "--path", "b", "--json").json["redactions"] == {
        "email": 1,
        "github_token": 1,
    }
    assert run("remember", "plain", "--json").json["redactions"] == {}
    assert run("edit", "a", "--set", f"raw={TOKEN}").out.rstrip().endswith("; redacted 1 github_token")


def flags_of(run: Run, path: str) -> list[str]:
    found: list[str] = run("get", path, "--json").json["metadata"]["pii_flags"]
    return found


def test_flags_are_the_same_on_every_machine(run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Kinds and counts; hashes only under the key that a team shares."""
    for machine in ("one", "two"):
        (tmp_path / machine / ".git").mkdir(parents=True)
        monkeypatch.chdir(tmp_path / machine)
        run("init")
        run("remember", f"{TOKEN} and {TOKEN} of {MAIL}", "--path", "a")
    files = [(tmp_path / machine / ".memory" / "spaces" / "main.json").read_bytes() for machine in ("one", "two")]
    assert files[0] == files[1]
    assert flags_of(run, "a") == ["email:1", "github_token:2"]
    run("remember", f"once more {TOKEN}", "--path", "a")
    assert flags_of(run, "a") == ["email:1", "github_token:2"]
    monkeypatch.setenv("MEMCLI_REDACTION_KEY", "a key that a team has in common")
    run("remember", f"c {TOKEN}", "--path", "c")
    assert flags_of(run, "c") == ["github_token:1", "github_token:8d71ffde"]


def test_the_key_is_made_for_a_name_and_kept_private(run: Run, tmp_path: Path) -> None:
    run("remember", "x", "--path", f"ops/{TOKEN}")
    key = tmp_path / ".memory" / "local" / "redaction.key"
    assert len(key.read_bytes()) == 32
    assert key.stat().st_mode & 0o777 == 0o600


def test_no_flag_smuggles_a_secret(run: Run, tmp_path: Path) -> None:
    flags = [TOKEN, "github_token:1", "email:0badcafe", 5]
    run("remember", "--object", json.dumps({"raw": "x", "path": "a", "metadata": {"pii_flags": flags}}))
    assert flags_of(run, "a") == ["email:0badcafe", "github_token:1"]
    assert not holds(tmp_path)


def test_what_was_ever_redacted_stays_known(run: Run) -> None:
    run("remember", f"first {TOKEN}", "--path", "a")
    run("remember", f"then {MAIL}", "--path", "a")
    run("edit", "a", "--set", "raw=nothing now", "--set", 'metadata={"x": 1}')
    kinds = [flag.partition(":")[0] for flag in run("get", "a", "--json").json["metadata"]["pii_flags"]]
    assert kinds == ["email", "github_token"]


def test_a_bad_key_is_told(run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("MEMCLI_REDACTION_KEY", "short")
    assert run("remember", TOKEN).code == 2
    monkeypatch.delenv("MEMCLI_REDACTION_KEY")
    key = tmp_path / ".memory" / "local" / "redaction.key"
    run("init")
    key.parent.mkdir(exist_ok=True)
    key.write_bytes(b"torn")
    told = run("remember", "x", "--path", TOKEN)
    assert told.code == 8
    assert "is not a key (4 bytes)" in told.err
    key.unlink()
    key.symlink_to("/etc/hostname")
    assert run("remember", "x", "--path", TOKEN).code == 8
    assert not holds(tmp_path)


def test_the_policy_of_the_space_holds(run: Run) -> None:
    run("space", "create", "main")
    rules = {"detectors": ["-email"], "patterns": [{"name": "ticket", "regex": r"TICK-\d+"}]}
    assert run("space", "policy", "main", "--set", f"pii_redaction={json.dumps(rules)}").code == 0
    run("remember", f"{MAIL} works on TICK-42 with {TOKEN}", "--path", "a")
    assert run("get", "a", "--json").json["raw"] == f"{MAIL} works on [REDACTED:ticket] with [REDACTED:github_token]"


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
    assert "built-in" in shown.err


@pytest.fixture
def repository(run: Run, tmp_path: Path) -> Path:
    (tmp_path / ".git").rmdir()
    git(tmp_path, "init", "-q", "-b", "main")
    return tmp_path


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
            for f in ("json", "md", "prompt", "table", "text")
        ),
        ["recall", "deploy", "--budget", "400", "--json"],
        ["recall", "--kind", "fact"],
        ["recall", "--under", "/"],
        ["get", "mem_a"],
        ["get", "mem_a", "--json"],
        ["get", "mem_a", "--field", "raw"],
        ["list"],
        ["list", "--json"],
        ["list", "--json", "--include-raw"],
        ["list", "--tree"],
        ["list", "--tree", "--json"],
        ["check", "secrets"],
        ["check", "secrets", "--json"],
    ],
    ids=" ".join,
)
def test_no_way_out(run: Run, hand_written: Path, arguments: list[str]) -> None:
    told = run(*arguments)
    assert told.out
    assert TOKEN not in told.out + told.err
    assert MAIL not in told.out + told.err


def test_no_branch_of_a_large_tree_gives_it_away(tmp_path: Path) -> None:
    workspace = open_at(tmp_path)
    names = [f"n{n}/x/y" for n in range(500)]
    shown = workspace.redactor.show_paths([*names[:321], f"ops/{MAIL}/x", *names[321:]], Policy())
    assert [path for path in shown if not path.startswith("ops/")] == names
    assert shown[321].startswith("ops/redacted-email-")
    assert MAIL not in shown[321]
    assert workspace.redactor.show_paths([], Policy()) == []


def test_an_export_refuses_what_redaction_takes_out(run: Run, hand_written: Path) -> None:
    refused = run("export")
    assert refused.code == 5
    assert "1 place has secrets in the export of space 'main'" in refused.err
    assert not (hand_written / ".memory" / "exports" / "main.json").exists()
    for form in ("json", "jsonl", "md"):
        out = hand_written / f"e.{form}"
        assert run("export", "--redact", "--out", str(out)).code == 0
        assert TOKEN not in out.read_text()
        assert MAIL not in out.read_text()
    assert run("export", "--redact", "--out", "-").out.count(TOKEN) == 0
    assert run("import", "e.json", "--space", "copy").code == 0
    assert run("export", "--tag", "none", "--out", "part.json").code == 0


def test_an_export_looks_at_the_header_too(run: Run, tmp_path: Path) -> None:
    run("remember", "plain")
    run("space", "create", "main", "--meta", "owner=ann")
    file = tmp_path / ".memory" / "spaces" / "main.json"
    file.write_text(file.read_text().replace('"ann"', f'"{TOKEN}"'))
    assert run("export").code == 5
    assert run("export", "--redact").code == 0
    assert TOKEN not in (tmp_path / ".memory" / "exports" / "main.json").read_text()


def test_a_diff_shows_no_secret(run: Run, repository: Path) -> None:
    run("remember", "Deploy on Monday", "--path", "ops/deploy")
    git(repository, "add", "-A")
    git(repository, "commit", "-q", "-m", "one")
    file = repository / ".memory" / "spaces" / "main.json"
    file.write_text(file.read_text().replace("Deploy on Monday", f"Deploy with {TOKEN}"))
    for arguments in (["diff"], ["diff", "--json"], ["diff", "--stat"]):
        told = run(*arguments)
        assert "1 changed" in told.out or "changed" in told.out
        assert TOKEN not in told.out
    assert "[REDACTED:github_token]" in run("diff").out


@pytest.mark.parametrize("field", ["export_path", "auto_pin", "pii_redaction"])
def test_a_policy_holds_no_secret(run: Run, tmp_path: Path, field: str) -> None:
    value = {
        "export_path": f"exports/{TOKEN}.json",
        "auto_pin": json.dumps([{"under": TOKEN}]),
        "pii_redaction": json.dumps({"patterns": [{"name": "own", "regex": TOKEN}]}),
    }[field]
    run("remember", "plain")
    refused = run("space", "policy", "main", "--set", f"{field}={value}")
    assert (refused.code, f"policy.{field} holds a secret" in refused.err) == (2, True)
    assert not holds(tmp_path)


def test_digests_are_no_way_in(run: Run, tmp_path: Path) -> None:
    anchor = {"file": "a.py", "hash": TOKEN, "commit": TOKEN}
    run("remember", "--object", json.dumps({"raw": "x", "anchors": [anchor], "metadata": {"hash": TOKEN}}))
    run("remember", "y", "--commit", TOKEN)
    run("remember", "z", "--id", TOKEN)
    assert not holds(tmp_path)


def test_a_user_is_no_way_in(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMCLI_USER", TOKEN)
    run("remember", "x")
    assert not holds(tmp_path)


def test_a_watch_writes_no_name_that_is_a_secret(run: Run, repository: Path) -> None:
    (repository / TOKEN).mkdir()
    (repository / TOKEN / f"{TOKEN}.md").write_text("A note.\n")
    (repository / "plain.md").write_text("Another note.\n")
    run("init")
    assert run("watch", "--once").code == 0
    assert not holds(repository)
    assert "plain.md" in (repository / ".memory" / "local" / "repo.watch.json").read_text()


def test_no_ordinary_text_stops_a_command(run: Run) -> None:
    """An empty password made a rule fail, and with it every command that met the text."""
    said = "Authorization: Basic YWRtaW46"
    assert run("remember", said).code == 0
    for arguments in (
        ["list"],
        ["recall", "authorization"],
        ["recall", "authorization"],
        ["export"],
        ["check", "secrets"],
    ):
        assert run(*arguments).code == 0, arguments


@pytest.mark.parametrize(
    ("said", "path"),
    [
        ("The wifi password is sunshine99", "facts/wifi-password"),
        ("password: hunter2", "facts/password"),
        ("login admin / correcthorsebattery", "facts/login-admin"),
    ],
)
def test_weak_passwords_are_kept_nowhere(run: Run, tmp_path: Path, said: str, path: str) -> None:
    assert f" {path}; redacted 1 " in run("remember", said).out
    assert not holds(tmp_path, said.rsplit(maxsplit=1)[-1])


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


def test_addresses_in_names_of_files_are_redacted(run: Run, tmp_path: Path) -> None:
    names = ("docs/jane.doe@corp.org.md", "docs/john.doe@corp.org.md", "jack.roe@corp.org/notes.md")
    for name in names:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(f"# Notes\n\nThe cache of {len(name)} is Redis, {name[5]}.\n")
    assert run("ingest", ".", "--json").json["created"] == 3
    again = run("ingest", ".", "--json").json
    assert (again["deduplicated"], again.get("retired", 0)) == (3, 0)
    stored = (tmp_path / ".memory/spaces/repo.json").read_text()
    assert not [part for part in ("jane", "john", "jack", "corp") if part in stored]
    assert len({memory["metadata"]["source"] for memory in json.loads(stored)["objects"]}) == 3
    run("remember", "The font is here.", "--path", "assets/icon@2x.png", "--tag", "x")
    assert run("get", "assets/icon@2x.png").code == 0


def memories_of(folder: Path) -> list[dict[str, Any]]:
    found = json.loads((folder / ".memory/spaces/repo.json").read_text())["objects"]
    return [memory for memory in found if memory.get("active", True)]


def test_addresses_in_names_of_files_are_redacted_in_what_is_told_of_commits(run: Run, tmp_path: Path) -> None:
    (tmp_path / ".git").rmdir()
    git(tmp_path, "init", "-q")
    (tmp_path / "jack.roe@corp.org").mkdir()
    names = ["docs/jane.doe@corp.org.md", "jack.roe@corp.org/notes.md", "john.doe@corp.org.py", "x@mail.163.com"]
    for n, name in enumerate(names):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(f"text of {name}\n" * (n + 1))
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-qm", "Add notes")
    git(tmp_path, "mv", names[0], "docs/june.doe@corp.org.md")
    git(tmp_path, "commit", "-qm", f"Rename {names[0]}")
    (tmp_path / names[1]).write_text("a\n")
    (tmp_path / names[2]).write_text("b\n")
    git(tmp_path, "commit", "-qam", "Two at once")
    (tmp_path / names[3]).write_text("c\n")
    git(tmp_path, "add", "-A")
    assert run("ingest", "--git", "HEAD", "--json").json["created"] >= 6
    assert run("ingest", "--staged", "--json").json["created"] == 1
    stored = b"".join(file.read_bytes() for file in (tmp_path / ".memory").rglob("*") if file.is_file())
    assert [name for name in (b"jane", b"june", b"jack", b"john", b"corp.org", b"mail.163") if name in stored] == []
    assert run("ingest", "--git", "HEAD", "--json").out.count('"created": 0') == 1


def test_files_whose_names_were_redacted_are_missed(run: Run, tmp_path: Path) -> None:
    names = ("docs/jane.doe@corp.org.md", "docs/john.doe@corp.org.md", "jack.roe@corp.org/notes.md")
    for name in names:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(f"# Notes\n\nThe cache of {len(name)} is Redis, {name[5]}.\n")
    run("ingest", ".")
    before = memories_of(tmp_path)
    (tmp_path / names[0]).unlink()
    assert run("ingest", "jack.roe@corp.org", "--json").json["retired"] == 0
    assert run("ingest", "docs", "--json").json["retired"] == 1
    assert len(memories_of(tmp_path)) == len(before) - 1
    shutil.rmtree(tmp_path / "jack.roe@corp.org")
    assert run("ingest", ".", "--json").json["retired"] == 1
    assert [memory["summary_micro"] for memory in memories_of(tmp_path)] == ["Notes: The cache of 25 is Redis, j."]


def test_sections_of_a_file_whose_name_was_redacted_are_missed(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "jane.doe@corp.org.md"
    sections = [f"## Part {n}\n\n" + f"Words of part {n}. " * 80 for n in range(3)]
    file.write_text("\n\n".join(sections))
    run("ingest", ".")
    file.write_text("\n\n".join(sections[:2]))
    assert run("ingest", ".", "--json").json["retired"] == 1
    assert len(memories_of(tmp_path)) == 2
