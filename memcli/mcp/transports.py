"""The server on standard input and output. It ends with its client."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time

from memcli.mcp.lines import LineServer
from memcli.mcp.tools import Offer

_LOOK_SECONDS = 1.0


def serve_stdio(offer: Offer) -> None:
    """Serves one client, until standard input ends and what came by it is answered, or the process that started this one is gone."""
    _end_with(os.getppid())
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Python would wait for the next line: writes are all or nothing
    source, target = os.dup(sys.stdin.fileno()), os.dup(sys.stdout.fileno())
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, sys.stdin.fileno())  # what else reads or prints, also in other processes, disturbs no message
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    os.close(nothing)
    LineServer(offer, os.fdopen(source, "rb"), os.fdopen(target, "wb")).run()


def _end_with(parent: int) -> None:
    """Ends this process when its parent is gone, even while a tool is at work: writes are all or nothing."""

    def look() -> None:
        while os.getppid() == parent:
            time.sleep(_LOOK_SECONDS)
        os._exit(0)

    threading.Thread(target=look, daemon=True, name="parent").start()
