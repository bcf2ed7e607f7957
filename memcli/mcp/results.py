"""The results of the protocol's methods, as JSON objects: the same over standard input and over HTTP."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from memcli import __version__
from memcli.mcp.answers import PagedOffer
from memcli.mcp.messages import INVALID_PARAMS, RequestError
from memcli.mcp.tools import Offer, Resource, Tool

SERVER = {"name": "memcli", "version": __version__}
Result = dict[str, Any]


class Results:
    """Makes the results of what is offered. `admit` is called before a call, with whether it writes; what it raises is
    reported as what a tool raises."""

    def __init__(self, offer: Offer) -> None:
        self._offer = offer
        self._answers = PagedOffer(offer)

    def tools(self) -> Result:
        """The list of tools."""
        return {"tools": [_tool(tool) for tool in self._offer.tools]}

    def resources(self) -> Result:
        """The list of resources that are no templates."""
        return {"resources": [_resource(one, "uri") for one in self._offer.resources if not one.is_template]}

    def templates(self) -> Result:
        """The list of templates of resources."""
        return {
            "resourceTemplates": [_resource(one, "uriTemplate") for one in self._offer.resources if one.is_template]
        }

    def prompts(self) -> Result:
        """The list of prompts."""
        prompt = self._offer.prompt
        arguments = [
            {"name": name, "description": one["description"], "required": name in prompt.required}
            for name, one in prompt.properties.items()
        ]
        return {"prompts": [{"name": prompt.name, "description": prompt.description, "arguments": arguments}]}

    def call_tool(
        self, name: str, arguments: Mapping[str, Any], admit: Callable[[bool], None] = lambda _: None
    ) -> Result:
        """What a tool answers, or the error."""
        try:
            admit(any(tool.name == name and not tool.reads_only for tool in self._offer.tools))
            text, is_error = self._answers.call_tool(name, arguments), False
        except Exception as error:  # noqa: BLE001 - an agent is told of every error, in words
            text, is_error = self._answers.report(error), True
        return {"content": [{"type": "text", "text": text}], "isError": is_error}

    def read_resource(self, uri: str, admit: Callable[[bool], None] = lambda _: None) -> Result:
        """The text of a resource. Raises RequestError."""
        text, mime_type = self._told(admit, lambda: self._answers.read_resource(uri))
        return {"contents": [{"uri": uri, "mimeType": mime_type, "text": text}]}

    def get_prompt(
        self, name: str, arguments: Mapping[str, Any], admit: Callable[[bool], None] = lambda _: None
    ) -> Result:
        """The message of the prompt. Raises RequestError."""
        text = self._told(admit, lambda: self._answers.get_prompt(name, arguments))
        message = {"role": "user", "content": {"type": "text", "text": text}}
        return {"description": self._offer.prompt.description, "messages": [message]}

    def _told(self, admit: Callable[[bool], None], work: Callable[[], Any]) -> Any:
        try:
            admit(False)
            return work()
        except Exception as error:  # noqa: BLE001 - an agent is told of every error, in words
            raise RequestError(INVALID_PARAMS, self._answers.report(error)) from None


def _tool(tool: Tool) -> Result:
    return {
        "name": tool.name,
        "description": tool.description,
        "inputSchema": tool.schema(),
        "annotations": {
            "readOnlyHint": tool.reads_only,
            "destructiveHint": tool.destroys,
            "idempotentHint": tool.is_idempotent,
            "openWorldHint": False,
        },
        **({"_meta": {"anthropic/alwaysLoad": True}} if tool.is_always_loaded else {}),
    }


def _resource(one: Resource, key: str) -> Result:
    return {key: one.uri, "name": one.name, "description": one.description, "mimeType": one.mime_type}
