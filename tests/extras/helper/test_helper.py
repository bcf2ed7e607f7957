"""A helper answers as the process itself does, and where there is any doubt the process does."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from types import ModuleType

import pytest

from memcli import client
from memcli.extras.helper import starting
from memcli.extras.helper.answering import Sources
from memcli.wiring.workspace_cache import WorkspaceCache
from tests.cli.conftest import until
from tests.conftest import NOW, ROOT

pytestmark = pytest.mark.skipif(not hasattr(socket, "SO_PEERCRED"), reason="what it promises holds on Linux")

DIFF = "diff --git a/x.py b/x.py\n--- a/x.py\n+++ b/x.py\n@@ -0,0 +1 @@\n+import yapf\n"
PROMPT = {"session_id": "s", "hook_event_name": "UserPromptSubmit", "prompt": "Which database do we use?"}


class Place:
    """A repository with a store, and the helper that answers for it."""

    def __init__(self, folder: Path, runtime: Path) -> None:
        self.folder, self.root, self.runtime = folder, folder / ".memory", runtime / "memcli"
        self.environ = {**os.environ, "XDG_RUNTIME_DIR": str(runtime), "PYTHONPATH": str(ROOT)}
        self.helper: subprocess.Popen[bytes] | None = None

    def memcli(
        self, *args: str, mode: str = "", given: str | None = None, **options: object
    ) -> subprocess.CompletedProcess[str]:
        environ = {**self.environ, client.VARIABLE: mode}
        command = [sys.executable, "-P", "-m", "memcli", *args]
        stdin = {"stdin": subprocess.DEVNULL} if given is None else {"input": given}
        values: Mapping[str, object] = {"cwd": self.folder, "env": environ, **stdin, **options}
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60, **values)  # type: ignore[call-overload, no-any-return]

    def start(self, session: str = "", *parents: int) -> None:
        words = [str(self.root), session, *map(str, parents)]
        self.helper = subprocess.Popen(
            [sys.executable, "-P", "-m", "memcli.extras.helper", *words], env=self.environ, cwd=self.folder
        )
        until(lambda: self.answered() is not None)

    def answered(self) -> int | None:
        """The number of commands that the helper has answered; None where there is none."""
        found = starting.running(str(self.root))
        return None if found is None else found[1]

    def has_ended(self) -> bool:
        assert self.helper is not None
        return self.helper.poll() is not None


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    with tempfile.TemporaryDirectory(prefix="m") as short:  # the path of a socket has at most 107 bytes
        monkeypatch.setenv("XDG_RUNTIME_DIR", short)
        for name in ("CI", "MEMCLI_FREEZE_CLOCK"):
            monkeypatch.delenv(name, raising=False)
        folder = tmp_path / "repository"
        folder.mkdir()
        found = Place(folder, Path(short))
        subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
        assert found.memcli("init").returncode == 0
        text = "We use PostgreSQL as the database, because we need JSONB."
        assert found.memcli("remember", text, "--path", "db/choice").returncode == 0
        rule = ("Never format with yapf.", "--trigger", "import yapf", *"--kind negative --enforce --path py".split())
        assert found.memcli("remember", *rule).returncode == 0
        yield found
        if found.helper is not None:
            found.helper.kill()
            found.helper.wait()


COMMANDS: list[tuple[tuple[str, ...], str | None]] = [
    (("recall", "which database do we use?"), None),
    (("recall", "which database do we use?", "--json"), None),
    (("recall", "which database?", "--explain", "--format", "md"), None),
    (("recall", "the colour of the moon", "--fail-empty"), None),
    (("recall", "x", "--limit", "0"), None),
    (("list",), None),
    (("list", "--json"), None),
    (("get", "db/choice"), None),
    (("show", "db/choice", "--json"), None),
    (("get", "nothing"), None),
    (("get", "--json", "nothing"), None),
    (("guard", "--diff", "-"), DIFF),
    (("guard", "--diff", "-", "--format", "sarif"), DIFF),
    (("guard", "--diff", "-"), "no diff"),
    (("hook", "run", "prompt", "--agent", "claude"), json.dumps(PROMPT)),
    (("hook", "run", "prompt", "--agent", "generic"), "no JSON"),
    (("hook", "run", "stop", "--agent", "nobody"), "{}"),
]


def test_the_answers_are_the_same(place: Place) -> None:
    place.start()
    differ = []
    for n, (args, given) in enumerate(COMMANDS):
        alone = given and given.replace('"s"', f'"{n}"')
        with_helper = given and given.replace('"s"', f'"{n} again"')
        frozen = {"given": alone}, {"given": with_helper}
        place.environ["MEMCLI_FREEZE_CLOCK"] = NOW
        found = [
            (done.returncode, done.stdout, done.stderr)
            for mode, options in zip((client.OFF, client.REQUIRE), frozen, strict=True)
            for done in [place.memcli(*args, mode=mode, **options)]
        ]
        if found[0] != found[1]:
            differ.append((args, *found))
    assert not differ
    assert place.answered() == len(COMMANDS)


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_both_streams_reach_one_pipe_in_the_same_order(place: Place, unbuffered: str) -> None:
    notes = "".join(json.dumps({"raw": f"Note {n} says {n * n}.", "path": f"n/{n}"}) + "\n" for n in range(120))
    assert place.memcli("remember", "--batch", "-", given=notes).returncode == 0
    place.environ["PYTHONUNBUFFERED"] = unbuffered
    place.start()

    def merged(mode: str) -> bytes:
        command = [sys.executable, "-P", "-m", "memcli", "list", "--json", "--limit", "60"]
        environ = {**place.environ, client.VARIABLE: mode, "MEMCLI_FREEZE_CLOCK": NOW}
        return subprocess.run(
            command, cwd=place.folder, env=environ, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=True
        ).stdout

    assert merged(client.REQUIRE) == merged(client.OFF)


def test_what_others_write_meanwhile_is_answered(place: Place) -> None:
    place.start()
    assert place.memcli("remember", "Releases are cut on Tuesdays.", "--path", "release").returncode == 0
    assert "Tuesdays" in place.memcli("recall", "when are releases cut?", mode=client.REQUIRE).stdout
    assert place.memcli("forget", "release").returncode == 0
    assert "Tuesdays" not in place.memcli("recall", "when are releases cut?", mode=client.REQUIRE).stdout
    assert place.answered() == 2


def test_the_caller_decides_folder_environment_and_mask(place: Place) -> None:
    below = place.folder / "below"
    below.mkdir()
    place.start()
    place.environ |= {"MEMCLI_OFF": "1", "MEMCLI_USER": "eve"}
    done = place.memcli("hook", "run", "prompt", "--agent", "claude", given=json.dumps(PROMPT), mode=client.REQUIRE)
    assert (done.returncode, done.stdout) == (0, "")
    del place.environ["MEMCLI_OFF"]
    done = place.memcli("recall", "which database?", mode=client.REQUIRE, cwd=below)
    assert "PostgreSQL" in done.stdout
    done = place.memcli("guard", "--diff", "patch", mode=client.REQUIRE, cwd=below)
    assert "patch" in done.stderr
    (below / "patch").write_text(DIFF)
    assert place.memcli("guard", "--diff", "patch", mode=client.REQUIRE, cwd=below).returncode == 5


def test_nobody_is_asked_where_it_might_matter(place: Place) -> None:
    place.start()
    asked = place.answered()
    for environ in ({"CI": "1"}, {"MEMCLI_FREEZE_CLOCK": NOW}, {"MEMCLI_ROOT": str(place.root)}):
        before = dict(place.environ)
        place.environ |= environ
        assert "PostgreSQL" in place.memcli("recall", "which database?").stdout
        place.environ = before
    for args in (("--root", str(place.folder)), ("--freeze-clock", NOW)):
        assert "PostgreSQL" in place.memcli("recall", "which database?", *args).stdout
    assert place.memcli("recall", "which database?", mode=client.OFF).returncode == 0
    assert place.answered() == asked
    # These reach it, and it declines.
    place.environ["LC_ALL"] = "POSIX" if os.environ.get("LC_ALL") != "POSIX" else "C"
    assert "PostgreSQL" in place.memcli("recall", "which database?").stdout
    done = place.memcli("recall", "which database?", mode=client.REQUIRE)
    assert (done.returncode, done.stderr) == (1, "memcli: no helper answered (MEMCLI_HELPER=require)\n")
    assert place.answered() == asked


def test_who_cannot_write_the_store_is_not_answered(place: Place) -> None:
    place.start()
    name = client.socket_name(str(place.root))
    own = [f"{key}={value}" for key, value in place.environ.items()]
    call = (client.RUN, client.surroundings(), "63", str(place.folder), "", "1", "list", *own)
    for file, mode, reason in (
        (place.runtime / f"{name}.store", "rb", b"a store that the caller cannot write"),
        (place.folder / "other", "wb", b"another store"),
    ):
        with open(file, mode) as given, closing(client.connect(str(place.runtime), name, 5)) as connection:
            client.send(connection, call, files=[given.fileno()])
            assert client.receive_frame(connection) == (client.DECLINED, reason)
    assert place.answered() == 0


def test_the_store_of_the_user_needs_a_descriptor_too(place: Place) -> None:
    place.start()
    made = place.memcli("remember", "Everywhere we write British English.", "--scope", "global")
    assert made.returncode == 0, made.stderr
    place.memcli("list")  # by which the helper has met it
    done = place.memcli("recall", "which English do we write?", mode=client.REQUIRE)
    assert "British" in done.stdout


@pytest.mark.parametrize("harm", ["mode", "link", "planted", "nobody", "stopped"])
def test_harm_is_answered_by_the_process_itself(place: Place, harm: str) -> None:
    place.start()
    name = client.socket_name(str(place.root))
    served = None
    if harm == "mode":
        place.runtime.chmod(0o755)
    elif harm == "link":
        elsewhere = place.runtime.with_name("elsewhere")
        place.runtime.rename(elsewhere)
        place.runtime.symlink_to(elsewhere)
    elif harm == "planted":  # a socket whose owner answers nothing
        assert place.helper is not None
        place.helper.kill()
        (place.runtime / name).unlink()
        served = socket.socket(socket.AF_UNIX)
        served.bind(str(place.runtime / name))
        served.listen()
    elif harm == "nobody":
        assert place.helper is not None
        place.helper.kill()
        place.helper.wait()
    else:
        assert place.helper is not None
        place.helper.send_signal(signal.SIGSTOP)
    done = place.memcli("recall", "which database?")
    assert (done.returncode, done.stderr) == (0, "")
    assert "PostgreSQL" in done.stdout
    prompt = place.memcli("hook", "run", "prompt", "--agent", "claude", given=json.dumps(PROMPT))
    assert (prompt.returncode, "PostgreSQL" in prompt.stdout) == (0, True)
    if served is not None:
        served.close()


def test_it_survives_clients_that_misbehave(place: Place) -> None:
    place.start()
    name = client.socket_name(str(place.root))
    silent = [client.connect(str(place.runtime), name, 5) for _ in range(8)]  # who connect and send nothing
    for data in (b"", b"\xff" * 8, b"\0\0\0\x03\0\0\0\0abc", b"\0\0\0\x03\0\0\0\0run"):
        connection = client.connect(str(place.runtime), name, 5)
        connection.send(data)
        connection.close()
    assert "PostgreSQL" in place.memcli("recall", "which database?", mode=client.REQUIRE).stdout
    for one in silent:
        one.close()
    # One that reads nothing of its answer keeps nobody waiting for long.
    connection = client.connect(str(place.runtime), name, 5)
    assert "PostgreSQL" in place.memcli("recall", "which database?", mode=client.REQUIRE).stdout
    connection.close()


def test_a_second_one_leaves_it_to_the_first(place: Place) -> None:
    place.start()
    words = [sys.executable, "-P", "-m", "memcli.extras.helper", str(place.root)]
    assert subprocess.run(words, env=place.environ, check=False, timeout=60).returncode == 0
    assert place.answered() == 0


def test_it_ends_with_the_last_session(place: Place) -> None:
    place.start("first")
    assert starting.control(str(place.root), client.JOIN, "second") is not None
    starting.end_session(str(place.root), "first")
    assert place.answered() == 0
    starting.end_session(str(place.root), "second")
    until(place.has_ended)
    assert sorted(one.name for one in place.runtime.iterdir() if not one.name.endswith(".lock")) == []


def test_it_ends_with_its_agent(place: Place) -> None:
    agent = subprocess.Popen(["sleep", "60"])
    passing = subprocess.Popen(["sleep", "0"])  # the shell that ran the hook
    place.start("a session", passing.pid, agent.pid)
    passing.wait()
    time.sleep(4)
    assert not place.has_ended()
    agent.kill()
    agent.wait()
    until(place.has_ended)


def test_it_ends_with_its_store(place: Place) -> None:
    place.start()
    place.root.rename(place.folder / "moved")
    until(place.has_ended)
    assert not place.root.exists()


def test_off_and_undo_end_it_and_doctor_names_it(place: Place) -> None:
    place.start()
    assert "has answered 0 commands" in place.memcli("doctor").stdout
    assert place.memcli("off").returncode == 0
    until(place.has_ended)
    assert place.memcli("on").returncode == 0
    place.start()
    assert "ended the helper" in place.memcli("init", "--undo").stdout
    until(place.has_ended)


def test_a_session_of_an_agent_starts_and_ends_one(place: Place) -> None:
    start = {"session_id": "s", "hook_event_name": "SessionStart", "source": "startup"}
    assert place.memcli("hook", "run", "session-start", "--agent", "claude", given=json.dumps(start)).returncode == 0
    until(lambda: place.answered() is not None)
    prompt = place.memcli("hook", "run", "prompt", "--agent", "claude", given=json.dumps(PROMPT), mode=client.REQUIRE)
    assert "PostgreSQL" in prompt.stdout
    end = {"session_id": "s", "hook_event_name": "SessionEnd"}
    assert place.memcli("hook", "run", "session-end", "--agent", "claude", given=json.dumps(end)).returncode == 0
    until(lambda: place.answered() is None)


def test_auto_starts_one_and_a_plain_command_none(place: Place) -> None:
    place.memcli("recall", "which database?")
    assert place.answered() is None
    assert "PostgreSQL" in place.memcli("recall", "which database?", mode=client.AUTO).stdout
    until(lambda: place.answered() is not None)
    assert starting.end_helper(str(place.root))
    until(lambda: place.answered() is None)


def test_changed_sources_are_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "made.py"
    file.write_text("a = 1\n")
    module = ModuleType("memcli.made")
    module.__file__ = str(file)
    monkeypatch.setitem(sys.modules, "memcli.made", module)
    sources = Sources()
    assert not sources.have_changed()
    file.write_text("a = 22\n")
    assert sources.have_changed()
    file.unlink()
    assert sources.have_changed()


def test_a_cache_knows_whether_it_holds_a_model() -> None:
    cache = WorkspaceCache()
    cache.part(("embedder", "off"), lambda: None)
    assert not cache.has_model
    cache.part(("embedder", "made"), object)
    assert cache.has_model
    cache.close()
    assert not cache.has_model


@pytest.mark.parametrize("closed", ["0<&-", "1>&-", "2>&-", "1>&- 2>&-"])
def test_nothing_is_written_into_files_that_take_the_place_of_closed_streams(place: Place, closed: str) -> None:
    place.start()
    assert place.memcli("recall", "which database?", mode=client.REQUIRE).returncode == 0
    name = client.socket_name(str(place.root))
    state = (place.runtime / f"{name}.store").resolve()
    codes = []
    for mode in (client.OFF, ""):
        command = f"{sys.executable} -P -m memcli list {closed}"
        environ = {**place.environ, client.VARIABLE: mode}
        codes.append(subprocess.run(["sh", "-c", command], cwd=place.folder, env=environ, check=False).returncode)
        assert state.read_bytes()[:6] == b"SQLite"
    assert codes[0] == codes[1]
    assert place.answered() == 1


def test_pipes_and_devices_are_read_by_the_process_itself(place: Place) -> None:
    place.start()
    pipe = place.folder / "pipe"
    os.mkfifo(pipe)
    (place.folder / "link").symlink_to("/dev/stdin")
    for name in ("/dev/stdin", "/dev/fd/0", "/proc/self/fd/0", "link"):
        assert place.memcli("guard", "--diff", name, given=DIFF).returncode == 5, name
    writer = subprocess.Popen(["sh", "-c", f"printf '%s' \"$0\" > {pipe}", DIFF])
    assert place.memcli("guard", "--diff", "pipe").returncode == 5
    writer.wait()
    assert place.answered() == 0


def test_an_input_that_does_not_end_is_left_to_the_process_itself(place: Place) -> None:
    place.start()
    command = [sys.executable, "-P", "-m", "memcli", "hook", "run", "prompt", "--agent", "generic"]
    with subprocess.Popen(
        command, cwd=place.folder, env=place.environ, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as hook:
        assert hook.stdin is not None
        hook.stdin.write(b"{")
        hook.stdin.flush()
        assert hook.wait(30) == 0  # its input is still open
    script = "from memcli import client; import sys\ntry: client._read_input(is_hook=False)\nexcept ValueError: print(len(sys.stdin.read()))"
    long = "x" * (client.MAX_INPUT + (1 << 20))
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, input=long, capture_output=True, text=True, check=False, env=place.environ)
    assert (done.stdout.strip(), place.answered()) == (str(len(long)), 0)


@pytest.mark.skipif(os.geteuid() != 0 or shutil.which("unshare") is None, reason="needs a mount namespace")
def test_a_caller_in_a_sandbox_is_not_answered(place: Place) -> None:
    place.start()
    (place.folder / "hidden").mkdir()
    (place.folder / "hidden" / "patch").write_text(DIFF)
    script = f"mount -t tmpfs none hidden && {sys.executable} -P -m memcli guard --diff {place.folder}/hidden/patch"
    command = ["unshare", "-m", "sh", "-c", script]
    done = subprocess.run(command, cwd=place.folder, env=place.environ, capture_output=True, text=True, check=False)
    if "unshare" in done.stderr or "mount" in done.stderr:
        pytest.skip("mounts are not allowed here")
    assert (done.returncode, place.answered()) == (3, 0), done.stderr


def test_a_prompt_starts_the_helper_of_a_session_again(place: Place) -> None:
    place.memcli("hook", "run", "prompt", "--agent", "claude", given=json.dumps(PROMPT))
    until(lambda: place.answered() is not None)
    starting.end_session(str(place.root), "s")
    until(lambda: place.answered() is None)


MESSAGE = "\n# Please enter the commit message. Lines starting with '#' will be ignored.\n"


def advised(place: Place, mode: str, **environ: str) -> str:
    """The message of a commit that is being edited, after git's hook."""
    file = place.folder / ".git" / "COMMIT_EDITMSG"
    file.write_text(MESSAGE)
    surroundings = {**place.environ, **environ, client.VARIABLE: mode}
    done = place.memcli("hook", "run", "prepare-commit-msg", "--", ".git/COMMIT_EDITMSG", env=surroundings)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    return file.read_text()


