"""Which modules of memcli each frequent command loads: every one costs each call half a millisecond."""

from __future__ import annotations

import json
import subprocess
from collections import defaultdict
from pathlib import Path

from tests.architecture.test_imports import loaded
from tests.conftest import memory, open_at, rewrite

GOLDEN = Path(__file__).parent / "golden" / "loaded.txt"
_HOOK = ("hook", "run")
COMMANDS = {
    "--version": (("--version",), None),
    "complete": (("__complete", "paths"), None),
    "get": (("get", "notes/a"), None),
    "guard": (("guard", "--staged"), None),
    "list": (("list",), None),
    "pre-edit": (
        (*_HOOK, "pre-edit", "--agent", "claude"),
        {"tool_name": "Edit", "tool_input": {"file_path": "x.py", "old_string": "a", "new_string": "b"}},
    ),
    "prompt": ((*_HOOK, "prompt", "--agent", "claude"), {"prompt": "which database do we use for the queue?"}),
    "recall": (("recall", "which database?"), None),
    "remember": (("remember", "The queue is in PostgreSQL.", "--path", "queue"), None),
}
"""The command lines, with what a hook reads."""


def test_frequent_commands_load_what_they_need(tmp_path: Path, update_golden: bool) -> None:
    workspace = open_at(tmp_path)
    rewrite(workspace.store, lambda space: space.put([memory("a", raw="We chose it.")], "2026-01-01T00:00:00Z"))
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    found: dict[str, list[str]] = defaultdict(list)
    loaded(tmp_path, "recall", "warm", MEMCLI_EMBEDDER="off")
    for name, (arguments, given) in COMMANDS.items():
        text = json.dumps({"session_id": "s", **given}) if given else ""
        modules = loaded(tmp_path, *arguments, given=text, MEMCLI_EMBEDDER="off", MEMCLI_HOOK_FOREGROUND="1")
        for module in modules:
            if module.startswith("memcli.") and module != "memcli.__main__":
                found[module].append(name)
    lines = [f"{module}: {' '.join(found[module])}" for module in sorted(found)]
    if update_golden:
        GOLDEN.write_text("\n".join(lines) + "\n")
    known = GOLDEN.read_text().splitlines()
    changed = [f"+ {line}" for line in lines if line not in known] + [
        f"- {line}" for line in known if line not in lines
    ]
    assert not changed, "\n".join(["run with --update-golden if that is meant", *changed])
