"""Serve another application, such as that of `mcp --http`, behind the gate of `memcli serve`."""

from __future__ import annotations

from collections.abc import Callable

from starlette.types import ASGIApp

from memcli.extras.serve.gate import Admission, Gate
from memcli.extras.serve.server import HOST, listen, serve
from memcli.extras.serve.tokens import Logins, Tokens
from memcli.store.layout import Layout


def serve_guarded(
    root: str,
    port: int,
    make_app: Callable[[], ASGIApp],
    note: Callable[[str], None],
    ready: Callable[[str, str], None],
) -> None:
    """Serves an application on the loopback until SIGINT or SIGTERM, to who has a token of the store at `root`.

    The first use makes a token that allows everything. `make_app` is called once the port, 0 for any free one, is open.
    `ready` gets the address and the file of that token when requests are answered. Raises UsageError, StoreError.
    """
    tokens = Tokens(Layout(root))
    tokens.make_first()
    listening = listen(port)
    access = Admission(root=root, port=listening.getsockname()[1], tokens=tokens, logins=Logins())
    app = Gate(make_app(), access, note)
    serve(listening, None, app, lambda: ready(f"http://{HOST}:{access.port}", tokens.first_file))
