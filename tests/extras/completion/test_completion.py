"""Completions: the files are what comes out, know every option, and work in the shells that are here."""

from __future__ import annotations

import os
import re
import select
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from memcli.cli.main import load_command
from memcli.cli.verb import ALIASES, names
from memcli.codec.space import encode_space, of_memory
from memcli.extras.completion.shells import SHELLS, Command, command_tree, completed, flags_of
from memcli.extras.completion.values import MARKS, complete, values
from memcli.model.shapes import KINDS
from memcli.model.space import Space
from memcli.ranking import RANKERS
from memcli.record import replace
from memcli.render import RENDERERS
from tests.conftest import ROOT, Run, memory, open_at, rewrite, slow_but

FILES = {"bash": "memcli.bash", "zsh": "_memcli", "fish": "memcli.fish"}
ODD = """auth/it's "odd" $HOME `x`; #&"""
TREE = command_tree()

Ask = Callable[..., list[str]]


def file_of(shell: str) -> Path:
    return ROOT / "completions" / FILES[shell]


def need(shell: str) -> str:
    found = shutil.which(shell)
    if found is None:
        pytest.skip(f"no {shell} here")
    return found


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A work tree with two spaces, entered, and a program `memcli` on PATH."""
    workspace = open_at(tmp_path)
    main = (
        memory("one", path="auth/tokens", tags=("auth", "security")),
        memory("two", path="auth/my path", tags=("säure",)),
        memory("odd", path=ODD, kind="recipe"),
        memory("three", path="notes/größe", id="D1:2"),
        memory("four", path="user@host/x=y:z", id="D1:10"),
    )
    work = memory("five", path="plans/next", tags=("job",))
    rewrite(workspace.store, lambda space: replace(space, objects=main))
    rewrite(workspace.store, lambda space: replace(space, objects=(work,)), "work")
    (tmp_path / "my dir").mkdir()
    (tmp_path / "a file").touch()
    program = tmp_path / "bin" / "memcli"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m memcli "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.chdir(tmp_path)
    return tmp_path


# The files


def test_the_file_is_what_comes_out(run: Run, update_golden: bool) -> None:
    again = "pytest tests/extras/completion/test_completion.py --update-golden"
    for shell, make in SHELLS.items():
        made = make()
        assert run("completions", shell).out == made
        if update_golden:
            file_of(shell).parent.mkdir(exist_ok=True)
            file_of(shell).write_bytes(made.encode())
        assert file_of(shell).read_bytes().decode() == made, f"{file_of(shell)} is out of date: run `{again}`"


def test_every_verb_is_in_the_tree_with_every_option() -> None:
    found = {command.path: command for command in TREE}
    assert [name for name, _ in found[()].commands] == [*names(), *ALIASES]
    for verb in (*names(), *ALIASES):
        given = load_command(ALIASES.get(verb, verb))
        below = [((verb, n), c) for n, c in getattr(given, "commands", {}).items() if not c.hidden]
        for path, command in [((verb,), getattr(given, "default", given)), *below]:
            options = [p for p in command.params if p.param_type_name == "option" and not p.hidden]
            wanted = {name for p in options for name in (*p.opts, *p.secondary_opts)}
            assert {name for o in found[path].options for name in flags_of(o)} == wanted | {"--help", "-h"}
            assert len(found[path].arguments) == sum(p.param_type_name == "argument" for p in command.params)


def part(shell: str, command: Command) -> str:
    """What the script says of the command."""
    script = file_of(shell).read_text(encoding="utf-8")
    path = command.path
    if shell == "bash":
        return script.split(f"  '{' '.join(path)}')\n")[1].split(";;")[0].replace("'", " ").replace("=", " ") + " "
    if shell == "zsh":
        return script.split(f"\n{'-'.join(('_memcli', *path))}() {{\n")[1].split("\n}\n")[0]
    start = f"complete -c memcli -n '{' '.join(('__memcli_at', *path))}' "
    return "\n".join(line.removeprefix(start) for line in script.splitlines() if line.startswith(start)) + "\n"


@pytest.mark.parametrize("shell", SHELLS)
def test_every_option_is_in_the_script(shell: str) -> None:
    marks = {"bash": " {} ", "zsh": "){}", "fish": "{} "}
    for command in TREE:
        text = f" {part(shell, command)}".replace("\n", " \n")
        for option in command.options:
            for name in flags_of(option):
                shown = re.sub("^-", "-s ", name).replace("-s -", "-l ") if shell == "fish" else name
                mark = marks[shell] if shell != "zsh" or not option.many else "*{}"
                assert mark.format(shown) in text, (command.path, name)
        for name, _ in command.commands:
            assert {"bash": f" {name} ", "zsh": f"    '{name}:", "fish": f"-a {name} -d"}[shell] in text, command.path


def test_words_are_those_that_there_are() -> None:
    recall = next(command for command in TREE if command.path == ("recall",))
    words = {name: completed(o) for o in recall.options for name in flags_of(o)}
    assert words["--backend"] == tuple(sorted(RANKERS))
    assert words["--format"] == tuple(RENDERERS)
    assert words["--scope"] == ("project", "global", "session")


# The values


def test_values(store: Path) -> None:
    def ask(kind: str, prefix: str = "", space: str = "") -> list[str]:
        return values(kind, prefix, space, str(store))

    found = {
        ("spaces",): ["main", "work"], ("spaces", "w"): ["work"], ("paths", "auth/"): [ODD, "auth/my path", "auth/tokens"],
        ("paths", "", "work"): ["plans/next"], ("tags",): ["auth", "security", "säure"], ("kinds",): ["fact", "recipe"],
        ("ids", "D1:"): ["D1:10", "D1:2"], ("refs", "n"): ["notes/größe"], ("refs", "mem_"): ["mem_odd", "mem_one", "mem_two"],
        ("nonsense",): [], ("paths", "", "none/../main"): [], ("sessions",): [],
    }  # fmt: skip
    assert {words: ask(*words) for words in found} == found
    folder = store / ".memory" / "local" / "sessions" / "main"
    folder.mkdir(parents=True)
    for name in ("ses_one.jsonl", "ses_two.jsonl", ".ses_two.jsonl.tmp-1", "notes"):
        (folder / name).touch()
    assert ask("sessions") == ["ses_one", "ses_two"]
    assert ask("sessions", "ses_t") == ["ses_two"]
    assert ask("sessions", space="work") == []


def test_many_paths_are_offered_by_segment(tmp_path: Path) -> None:
    store = open_at(tmp_path).store
    many = [memory(f"{n:03}", path=f"area{n % 3}/topic {n:03}") for n in range(150)]
    rewrite(store, lambda space: replace(space, objects=(*many, memory("x", path="single"))))

    def ask(kind: str, prefix: str) -> list[str]:
        return values(kind, prefix, "main", str(tmp_path))

    assert ask("paths", "") == ask("refs", "") == ["area0/", "area1/", "area2/", "single"]
    assert ask("paths", "area1/topic 00") == ["area1/topic 001", "area1/topic 004", "area1/topic 007"]
    assert len(ask("refs", "mem_")) == 151


def test_the_space_comes_from_the_environment_or_the_configuration(
    store: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    (store / ".memory" / "config.toml").write_text('space = "work"\n')
    complete(["paths"])
    assert capfd.readouterr().out == "plans/next\n"
    monkeypatch.setenv("MEMCLI_SPACE", "main")
    complete(["paths", "notes"])
    assert capfd.readouterr().out == "notes/größe\n"
    monkeypatch.chdir("/")
    monkeypatch.setenv("MEMCLI_ROOT", str(store))
    complete(["paths", "", "work"])
    assert capfd.readouterr().out == "plans/next\n"


GARBAGE = bytes(range(256)) * 99 + b'\n      "path": "\xff"\n      "id": "'


def _link(path: Path) -> None:
    path.rename(path.parent.parent / "elsewhere")
    path.symlink_to(path.parent.parent / "elsewhere")


def test_what_is_broken_is_silent(store: Path, capfd: pytest.CaptureFixture[str]) -> None:
    file, config = store / ".memory" / "spaces" / "main.json", store / ".memory" / "config.toml"
    sound = file.read_bytes()
    damages: list[Callable[[], object]] = [
        lambda: file.write_bytes(GARBAGE), lambda: (file.unlink(), file.mkdir()), lambda: _link(file),
        lambda: (file.unlink(), os.mkfifo(file)), lambda: config.write_text('space = "'), lambda: _link(store / ".memory"),
        (store / ".memory").unlink,
    ]  # fmt: skip
    for damage in damages:
        damage()
        for root in ("", "."):
            for kind in ("paths", "refs", "ids"):
                complete([kind, "", "", root])
                assert capfd.readouterr() == ("", "")
            complete(["kinds", "de", "", root])
            assert capfd.readouterr() == ("decision\n", "")
        if (store / ".memory").is_dir() and not (store / ".memory").is_symlink():
            config.unlink(missing_ok=True)
            shutil.rmtree(file) if file.is_dir() else file.unlink(missing_ok=True)
            file.write_bytes(sound)


def test_a_file_cut_short_gives_what_is_whole_in_it(store: Path) -> None:
    path = store / ".memory" / "spaces" / "main.json"
    data = path.read_bytes()
    path.write_bytes(data[: data.index(b"auth/my") + 7].replace(b"auth/my", b"\\u12"))
    assert values("paths", "", "", "") == [ODD, "auth/tokens", "notes/größe", "user@host/x=y:z"]


def test_texts_are_taken_from_json_as_they_are_meant(tmp_path: Path) -> None:
    objects = tuple(memory(str(n), path=path) for n, path in enumerate(['a/"b"', "a\\b", "a/\tb", "a/\u2028b"]))
    root = tmp_path / ".memory"
    (root / "spaces").mkdir(parents=True)
    data = encode_space(replace(Space("main"), objects=objects))
    (root / "spaces" / "main.json").write_bytes(data.replace(b"\n", b"\r\n"))
    assert values("paths", "", "main", str(root)) == ['a/"b"', "a\\b"]


def test_asking_loads_almost_nothing_and_survives_closed_pipes(store: Path) -> None:
    probe = """
