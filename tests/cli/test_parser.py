"""The way past Typer: what both parsers understand means the same, and what is not plain is left to Typer."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import platformdirs
import pytest

from memcli.app.recall import recall as answer
from memcli.cli.main import make_command
from memcli.cli.options import REQUIRED, CommonOptions, Field, Options, parse
from memcli.cli.output import reported
from memcli.cli.verb import CommandContext, Verb, all_verbs, read_line
from memcli.errors import UsageError
from memcli.model.recall import Query
from memcli.wiring.roots import global_root
from tests.conftest import NOW, ROOT, Run, memory, open_at, rewrite

PLAIN = """
recall -l 1 postgresql --format=md
recall --kind decision -k fact --json --explain
recall postgresql --since 2020-01-01 --weights semantic=.5,keyword=.5 --recency-bias 0.2 --json
recall postgresql --min-score 0.9 --fail-empty --json
recall postgresql -s other -q
recall --changed=HEAD --format md
recall x --limit 0
recall
remember New. --tag a -t b --pin --importance 0.5 --set enforce=true --json
remember x --importance 7
get db/engine db/port --json
get gone
list db -k decision --json -a
hook run -q prepare-commit-msg -- gone template
hook run no-such-hook --
session add Hello --role user
session delete ses_gone --yes
"""


def test_both_ways_are_one(run: Run, capfd: pytest.CaptureFixture[str]) -> None:
    run("remember", "We chose PostgreSQL because of JSONB.", "--path", "db/engine", "--kind", "decision")
    run("remember", "PostgreSQL listens on 5432.", "--path", "db/port")
    run("space", "create", "other")
    for line in PLAIN.strip().splitlines():
        arguments = line.split()
        through_typer = run(*arguments)
        if arguments[0] == "remember" and through_typer.code == 0:
            run("forget", through_typer.json["id"], "--purge", "--now", "--yes")
        run("list")  # so that nothing read so far is left on standard input
        verb, options, common = read_line(arguments) or pytest.fail(line)
        context = CommandContext(verb.name, CommonOptions(**common))
        try:
            code = verb.run_in(context, options)
        except Exception as error:
            code = reported(error, bool(common.get("json")))
        captured = capfd.readouterr()
        assert (code, captured.out, captured.err) == (through_typer.code, through_typer.out, through_typer.err), line
        if arguments[0] == "remember" and code == 0:
            run("forget", json.loads(captured.out)["id"], "--purge", "--now", "--yes")


def test_what_is_not_plain_is_left_to_typer() -> None:
    for line in (
        "recall --help", "recall x -h", "recall x --lmit 3", "recall x y", "recall x --limit three", "recall x --limit",
        "recall x --json=1", "recall x -- -y", "recall x -qs main", "recall x --limit 1 --limit 2", "recall x --include_raw",
        "recall --topic x", "recall x --since -3", "hook", "hook --help", "hook gone", "hook run", "hook run --",
        "hook run --help --", "hook run --arguments x post-commit --", "list --tree --help", "tree a b", "list --limit x",
        "list --limit -1", "get", "get --raw", "remember --text x", "remember x --commit --pin",
    ):  # fmt: skip
        assert read_line(line.split()) is None, line


def _words(field: Field) -> list[list[str]]:
    """Command lines that give the field each value that is worth a try."""
    plain = {str: ["x", "", "a b", "ä", "-", "a=b"], int: ["1", "3"], float: ["0.5", "1"]}
    if field.type is bool:
        return [[name] for flag in field.flags for name in flag.split("/")]
    if field.is_argument:
        return [[value] for value in plain[field.type]] + [["--", "-x"]]
    given = [[flag, value] for flag in field.flags for value in plain[field.type]]
    joined = [flag for flag in field.flags if flag.startswith("--")]
    given += [[f"{flag}={value}"] for flag in joined for value in (*plain[field.type], "-1")]
    return given + ([[field.flags[0], "x", field.flags[-1], "y"]] if field.many else [])


class Recorder:
    """A verb whose function notes what it is called with, and the Typer command of that verb."""

    def __init__(self, verb: Verb) -> None:
        self._seen: list[object] = []
        self.verb = Verb(self._record, verb.name, verb.options)
        self.command = make_command(self.verb)

    def _record(self, session: CommandContext, options: Options | None = None) -> None:
        shared = {**session.options, "json": session.output.json, "quiet": session.output.quiet}
        self._seen.append((shared, vars(options) if options else {}))

    def recorded(self, run: Callable[[], object]) -> object:
        """What the function is called with by `run`, or the error that keeps it from being called."""
        self._seen.clear()
        try:
            run()
        except UsageError as error:
            return error.message
        (seen,) = self._seen
        return seen


@pytest.mark.parametrize("own", [True, False])
def test_every_option_is_read_alike(own: bool) -> None:
    """Each option, in each way to write it, before and after what else is needed; those that all verbs share, by one verb."""
    for verb in all_verbs() if own else [verb for verb in all_verbs() if verb.name == "recall"]:
        recorder, fields = Recorder(verb), {**verb.options.FIELDS, **CommonOptions.FIELDS}
        for field in verb.options.FIELDS.values() if own else CommonOptions.FIELDS.values():
            needed = ["x" for one in verb.options.FIELDS.values() if one.default is REQUIRED and one is not field]
            first, *others = _words(field)
            for line in ([*needed, *first], [*first, *needed], *([*needed, *words] for words in others)):
                values = parse(line, fields, verb.negations)
                if values is None:
                    assert "-x" in line or field.is_argument, line
                    continue
                common = CommonOptions(**{key: values.pop(key) for key in CommonOptions.FIELDS if key in values})
                past = recorder.recorded(
                    lambda r=recorder, c=common, v=values: r.verb.run_in(CommandContext(r.verb.name, c), v)
                )  # type: ignore[misc]
                through = recorder.recorded(lambda r=recorder, w=line: r.command.main(w, standalone_mode=False))  # type: ignore[misc]
                assert past == through, (verb.name, line)


def test_the_user_wide_store(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:

    assert global_root(os.environ).startswith(os.environ["HOME"])
    if sys.platform == "linux":
        monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
        assert global_root(os.environ) == os.path.join(platformdirs.user_data_dir("memcli"), ".memory")
    monkeypatch.setenv("MEMCLI_GLOBAL", str(tmp_path / "mine"))
    run("remember", "We chose PostgreSQL.", "--path", "db/choice")
    assert run("remember", "I prefer PostgreSQL to MySQL.", "--scope", "global", "--path", "taste").code == 0
    assert (tmp_path / "mine" / ".memory" / "spaces" / "main.json").is_file()
    found = run("recall", "postgresql", "--json").json["sections"]
    assert {(s["path"], s.get("space")) for s in found} == {("db/choice", None), ("taste", "global/main")}
    alone = run("recall", "postgresql", "--json", "--no-global").json["sections"]
    assert [s["path"] for s in alone] == ["db/choice"]


def test_a_deadline_that_passes_is_said(tmp_path: Path) -> None:
    workspace = open_at(tmp_path, MEMCLI_EMBEDDER="onnx")
    rewrite(workspace.store, lambda space: space.put([memory("a", raw="We chose PostgreSQL.")], NOW))
    (late,) = answer(workspace, [Query(topic="postgresql", now=NOW, deadline=0.0)])
    assert (late.degraded, [s.memory.id for s in late.sections]) == (True, ["mem_a"])
    (whole,) = answer(workspace, [Query(topic="postgresql", now=NOW)])
    assert not whole.degraded


def test_a_process_that_missed_its_deadline_ends_well(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rewrite(open_at(tmp_path).store, lambda space: space.put([memory("a", raw="We chose PostgreSQL.")], NOW))
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("MEMCLI_EMBEDDER", "onnx")
    command = [sys.executable, "-P", "-m", "memcli", "recall", "postgresql", "--deadline", "1", "--json"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["degraded"] is True
