"""One run of a command: its common options, its output, and its workspace."""

from __future__ import annotations

import os
from types import TracebackType
from typing import Self

from memcli.app.workspace import Workspace
from memcli.cli.options import CommonOptions
from memcli.cli.output import Output, ProgressBar
from memcli.errors import MemcliError


class Session:
    """The context of a command. The store is located only when `open` is called."""

    def __init__(self, command: str, common: CommonOptions) -> None:
        self.options: dict[str, str | None] = {
            "command": command, "space": common.space, "root": common.root, "freeze_clock": common.freeze_clock,
        }  # fmt: skip
        self.output = Output(common.json, common.quiet)
        self.progress = ProgressBar("embedding", common.quiet)
        self._made = ""
        self._notes: list[str] = []

    def open(self, create: bool = False, **options: str | None) -> Workspace:
        """Opens the workspace; `create` creates a missing store. `options` are those of the command."""
        from memcli.wiring.roots import locate
        from memcli.wiring.workspace import open_workspace

        chosen = {**self.options, **options}
        is_new = create and not self._made and chosen.get("store") is None and locate(chosen, os.environ) is None
        notes: list[str] = []
        workspace = open_workspace(
            chosen,
            os.environ,
            create=create,
            warn=lambda text: notes.append(text) if is_new and not self._made else self.output.note(text),
            progress=self.progress,
        )
        if is_new:
            self._made, self._notes = workspace.root, notes
        return workspace

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.progress.close()
        if self._made and isinstance(error, MemcliError):
            from memcli.store.layout import remove_unused

            if remove_unused(self._made):
                return
        for note in self._notes:
            self.output.note(note)
