"""Writes the plugin for Claude Code and the extension for Gemini CLI in plugins/: `python tools/plugins.py`.

Their hooks, server and skill are those that `memcli agent install` writes, so there is nothing to keep equal by hand.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from memcli import __version__

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "plugins"
MARKETPLACE = ROOT / ".claude-plugin" / "marketplace.json"
AUTHOR = {"name": "The authors of memcli"}
ABOUT = {
    "name": "memcli",
    "version": __version__,
    "description": "Decisions, warnings and procedures of a project, kept in its repository and given to the agent when they matter",
}


def plugins() -> dict[Path, str]:
    """The files of both, by their path below the root of the repository."""
    with tempfile.TemporaryDirectory() as base:
        project, home = Path(base, "project"), Path(base, "home")
        (project / ".git").mkdir(parents=True)
        home.mkdir()
        for arguments in (["init"], ["agent", "install", "claude"], ["agent", "install", "gemini"]):
            subprocess.run(
                [sys.executable, "-P", "-m", "memcli", *arguments],
                cwd=project,
                env={"PATH": os.environ["PATH"], "HOME": str(home), "PYTHONPATH": str(ROOT)},
                check=True,
                capture_output=True,
            )
        claude, gemini = (json.loads((project / f".{name}/settings.json").read_text()) for name in ("claude", "gemini"))
        skill = (project / ".claude/skills/memcli/SKILL.md").read_text()
        instructions = (project / "AGENTS.md").read_text()
    found: dict[str, Any] = {
        "claude/.claude-plugin/plugin.json": ABOUT | {"author": AUTHOR, "license": "MIT"},
        "claude/hooks/hooks.json": {"hooks": claude["hooks"]},
        "claude/.mcp.json": {"mcpServers": gemini["mcpServers"]},
        "gemini/gemini-extension.json": ABOUT | {"mcpServers": gemini["mcpServers"], "contextFileName": "GEMINI.md"},
        "gemini/hooks/hooks.json": {"hooks": gemini["hooks"]},
    }
    texts = {FOLDER / name: _json(value) for name, value in found.items()}
    texts |= {FOLDER / f"{name}/skills/memcli/SKILL.md": skill for name in ("claude", "gemini")}
    texts[FOLDER / "gemini/GEMINI.md"] = "".join(
        line for line in instructions.splitlines(keepends=True) if not line.startswith("<!-- memcli:")
    )
    texts[MARKETPLACE] = _json(
        {
            "name": "memcli",
            "description": ABOUT["description"],
            "owner": AUTHOR,
            "plugins": [{"name": "memcli", "source": "./plugins/claude", "description": ABOUT["description"]}],
        }
    )
    return {path.relative_to(ROOT): text for path, text in texts.items()}


def _json(value: object) -> str:
    return json.dumps(value, indent=2) + "\n"


if __name__ == "__main__":
    for path, text in plugins().items():
        (ROOT / path).parent.mkdir(parents=True, exist_ok=True)
        (ROOT / path).write_text(text, encoding="utf-8")
