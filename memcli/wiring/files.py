"""The look at the files of a store themselves, past the ports."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from memcli.app.workspace import Workspace
from memcli.model.space import Change
from memcli.store.layout import Layout

if TYPE_CHECKING:
    from memcli.codec.check import Finding


def check_files(workspace: Workspace, repair: bool) -> Iterator[tuple[Finding, bool]]:
    """What is wrong in the files of the store, each with whether `repair` mended it."""
    from memcli.store.repair import check_store

    return check_store(Layout(workspace.root), lambda name: workspace.store.update(name, lambda _: Change()), repair)


def format_files(workspace: Workspace, named: Sequence[str], check: bool) -> list[tuple[str, bool]]:
    """The spaces that are named (all, if none), and whether each was canonical; without `check` all are now."""
    from memcli.store.repair import format_space, space_names

    layout = Layout(workspace.root)
    return [(name, format_space(layout, name, check)) for name in space_names(layout, named)]
