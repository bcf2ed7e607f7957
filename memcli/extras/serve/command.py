"""`memcli serve`"""

from __future__ import annotations

import json
import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING

from memcli.cli.options import Options, argument, flag, option
from memcli.cli.verb import SHARE, CommandContext, verb
from memcli.errors import UsageError
from memcli.model.space import READER

if TYPE_CHECKING:
    from memcli.app.workspace import Workspace
    from memcli.extras.serve.tokens import Tokens

# Looked for without importing them, which takes long.
_PACKAGES = ("fastapi", "starlette", "pydantic", "uvicorn", "h11", "jinja2")
_PORT = 7377
_SECONDS = 30.0
_ACTS = ("create", "list", "revoke")


class ServeOptions(Options):
    """What `memcli serve` takes."""

    words: list[str] = argument(
        "[token ACTION]", "Manage tokens instead: token create, list or revoke NAME.", many=True
    )
    port: int = option(
        metavar="PORT", help="The port on 127.0.0.1; 0 is any free one.", type=int, low=0, high=65535, default=_PORT
    )
    workers: int = option(metavar="N", help="The number of worker processes.", type=int, low=1, high=64, default=2)
    verbose: bool = flag("--verbose", help="Log every request, not only those that fail.")
    role: str = option(metavar="reader|writer|admin", help="With token create: what it allows.", default="reader")
    name: str | None = option(metavar="NAME", help="With token create: its name in the audit log.")


@verb(ServeOptions, section=SHARE, line="Serve the memory over HTTP, with a web inspector")
def command(session: CommandContext, options: ServeOptions) -> None:
    """Serve the memory over HTTP to programs and browsers on this machine.

    The first use creates .git/memcli/.memory/serve-token (without git: .memory/local/serve-token), which allows everything;
    programs send it as `Authorization: Bearer TOKEN`. The printed link opens the inspector in a browser; it works once, within ten minutes, and POST /api/login makes another.
    /openapi.json describes the API. A memory has an ETag; with If-Match, PATCH and DELETE fail with 412 if it has changed.

    A reader reads; a writer also remembers, edits, forgets, judges and records sessions; an admin also purges and sets
    policies. With --space a,b a token is for these spaces alone. A token is printed once and ends when it is revoked.

    Example: memcli serve token create --role reader --space main --name dashboard

    Example: memcli serve token revoke dashboard
    """
    if any(find_spec(name) is None for name in _PACKAGES):
        raise UsageError("serve needs the extra `serve`", "pip install '.[serve]' in a clone of memcli")
    from memcli.extras.serve.tokens import Tokens
    from memcli.store.layout import Layout

    named = session.options["space"]
    if options.words:
        session.options["space"] = None  # with `token` it names the spaces that a token is bound to
    workspace = session.open()
    tokens = Tokens(Layout(workspace.root))
    if not options.words:
        _serve(session, options, workspace, tokens)
        return
    noun, *rest = options.words
    act, names = (rest[0], rest[1:]) if rest else ("list", [])
    if noun != "token" or act not in _ACTS or (names and act != "revoke"):
        raise UsageError(f"serve has no {' '.join(options.words)!r}", f"use token {', '.join(_ACTS)}")
    if act == "create":
        from memcli.extras.serve.access import Caller

        spaces = tuple(name for name in (named or "").split(",") if name)
        known = {token.caller.name for token in tokens.all()}
        name = options.name or next(n for i in range(len(known) + 1) if (n := f"{options.role}-{i + 1}") not in known)
        text = tokens.create(Caller(name, options.role, spaces), workspace.clock())
        session.output.answer({"name": name, "role": options.role, "spaces": list(spaces), "token": text}, text)
        session.output.note(f"created token {name}, which is not shown again")
    elif act == "revoke":
        if len(names) != 1:
            raise UsageError("serve token revoke takes one name", "`memcli serve token list` lists them")
        tokens.revoke(names[0])
        session.output.confirm({"name": names[0], "revoked": True}, f"revoked token {names[0]}")
    else:
        from memcli.render.clean import grid

        found = [token.to_json() for token in tokens.all()]
        rows = [[str(t["name"]), str(t["role"]), ",".join(t["spaces"]) or "all", str(t["created_at"])] for t in found]
        session.output.answer(found, grid(["name", "role", "spaces", "created"], rows) if rows else "")


def _serve(session: CommandContext, options: ServeOptions, workspace: Workspace, tokens: Tokens) -> None:
    import asyncio

    from memcli.extras.serve.access import Backend, role_of
    from memcli.extras.serve.gate import Admission
    from memcli.extras.serve.pool import Pool
    from memcli.extras.serve.server import HOST, link_to, listen, make_app, serve
    from memcli.extras.serve.tokens import Logins

    first = tokens.make_first()
    listening = listen(options.port)
    access = Admission(root=workspace.root, port=listening.getsockname()[1], tokens=tokens, logins=Logins())
    # Workers are started with `-P`, so that no module in the working directory can stand in for one of memcli's.
    given = {name: session.options[name] for name in ("space", "freeze_clock", "offline")} | {"root": workspace.root}
    worker = [sys.executable, "-P", "-m", "memcli.extras.serve.worker", json.dumps(given)]
    pool = Pool(worker, options.workers, lambda verb, given: role_of(verb, given) == READER, _SECONDS)
    app = make_app(Backend(pool.call), access, session.output.note, logs_all=options.verbose)

    def ready() -> None:
        digest = next(token.digest for token in tokens.all() if tokens.find(first) == token)
        address, link = f"http://{HOST}:{access.port}", link_to(access, access.logins.make_code(digest))
        printed = {"address": address, "login": link}
        session.output.answer(printed, f"serving on {address}\nopen {link}", on_one_line=True)
        sys.stdout.flush()  # a pipe would get it when the server ends
        session.keep_helper()

    asyncio.run(serve(listening, pool, app, ready))