import atexit, sys
sys.argv = ["memcli", "__complete", *sys.argv[1:]]
from memcli.__main__ import main
heavy = {"typer", "rich", "numpy", "onnxruntime", "tokenizers", "pydantic", "textual", "watchdog", "orjson"}
def check():
    found = heavy & {name.partition(".")[0] for name in sys.modules}
    if found:
        print(found, file=sys.stderr)
atexit.register(check)
main()
"""
    for arguments in (["paths"], ["kinds"], ["refs", "x", "none"], ["nonsense"], [], ["spaces", "", "", "/nowhere"]):
        done = subprocess.run([sys.executable, "-c", probe, *arguments], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")
    for target in (">&-", "| true"):
        line = ["sh", "-c", f"memcli __complete kinds {target}"]
        done = subprocess.run(line, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


# Real shells


@pytest.fixture
def bash(store: Path) -> Ask:
    """Calls the function as bash does, with the line cut as bash cuts it, under options that users may have set."""
    program = need("bash")
    code = """
set -u
shopt -s failglob
IFS=:
. "$1"
COMP_LINE=$2 COMP_POINT=${#2} COMP_CWORD=$(($# - 4)) COMP_WORDS=("${@:4}")
_memcli memcli "$3" x
((${#COMPREPLY[@]} == 0)) || printf '%s\\n' "${COMPREPLY[@]}"
"""

    def ask(line: str) -> list[str]:
        cut = re.findall(r"""["'][^"']*["']?|[:=]+|(?:\\.|[^\s:=\\"'])+\\?|\\$""", line)
        words = [*cut, ""] if line.endswith(" ") and not re.search(r"""["'][^"']*$""", cut[-1]) else cut
        last = words[-1].lstrip("\"':=")
        done = subprocess.run(
            [program, "--norc", "-c", code, "bash", str(file_of("bash")), line, last, *words],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout.splitlines()

    return ask


def test_bash_completes_verbs_options_and_commands(bash: Ask) -> None:
    found = {
        "": [*names(), *ALIASES], "rec": ["recall"], "space ": ["create", "list", "show", "policy", "delete"],
        "check ": ["code", "recall", "secrets", "store"], "space policy main --se": ["--set"],
        "recall --f": ["--format", "--fail-empty", "--fail-weak", "--from-diff", "--freeze-clock"],
        "recall --format ": ["json", "md", "prompt", "table", "text"], "import x --mode r": ["replace"],
        "completions ": ["bash", "zsh", "fish"], "nonsense ": [], "recall some": [], "recall --limit ": [],
        "completions bash ": [], "space list x": [],
    }  # fmt: skip
    assert {line: bash(f"memcli {line}") for line in found} == found
    assert set(KINDS) < set(bash("memcli list --kind "))


def test_bash_completes_values(bash: Ask) -> None:
    found = {
        "space show ": ["main", "work"], "list -s w": ["work"], "list --space=": ["main", "work"], "list --space=w": ["work"],
        "edit auth/tokens --tag s": ["security", "säure"], "recall text --under n": ["notes/größe"],
        "remember --supersedes mem_o": ["mem_odd", "mem_one"], "get mem_one no": ["notes/größe"], "list notes ": [],
        "list -- no": ["notes/größe"],
    }  # fmt: skip
    assert {line: bash(f"memcli {line}") for line in found} == found


def test_bash_completes_what_is_cut_or_quoted(bash: Ask) -> None:
    found = {
        "D1:": ["10", "2"], "D1:1": ["10"], "user@host/x=y": ["y:z"], "auth/my": [r"auth/my\ path"],
        r"auth/my\ p": [r"auth/my\ path"], "auth/my\\": [r"auth/my\ path"], '"auth/my p': ["auth/my path"],
        "auth/i": [r"auth/it\'s\ \"odd\"\ \$HOME\ \`x\`\;\ #\&"], '"auth/i': [r"auth/it's \"odd\" \$HOME \`x\`; #&"],
        "'auth/i": [r"""auth/it'\''s "odd" $HOME `x`; #&"""],
    }  # fmt: skip
    assert {typed: bash(f"memcli get {typed}") for typed in found} == found
    for typed in ("$(touch ran)", "`touch ran`", '"$(touch ran)'):
        assert bash(f"memcli get {typed}") == bash(f"memcli list --root {typed} ") == []
    assert not Path("ran").exists()


def test_bash_passes_space_and_root_on(bash: Ask, store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for typed in ("-s work", "--space work", "--space=work", "-swork", "--space 'work'"):
        assert bash(f"memcli list {typed} --tag ") == ["job"]
    assert bash("memcli list --root nowhere --tag ") == []
    shutil.move(store / ".memory", store / "my dir" / ".memory")
    assert bash("memcli list --tag ") == []
    for typed in ('"my dir"', r"my\ dir", "'my dir'"):
        assert bash(f"memcli list --root {typed} -s work --tag ") == ["job"]
    monkeypatch.setenv("HOME", str(store / "my dir"))
    assert bash("memcli list --root ~/ -s work --tag ") == ["job"]


STARTS = {
    "bash": "PS1='ready> '\n. {script}\nbind -x '\"\\C-t\": printf %s \"$READLINE_LINE\" > out; exit'\n",
    "zsh": (
        "PS1='ready> '\nautoload -Uz compinit && compinit -u -D\n. {script}\n"
        "show() {{ print -rn -- \"$BUFFER\" > out; exit }}\nzle -N show\nbindkey '^T' show\n"
    ),
}
TYPED = {
    "memcli rec\t": "memcli recall ",
    "memcli space show w\t": "memcli space show work ",
    "memcli list --space=w\t": "memcli list --space=work ",
    "memcli list -s work --tag \t": "memcli list -s work --tag job ",
    "memcli list --root my\t": "memcli list --root my\\ dir/",
    "memcli export -o a\t": "memcli export -o a\\ file ",
    "memcli get auth/my\t": "memcli get auth/my\\ path ",
    'memcli get "auth/my p\t': 'memcli get "auth/my path" ',
    "memcli get D1:1\t": "memcli get D1:10 ",
    "memcli recall --expl\t": "memcli recall --explain ",
    "memcli recall text\t": "memcli recall text",
}


@pytest.mark.parametrize("shell", STARTS)
@pytest.mark.parametrize("typed", slow_but(["memcli list -s work --tag \t", 'memcli get "auth/my p\t'], TYPED))
def test_the_tab_key(store: Path, shell: str, typed: str) -> None:
    assert press(shell, store, typed) == TYPED[typed]


def press(shell: str, folder: Path, typed: str) -> str:
    """What stands on the line of a real shell after these keys; Ctrl-T makes it tell."""
    pty = pytest.importorskip("pty")
    program = need(shell)
    (folder / ".zshrc").write_text(STARTS[shell].format(script=f"'{file_of(shell)}'"))
    options = ["--noprofile", "--rcfile", ".zshrc", "-i"] if shell == "bash" else ["-o", "NO_GLOBAL_RCS", "-i"]
    master, slave = pty.openpty()
    environ = {**os.environ, "ZDOTDIR": str(folder), "TERM": "vt100", "INPUTRC": os.devnull}
    with subprocess.Popen(
        [program, *options], stdin=slave, stdout=slave, stderr=slave, cwd=folder, env=environ, start_new_session=True
    ) as process:
        os.close(slave)
        try:
            shown = _read(master, b"ready> ")
            os.write(master, typed.encode() + b"\x14")
            shown += _read(master, None)
        finally:
            process.kill()
            os.close(master)
    out = folder / "out"
    assert out.exists(), shown.decode(errors="replace")
    return out.read_text(encoding="utf-8")


def _read(terminal: int, until: bytes | None) -> bytes:
    """What the terminal shows until then, or until the program has ended."""
    shown, end = b"", time.monotonic() + 20
    while time.monotonic() < end and (until is None or until not in shown):
        if select.select([terminal], [], [], 0.1)[0]:
            try:
                shown += os.read(terminal, 4096)
            except OSError:
                break
    return shown


@pytest.fixture
def fish(store: Path) -> Ask:
    program = need("fish")

    def ask(line: str) -> list[str]:
        code = [program, "--no-config", "-c", f"source '{file_of('fish')}'; complete -C $argv[1]", line]
        done = subprocess.run(code, capture_output=True, text=True, check=False)
        assert done.stderr == ""
        return [found.partition("\t")[0] for found in done.stdout.splitlines()]

    return ask


def test_fish_completes(fish: Ask) -> None:
    found = {
        "": sorted([*names(), *ALIASES]), "rec": ["recall"], "space ": ["create", "delete", "list", "policy", "show"],
        "recall --f": ["--fail-empty", "--fail-weak", "--format", "--freeze-clock", "--from-diff"],
        "recall --format ": ["json", "md", "prompt", "table", "text"], "space show w": ["work"],
        "list --space=w": ["--space=work"], "get D1:1": ["D1:10"], "get auth/my": ["auth/my path"],
        'get "auth/my p': ["auth/my path"], r"get auth/my\ p": ["auth/my path"], "export -o a": ["a file"],
        "list --root my": ["my dir/"], "recall text ": [], "recall --limit ": [], "list --root nowhere ": [],
        **{f"list {typed} --tag ": ["job"] for typed in ("-s work", "--space work", "--space=work", "-swork")},
    }  # fmt: skip
    assert {line: sorted(fish(f"memcli {line}")) for line in found} == {
        line: sorted(words) for line, words in found.items()
    }


def test_the_marks_of_fields_are_those_of_the_format() -> None:
    assert {name: of_memory(name) for name in MARKS} == MARKS


@pytest.mark.parametrize("block", [1, 7, 20, 64])
def test_values_are_found_across_blocks(run: Run, monkeypatch: pytest.MonkeyPatch, block: int) -> None:
    for n in range(5):
        assert run("remember", f"Fact {n}.", "--path", f"a/{n}", "--tag", f"t{n}", "--kind", "fact").code == 0
    monkeypatch.setattr("memcli.extras.completion.values._BLOCK", block)
    assert values("paths", "", "", "") == [f"a/{n}" for n in range(5)]
    assert {f"t{n}" for n in range(5)} <= set(values("tags", "", "", ""))
    assert values("kinds", "", "", "") == ["fact"]


KINDS_OF_VALUES = ("ids", "kinds", "paths", "refs", "tags")


@pytest.fixture
def large(run: Run, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The index of a space that counts as large: up to date, but for one memory at the path `only/there`."""
    for n in range(5):
        assert (
            run("remember", f"Fact {n}.", "--path", f"a/{n}", "--tag", f"t{n}", "--tag", "größe", "--kind", "fact").code
            == 0
        )
    assert run("recall", "fact").code == 0
    monkeypatch.setattr("memcli.extras.completion.values._LARGE", 0)
    index = Path(".memory/cache/main.index")
    with closing(sqlite3.connect(index)) as connection:
        connection.execute("UPDATE memory SET path = 'only/there' WHERE path = 'a/4'")
        connection.commit()
    return index


def test_a_large_space_is_asked_by_its_index(large: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = [
        (kind, prefix) for kind in KINDS_OF_VALUES for prefix in ("", "a", "a/1", "f", "t3", "grö", "mem_", "\udc80")
    ]
    assert values("paths", "", "", "") == ["a/0", "a/1", "a/2", "a/3", "only/there"]
    with closing(sqlite3.connect(large)) as connection:
        connection.execute("UPDATE memory SET path = 'a/4' WHERE path = 'only/there'")
        connection.commit()
        connection.execute("PRAGMA journal_mode = WAL")
    files = sorted(os.listdir(".memory/cache"))
    by_index = [values(kind, prefix, "", "") for kind, prefix in asked]
    monkeypatch.setattr("memcli.extras.completion.values._LARGE", 1 << 40)
    assert by_index == [values(kind, prefix, "", "") for kind, prefix in asked]
    assert ["größe"] in by_index
    assert sorted(os.listdir(".memory/cache")) == files


@pytest.mark.parametrize("damage", ["behind", "gone", "text", "link", "endless", "pipe", "log"])
def test_an_index_that_cannot_answer_is_not_asked(large: Path, damage: str) -> None:
    held = sqlite3.connect(large)
    if damage == "behind":
        os.utime(".memory/spaces/main.json", (1, 1))
    elif damage == "link":
        large.rename("elsewhere")
        large.symlink_to(os.path.abspath("elsewhere"))
    elif damage == "pipe":
        os.mkfifo(f"{large}-journal")
    elif damage == "log":
        Path(f"{large}-wal").write_bytes(b"")
    elif damage == "endless":
        held.executescript(
            "DROP TABLE memory; CREATE VIEW memory AS WITH RECURSIVE one (path) AS (SELECT 'x' UNION ALL SELECT path FROM one)"
            " SELECT * FROM one"
        )
    else:
        large.unlink()
        if damage == "text":
            large.write_text("no database")
    with closing(held):
        assert values("paths", "", "", "") == [f"a/{n}" for n in range(5)]
