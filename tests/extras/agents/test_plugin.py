"""The plugin for opencode, run by node with the calls that opencode makes."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from memcli.extras.agents.table import PLUGIN
from tests.conftest import ROOT, Run
from tests.local_state import reported

pytestmark = pytest.mark.skipif(shutil.which("node") is None, reason="opencode runs plugins with a JavaScript runtime")

DRIVER = """
import { Memcli } from "./memcli.mjs"
const hooks = await Memcli({ directory: process.argv[2] })
const say = async (text) => {
  const output = { parts: [{ type: "file" }, { type: "text", text }, { type: "text", text: "x", synthetic: true }] }
  await hooks["chat.message"]({ sessionID: "ses_1" }, output)
  return output.parts[1].text
}
const use = async (tool, args, callID, fails) => {
  try {
    await hooks["tool.execute.before"]({ tool, sessionID: "ses_1", callID }, { args })
  } catch (error) {
    return error.message
  }
  const output = { title: "", output: "done", metadata: {} }
  if (!fails) await hooks["tool.execute.after"]({ tool, sessionID: "ses_1", callID }, output)
  return output.output
}
const told = []
told.push(await say("which database do we use for orders?"))
told.push(await say("which database is it for orders?"))
told.push(await use("bash", { command: "ls" }, "1"))
const patchText = "*** Begin Patch\\n*** Update File: src/orders/handler.py\\n+x\\n*** End Patch"
told.push(await use("apply_patch", { patchText }, "2", true))
told.push(await use("edit", { filePath: "src/orders/handler.py", newString: "x" }, "2"))
told.push(await use("bash", { command: "git push --force" }, "2"))
await hooks.event({ event: { type: "session.compacted", properties: { sessionID: "ses_1" } } })
await hooks.event({ event: { type: "session.idle", properties: { sessionID: "ses_1" } } })
await hooks.event({ event: { type: "server.connected", properties: {} } })
told.push(await use("read", { filePath: "src/orders/handler.py" }, "3"))
await hooks["chat.message"]({ sessionID: "ses_1" }, { parts: [] })
console.log(JSON.stringify(told))
"""


def play(project: Path, tools: Path, **environ: str) -> list[str]:
    """What the plugin makes of the messages and results of a session."""
    (tools / "memcli.mjs").write_text(PLUGIN)
    (tools / "driver.mjs").write_text(DRIVER)
    done = subprocess.run(
        ["node", str(tools / "driver.mjs"), str(project)],
        env={**os.environ, "PYTHONPATH": str(ROOT), "MEMCLI_HOOK_FOREGROUND": "1", **environ},
        capture_output=True, check=True, text=True, cwd=tools,
    )  # fmt: skip
    told: list[str] = json.loads(done.stdout)
    return told


def test_a_session(run: Run, project: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    tools = tmp_path_factory.mktemp("tools")
    shim = tools / "memcli"
    shim.write_text(f'#!/bin/sh\nexec "{sys.executable}" -P -m memcli "$@"\n')
    shim.chmod(0o755)
    run("remember", "Never push with force.", "--kind", "negative", "--path", "git/force", "--trigger", "push --force",
        "--enforce")  # fmt: skip
    run("space", "policy", "main", "--set", "agents.enforce=deny")
    first, second, listed, failed, edited, refused, read = play(
        project, tools, PATH=f"{tools}{os.pathsep}{os.environ['PATH']}"
    )
    assert first.startswith("which database do we use for orders?\n\n<memory-")
    assert first.index("release/day") < first.index("orders/database")
    assert second == "which database is it for orders?"
    assert (listed, failed) == ("done", "done")
    assert edited.startswith("done\n\n<memory-")
    assert "orders/sleep" in edited
    assert "orders/sleep" in read
    assert "Never push with force." in refused
    assert refused.startswith("Refused by")
    assert [entry["event"] for entry in reported(project)] == ["after-compaction", "stop"]


def test_without_memcli_nothing_changes(project: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    tools = tmp_path_factory.mktemp("tools")
    node = shutil.which("node")
    assert node
    (tools / "node").symlink_to(node)
    told = play(project, tools, PATH=str(tools))
    assert told == ["which database do we use for orders?", "which database is it for orders?", *["done"] * 5]
