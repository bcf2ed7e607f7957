"""The coding agents that can be run here: how each is installed, started without a login, and what it calls its tools."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tests.clients.model import Step

PATCH = """*** Begin Patch
*** Update File: {path}
@@
 def charge(order):
+    time.sleep(1)
     return gateway.post(order)
*** End Patch
"""
OLD, NEW = "    return gateway.post(order)", "    time.sleep(1)\n    return gateway.post(order)"


@dataclass(frozen=True)
class Program:
    """A coding agent. `prepare` gets its home, the folder of the project and the address of the model, and returns what
    its environment holds besides; `edit`, `shell` and `recall` are steps that call its tools for that."""

    name: str
    package: str
    version: str
    is_free: bool
    line: tuple[str, ...]
    prepare: Callable[[Path, Path, str], Mapping[str, str]]
    edit: Callable[[Path], tuple[Step, ...]]
    shell: Callable[[str], Step]
    recall: Callable[[str], Step]
    setup: tuple[tuple[str, ...], ...] = ()
    """Command lines that are run once before the day."""
    loses: Mapping[str, str] = field(default_factory=dict)
    """The checks that cannot pass with this program, each with the reason."""


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def _codex(home: Path, project: Path, url: str) -> Mapping[str, str]:
    _write(
        home / ".codex/config.toml",
        f'model = "gpt-5.5"\nmodel_provider = "mock"\n'
        f'[model_providers.mock]\nname = "mock"\nbase_url = "{url}/v1"\nwire_api = "responses"\nenv_key = "MOCK_KEY"\n'
        f'[projects."{project}"]\ntrust_level = "trusted"\n',
    )
    return {"MOCK_KEY": "x"}


def _gemini(home: Path, project: Path, url: str) -> Mapping[str, str]:
    settings = {"security": {"auth": {"selectedType": "gemini-api-key"}}}
    _write(home / ".gemini/settings.json", json.dumps(settings))
    return {"GEMINI_API_KEY": "x", "GOOGLE_GEMINI_BASE_URL": url, "GEMINI_CLI_TRUST_WORKSPACE": "true"}


def _opencode(home: Path, project: Path, url: str) -> Mapping[str, str]:
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "options": {"baseURL": f"{url}/v1", "apiKey": "x"},
        "models": {"mock": {"tool_call": True}},
    }
    config = {"provider": {"mock": provider}, "model": "mock/mock", "small_model": "mock/mock", "autoupdate": False}
    _write(home / ".config/opencode/opencode.json", json.dumps(config))
    _write(home / ".npmrc", "fetch-retries=0\n")
    return {}


def _copilot(home: Path, project: Path, url: str) -> Mapping[str, str]:
    return {"COPILOT_PROVIDER_BASE_URL": f"{url}/v1", "COPILOT_MODEL": "gpt-4.1", "COPILOT_OFFLINE": "true"}


def _no_settings(home: Path, project: Path, url: str) -> Mapping[str, str]:
    return {}


def _claude(home: Path, project: Path, url: str) -> Mapping[str, str]:
    return {
        "ANTHROPIC_API_KEY": "x", "ANTHROPIC_BASE_URL": url, "IS_SANDBOX": "1", "DISABLE_AUTOUPDATER": "1",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    }  # fmt: skip


PROGRAMS = (
    Program(
        "codex", "@openai/codex", "0.169.0", True,
        ("codex", "exec", "--json", "--dangerously-bypass-approvals-and-sandbox", "--dangerously-bypass-hook-trust"), _codex,
        lambda path: (Step(tool="apply_patch", patch=PATCH.format(path=path)),),
        lambda line: Step(tool="exec_command", arguments={"cmd": line}),
        lambda topic: Step(tool="recall", arguments={"topic": topic}, namespace="mcp__memcli"),
    ),
    Program(
        "gemini", "@google/gemini-cli", "0.61.0", True, ("gemini", "--yolo", "-p"), _gemini,
        lambda path: (
            Step(tool="replace", arguments={
                "file_path": str(path), "old_string": OLD, "new_string": NEW, "instruction": "Wait before charging.",
            }),
        ),
        lambda line: Step(tool="run_shell_command", arguments={"command": line}),
        lambda topic: Step(tool="mcp_memcli_recall", arguments={"topic": topic}),
    ),
    Program(
        "opencode", "opencode-ai", "1.18.33", True, ("opencode", "run"), _opencode,
        lambda path: (
            Step(tool="read", arguments={"filePath": str(path)}),
            Step(tool="edit", arguments={"filePath": str(path), "oldString": OLD, "newString": NEW}),
        ),
        lambda line: Step(tool="bash", arguments={"command": line, "description": "A command"}),
        lambda topic: Step(tool="memcli_recall", arguments={"topic": topic}),
        loses={"ended": "it reports no end of a session"},
    ),
    Program(
        "copilot", "@github/copilot", "1.0.102", False, ("copilot", "--allow-all-tools", "--trust-folder", "-p"), _copilot,
        lambda path: (
            Step(tool="edit", arguments={"path": str(path), "old_str": OLD, "new_str": NEW}),
        ),
        lambda line: Step(tool="bash", arguments={"command": line, "description": "A command"}),
        lambda topic: Step(tool="memcli-recall", arguments={"topic": topic}),
    ),
    Program(
        "claude", "@anthropic-ai/claude-code", "2.1.330", False,
        ("claude", "--permission-mode", "bypassPermissions", "-p"), _claude,
        lambda path: (
            Step(tool="Read", arguments={"file_path": str(path)}),
            Step(tool="Edit", arguments={"file_path": str(path), "old_string": OLD, "new_string": NEW}),
        ),
        lambda line: Step(tool="Bash", arguments={"command": line, "description": "A command"}),
        lambda topic: Step(tool="mcp__memcli__recall", arguments={"topic": topic}),
    ),
    Program(
        "cline", "cline", "3.0.65", False, ("cline",), _no_settings,
        lambda path: (
            Step(tool="editor", arguments={"command": "str_replace", "path": str(path), "old_text": OLD, "new_text": NEW}),
        ),
        lambda line: Step(tool="run_commands", arguments={"commands": [line]}),
        lambda topic: Step(tool="memcli__recall", arguments={"topic": topic}),
        setup=(
            ("cline", "auth", "openai-compatible", "-b", "{url}/v1", "-k", "x", "-m", "mock"),
            ("cline", "mcp", "add", "--yes", "memcli", "--", "memcli", "mcp"),
        ),
        loses={
            "start": "what TaskStart prints is ignored; it comes with the first tool",
            "prompt": "no event of a prompt in a headless run",
        },
    ),
)  # fmt: skip
