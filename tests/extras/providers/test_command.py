"""`memcli provider`, the quota, and what keeps a key and a text on this machine: by commands, over HTTP."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Collection, Iterator
from pathlib import Path

import pytest

from memcli.app.workspace import Workspace
from memcli.errors import ProviderError, RefusedError, UsageError
from memcli.model.conversation import Prompt
from memcli.wiring.workspace import open_workspace
from tests.conftest import NOW, ROOT, Run
from tests.extras.providers import server as play
from tests.extras.providers.conftest import WIRES, playing
from tests.extras.providers.server import KEY, Script

PROMPT = Prompt(task="t/1", system="s", text="Which?", schema=play.SCHEMA, max_tokens=300)
OK = play.reply({"ok": True})


@pytest.fixture
def model(run: Run, monkeypatch: pytest.MonkeyPatch) -> Iterator[Script]:
    """A store whose model is on a server."""
    with playing(monkeypatch) as server:
        run("remember", "We chose PostgreSQL.", "--path", "db")
        server.play(OK)
        yield server


def workspace() -> Workspace:
    return open_workspace({}, os.environ)


def used(run: Run) -> list[tuple[object, ...]]:
    rows = json.loads(run("provider", "usage", "--json").out)
    names = ("day", "space", "provider", "calls", "tokens_in", "tokens_out", "usd", "unsettled")
    return [tuple(row[name] for name in names) for row in rows]


def test_check_and_usage(model: Script, run: Run) -> None:
    assert run("provider", "check").out == "openai:gpt-5-mini answers\n"
    assert run("provider", "check", "anthropic:other", "--json").json == {"model": "anthropic:other", "answers": True}
    costs = (("anthropic", None, "unknown"), ("openai", 0.00001675, "$0.0001"))
    assert used(run) == [(NOW[:10], "main", name, 1, 11, 7, usd, 0) for name, usd, _ in costs]
    told = [line.split() for line in run("provider", "usage").out.splitlines()[1:]]
    assert told == [[NOW[:10], "main", name, "1", "11", "7", shown] for name, _, shown in costs]
    for words in ("--day 2026-01-30", "--since 2026-02-01", "-s other"):
        assert run("provider", "usage", *words.split()).out == "no calls\n"
    assert len(run("provider", "usage", "--day", NOW[:10], "--json").json) == 2
    for words in ("--day monday", f"--day {NOW} --since {NOW}"):
        assert run("provider", "usage", *words.split()).code == 2


def test_a_fault_is_an_error_of_the_provider(model: Script, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    model.play(play.fail(404, "no such model"))
    done = run("provider", "check")
    assert (done.code, done.out) == (7, "")
    assert done.err.startswith("memcli: openai has no model 'gpt-5-mini' (404: no such model) (check its name;")
    model.play(play.reply({"ok": "yes"}))
    assert "answer.ok must be true or false" in run("provider", "check").err
    for spec in ("openai", "openai:", "other:m", ":m"):
        with pytest.raises(UsageError, match="names no model"):
            workspace().language_model(spec)
    assert run("provider", "check", "gpt-5").code == 2
    monkeypatch.setattr("memcli.extras.providers.model.find_spec", lambda _: None)
    done = run("provider", "check")
    assert (done.code, "pip install '.[llm]'" in done.err) == (7, True)
    assert "needs the extra `llm`" in run("provider", "list").out


def test_list(model: Script, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HF_TOKEN")
    monkeypatch.setenv("MEMCLI_GOOGLE_BASE_URL", f"http://ann:{KEY}@host/v1")
    rows = {row["provider"]: row for row in json.loads(run("provider", "list", "--json").out)}
    assert rows["openai"] == {
        "provider": "openai", "model": "gpt-5-mini", "key": "OPENAI_API_KEY", "address": f"{model.url}/v1", "problem": "",
    }  # fmt: skip
    assert rows["huggingface"]["problem"] == "no key for huggingface: set HF_TOKEN in the environment"
    assert rows["google"]["address"] == "http://host/v1"
    done = run("provider", "list")
    assert KEY not in done.out + done.err
    assert model.requests == []


def test_doctor_has_rows(model: Script, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def rows() -> dict[str, tuple[bool, str]]:
        return {row["name"]: (row["ok"], row["found"]) for row in json.loads(run("doctor", "--json").out)}

    assert rows()["provider"] == (True, "openai:gpt-5-mini (`memcli provider check` asks it)")
    assert rows()["ledger"] == (True, "0 calls of language models today")
    monkeypatch.delenv("OPENAI_API_KEY")
    assert rows()["provider"] == (False, "no key for openai")
    monkeypatch.setenv("MEMCLI_SEMANTIC_MODEL", "gpt-5")
    assert rows()["provider"][0] is False
    monkeypatch.delenv("MEMCLI_SEMANTIC_MODEL")
    assert rows()["provider"][0] is True
    assert model.requests == []


@pytest.mark.parametrize("way", ["--offline", "MEMCLI_OFFLINE", "clone"])
def test_nothing_leaves_the_machine(
    model: Script, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    if way == "MEMCLI_OFFLINE":
        monkeypatch.setenv(way, "1")
    elif way == "clone":
        (tmp_path / ".memory" / "local" / "trust.json").unlink()
    done = run("provider", "check", *([way] if way == "--offline" else []))
    assert done.code == 5, done
    assert ("cloned" if way == "clone" else "offline") in done.err
    assert model.requests == []
    assert not (tmp_path / ".memory" / "local" / "ledger").exists()


def test_a_cloned_configuration_names_no_model(
    model: Script, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MEMCLI_SEMANTIC_MODEL")
    (tmp_path / ".memory" / "config.toml").write_text('model = "custom:x"\n')
    assert run("provider", "check").out == "custom:x answers\n"
    (tmp_path / ".memory" / "local" / "trust.json").unlink()
    done = run("provider", "check")
    assert done.code == 2
    assert "ignoring model until you run `memcli trust`" in done.err
    assert "no language model is configured" in done.err
    assert len(model.requests) == 1


def test_a_call_that_could_exceed_the_quota_is_not_made(model: Script, run: Run) -> None:
    run("space", "policy", "main", "--set", 'quota={"openai": {"tokens_per_day": 2500}}')
    model.play(play.reply({"ok": True}, usage=(700, 800)))
    assert run("provider", "check").code == 0
    told = "the quota of openai:gpt-5-mini has 1,000 of 2,500 tokens left today, and the call may take 1,"
    for words, code in (
        ("", 5), ("anthropic:m", 0), ("-s notes", 0), ("-s journal", 5), ("--freeze-clock 2026-02-01", 0),
    ):  # fmt: skip
        done = run("provider", "check", *words.split())
        assert (words, done.code, told in done.err) == (words, code, code == 5)
    assert len(model.requests) == 4


def test_a_quota_in_dollars(model: Script, run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    run("space", "policy", "main", "--set", 'quota={"openai": {"usd_per_day": 0.002}, "custom": {"usd_per_day": 1}}')
    done = run("provider", "check")
    assert (done.code, "has $0.0020 of $0.0020 left today, and the call may cost $0.002" in done.err) == (5, True)
    monkeypatch.setenv("MEMCLI_PRICES", "openai:gpt-5-mini=0.01/0.02")
    assert run("provider", "check").code == 0
    done = run("provider", "check", "custom:x")
    assert (done.code, "no price is known for custom:x" in done.err) == (5, True)
    prices = tmp_path / "config" / "memcli" / "prices.toml"
    prices.parent.mkdir(parents=True)
    prices.write_text('"custom:x" = [0.5, 1]\n')
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    assert run("provider", "check", "custom:x").code == 0
    prices.write_text("custom")
    assert run("provider", "check", "custom:x").code == 2
    monkeypatch.setenv("MEMCLI_PRICES", "x")
    assert run("provider", "check").code == 2


def test_work_that_can_wait_is_put_off(model: Script, run: Run) -> None:
    run("space", "policy", "main", "--set", 'quota={"openai": {"tokens_per_day": 10000}}')
    model.play(play.reply(usage=(4000, 4001)), play.reply(usage=(1, 1)))
    idle = workspace().language_model(may_wait=True)
    idle.ask(PROMPT, lambda data: data, 60)
    with pytest.raises(RefusedError, match="put off: less than 20 %"):
        idle.ask(PROMPT, lambda data: data, 60)
    assert len(model.requests) == 1
    workspace().language_model().ask(PROMPT, lambda data: data, 60)


def test_a_damaged_or_full_ledger_lets_no_call_pass_under_a_quota(
    model: Script, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("provider", "check")
    state = tmp_path / ".memory/local/state.db"
    state.write_bytes(b"garbage " * 100)
    assert run("provider", "check").code == 0
    run("space", "policy", "main", "--set", 'quota={"openai": {"tokens_per_day": 100000}}')
    done = run("provider", "check")
    assert (done.code, "the ledger of today is damaged, so the quota cannot be checked" in done.err) == (5, True)
    state.unlink()
    state.mkdir()
    done = run("provider", "check")
    assert (done.code, "the call cannot be counted" in done.err, len(model.requests)) == (5, True, 2)


def test_the_cost_of_an_answer_that_cannot_be_booked_is_its_estimate(model: Script, run: Run, tmp_path: Path) -> None:
    state = tmp_path / ".memory" / "local" / "state.db"

    def break_ledger(handler: play.Handler) -> None:
        state.rename(state.with_suffix(".away"))
        state.mkdir()
        OK(handler)

    model.play(break_ledger)
    done = run("provider", "check")
    assert done.code == 0
    assert "the cost of a call counts as its estimate" in done.err
    state.rmdir()
    state.with_suffix(".away").rename(state)
    ((_, _, _, calls, _, tokens_out, _, unsettled),) = used(run)
    assert (calls, tokens_out, unsettled) == (1, 1000, 1)


def checking(folder: Path, *options: str) -> subprocess.Popen[bytes]:
    """`memcli provider check` as a process of its own."""
    command = [sys.executable, "-P", "-m", "memcli", "provider", "check", *options]
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(command, cwd=folder, env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def test_six_processes_keep_the_quota(model: Script, run: Run, tmp_path: Path) -> None:
    run("space", "policy", "main", "--set", 'quota={"openai": {"tokens_per_day": 4000}}')
    model.play(play.reply({"ok": True}, usage=(216, 1000)))
    started = [checking(tmp_path, "--quiet", "--within", "300") for _ in range(6)]
    codes = [(process.communicate(), process.returncode)[1] for process in started]
    assert sorted(set(codes)) == [0, 5]
    assert codes.count(0) == len(model.requests) == used(run)[0][3] <= 3
    assert run("provider", "check").code == 5


def test_an_interrupt_ends_the_call_at_once_and_it_counts(model: Script, run: Run, tmp_path: Path) -> None:
    model.play(play.hang)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell ignores it for what runs behind
    process = checking(tmp_path, "--within", "600")
    signal.signal(signal.SIGINT, before)
    while not model.requests and process.poll() is None:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (130, b"", b"")
    ((_, _, _, calls, _, tokens_out, _, unsettled),) = used(run)
    assert (calls, tokens_out, unsettled) == (1, 1000, 1)


def test_what_is_sent_is_redacted_by_the_rules_and_the_policy(model: Script, run: Run) -> None:
    run("space", "policy", "main", "--set", 'pii_redaction={"patterns": [{"name": "case", "regex": "case-[0-9]+"}]}')
    token = "gh" + "p_" + "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hJ6"
    model.play(play.reply(f"It is {token}."), play.reply())
    text = f"The wifi password is sunshine99, ann@shopworks.io has {token} in case-4711."
    asked = Prompt(task="t/1", system=f"As {token}", text=text, schema=play.SCHEMA, max_tokens=30)
    workspace().language_model().ask(asked, lambda data: data, 60)
    for request in model.requests:
        for secret in ("sunshine99", "ann@shopworks.io", token, "case-4711"):
            assert secret.encode() not in request.raw, secret
        assert b"[REDACTED:case]" in request.raw


LEAKS = {
    "401": play.echo(401), "403": play.echo(403), "400": play.echo(400), "404": play.echo(404), "429": play.echo(429),
    "500": play.echo(500), "cut": play.cut, "garbage": play.raw(KEY.encode()), "huge": play.huge, "hang": play.hang,
    "redirect": play.raw(b"{}", 302, location=f"http://127.0.0.1:9/?key={KEY}"), "answer": play.reply(f'"{KEY}"'),
    "answers": play.reply({"ok": KEY}), "refusal": play.reply(refusal=KEY), "ok": OK,
    "status": play.raw(KEY.encode(), 599), "type": play.raw(json.dumps([KEY]).encode(), 500),
}  # fmt: skip


FEW = ("401", "cut", "garbage", "answer", "refusal")


@pytest.mark.parametrize("faults", [FEW, pytest.param(LEAKS.keys() - set(FEW), marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", WIRES)
def test_the_key_is_nowhere_after_a_fault(
    model: Script, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, faults: Collection[str]
) -> None:
    for variable in ("MEMCLI_DEBUG", "OPENAI_LOG", "ANTHROPIC_LOG"):
        monkeypatch.setenv(variable, "debug")
    for fault in sorted(faults):
        model.play(LEAKS[fault])
        for options in ((), ("--json",)):
            done = run("provider", "check", name, "--within", "0.5" if fault == "hang" else "6", *options)
            printed = done.out + done.err
            found = (done.code == 0, KEY in printed, "Traceback" in printed)
            assert (fault, found) == (fault, (fault == "ok", False, False))
    later = [run(*words.split()) for words in ("provider list", "provider usage", "doctor", "audit")]
    assert all(KEY not in one.out + one.err for one in later)
    folders = (tmp_path, Path(os.environ["HOME"]))
    found = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
    assert any(path.name == "state.db" for path in found)
    assert [path for path in found if KEY.encode() in path.read_bytes()] == []


@pytest.mark.parametrize("name", WIRES)
def test_the_key_is_in_no_local_variable_of_an_error(model: Script, name: str) -> None:
    model.play(play.echo(401))
    with pytest.raises(ProviderError) as raised:
        workspace().language_model(name).ask(PROMPT, lambda data: data, 60)
    trace = raised.value.__traceback__
    while trace is not None:
        if "memcli" in trace.tb_frame.f_globals["__name__"].split("."):
            shown = {k: v for k, v in trace.tb_frame.f_locals.items() if k != "self"}
            assert KEY not in repr(shown), trace.tb_frame
        trace = trace.tb_next
