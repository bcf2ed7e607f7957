"""Render findings of guard for people and editors, GitHub, and SARIF tools."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from memcli import __version__
from memcli.codec.canonical import encode
from memcli.model.memory import Json, Memory
from memcli.render.clean import clean_line, escape

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol
else:
    Protocol = object

_SARIF = "https://json.schemastore.org/sarif-2.1.0.json"


class ShownFinding(Protocol):
    """A memory, and the place in a change that matches its trigger."""

    @property
    def file(self) -> str: ...
    @property
    def line(self) -> int: ...
    @property
    def memory(self) -> Memory: ...
    @property
    def text(self) -> str: ...
    @property
    def is_enforced(self) -> bool: ...


def as_text(findings: Sequence[ShownFinding]) -> str:
    """`file:line: [enforced] kind id path: text`, one line each."""
    return "\n".join(
        clean_line(f"{f.file}:{f.line}: {'enforced ' if f.is_enforced else ''}{_message(f)}") for f in findings
    )


def as_github(findings: Sequence[ShownFinding]) -> str:
    """GitHub workflow commands, which annotate the lines."""
    return "\n".join(
        f"::{_level(f)} file={_property(f.file)},line={f.line},title={_property(f'memcli: {f.memory.path}')}"
        f"::{_data(clean_line(_message(f)))}"
        for f in findings
    )


def as_sarif(findings: Sequence[ShownFinding]) -> str:
    """SARIF 2.1.0: one rule per memory, one result per finding."""
    from urllib.parse import quote

    rules: dict[str, ShownFinding] = {f.memory.id: f for f in sorted(findings, key=lambda f: f.memory.id)}
    numbers = {name: number for number, name in enumerate(rules)}
    shown_rules: list[dict[str, Json]] = [
        {
            "id": name,
            "name": clean_line(f.memory.path),
            "shortDescription": {"text": clean_line(f.text) or f.memory.path},
            "defaultConfiguration": {"level": _level(f)},
        }
        for name, f in rules.items()
    ]
    driver = {"name": "memcli", "version": __version__, "rules": shown_rules}
    results = [
        {
            "ruleId": f.memory.id,
            "ruleIndex": numbers[f.memory.id],
            "level": _level(f),
            "message": {"text": clean_line(_message(f))},
            "locations": [
                {
                    "physicalLocation": {
                        "artifactLocation": {"uri": quote(f.file), "uriBaseId": "%SRCROOT%"},
                        "region": {"startLine": f.line},
                    }
                }
            ],
        }
        for f in findings
    ]
    log = {"$schema": _SARIF, "version": "2.1.0", "runs": [{"tool": {"driver": driver}, "results": results}]}
    return escape(encode(log).decode())


FORMATS: Mapping[str, Callable[[Sequence[ShownFinding]], str]] = {
    "text": as_text, "sarif": as_sarif, "github": as_github,
}  # fmt: skip


def _message(finding: ShownFinding) -> str:
    memory = finding.memory
    return f"{memory.kind} {memory.id} {memory.path}: {finding.text}"


def _level(finding: ShownFinding) -> str:
    return "error" if finding.is_enforced else "warning"


def _data(text: str) -> str:
    """Escaped as the data of a workflow command."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
