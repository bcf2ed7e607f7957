"""How git is to call this memcli: by its full name, for the PATH of whoever calls git may have none, or another."""

from __future__ import annotations

import os
import sys


def this_program() -> tuple[str, ...]:
    """The words of the command line, the program first.

    Through the interpreter it runs with -P: git calls it in the work tree, whose own `memcli` folder is not to be run.
    """
    script = os.path.abspath(sys.argv[0])
    if os.path.basename(script) in ("memcli", "memcli.exe") and os.path.isfile(script) and os.access(script, os.X_OK):
        return (script,)
    return (sys.executable, "-P", "-m", "memcli")
