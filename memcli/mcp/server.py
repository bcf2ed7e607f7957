"""The server: the protocol's requests on the official SDK, answered one at a time."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import unquote, urlsplit

from memcli import __version__
from memcli.mcp.answers import PagedOffer
from memcli.mcp.tools import Offer, Tool

if TYPE_CHECKING:
    import mcp_types as types
    from mcp.server import Server

_Context = Any
_T = TypeVar("_T")


class Agents:
    """Answers the requests of agents."""

    def __init__(self, offer: Offer, admit: Callable[[Any, bool], None] = lambda _request, _writes: None) -> None:
        """`admit` is called before each call, with the request of HTTP that it came in and whether it writes. It raises
        MemcliError for a call that its caller may not make."""
        import anyio

        self._offer = offer
        self._admit = admit
        self._answers = PagedOffer(offer)
        self._lock = anyio.Lock()
        self._has_project = False

    def server(self) -> Server[Any]:
        """The server, to be run on a transport."""
        import mcp_types as types
        from mcp.server import Server

        server: Server[Any] = Server(
            "memcli",
            version=__version__,
            instructions=self._offer.instructions,
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_list_resources=self._list_resources,
            on_list_resource_templates=self._list_templates,
            on_read_resource=self._read_resource,
            on_list_prompts=self._list_prompts,
            on_get_prompt=self._get_prompt,
        )
        server.add_notification_handler("notifications/roots/list_changed", types.NotificationParams, self._forget)
        return server

    async def _list_tools(self, _: _Context, _params: Any) -> types.ListToolsResult:
        import mcp_types as types

        return types.ListToolsResult(tools=[_described(tool) for tool in self._offer.tools])

    async def _call_tool(self, context: _Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        import mcp_types as types

        work = partial(self._answers.call_tool, params.name, params.arguments or {})
        writes = any(tool.name == params.name and not tool.reads_only for tool in self._offer.tools)
        try:
            text, is_error = await self._run(context, work, writes), False
        except Exception as error:  # noqa: BLE001 - an agent is told of every error, in words
            text, is_error = self._answers.report(error), True
        return types.CallToolResult(content=[types.TextContent(type="text", text=text)], is_error=is_error)

    async def _run(self, context: _Context, work: Callable[[], _T], writes: bool = False) -> _T:
        """What `work` returns, which runs in a thread. Cancelled, it is left to itself: the next call does not wait for it."""
        import anyio
        import anyio.to_thread

        async with self._lock:
            self._admit(context.request, writes)
            await self._find_project(context)
            try:
                return await anyio.to_thread.run_sync(work, abandon_on_cancel=True)
            except anyio.get_cancelled_exc_class():
                self._offer.abandon()
                raise
            finally:
                self._offer.answered()

    async def _find_project(self, context: _Context) -> None:
        """Asks the client for its roots, before the first work of a session and when they have changed."""
        if self._offer.find_project is None or self._has_project:
            return
        self._has_project = True
        try:
            self._offer.find_project(await _roots(context))
        except BaseException:  # cancelled: the next call asks again
            self._has_project = False
            raise

    async def _forget(self, _: _Context, _params: Any) -> None:
        self._has_project = False

    async def _list_resources(self, _: _Context, _params: Any) -> types.ListResourcesResult:
        import mcp_types as types

        found = [
            types.Resource(uri=one.uri, name=one.name, description=one.description, mime_type=one.mime_type)
            for one in self._offer.resources
            if not one.is_template
        ]
        return types.ListResourcesResult(resources=found)

    async def _list_templates(self, _: _Context, _params: Any) -> types.ListResourceTemplatesResult:
        import mcp_types as types

        found = [
            types.ResourceTemplate(
                uri_template=one.uri, name=one.name, description=one.description, mime_type=one.mime_type
            )
            for one in self._offer.resources
            if one.is_template
        ]
        return types.ListResourceTemplatesResult(resource_templates=found)

    async def _read_resource(
        self, context: _Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        import mcp_types as types

        uri = str(params.uri)
        text, mime_type = await self._told(context, partial(self._answers.read_resource, uri))
        return types.ReadResourceResult(contents=[types.TextResourceContents(uri=uri, text=text, mime_type=mime_type)])

    async def _list_prompts(self, _: _Context, _params: Any) -> types.ListPromptsResult:
        import mcp_types as types

        prompt = self._offer.prompt
        arguments = [
            types.PromptArgument(name=name, description=one.get("description"), required=name in prompt.required)
            for name, one in prompt.properties.items()
        ]
        found = types.Prompt(name=prompt.name, description=prompt.description, arguments=arguments)
        return types.ListPromptsResult(prompts=[found])

    async def _get_prompt(self, context: _Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        import mcp_types as types

        text = await self._told(context, partial(self._answers.get_prompt, params.name, params.arguments or {}))
        message = types.PromptMessage(role="user", content=types.TextContent(type="text", text=text))
        return types.GetPromptResult(description=self._offer.prompt.description, messages=[message])

    async def _told(self, context: _Context, work: Callable[[], _T]) -> _T:
        """What `work` returns. Raises MCPError with an error in a line."""
        try:
            return await self._run(context, work)
        except Exception as error:  # noqa: BLE001 - an agent is told of every error, in words
            raise _protocol_error(self._answers.report(error)) from None


def _described(tool: Tool) -> types.Tool:
    import mcp_types as types

    return types.Tool(
        name=tool.name,
        description=tool.description,
        input_schema=tool.schema(),
        annotations=types.ToolAnnotations(
            read_only_hint=tool.reads_only,
            destructive_hint=tool.destroys,
            idempotent_hint=tool.is_idempotent,
            open_world_hint=False,
        ),
        _meta={"anthropic/alwaysLoad": True} if tool.is_always_loaded else None,
    )


def _protocol_error(text: str) -> Exception:
    from mcp.shared.exceptions import MCPError
    from mcp_types import INVALID_PARAMS

    return MCPError(code=INVALID_PARAMS, message=text)


async def _roots(context: _Context) -> list[str] | None:
    """The folders that the client works in, by its word; None if it cannot be asked."""
    import anyio
    import mcp_types as types

    session = context.session
    known = session.client_capabilities
    if known is None or known.roots is None or not session.can_send_request:
        return None
    with anyio.move_on_after(_ROOTS_SECONDS):
        try:
            answer = await session.send_request(types.ListRootsRequest(), types.ListRootsResult)
        except Exception:  # noqa: BLE001 - a client that says it has roots may still refuse to tell them
            return None
        return [unquote(urlsplit(str(root.uri)).path) for root in answer.roots if str(root.uri).startswith("file:")]
    return None


_ROOTS_SECONDS = 2.0
