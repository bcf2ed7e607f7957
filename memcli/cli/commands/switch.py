"""`memcli off` and `memcli on`"""

from __future__ import annotations

import os

from memcli.cli.verb import Session, verb


@verb()
def off(session: Session) -> None:
    """Switch memory off in this clone: git hooks, `watch` and the hooks of agents record and inject nothing.

    Commands that you run yourself still work, and say that memory is off. MEMCLI_OFF=1 does the same for one shell.

    Example: memcli off && git rebase main; memcli on
    """
    _switch(session, on=False)


@verb()
def on(session: Session) -> None:
    """Switch memory on again in this clone.

    Example: memcli on
    """
    _switch(session, on=True)


def _switch(session: Session, *, on: bool) -> None:
    from memcli.store.switch import is_off_by_variable, switch

    workspace = session.open(tells_off=False)
    changed = switch(workspace.root, on=on)
    state = "on" if on else "off"
    text = f"memory is {'' if changed else 'already '}{state} in this clone"
    session.output.confirm({"state": state, "changed": changed}, text)
    if on and is_off_by_variable(os.environ):
        session.output.note("MEMCLI_OFF is set: memory stays off in this shell until you unset it")
