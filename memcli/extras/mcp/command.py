"""`memcli mcp`"""

from __future__ import annotations

import os
import sys
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from memcli.cli.options import Options, option
from memcli.cli.verb import PLUMBING, CommandContext, verb
from memcli.errors import RefusedError, UsageError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from memcli.cli.calls import Calls

_SETS = ("default", "all")


class McpOptions(Options):
    """What `memcli mcp` takes."""

    tools: str = option(metavar="default|all", help="The tools to offer.", default="default")
    http: int | None = option(
        metavar="PORT", help="Serve HTTP on 127.0.0.1 instead of standard input; 0 is any free port.",
        type=int, low=0, high=65535,
    )  # fmt: skip


@verb(McpOptions, section=PLUMBING, line="Serve the memory to agents over MCP")
def command(session: CommandContext, options: McpOptions) -> None:
    """Serve the memory to coding agents over the Model Context Protocol (MCP).

    The tools are recall, remember, get, context and feedback; `--tools all` adds forget, link, list, search, session, tag
    and verify. The project is the client's first root, else CLAUDE_PROJECT_DIR, else the working directory; --root names another
    store. The server ends with its client. With MEMCLI_PROPOSE=1, or the policy `review: true`, memories that agents store wait in the inbox.

    With --http (extras `mcp` and `serve`), clients send a token of `memcli serve` as `Authorization: Bearer TOKEN`: the one in the
    file that is printed, which allows everything, or one of `memcli serve token create`, with which a reader reads and a
    writer also writes.

    Example: claude mcp add memcli -- memcli mcp
    """
    if options.tools not in _SETS:
        raise UsageError(f"no tools {options.tools!r}", f"choose one of {', '.join(_SETS)}")
    if options.http is None and sys.stdin.isatty():
        raise UsageError(
            "mcp speaks with an agent on standard input", "configure the agent to run it, or use --http PORT"
        )
    if options.http is None:
        from memcli.extras.mcp.offer import enter_project, make_offer
        from memcli.extras.mcp.server import serve_stdio

        root = session.options["root"]
        find_project = partial(enter_project, environ=os.environ) if root is None else None
        serve_stdio(make_offer(_calls(session, root), options.tools, find_project), session.keep_helper)
    else:
        _serve_http(session, options.tools, options.http)
    sys.stderr.flush()
    os._exit(0)  # the model may still be loading, and a tool may still run for a client that has gone


def _calls(session: CommandContext, root: str | None) -> Calls:
    from memcli.cli.calls import Calls

    given = {name: session.options[name] for name in ("space", "freeze_clock", "offline")} | {"root": root}
    return Calls(given, session.output.note, loads_later=True)


def _serve_http(session: CommandContext, tools: str, port: int) -> None:
    """Serves clients with a token over HTTP, behind the gate of `memcli serve`. All of them use the project of the command."""
    for needed, module in (("mcp", "mcp"), ("serve", "fastapi")):
        if find_spec(module) is None:
            raise UsageError(
                f"mcp --http needs the extra `{needed}`", f"pip install '.[{needed}]' in a clone of memcli"
            )
    from memcli.extras.mcp.offer import make_offer
    from memcli.extras.mcp.server import check_bodies, sdk_server
    from memcli.wiring import extra

    # Clients over HTTP share this process, so that none of them can choose the project by its roots.
    root = session.open().root

    def make_app() -> Callable[[Any, Any, Any], Awaitable[None]]:
        calls = _calls(session, root)
        calls.load()
        return partial(check_bodies, sdk_server(make_offer(calls, tools), _admit).streamable_http_app())

    def ready(address: str, token_file: str) -> None:
        session.output.note(f"serving MCP on {address}/mcp")
        session.output.note(f"clients send `Authorization: Bearer TOKEN`; {token_file} holds a token")

    extra("serve.server").serve_guarded(root, port, make_app, session.output.note, ready)


def _admit(request: Any, writes: bool) -> None:
    """Raises RefusedError for a call that its caller may not make. The audit log names the caller for what the call changes."""
    from memcli.model.space import READER, WRITER

    caller = request.state.caller  # an `extras.serve.access.Caller`
    caller.check(WRITER if writes else READER)
    # Tools print text, which cannot be filtered by space as the JSON of `serve` is.
    if caller.spaces:
        raise RefusedError("the token is for some spaces only, and MCP speaks of all", "use a token for all spaces")
    # The SDK server runs one call at a time, so that the environment of the process is that of the call.
    os.environ["MEMCLI_USER"] = f"mcp:{caller.name}"
