"""One secret and one address on every way into a store: no file below it holds them afterwards but those of the user.

A way that is added to memcli (a command, an environment variable, a file that carries text) belongs into WAYS.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from memcli.cli.calls import Calls
from memcli.cli.verb import find_verb, names
from memcli.codec.bundle import ENCODERS, seal
from memcli.codec.space import encode_space
from memcli.errors import MemcliError
from memcli.extras.mcp.offer import make_offer
from memcli.model.space import Space
from memcli.wiring.roots import make_store
from tests.cli.conftest import commit, git
from tests.conftest import NOW, Run, memory, open_at, rewrite
from tests.faults.scene import PRIVATE
from tests.safety.secrets_corpus import secret

TOKEN = secret("github_token", 901)[1]
MAIL = "zqmaravoss@corp-mail.io"
SAID = f"The deploy uses {TOKEN}, ask {MAIL} for it."
CANARIES = (TOKEN[8:24].lower().encode(), MAIL.partition("@")[0].encode())
"""What gives them away, also in a slug, among the terms of an index, or where they were cut."""
LINES = (
    {"role": "user", "content": SAID},
    {"type": "user", "sessionId": TOKEN, "uuid": MAIL, "cwd": f"/home/{MAIL}", "gitBranch": MAIL, "timestamp": NOW,
     "message": {"role": "user", "content": SAID}},
    {"type": "assistant", "sessionId": TOKEN, "uuid": "u2", "parentUuid": MAIL, "timestamp": NOW,
     "message": {"role": "assistant", "model": TOKEN, "content": [
         {"type": "tool_use", "id": "x", "name": "Bash", "input": {"command": SAID}}]}},
    {"format": "memcli/session", "version": 1, "id": "ses_x", "space": "main", "title": SAID, "key": TOKEN},
    {"number": 1, "role": "user", "text": SAID, "speaker": MAIL, "key": TOKEN},
    {"state": "ended", "outcome": SAID},
)  # fmt: skip


class Walk:
    """A store in a repository of its own, and the commands that bring text into it."""

    def __init__(self, run: Run, folder: Path, patch: pytest.MonkeyPatch) -> None:
        self.run, self.folder, self.patch = run, folder, patch
        self.own: list[Path] = []  # files that the user wrote

    def each(self, *lines: str) -> None:
        """Runs lines of words; `M` and `T` are the canaries, and `S` is the sentence with both."""
        for line in lines:
            names = {"M": MAIL, "T": TOKEN, "S": SAID}
            self.run(*(names.get(word, word.replace("{M}", MAIL).replace("{T}", TOKEN)) for word in line.split()))

    def write(self, name: str, text: str) -> Path:
        file = self.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file

    def by_hand(self, name: str, before: str, after: str) -> None:
        """Edits a file of the store as a user does."""
        file = self.folder / ".memory" / name
        text = file.read_text()
        assert before in text
        file.write_text(text.replace(before, after))
        self.own.append(file)

    def edited_store(self) -> None:
        """A store in whose file somebody wrote, and nothing beside it."""
        words = dict.fromkeys(("raw", "summary_micro", "summary_short", "summary_long"), f"Deploy: {SAID}")
        metadata = {"who": MAIL, "group": MAIL, "speaker": MAIL, "source": f"{MAIL}.md"}
        bad = memory(
            "a", **words, tags=("deploy", MAIL), path=f"ops/{MAIL}", metadata=metadata, content={"t": TOKEN},
            triggers=(TOKEN,), kind="negative",
        )  # fmt: skip
        worse = memory(f"b-{TOKEN}", raw="A bad id.", path="ops/id", links=({"to": "mem_a", "relation": "relates_to"},))
        rewrite(open_at(self.folder).store, lambda space: space.put([bad, worse], NOW))
        for folder in (".memory/cache", ".memory/local", PRIVATE):
            shutil.rmtree(self.folder / folder, ignore_errors=True)
        self.own.append(self.folder / ".memory" / "spaces" / "main.json")

    def has_redacted(self) -> bool:
        """Whether something was stored in whose place a mark stands."""
        files = [*(self.folder / ".memory/spaces").glob("*.json"), *(self.folder / PRIVATE).rglob("*.json*")]
        return any(b"redacted" in file.read_bytes().lower() for file in files if file not in self.own)

    def leaks(self) -> Iterator[str]:
        for store in (self.folder / ".memory", self.folder / PRIVATE, self.folder / "global"):
            for file in sorted(store.rglob("*")):
                name = str(file.relative_to(self.folder))
                data = file.read_bytes() if file.is_file() and file not in self.own else b""
                if any(mark in data.lower() or mark in name.lower().encode() for mark in CANARIES):
                    yield name


def _environment(walk: Walk) -> None:
    for name, value in (
        ("MEMCLI_USER", MAIL), ("MEMCLI_USER", TOKEN), ("LOGNAME", MAIL), ("USER", MAIL), ("HOSTNAME", MAIL),
        ("MEMCLI_SESSION", MAIL), ("MEMCLI_SESSION", TOKEN), ("MEMCLI_SPACE", MAIL), ("MEMCLI_BACKEND", TOKEN),
        ("MEMCLI_SEMANTIC_MODEL", f"openai:{TOKEN}"), ("MEMCLI_REDACTION_KEY", TOKEN * 2),
        ("MEMCLI_EMBEDDER", f"onnx:/nowhere/{MAIL}"), ("MEMCLI_CUSTOM_API_KEY", TOKEN),
        ("MEMCLI_CUSTOM_BASE_URL", f"http://{TOKEN}@localhost:1"),
    ):  # fmt: skip
        with pytest.MonkeyPatch.context() as patch:
            if name in ("LOGNAME", "USER"):
                patch.delenv("MEMCLI_USER", raising=False)
            patch.setenv(name, value)
            walk.each(f"remember {name}:{value[:1]} --path e/{name.lower()}", "recall fact", "session add said")


def _remember(walk: Walk) -> None:
    walk.each(
        "remember S --tag M --meta who={M} --reason S --trigger T --embed",
        "remember x --path ops/{T} --id my-{T} --summary-micro S", "remember y --path ops/{M}/x.md --id M",
        "remember z --session M --speaker M --anchor {M}.md:1-2 --season M --kind T", "remember T --id T --commit T",
        "remember u --project M --path-hint M", "remember g --scope global --meta who={M}",
        "remember v --link {M}:u", "remember w --link depends_on:{M}", "remember S --propose", "remember -f {M}.txt",
        "remember --batch {M}.missing",
    )  # fmt: skip
    for name in (MAIL, TOKEN):
        walk.write(f"{name}.txt", f"A file of {name[:1]}.\n")
        walk.each(f"remember -f {name}.txt", f"remember k --anchor {name}.txt:1-1")
    walk.run("remember", "-", stdin=SAID)
    walk.run("remember", "c", "--context", "100", stdin=SAID)
    anchor = {"file": "a.py", "hash": TOKEN, "commit": TOKEN}
    given = {
        "raw": SAID, f"x_{TOKEN}": MAIL, "content": {TOKEN: MAIL}, "metadata": {"hash": TOKEN, "pii_flags": [TOKEN]},
    }  # fmt: skip
    walk.run("remember", "--object", json.dumps({**given, "anchors": [anchor]}))
    walk.write("b.jsonl", f"{json.dumps({'raw': SAID, 'tags': [TOKEN]})}\n{SAID}\n")
    walk.each("remember --batch b.jsonl")


def _manage(walk: Walk) -> None:
    walk.each(
        "remember plain --path a", "remember plainer --path b", "link a b --relation M", "edit a --tag M --tag T", "pin M",
        "forget M", "get M", "link a M --remove", "edit a --set path=ops/{M}", "edit b --set anchors={M}.txt:1-1",
        "space create M", "space create T", "space create ops --meta {M}={T}",
        'space policy main --set auto_pin=[{"tag":"{M}"}]', 'space policy main --set retention={"{M}":3}',
        "space policy main --set export_path=exports/{M}", "space policy main --set backend={T}",
        'space policy main --set seasons={"{T}":"01-01..02-01"}', 'space policy main --set quota={"{M}":{"usd":1}}',
        "feedback b --unhelpful --reason S", "export --out exports/{M}.json", "restore M", "trust M", "inbox accept M",
        "serve token create --role reader --name M", "serve token create --role reader --name T", "store maintain", "graph b",
    )  # fmt: skip
    walk.run("edit", "b", "--set", f"raw={SAID}", "--set", f'metadata={{"{MAIL}":"{TOKEN}"}}')
    walk.each("remember S --path p --propose", "inbox edit p --set tags={M}", "inbox accept p")
    editor = walk.write("editor.py", f"import sys; open(sys.argv[1], 'a').write({SAID!r})")
    walk.patch.setenv("EDITOR", f"{sys.executable} {editor}")
    walk.each("edit b")


def _ask(walk: Walk) -> None:
    walk.patch.delenv("MEMCLI_FREEZE_CLOCK")  # under which no question is kept
    walk.each("remember plain", "space policy main --set gaps=true")
    for word in "SMT":
        walk.each(
            f"recall {word}", f"recall --under {word}", f"session context {word}", f"recall --kind {word}",
            f"recall deploy --about {word}", f"list {word}", f"list --tree {word}", f"session topic {word} other",
            f"recall deploy --tag {word}", f"remember {word} --path q/{word.lower()}",
        )  # fmt: skip


def _sessions(walk: Walk) -> None:
    name = walk.run("session", "start", "--title", SAID).out.strip()
    walk.run("session", "add", name, SAID, "--speaker", MAIL, "--role", "user")
    walk.run("session", "add", name, f"We decided to ask {MAIL} because {TOKEN} works.", "--role", "user")
    walk.run("session", "end", name, "--outcome", SAID)
    walk.each(f"session share {name}", f"session arc {name}", f"session facts {name}", "session start --id M")
    for file in (MAIL, TOKEN):
        for number, lines in enumerate((LINES[:1], LINES[1:3], LINES[3:])):
            walk.write(f"{file}-{number}.jsonl", "".join(f"{json.dumps(line)}\n" for line in lines))
            walk.each(f"session import {file}-{number}.jsonl", f"session facts --from {file}-{number}.jsonl")
    walk.each("recall deploy --scope session", "session delete M", "remember k --context")


def _ingest(walk: Walk) -> None:
    for name in (f"notes/{MAIL}.md", f"{TOKEN}.md"):
        walk.write(name, "# Named badly\n\nIt is needed for queues.\n")
    walk.write(f"{MAIL}/mod.py", "def f():\n    return 1\n")
    walk.write("plain.md", f"---\ntitle: {SAID}\nauthor: {MAIL}\n---\n# {TOKEN}\n\n{SAID}\n")
    walk.each("ingest .")
    git(walk.folder, "config", "user.name", TOKEN)
    git(walk.folder, "config", "user.email", MAIL)
    commit(walk.folder, "app.py", f"print('{TOKEN}')\n", f"Ask {MAIL}\n\nSigned-off-by: Ann <{MAIL}>")
    git(walk.folder, "checkout", "-qb", f"feature/{MAIL}")
    git(walk.folder, "tag", TOKEN)
    git(walk.folder, "mv", f"notes/{MAIL}.md", f"notes/other-{MAIL}.md")
    git(walk.folder, "commit", "-qm", "Move")
    walk.each("ingest --git HEAD", "ingest .", "ingest notes/{M}.md")
    walk.run("recall", f"what changed since tag {TOKEN}?")
    walk.write(f"{MAIL}/mod.py", f"def f():\n    return '{TOKEN}'\n")
    git(walk.folder, "add", "-A", "--", f"{MAIL}/mod.py")
    walk.each(
        "ingest --staged", "remember About --anchor notes/other-{M}.md:1-2", "check code", "check code --reanchor"
    )
    walk.each("watch --once")
    watched = walk.write(f"w-{MAIL}.md", "# W\n\nWatched.\n")
    walk.each("watch --once")
    watched.unlink()
    walk.patch.setenv("MEMCLI_HOOK_FOREGROUND", "1")
    hooks = (f"hook run {name}" for name in ("post-commit", "post-merge", "post-checkout"))
    walk.each("watch --once", *hooks, "hook install")


def _import(walk: Walk) -> None:
    note = (
        f"---\ntitle: t\nowner: {MAIL}\ntags: [{TOKEN}]\n---\nText {SAID}\n- [fact] some #{TOKEN}\n- see [[{MAIL}]]\n"
    )
    walk.write(f"imported-{MAIL}/{TOKEN}.md", note)
    rules = f"# Deploy\n\n- {SAID}\n- Ask {MAIL} first.\n\n## {MAIL}\n\n- Wait.\n\n## Use {TOKEN}\n\n- No.\n"
    walk.write("CLAUDE.md", rules)
    entity = {"type": "entity", "name": MAIL, "entityType": TOKEN, "observations": [SAID]}
    relation = {"type": "relation", "from": MAIL, "to": "x", "relationType": TOKEN}
    walk.write("graph.jsonl", f"{json.dumps(entity)}\n{json.dumps(relation)}\n")
    objects = tuple(memory(name, raw=f"{name}: {SAID}", path=f"imp/{MAIL}-{name}", tags=(TOKEN,)) for name in "ab")
    space = Space("main", objects, metadata={"owner": MAIL}, updated_at=NOW)
    (walk.folder / f"{MAIL}.json").write_bytes(b"".join(ENCODERS["json"](seal(space))))
    walk.each(
        "import imported-{M}", "import CLAUDE.md", "import graph.jsonl", "import {M}.json",
        "import {M}.json --mode replace -s other", "import {M}.missing",
    )  # fmt: skip


def _team(walk: Walk) -> None:
    """Another store, in which somebody wrote by hand."""
    words = dict.fromkeys(("raw", "summary_micro"), SAID)
    objects = tuple(memory(name, **{**words, "raw": f"{name}: {SAID}"}) for name in "ab")
    make_store({"root": str(walk.folder / "team")}, {})
    (walk.folder / "team/.memory/spaces/main.json").write_bytes(encode_space(Space("main", objects, updated_at=NOW)))
    assert walk.run("store", "copy", "team", ".").code == 5
    assert walk.run("store", "sync", "--with", "team").code == 0
    assert SAID not in (walk.folder / "team/.memory/spaces/main.json").read_text()


def _agents(walk: Walk) -> None:
    walk.patch.delenv("MEMCLI_FREEZE_CLOCK")
    walk.each("remember S --path a")
    for event in ("session-start", "prompt", "before-tool", "after-compaction", "stop", "session-end"):
        for name in (MAIL, TOKEN, "abc"):
            transcript = walk.write(f"tr-{name}.jsonl", f"{json.dumps({**LINES[1], 'sessionId': name})}\n")
            payload = {
                "hook_event_name": event, "session_id": f"s{len(name)}", "cwd": str(walk.folder), "prompt": SAID, "tool_name": "Edit",
                "tool_input": {"file_path": f"{walk.folder}/{MAIL}.py", "new_string": SAID, "command": SAID},
                "transcript_path": str(transcript), "trigger": "auto", "reason": SAID, "source": MAIL,
            }  # fmt: skip
            for agent in ("claude", "codex"):
                walk.run("hook", "run", event, "--agent", agent, stdin=json.dumps(payload))
    walk.each("session sync", "session list", "session import --discover", "recall anything")


def _programs(walk: Walk) -> None:
    """What programs give: tools of the MCP server, and calls as those of `serve` and of the Python interface."""
    calls = Calls({}, lambda _: None)
    tools = {tool.name: tool for tool in make_offer(calls, "all").tools}
    for name, options in (
        ("remember", {"text": SAID, "tag": [MAIL], "path": f"m/{TOKEN}", "reason": SAID, "trigger": [TOKEN]}),
        ("recall", {"topic": SAID}), ("feedback", {"refs": [MAIL], "reason": SAID}), ("forget", {"refs": [MAIL]}),
        ("context", {"query": SAID}),
    ):  # fmt: skip
        with suppress(MemcliError):  # there is no such memory
            assert TOKEN not in tools[name].call(options)
    fields = {"raw": f"Again: {SAID}", "tags": [MAIL], "provenance": {"reason": SAID}, "path": f"ops/{TOKEN}"}
    made = calls.run(find_verb("remember"), (), {"object": fields})
    for verb, given in (
        ("edit", {"refs": [made["id"]], "set": {"summary_micro": SAID, "metadata": {"m": MAIL}}}),
        ("recall", {"topic": SAID}), ("get", {"refs": [SAID]}),
    ):  # fmt: skip
        with suppress(MemcliError):
            assert TOKEN not in json.dumps(calls.run(find_verb(verb), (), given))
    calls.close()


def _hand_read(walk: Walk) -> None:
    walk.edited_store()
    walk.each(
        "recall deploy", "list", "list --tree", "get mem_a", "get ops/{M}", "graph", "store index embed", "status --stats",
        "check secrets", "check store", "recall --kind negative", "guard", "diff", "blame mem_a",
    )  # fmt: skip
    git(walk.folder, "add", "-A")
    git(walk.folder, "commit", "-qm", "x")
    walk.each("recall deploy --rev HEAD", "diff HEAD~1", "blame mem_a")


def _hand_changed(walk: Walk) -> None:
    walk.edited_store()
    walk.each(
        "pin mem_a", "edit mem_a --tag x", "edit mem_a --set kind=fact", "remember More --link depends_on:mem_a",
        "link ops/id mem_a", "forget mem_a", "recall deploy", "store maintain",
    )  # fmt: skip


def _hand_removed(walk: Walk) -> None:
    walk.edited_store()
    walk.each("forget mem_a --purge --yes", "space policy main --set allow_delete=true", "space delete main")


def _hand_torn(walk: Walk) -> None:
    walk.edited_store()
    file = walk.own[0]
    file.write_bytes(file.read_bytes()[:-30])
    walk.each("check store --repair", "recall deploy")


def _hand_header(walk: Walk) -> None:
    walk.each("remember plain")
    walk.by_hand(
        "spaces/main.json", '"policy": {}', json.dumps({"auto_pin": [{"tag": MAIL}]})[1:-1].join(('"policy": {', "}"))
    )
    walk.by_hand("spaces/main.json", '"metadata": {}', f'"metadata": {{"who": "{MAIL}"}}, "x_y": "{TOKEN}"')
    walk.each("recall plain", "remember more", "space show main", "check store --repair", "recall plain")


def _hand_session(walk: Walk) -> None:
    name = walk.run("session", "start").out.strip()
    walk.run("session", "add", name, "The deploy is plain.", "--role", "user")
    (file,) = (walk.folder / PRIVATE).rglob(f"{name}.jsonl")
    file.write_text(f"{file.read_text()}{json.dumps({**LINES[4], 'number': 2})}\n")
    walk.own.append(file)
    walk.each(
        "recall deploy --scope session",
        f"session context deploy --session {name}",
        f"session end {name}",
        "recall deploy",
    )


def _hand_beside(walk: Walk) -> None:
    walk.each("remember Waiting --propose --path p/q")
    walk.by_hand(f"../{PRIVATE}/inbox/spaces/main.json", "Waiting", SAID)
    walk.write("n.md", "# Deploy\n\nThe deploy is plain.\n")
    walk.each("ingest n.md")
    walk.by_hand("spaces/repo.json", "The deploy is plain", SAID)
    walk.write(".memory/config.toml", f'project = "{MAIL}"\n')
    walk.own.append(walk.folder / ".memory" / "config.toml")
    walk.each(
        "inbox", "inbox accept p/q", "recall deploy", "pin n", "link n/deploy n", "list", "ingest n.md", "remember Fact"
    )


WAYS: tuple[Callable[[Walk], None], ...] = (
    _environment, _remember, _manage, _ask, _sessions, _ingest, _import, _team, _agents, _programs, _hand_read, _hand_changed,
    _hand_removed, _hand_torn, _hand_header, _hand_session, _hand_beside,
)  # fmt: skip
STORED = (_remember, _manage, _sessions, _ingest, _import, _team, _agents, _programs)
"""Those after which the store has what was said, with the canaries taken out."""


def test_every_command_is_known_to_let_text_in_or_not() -> None:
    """A new command that stores what it is given belongs into a way above."""
    gives = "remember edit import inbox ingest watch space store hook mcp serve session feedback".split()
    gives_none = (
        "init demo doctor recall status help get list browse pin forget gc export schema completions restore diff blame "
        "merge-driver trust check guard agent off on link graph provider metrics"
    )
    assert set(names()) == {*gives, *gives_none.split()}


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__[1:])
def test_no_canary_gets_into_a_file_of_memcli(
    way: Callable[[Walk], None], run: Run, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMCLI_GLOBAL", str(repository / "global"))
    commit(repository, "a.py", "x = 1\n", "First")
    run("init", "--git")
    walk = Walk(run, repository, monkeypatch)
    way(walk)
    walk.each("recall deploy", "store index embed", "list", "check store --repair")
    assert list(walk.leaks()) == []
    assert way not in STORED or walk.has_redacted()
