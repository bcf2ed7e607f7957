"""One run of a command: its common options, its output, and the workspace that it opens."""

from __future__ import annotations

import os
from types import TracebackType
from typing import Self

from memcli.app.workspace import Workspace
from memcli.cli.output import Output, ProgressBar


class Session:
    """What every command gets. The store is looked for when `open` is called, not before."""

    def __init__(
        self, command: str, space: str | None, root: str | None, json: bool, quiet: bool, freeze_clock: str | None
    ) -> None:
        self.options: dict[str, str | None] = {
            "command": command, "space": space, "root": root, "freeze_clock": freeze_clock,
        }  # fmt: skip
        self.output = Output(json, quiet)
        self._progress = ProgressBar("embedding", quiet)

    def open(self, create: bool = False, **options: str | None) -> Workspace:
        """The workspace; with `create` a store is made where there is none. `options` are this command's own."""
        from memcli.wiring.workspace import open_workspace

        return open_workspace(
            {**self.options, **options},
            os.environ,
            create=create,
            warn=self.output.note,
            progress=self._progress,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.close()
