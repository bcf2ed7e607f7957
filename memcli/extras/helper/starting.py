"""Starts the helper of a store, and sends it the beginning and the end of sessions."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import suppress

from memcli import client
from memcli.errors import MemcliError
from memcli.wiring.roots import locate

_CONTROL_SECONDS = 0.2
_MOST_ANCESTORS = 32


def start_helper(root: str = "", session: str = "", parents: Sequence[int] = ()) -> None:
    """Starts a helper for the store at `root`, by default that of the working directory, unless one runs.

    It ends with the `session`, with its nearest parent that stays, or after ten idle minutes. Nothing is started in CI,
    under a frozen clock, or where MEMCLI_HELPER is off. That it cannot be started is no error: commands do without it.
    """
    environ = os.environ
    # In CI, as under a frozen clock, nothing may depend on what another process holds.
    if environ.get(client.VARIABLE) == client.OFF or environ.get("CI") or environ.get("MEMCLI_FREEZE_CLOCK"):
        return
    with suppress(MemcliError, OSError):
        root = root or locate({}, environ) or ""
        if root:
            launch(root, session, parents)


def launch(root: str, session: str, parents: Sequence[int]) -> None:
    """Adds the session to the helper of the store at `root`, or starts a helper if none runs. Raises OSError."""
    import subprocess

    import memcli

    numbers = [str(one) for one in parents]
    if control(root, client.JOIN, session, *numbers) is not None:
        return
    # This memcli is found first, also where another one is installed.
    here = os.path.dirname(os.path.dirname(os.path.abspath(memcli.__file__)))
    paths = dict.fromkeys([here, *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))])
    subprocess.Popen(
        # With `-P` no module in the working directory can stand in for one of memcli's; in a session of its own it is
        # not reached by the signals that end the hook which starts it.
        [sys.executable, "-P", "-m", "memcli.extras.helper", root, session, *numbers],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
    ).returncode = 0  # nobody waits for it  # fmt: skip


def end_session(root: str, session: str) -> None:
    """Ends a session of an agent; the helper ends with its last one."""
    control(root, client.LEAVE, session)


def end_helper(root: str) -> bool:
    """Ends the helper of a store. Returns whether one ran."""
    return control(root, client.END) is not None


def running(root: str) -> tuple[int, int] | None:
    """The process id of the helper of a store and the number of commands that it has answered; None where none runs."""
    found = control(root, client.STATUS)
    if found is None:
        return None
    process, answers = found.split()
    return int(process), int(answers)


def control(root: str, request: str, *fields: str) -> str | None:
    """Sends a request to the helper of the store at `root`. Returns its answer; None if no helper runs, or it declines."""
    folder = client.run_folder(os.environ)
    try:
        if not client.is_own(folder):
            return None
        connection = client.connect(folder, client.socket_name(root), _CONTROL_SECONDS)
    except OSError:
        return None
    try:
        client.send(connection, (request, *fields))
        kind, data = client.receive_frame(connection)
        return data.decode() if kind == client.ACCEPTED else None
    except OSError:
        return None
    finally:
        connection.close()


def ancestors() -> list[int]:
    """The ids of the processes that this one descends from, nearest first, without process 1.

    A hook is often the child of a shell that ends with it: only the helper can see which of them is there to stay.
    """
    found = [os.getppid()]
    while len(found) < _MOST_ANCESTORS and found[-1] > 1:
        try:
            with open(f"/proc/{found[-1]}/stat", "rb") as file:
                above = int(file.read().rpartition(b")")[2].split()[1])
        except (OSError, ValueError, IndexError):
            break
        found.append(above)
    return [one for one in found if one > 1]
