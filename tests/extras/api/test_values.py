"""Methods give what the command line gives, and read values that only a program has."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path
from threading import Thread

import pytest

from memcli import MemcliError, Memory
from memcli.cli.main import main
from memcli.errors import NotFoundError, RefusedError, UsageError
from tests.conftest import ROOT

SAME = [
    (["recall", "which database?", "--limit", "2"], {"limit": 2}),
    (["recall", "which database?", "--explain", "--include-raw"], {"explain": True, "include_raw": True}),
    (["recall", "--kind", "decision"], {"kind": "decision"}),
    (["recall", "deploy", "--budget", "60"], {"budget": 60}),
    (["recall", "deploy", "--weights", "keyword=1"], {"weights": {"keyword": 1}}),
    (["recall", "deploy", "--under", "ops"], {"under": "ops"}), (["get", "ops/deploy"], {}),
    (["get", "ops/deploy", "rules/force-push"], {}), (["get", "ops/deploy", "--field", "tags"], {"field": "tags"}),
    (["list", "--kind", "decision,negative"], {"kind": ["decision", "negative"]}),
    (["list", "--tree"], {"tree": True}), (["status", "--stats"], {"stats": True}), (["status"], {}),
    (["schema", "bundle"], {}), (["store", "audit"], {}), (["check", "code"], {}), (["doctor"], {}),
    (["blame", "ops/deploy"], {}), (["feedback", "ops/deploy", "--helpful"], {"helpful": True}),
    (["feedback", "gaps"], {}), (["trust", "--status"], {"status": True}), (["check", "recall", "expected.toml"], {}),
    (["check"], {}),
]  # fmt: skip


@pytest.mark.usefixtures("project")
def test_a_method_returns_what_the_command_prints_as_json(capfd: pytest.CaptureFixture[str]) -> None:
    for line, options in SAME:
        command = line[:2] if line[0] in ("store", "check") or line[1:] == ["gaps"] else line[:1]
        words = line[len(command) : next((n for n, word in enumerate(line) if word.startswith("--")), len(line))]
        with Memory() as memory:
            for _ in range(2):  # what was kept by the first call changes nothing
                found = getattr(memory, "_".join(command))(*words, **options)
                capfd.readouterr()
                main([*line, "--json"])
                assert found == json.loads(capfd.readouterr().out), line


@pytest.mark.usefixtures("project")
def test_remember_returns_what_the_command_prints(capfd: pytest.CaptureFixture[str]) -> None:
    text, options = "We use uv, ask ann@example.org.", {"path": "tools/uv", "tag": ["a", "b"], "meta": {"x": "1"}}
    found = Memory().remember(text, **options, set={"content": {"n": 1}, "importance": 0.9})
    stored = Memory().get("tools/uv")
    Memory().forget("tools/uv", purge=True, now=True, yes=True)
    capfd.readouterr()
    line = ["remember", text, "--path", "tools/uv", "--tag", "a", "--tag", "b", "--meta", "x=1"]
    main([*line, "--set", 'content={"n": 1}', "--set", "importance=0.9", "--json"])
    assert found == json.loads(capfd.readouterr().out)
    assert stored == Memory().get("tools/uv")


@pytest.mark.usefixtures("project")
def test_an_error_is_that_of_the_command_and_has_what_was_found_before_it(capfd: pytest.CaptureFixture[str]) -> None:
    for call, line in (
        (lambda memory: memory.get("no/where"), ["get", "no/where"]),
        (lambda memory: memory.recall("x", limit=0), ["recall", "x", "--limit", "0"]),
        (lambda memory: memory.recall(""), ["recall", ""]),
        (lambda memory: memory.list(rev="nonsense"), ["list", "--rev", "nonsense"]),
        (lambda memory: memory.edit("ops/deploy", set={"kid": 1}), ["edit", "ops/deploy", "--set", "kid=1"]),
        (lambda memory: memory.ingest("missing"), ["ingest", "missing"]),
        (lambda memory: memory.forget("ops/deploy", purge=True), ["forget", "ops/deploy", "--purge"]),
    ):
        with pytest.raises(MemcliError) as caught:
            call(Memory())
        capfd.readouterr()
        assert main([*line, "--json"]) == caught.value.exit_code
        told = json.loads(capfd.readouterr().out)["error"]
        assert told == {"code": caught.value.code, "message": caught.value.message, "hint": caught.value.hint}
    path = Path(".memory/spaces/main.json")
    path.write_bytes(path.read_bytes().replace(b'"kind": "decision"', b'"kind" :"decision"'))
    with pytest.raises(MemcliError) as caught:
        Memory().store_fmt(check=True)
    assert caught.value.value == {"canonical": [], "not_canonical": ["main"]}


WRONG = (
    ("recall", ("x",), {"limit": "five"}, "limit must be a whole number, not str"),
    ("recall", ("x",), {"limit": True}, "limit must be a whole number, not bool"),
    ("recall", ("x",), {"explain": 1}, "explain must be True or False, not int"), ("recall", (7,), {}, "topic must be text, not int"),
    ("recall", ("x",), {"tag": {"a": 1}}, "tag must be text, not dict"), ("remember", (), {}, "nothing to read"),
    ("remember", ("-",), {}, "there is no standard input to read"), ("recall", (), {}, "no topic"),
    ("edit", ("ops/deploy",), {}, "nothing to change"), ("remember", (), {"batch": 7}, "cannot read int"),
    ("remember", (), {"batch": [], "file": []}, "only one value can be a stream"),
)  # fmt: skip


@pytest.mark.usefixtures("project")
def test_a_value_of_the_wrong_type_is_a_usage_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("stdin belongs to the program"))
    monkeypatch.setenv("EDITOR", "false")
    for name, arguments, options, message in WRONG:
        with pytest.raises(UsageError) as caught:
            getattr(Memory(), name)(*arguments, **options)
        assert message in caught.value.message


@pytest.mark.usefixtures("project")
def test_a_name_that_a_method_does_not_have_is_a_type_error() -> None:
    memory = Memory()
    recall = memory.recall
    for wrong in (
        lambda: recall("x", nonsense=1), lambda: recall("x", fail_empty=True), memory.get, lambda: recall("x", "y"),
        lambda: recall("x", topic="y"),
    ):  # fmt: skip
        with pytest.raises(TypeError):
            wrong()


@pytest.mark.usefixtures("project")
def test_a_stream_stands_for_a_file(tmp_path: Path) -> None:
    memory = Memory()
    (tmp_path / "text").write_text("From a file.", encoding="utf-8")
    path, data = tmp_path / "text", "From a file."
    for file in (path, str(path), data.encode(), io.StringIO(data), io.BytesIO(data.encode())):
        memory.remember(file=file, path="notes/file")
        assert memory.get("notes/file")["raw"] == "From a file."
    assert [b["topic"] for b in memory.recall(topics=["which database?", "deploy?"])] == ["which database?", "deploy?"]
    done = memory.remember(object={"raw": "An object.", "path": "notes/object", "content": [1]})
    assert memory.get(done["id"])["content"] == [1]


@pytest.mark.usefixtures("project")
def test_the_program_is_never_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    for name in ("stdin", "stdout", "stderr"):
        monkeypatch.setattr(sys, name, Terminal("y\n" if name == "stdin" else ""))
    memory = Memory()
    with pytest.raises(RefusedError):
        memory.forget("ops/deploy", purge=True)
    memory.space_policy(set={"review": True})
    assert memory.remember("We use tabs.")["status"] == "proposed"
    assert sys.stdout.getvalue() == sys.stderr.getvalue() == ""  # type: ignore[attr-defined]


def test_a_store_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(NotFoundError):
        Memory().list()
    memory = Memory(tmp_path / "other", space="notes", freeze_clock="2020-02-02")
    assert memory.init()["created"]
    assert memory.remember("Elsewhere.")["space"] == "notes"
    assert memory.list()[0]["created_at"] == "2020-02-02T00:00:00Z"
    assert memory.list(space="main") == []


@pytest.mark.usefixtures("project")
def test_another_process_is_seen_at_once() -> None:
    with Memory() as memory:
        assert memory.recall("which editor?")["sections"] == []
        for n in range(3):
            words = ["remember", f"Our editor is vim {n}.", "--path", "tools/editor"]
            other = [sys.executable, "-P", "-m", "memcli", *words]
            subprocess.run(other, check=True, capture_output=True, env={**os.environ, "PYTHONPATH": str(ROOT)})
            found = memory.recall("which editor?")
            assert found["sections"][0]["passage"]["text"] == f"Our editor is vim {n}."
            assert found == Memory().recall("which editor?")


@pytest.mark.usefixtures("project")
def test_threads_share_a_memory() -> None:
    failures: list[BaseException] = []
    with Memory() as memory:

        def work(number: int) -> None:
            try:
                for n in range(5):
                    memory.remember(f"Worker {number} counts {n}.", path=f"work/w{number}/n{n}")
                    assert memory.get(f"work/w{number}/n{n}")["raw"] == f"Worker {number} counts {n}."
                    assert memory.recall(f"worker {number}")["sections"]
            except BaseException as error:
                failures.append(error)

        threads = [Thread(target=work, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not failures
        assert len(memory.list("work")) == 20


def test_a_closed_memory_opens_again_and_messages_go_to_the_program(project: Path) -> None:
    memory = Memory()
    with memory:
        before = memory.recall("deploy")
    assert memory.recall("deploy") == before
    assert project
    told: list[str] = []
    Memory(note=told.append).recall("Never do that.", kind=["customr"])
    assert told == ["unknown kind 'customr'; did you mean 'custom'?"]
    assert project


def test_the_package_alone_is_light() -> None:
    code = "import sys; import memcli; print(*sys.modules)"
    names = subprocess.run(
        [sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True, env={"PYTHONPATH": str(ROOT)}
    )
    assert [name for name in names.stdout.split() if name.startswith("memcli")] == ["memcli"]
    code = "import sys; from memcli import Memory; Memory(); print(*sys.modules)"
    names = subprocess.run(
        [sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True, env={"PYTHONPATH": str(ROOT)}
    )
    heavy = {"numpy", "onnxruntime", "tokenizers", "typer", "rich", "pydantic", "asyncio", "mcp", "sqlite3"}
    assert not heavy & {name.partition(".")[0] for name in names.stdout.split()}
