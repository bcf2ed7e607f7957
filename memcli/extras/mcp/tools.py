"""What the server offers, as values: tools, resources and a prompt."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from memcli.errors import UsageError
from memcli.record import Record

CURSOR = "cursor"
"""The argument by which a further page of a long result is asked for."""


class Tool(Record, kw_only=True):
    """A tool. `run` takes the arguments by name and gives a text; it raises MemcliError, or TypeError for wrong names."""

    name: str
    description: str
    properties: Mapping[str, Mapping[str, Any]]
    required: Sequence[str] = ()
    run: Callable[[Mapping[str, Any]], str]
    reads_only: bool = True
    destroys: bool = False
    is_idempotent: bool = True
    is_always_loaded: bool = False

    def schema(self) -> dict[str, Any]:
        """The JSON Schema of the arguments."""
        cursor = {CURSOR: {"type": "string", "description": "From the end of a long result."}}
        return {
            "type": "object",
            "properties": {**self.properties, **cursor},
            **({"required": list(self.required)} if self.required else {}),
            "additionalProperties": False,
        }

    def call(self, arguments: Mapping[str, Any]) -> str:
        """The whole result. Raises what `run` raises, UsageError."""
        if unknown := sorted(arguments.keys() - self.properties.keys()):
            raise UsageError(f"{self.name} has no parameter {unknown[0]!r}", f"it has {', '.join(self.properties)}")
        if missing := [name for name in self.required if arguments.get(name) in (None, "", [])]:
            raise UsageError(f"{self.name} needs {missing[0]}", self.properties[missing[0]].get("description", ""))
        return self.run(arguments)


class Resource(Record, kw_only=True):
    """A text with a URI; `{}` in it makes it a template. `read` takes what stands there, and raises MemcliError."""

    uri: str
    name: str
    description: str
    mime_type: str = "text/plain"
    read: Callable[[str], str]

    @property
    def is_template(self) -> bool:
        """Whether the URI has a place for a value."""
        return "{" in self.uri


class Offer(Record, kw_only=True):
    """What a server offers.

    `report` describes an exception in a line. `find_project`, if there is one, is given the roots of the client, None if it
    has none to give, before the first call. `prepare` loads in the background what calls need, `abandon` is called when the
    client has cancelled the one that runs. `state` changes whenever the memory does.
    """

    instructions: str
    tools: Sequence[Tool]
    resources: Sequence[Resource]
    prompt: Tool
    report: Callable[[Exception], str]
    find_project: Callable[[Sequence[str] | None], None] | None = None
    prepare: Callable[[], None]
    abandon: Callable[[], None]
    state: Callable[[], object]
