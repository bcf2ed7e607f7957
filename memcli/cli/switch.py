"""Switching memory on and off in a clone."""

from __future__ import annotations

import os

from memcli.cli.verb import CommandContext
from memcli.wiring import extra


def switch_memory(session: CommandContext, *, on: bool) -> None:
    """Switches the memory of this clone on or off, and prints its new state."""
    from memcli.settings import is_on
    from memcli.store.trust import switch

    workspace = session.open(tells_off=False)
    changed = switch(workspace.root, on=on)
    if not on:
        extra("helper.starting").end_helper(workspace.root)
    state = "on" if on else "off"
    text = f"memory is {'' if changed else 'already '}{state} in this clone"
    session.output.confirm({"state": state, "changed": changed}, text)
    if on and is_on(os.environ, "MEMCLI_OFF"):
        session.output.note("MEMCLI_OFF is set: memory stays off in this shell until you unset it")
