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
    its environment holds besides. `edits` are the tools that it edits a file with, in order, each with the argument for the
    file and the others; `shell` is its tool for a command line, with the argument for that; `recall` is memcli's tool."""

    name: str
    package: str
    version: str
    is_free: bool
    line: tuple[str, ...]
    prepare: Callable[[Path, Path, str], Mapping[str, str]]
    edits: tuple[tuple[str, str, Mapping[str, str]], ...]
    shell: tuple[str, str]
    recall: str
    namespace: str = ""
    setup: tuple[tuple[str, ...], ...] = ()
    """Command lines that are run once before the day."""
    loses: Mapping[str, str] = field(default_factory=dict)
    """The checks that cannot pass with this program, each with the reason."""

    def edit_steps(self, path: Path) -> list[Step]:
        """The calls that edit a file; one without an argument for it takes a patch."""
        return [
            Step(tool=tool, arguments={argument: str(path), **more})
            if argument
            else Step(tool=tool, patch=PATCH.format(path=path))
            for tool, argument, more in self.edits
        ]

    def shell_step(self, line: str) -> Step:
        """The call that runs a command line."""
        tool, argument = self.shell
        value = [line] if argument == "commands" else line
        more = {"description": "A command"} if tool in ("bash", "Bash") else {}
        return Step(tool=tool, arguments={argument: value, **more})

    def recall_step(self, topic: str) -> Step:
        """The call that recalls a topic."""
        return Step(tool=self.recall, arguments={"topic": topic}, namespace=self.namespace)


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
        (("apply_patch", "", {}),), ("exec_command", "cmd"), "recall", namespace="mcp__memcli",
    ),
    Program(
        "gemini", "@google/gemini-cli", "0.61.0", True, ("gemini", "--yolo", "-p"), _gemini,
        (("replace", "file_path", {"old_string": OLD, "new_string": NEW, "instruction": "Wait before charging."}),),
        ("run_shell_command", "command"), "mcp_memcli_recall",
    ),
    Program(
        "opencode", "opencode-ai", "1.18.33", True, ("opencode", "run"), _opencode,
        (("read", "filePath", {}), ("edit", "filePath", {"oldString": OLD, "newString": NEW})),
        ("bash", "command"), "memcli_recall", loses={"ended": "it reports no end of a session"},
    ),
    Program(
        "copilot", "@github/copilot", "1.0.102", False, ("copilot", "--allow-all-tools", "--trust-folder", "-p"), _copilot,
        (("edit", "path", {"old_str": OLD, "new_str": NEW}),), ("bash", "command"), "memcli-recall",
    ),
    Program(
        "claude", "@anthropic-ai/claude-code", "2.1.330", False,
        ("claude", "--permission-mode", "bypassPermissions", "-p"), _claude,
        (("Read", "file_path", {}), ("Edit", "file_path", {"old_string": OLD, "new_string": NEW})),
        ("Bash", "command"), "mcp__memcli__recall",
    ),
    Program(
        "cline", "cline", "3.0.65", False, ("cline",), _no_settings,
        (("editor", "path", {"command": "str_replace", "old_text": OLD, "new_text": NEW}),),
        ("run_commands", "commands"), "memcli__recall",
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
