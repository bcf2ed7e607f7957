"""Input of `scan`: named files, files of the store, versions in git."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from memcli.app.scan import Document, Rules
from memcli.cli.arguments import read_file
from memcli.cli.verb import Session
from memcli.errors import NotFoundError
from memcli.model.space import Policy
from memcli.safety.secrets.detector import Detector
from memcli.store.layout import Layout


def open_rules(session: Session, *, must_exist: bool) -> tuple[Rules, str]:
    """The rules and the root of the store. Files can be scanned without a store; their marks are then empty.

    Raises NotFoundError if there is no store but one is required.
    """
    try:
        workspace = session.open()
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
