"""The server on the official SDK, for HTTP. Calls are answered one at a time."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from memcli import __version__
from memcli.mcp.messages import RequestError
from memcli.mcp.results import Result, Results
from memcli.mcp.tools import Offer

if TYPE_CHECKING:
    import mcp_types as types
    from mcp.server import Server

_Context = Any
_R = TypeVar("_R", bound="types.Result")


class Agents:
    """Answers the requests of agents."""

    def __init__(self, offer: Offer, admit: Callable[[Any, bool], None] = lambda _request, _writes: None) -> None:
        """`admit` is called before each call, with the request of HTTP that it came in and whether it writes. It raises
        MemcliError for a call that its caller may not make."""
        import anyio

        self._offer = offer
        self._admit = admit
        self._results = Results(offer)
        self._lock = anyio.Lock()

    def server(self) -> Server[Any]:
        """The server, to be run on a transport."""
        import mcp_types as types
        from mcp.server import Server

        results = self._results
        return Server(
            "memcli",
            version=__version__,
            instructions=self._offer.instructions,
            on_list_tools=_lists(types.ListToolsResult, results.tools),
            on_list_resources=_lists(types.ListResourcesResult, results.resources),
            on_list_resource_templates=_lists(types.ListResourceTemplatesResult, results.templates),
            on_list_prompts=_lists(types.ListPromptsResult, results.prompts),
            on_call_tool=self._call_tool,
            on_read_resource=self._read_resource,
            on_get_prompt=self._get_prompt,
        )

    async def _call_tool(self, context: _Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        from mcp_types import CallToolResult

        result = await self._run(context, self._results.call_tool, params.name, params.arguments or {})
        return CallToolResult.model_validate(result)

    async def _read_resource(
        self, context: _Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        from mcp_types import ReadResourceResult

        return ReadResourceResult.model_validate(await self._run(context, self._results.read_resource, str(params.uri)))

    async def _get_prompt(self, context: _Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        from mcp_types import GetPromptResult

        result = await self._run(context, self._results.get_prompt, params.name, params.arguments or {})
        return GetPromptResult.model_validate(result)

    async def _run(self, context: _Context, work: Callable[..., Result], *values: Any) -> Result:
        """The result of `work`, which runs in a thread. Cancelled, it is left to itself: the next call does not wait for it."""
        import anyio
        import anyio.to_thread

        async with self._lock:
            admitted = partial(work, *values, partial(self._admit, context.request))
            try:
                return await anyio.to_thread.run_sync(admitted, abandon_on_cancel=True)
            except anyio.get_cancelled_exc_class():
                self._offer.abandon()
                raise
            except RequestError as error:
                from mcp.shared.exceptions import MCPError

                raise MCPError(code=error.code, message=error.message) from None


def _lists(kind: type[_R], make: Callable[[], Result]) -> Callable[[_Context, Any], Awaitable[_R]]:
    async def answer(_: _Context, _params: Any) -> _R:
        return kind.model_validate(make())

    return answer
