"""What docs/stability.md says stays: each frozen name is in golden/stability.json, and is still what it was.

`--update-golden` adds new names. One that vanished is taken out by hand, for a new major version.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from memcli import errors
from memcli.cli.verb import read_line
from memcli.extras.mcp.offer import DEFAULT
from memcli.model.names import memory_id
from tests.conftest import ROOT, Run

FROZEN = ROOT / "golden" / "stability.json"
SCHEMAS = ("space", "object", "policy", "bundle", "export", "session")


def promised(run: Run) -> dict[str, list[str]]:
    """The names that stay, by what they are names of."""
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, errors.MemcliError)]
    hooks = "".join(file.read_text() for file in (ROOT / "plugins").glob("*/hooks/hooks.json"))
    return {
        "exit codes": sorted({f"{kind.exit_code} {kind.code}" for kind in kinds}),
        "hook commands": sorted(set(re.findall(r'"(memcli hook run [^"]+)"', hooks))),
        "ids": [f"{space} {path} {memory_id(space, path)}" for space in ("main", "repo") for path in ("a", "a/b")],
        "MCP tools": sorted(DEFAULT),
        **{f"fields of {name}": sorted(set(fields(run("schema", name).json))) for name in SCHEMAS},
    }


def fields(schema: object, path: str = "") -> Iterator[str]:
    """The properties of a schema at any depth, each by its path."""
    for key, below in (
        schema.items() if isinstance(schema, dict) else enumerate(schema) if isinstance(schema, list) else ()
    ):
        if key == "properties":
            yield from (f"{path}{name}" for name in below)
            for name, one in below.items():
                yield from fields(one, f"{path}{name}.")
        else:
            yield from fields(below, path)


def test_what_is_frozen_is_still_there(run: Run, update_golden: bool) -> None:
    now = promised(run)
    frozen = json.loads(FROZEN.read_text())
    if update_golden:
        frozen = {kind: sorted({*frozen.get(kind, ()), *names}) for kind, names in now.items()}
        FROZEN.write_text(json.dumps(frozen, indent=2) + "\n")
    assert {kind: set(names) - set(now[kind]) for kind, names in frozen.items() if set(names) - set(now[kind])} == {}
    assert [command for command in now["hook commands"] if read_line(command.split()[1:]) is None] == []


def test_commands_that_clients_approve_are_read() -> None:
    lines = (["merge-driver", "a", "b", "c"], ["mcp"], ["hook", "run", "prompt", "--agent", "claude"])
    assert [line for line in lines if read_line(line) is None] == []
