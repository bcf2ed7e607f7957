"""How much there is to hold: code, names, and what a command loads and takes. `python tools/size.py`

Code is lines with tokens that are neither docstring, comment nor blank; a docstring of a constant counts as one. Core is all
but `extras/`. Data is the lines of rules and lexicons in JSON and TOML files. A comment is one that says something to a
reader, not to a linter. Modules loaded and the deepest frame are those of a command in a new process, on a store with three memories; CPU
is that of a new process on 1,000 memories, user and system, over that of `list`, the least of seven runs each.
"""

from __future__ import annotations

import ast
import io
import json
import math
import os
import subprocess
import sys
import tempfile
import tokenize
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parent.parent
_QUIET = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING)
_TO_TOOLS = ("# noqa", "# fmt:", "# type:", "# pragma:", "#!")
_PROBE = """
import atexit, json, runpy, sys
deepest = 0
def note(frame, event, argument):
    global deepest
    if event == "call":
        depth = 0
        while frame is not None:
            depth, frame = depth + frame.f_code.co_filename.startswith({root!r}), frame.f_back
        deepest = max(deepest, depth)
def report():
    sys.setprofile(None)
    loaded = [name for name in sys.modules if name.split(".")[0] == "memcli"]
    sys.stderr.write("\\n" + json.dumps([len(loaded), deepest]))
atexit.register(report)
sys.setprofile(note)
sys.argv = ["memcli", *{arguments!r}]
runpy.run_module("memcli", run_name="__main__", alter_sys=False)
"""
COMMANDS = {
    "recall": (["recall", "which database?"], ""),
    "remember": (["remember", "The queue is in PostgreSQL.", "--path", "queue"], ""),
    "prompt hook": (
        ["hook", "run", "prompt", "--agent", "claude"],
        json.dumps({"session_id": "s", "prompt": "which database do we use?", "hook_event_name": "UserPromptSubmit"}),
    ),
}
SPENDERS = {
    "list": ("list",), "status": ("status",), "pin": ("pin", "services/s7"), "guard": ("guard", "--staged"),
    "export": ("export", "--out", os.devnull),
}  # fmt: skip


def code_lines(source: str) -> int:
    """Lines of code, as the module says."""
    described = {
        n
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        for n in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }
    found: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in _QUIET and token.type != tokenize.ENDMARKER:
            found.update(range(token.start[0], token.end[0] + 1))
    return len(found - described)


def comment_lines(source: str) -> int:
    """Lines with a comment for a reader."""
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    return sum(token.type == tokenize.COMMENT and not token.string.startswith(_TO_TOOLS) for token in tokens)


def measure(folder: Path) -> dict[str, object]:
    """The figures of a package."""
    files = sorted(folder.rglob("*.py"))
    trees = {file: ast.parse(file.read_text(encoding="utf-8")) for file in files}
    names: dict[str, set[Path]] = defaultdict(set)
    functions = classes = 0
    for file, tree in trees.items():
        for node in ast.walk(tree):
            functions += isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
            if isinstance(node, ast.ClassDef):
                classes += 1
                names[node.name].add(file)
    sources = {file: file.read_text(encoding="utf-8") for file in files}
    lines = {file: code_lines(source) for file, source in sources.items()}
    data = [file for ending in ("*.json", "*.toml") for file in folder.rglob(ending)]
    comments = sum(map(comment_lines, sources.values())) / sum(len(source.splitlines()) for source in sources.values())
    return {
        "lines of code": sum(lines.values()),
        "of which core": sum(count for file, count in lines.items() if folder / "extras" not in file.parents),
        "lines of data": sum(len(file.read_text(encoding="utf-8").splitlines()) for file in data),
        "share of comments": f"{comments:.1%}",
        "modules": len(files),
        "functions": functions,
        "classes": classes,
        "class names in two modules": sum(len(places) > 1 for places in names.values()),
    }


def loaded() -> dict[str, str]:
    """For each command: modules of memcli that it loads, and its deepest frame in them."""
    found = {}
    with tempfile.TemporaryDirectory() as base:
        environ = {**os.environ, "PYTHONPATH": str(ROOT), "HOME": base, "MEMCLI_BACKGROUND": "off"}
        work = Path(base, "project")
        (work / ".git").mkdir(parents=True)

        def memcli(*arguments: str) -> None:
            command = [sys.executable, "-m", "memcli", *arguments]
            subprocess.run(command, cwd=work, env=environ, check=True, capture_output=True)

        memcli("init")
        for n, text in enumerate(("We chose PostgreSQL.", "Tokens live an hour.", "Never force-push main.")):
            memcli("remember", text, "--path", f"notes/{n}")
        memcli("recall", "warm")
        for name, (arguments, given) in COMMANDS.items():
            probe = _PROBE.format(root=str(ROOT / "memcli"), arguments=arguments)
            command = [sys.executable, "-c", probe]
            done = subprocess.run(
                command, cwd=work, env={**environ, "MEMCLI_HOOK_FOREGROUND": "1"}, input=given, capture_output=True,
                text=True, check=True,
            )  # fmt: skip
            modules, deepest = json.loads(done.stderr.rsplit("\n", 1)[1])
            found[name] = f"{modules} modules, {deepest} frames"
    return found


def spent() -> dict[str, str]:
    """For each command: its CPU over that of `list`."""
    with tempfile.TemporaryDirectory() as base:
        environ = {
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "HOME": base,
            "MEMCLI_BACKGROUND": "off",
            "MEMCLI_EMBEDDER": "off",
        }
        environ.pop("PYTHONDONTWRITEBYTECODE", None)
        subprocess.run(["git", "init", "-q", base], check=True)

        def run(*arguments: str, given: str = "") -> float:
            before = os.times()
            command = [sys.executable, "-m", "memcli", *arguments]
            subprocess.run(command, cwd=base, env=environ, input=given, check=True, capture_output=True, text=True)
            after = os.times()
            return after.children_user + after.children_system - before.children_user - before.children_system

        run("init")
        texts = (f"Service {n} listens on port {8000 + n}; its owner is team {n % 17}." for n in range(1000))
        rows = (json.dumps({"raw": text, "path": f"services/s{n}", "kind": "fact"}) for n, text in enumerate(texts))
        run("remember", "--batch", "-", given="\n".join(rows))
        least: dict[str, float] = {}
        for _ in range(7):  # in turn, so that a busy moment of the machine hits all alike
            for name, arguments in SPENDERS.items():
                least[name] = min(least.get(name, math.inf), run(*arguments))
        return {name: f"{took / least['list']:.2f} x" for name, took in least.items()}


if __name__ == "__main__":
    for title, figures in (("memcli", measure(ROOT / "memcli")), ("loaded", loaded()), ("CPU", spent())):
        print(title)
        for name, value in figures.items():
            print(f"  {name:<28} {value}")
    tests = sum(len(file.read_text(encoding="utf-8").splitlines()) for file in (ROOT / "tests").rglob("*.py"))
    print(f"tests\n  {'lines':<28} {tests}")
