"""New memories from the command line: where they came from, and whether they are stored or proposed."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence

from memcli.app.candidate import Candidate
from memcli.app.remember import Stored, remember
from memcli.app.repo import check_is_told
from memcli.app.workspace import Workspace
from memcli.cli.console import is_terminal
from memcli.errors import NotFoundError
from memcli.model.findings import Resolution
from memcli.model.memory import Json

_HASH = re.compile(r"[0-9a-f]{7,64}")


def from_file(fields: Mapping[str, Json], file: str | None) -> dict[str, Json]:
    """Adds the file as the source, by its path in the repository, unless the fields name another source.

    Files outside the repository are not recorded: their paths mean nothing to others.
    """
    from memcli.store.layout import find_work_tree

    if file is None or file == "-":
        return dict(fields)
    root = find_work_tree(os.getcwd(), os.path.expanduser("~"))
    path = os.path.relpath(os.path.realpath(file), os.path.realpath(root or os.getcwd())).replace(os.sep, "/")
    if path.startswith("../") or path == "..":
        return dict(fields)
    from memcli.model.names import readable

    name = readable(path)
    metadata, provenance = fields.get("metadata", {}), fields.get("provenance", {})
    if not isinstance(metadata, Mapping) or not isinstance(provenance, Mapping):
        return dict(fields)  # which is refused later
    return {**fields, "metadata": {"source": name, **metadata}, "provenance": {"files": [name], **provenance}}


def full_hash(revision: str) -> str:
    """The full hash of the commit `revision`; outside a repository, a full hash as given.

    Raises NotFoundError for an unknown commit, UsageError if `revision` cannot name a commit.
    """
    from memcli.git.repository import find_repository

    try:
        repository = find_repository(os.getcwd())
    except NotFoundError:
        if _HASH.fullmatch(revision):
            return revision
        raise NotFoundError(
            f"cannot look up {revision!r}: not in a git repository",
            "give the full hash of the commit, or run the command in the repository",
        ) from None
    return repository.resolve(revision)


def submit(
    workspace: Workspace,
    candidates: Sequence[Candidate],
    supersedes: str | None = None,
    *,
    propose: bool,
    yes: bool,
    resolution: Resolution | None = None,
) -> Stored:
    """Stores the candidates or puts them into the inbox: proposals always go there; under `review: true`, so does everything
    that is not entered by a person at a terminal, unless `yes`. Raises what remember raises.
    """
    check_is_told(workspace)
    proposed = propose or bool(os.environ.get("MEMCLI_PROPOSE"))
    if not proposed and (yes or is_terminal()):
        return remember(workspace, candidates, supersedes, resolution=resolution)
    from memcli.app.inbox import offer

    return offer(workspace, candidates, supersedes, propose_all=proposed, resolution=resolution)
