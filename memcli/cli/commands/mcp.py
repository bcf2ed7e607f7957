"""`memcli mcp`"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import partial

from memcli.cli.offer import TOOLS
from memcli.cli.options import Options, option
from memcli.cli.verb import Session, verb
from memcli.errors import UsageError

_SETS = ("default", "all")


class McpOptions(Options):
    """What `memcli mcp` takes."""

    tools: str = option(metavar="default|all", help="The tools to offer.", default="default")
    http: int | None = option(
        metavar="PORT", help="Serve HTTP on 127.0.0.1 instead of standard input; 0 is any free port.",
        type=int, low=0, high=65535,
    )  # fmt: skip


def _with_tools(function: Callable[..., int | None]) -> Callable[..., int | None]:
    """The function with the names of the tools in its help, as the table of tools has them."""
    names: dict[bool, list[str]] = {True: [], False: []}
    for tool in TOOLS:
        names[tool.is_default].append(tool.name or tool.verb)
    default, others = (f"{', '.join(each[:-1])} and {each[-1]}" for each in (names[True], names[False]))
    function.__doc__ = str(function.__doc__).format(default=default, others=others)
    return function


@verb(McpOptions)
@_with_tools
def command(session: Session, options: McpOptions) -> None:
    """Serve the memory to coding agents over the Model Context Protocol (MCP).

    The tools are {default}; `--tools all` adds {others}. The project is the client's first root, else CLAUDE_PROJECT_DIR, else the working directory; --root names another
    store. The server ends with its client. With MEMCLI_PROPOSE=1, or the policy `review: true`, memories that agents store wait in the inbox.

    Example: claude mcp add memcli -- memcli mcp
    """
    if options.tools not in _SETS:
        raise UsageError(f"no tools {options.tools!r}", f"choose one of {', '.join(_SETS)}")
    if options.http is None and sys.stdin.isatty():
        raise UsageError(
            "mcp speaks with an agent on standard input", "configure the agent to run it, or use --http PORT"
        )
    try:
        import mcp.server  # noqa: F401 - first of all, to say what is missing
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "mcp":
            raise
        raise UsageError("mcp needs the extra `mcp`", "pip install '.[mcp]' in a clone of memcli") from None
    _serve(session, options)


def _serve(session: Session, options: McpOptions) -> None:
    from memcli.cli.calls import Calls
    from memcli.cli.offer import enter_project, make_offer
    from memcli.mcp.server import Agents
    from memcli.mcp.transports import serve_http, serve_stdio

    calls = Calls(
        {name: session.options[name] for name in ("root", "space", "freeze_clock", "offline")}, session.output.note
    )
    calls.load_later()

    if options.http is not None:  # clients share the process, so none of them chooses the project
        agents = Agents(make_offer(calls, options.tools))
        serve_http(agents.server, options.http, lambda address: session.output.note(f"serving MCP on {address}"))
        return
    find_project = partial(enter_project, environ=os.environ) if session.options["root"] is None else None
    serve_stdio(Agents(make_offer(calls, options.tools, find_project)).server)
    sys.stderr.flush()
    os._exit(0)  # the model may still be loading, and a tool may still run for a client that has gone
