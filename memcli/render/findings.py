"""Render the findings of `guard` as text for people and editors, as GitHub workflow commands, and as SARIF."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from memcli import __version__
from memcli.codec.canonical import encode
from memcli.model.memory import Json
from memcli.render.clean import clean_line, escape

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memcli.app.guard import GuardFinding

_SARIF = "https://json.schemastore.org/sarif-2.1.0.json"


def as_text(findings: Sequence[GuardFinding]) -> str:
    """`file:line: [enforced] kind id path: text`, one line each."""
    return "\n".join(
        clean_line(f"{f.file}:{f.line}: {'enforced ' if f.is_enforced else ''}{_message(f)}") for f in findings
    )


def as_github(findings: Sequence[GuardFinding]) -> str:
    """GitHub workflow commands, which annotate the lines."""
    lines = []
    for f in findings:
        level = "error" if f.is_enforced else "warning"
        # The properties of a workflow command also end at colons and commas.
        file, title = (
            _data(text).replace(":", "%3A").replace(",", "%2C") for text in (f.file, f"memcli: {f.memory.path}")
        )
        lines.append(f"::{level} file={file},line={f.line},title={title}::{_data(clean_line(_message(f)))}")
    return "\n".join(lines)


def as_sarif(findings: Sequence[GuardFinding]) -> str:
    """SARIF 2.1.0: one rule per memory, one result per finding."""
    from urllib.parse import quote

    # In order of id, so that the same findings give the same bytes.
    rules: dict[str, GuardFinding] = {f.memory.id: f for f in sorted(findings, key=lambda f: f.memory.id)}
    numbers = {name: number for number, name in enumerate(rules)}
    shown_rules: list[dict[str, Json]] = [
        {
            "id": name,
            "name": clean_line(f.memory.path),
            "shortDescription": {"text": clean_line(f.text) or f.memory.path},
            "defaultConfiguration": {"level": "error" if f.is_enforced else "warning"},
        }
        for name, f in rules.items()
    ]
    driver = {"name": "memcli", "version": __version__, "rules": shown_rules}
    results = [
        {
            "ruleId": f.memory.id,
            "ruleIndex": numbers[f.memory.id],
            "level": "error" if f.is_enforced else "warning",
            "message": {"text": clean_line(_message(f))},
            "locations": [
                {
                    "physicalLocation": {
                        # By `%SRCROOT%`, code scanning means the root of the repository.
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


FORMATS: Mapping[str, Callable[[Sequence[GuardFinding]], str]] = {
    "text": as_text, "sarif": as_sarif, "github": as_github,
}  # fmt: skip


def _message(finding: GuardFinding) -> str:
    memory = finding.memory
    return f"{memory.kind} {memory.id} {memory.path}: {finding.text}"


def _data(text: str) -> str:
    """`text` escaped as the data of a GitHub workflow command."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
