"""Input of `check secrets`: named files, files of the store, versions in git."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from memcli.app.scan import Document, Rules
from memcli.app.shared_store import is_shared
from memcli.app.workspace import load_space
from memcli.cli.arguments import read_file
from memcli.cli.verb import CommandContext
from memcli.codec.space import encode_space
from memcli.errors import NotFoundError
from memcli.model.space import Policy
from memcli.safety.secrets.detector import Detector
from memcli.store.layout import Layout
from memcli.wiring.workspace import chosen_store


def open_rules(session: CommandContext, *, must_exist: bool, root: str | None = None) -> tuple[Rules, str]:
    """The rules and the root of the store that is meant, or that is at `root`. Files can be scanned without a store; their marks are then empty.

    Raises NotFoundError if there is no store but one is required.
    """
    try:
        workspace = session.open(root=root)
    except NotFoundError:
        if must_exist:
            raise
        return (lambda policy: Detector(policy, lambda _: "")), ""
    redactor = workspace.redactor
    return (lambda policy: redactor.on_the_way_out(Policy(pii_redaction=policy))), workspace.root


def documents(root: str, files: Sequence[str], *, history: bool, staged: bool) -> Iterator[Document]:
    """The documents to scan, in order. Raises NotFoundError, UsageError, StoreError, ProviderError."""
    if history or staged:
        from memcli.git import revisions

        for name, commit, data in revisions.history(root) if history else revisions.staged(root):
            yield Document(name, data, commit)
        return
    for path in files or Layout(root).documents():
        if os.path.exists(path) and not os.path.isfile(path):
            continue  # folders, as of submodules; pipes and devices, which may never end
        yield Document(path if files else os.path.relpath(path, os.path.dirname(root)), read_file(path))


def served(session: CommandContext) -> Iterator[Document]:
    """The spaces that are on a server, as files of theirs. Raises StoreError, RefusedError, CorruptError."""
    if not chosen_store(session.options, os.environ):
        return
    store = session.open().store
    for name in filter(is_shared, store.spaces()):
        yield Document(f"space {name!r} on the server", encode_space(load_space(store, name)))
