"""The documents that `check secrets` and the hook pre-push scan: named files, files of the store, versions in git."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from memcli.app.scan import Document, Rules
from memcli.app.workspace import load_space
from memcli.cli.arguments import read_file
from memcli.cli.verb import CommandContext
from memcli.codec.space import encode_space
from memcli.errors import NotFoundError
from memcli.model.space import Policy
from memcli.safety.secrets.detector import Detector
from memcli.settings import is_beside
from memcli.store.layout import Layout
from memcli.wiring.workspace import chosen_store


def open_rules(session: CommandContext, *, must_exist: bool, root: str | None = None) -> tuple[Rules, str]:
    """The rules for secrets and the root of the store that the options name, or of the one at `root`.

    Without a store the root is empty and secrets get no marks. Raises NotFoundError if `must_exist`.
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
    """The documents to scan: versions in git for `history` and `staged`, else `files`, else the files of the store at `root`.

    Raises NotFoundError, UsageError, StoreError, ProviderError.
    """
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
    """The spaces of a store on a server, as space files. Raises StoreError, RefusedError, CorruptError."""
    if not chosen_store(session.options, os.environ):
        return
    store = session.open().store
    for name in store.spaces():
        if not is_beside(name):
            yield Document(f"space {name!r} on the server", encode_space(load_space(store, name)))
