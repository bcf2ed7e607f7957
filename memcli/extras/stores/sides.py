"""The two sides of a copy or a sync: a folder with a store in files, or the URL of a server."""

from __future__ import annotations

import os
from collections.abc import Mapping

from memcli.digests import sha256
from memcli.errors import NotFoundError, UsageError
from memcli.settings import FILES, is_server
from memcli.store.lock import WAIT_SECONDS
from memcli.wiring import extra
from memcli.wiring.roots import locate, named_root

HERE = "."
"""The name of the store in files that the working directory, --root or MEMCLI_ROOT leads to."""


class SyncSide:
    """One side. `shown` names it in messages, without a password; `identity` is a digest of its address."""

    def __init__(self, named: str, options: Mapping[str, str | None], environ: Mapping[str, str]) -> None:
        """Raises UsageError for other URLs, without quoting them, as they may contain a password; NotFoundError."""
        self.is_server = is_server(named)
        self._named = named
        if self.is_server:
            address = extra("postgres.opening").open_server(named, environ, WAIT_SECONDS).address
            self.shown, self.identity = address.shown, address.identity
            return
        if "://" in named:
            raise UsageError("not the URL of a PostgreSQL server", "write postgresql://USER@HOST:PORT/DATABASE")
        if named != HERE:
            self.root = named_root(named)
        elif (found := locate(options, environ)) is not None:
            self.root = found
        else:
            raise NotFoundError(
                "no store found: no .memory in this folder or above", "run `memcli init`, or name a folder"
            )
        # By the real path, so that a store which is named in two ways is not copied onto itself.
        self.shown, self.identity = self.root, sha256(os.path.realpath(self.root).encode()).hexdigest()

    def options(self, beside: SyncSide | None = None) -> tuple[str, str | None]:
        """The options `store` and `root` of a workspace on this side. The local files for a server are in the store `beside`."""
        if self.is_server:
            return self._named, beside.root if beside and not beside.is_server else None
        return FILES, self.root