def staged(place: Place) -> None:
    (place.folder / "x.py").write_text("import yapf\n")
    subprocess.run(["git", "add", "x.py"], cwd=place.folder, check=True)


def test_a_commit_message_gets_the_same_comments(place: Place) -> None:
    staged(place)
    place.start()
    alone, answered = (advised(place, mode, MEMCLI_HOOK_FOREGROUND="1") for mode in (client.OFF, client.REQUIRE))
    assert alone == answered
    assert answered.count("memcli: ") == answered.count("Never format with yapf") == 1
    subprocess.run(["git", "rm", "-q", "--cached", "x.py"], cwd=place.folder, check=True)
    assert advised(place, client.REQUIRE) == MESSAGE
    # The index of a partial commit is another file, which git names.
    subprocess.run(
        ["git", "add", "x.py"], cwd=place.folder, check=True, env={**os.environ, "GIT_INDEX_FILE": ".git/other"}
    )
    assert advised(place, client.REQUIRE, GIT_INDEX_FILE=".git/other") == alone
    assert place.answered() == 3


def test_a_commit_message_is_left_to_the_process_where_there_are_two_stores(place: Place) -> None:
    staged(place)
    place.start()
    assert place.memcli("init", "--root", "part").returncode == 0
    rule = ("Never import yapf.", "--trigger", "import yapf", *"--kind negative --path py".split())
    assert place.memcli("remember", *rule, "--root", "part").returncode == 0
    message = advised(place, "", MEMCLI_HOOK_FOREGROUND="1")
    told = [message.count(text) for text in ("Never format with yapf", "Never import yapf")]
    assert (told, place.answered()) == ([1, 1], 0)


def test_a_commit_message_waits_for_no_helper_that_hangs(place: Place) -> None:
    staged(place)
    place.start()
    assert place.helper is not None
    place.helper.send_signal(signal.SIGSTOP)
    began = time.monotonic()
    assert "Never format with yapf" in advised(place, "", MEMCLI_HOOK_FOREGROUND="1")
    assert time.monotonic() - began < 10  # which an answer may take
    place.helper.send_signal(signal.SIGCONT)
    until(lambda: advised(place, client.REQUIRE).count("Never format with yapf") == 1)
