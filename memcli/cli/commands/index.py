"""`memcli index`"""

from __future__ import annotations

from memcli.cli.session import Session
from memcli.cli.verb import Group
from memcli.errors import ProviderError

command = Group("index", "Show or rebuild the cache. It can be deleted at any time.")


@command.verb()
def rebuild(session: Session) -> None:
    """Make the index of the space anew."""
    from memcli.app.embed import index_status

    workspace = session.open()
    workspace.index.rebuild(workspace.space)
    data = index_status(workspace)
    session.output.confirm(data, f"indexed {data['objects']} memories of space {workspace.space}")


@command.verb()
def embed(session: Session) -> None:
    """Make the vectors that are missing.

    A recall makes up to 512 by itself; with more it answers by words alone, at once. `watch --embed` makes them as it
    goes. Where standard error is no terminal, a line every ten seconds says how far it is; -q leaves it out.

    Example: memcli ingest --git HEAD && memcli index embed
    """
    from memcli.app.embed import embed_space, index_status

    session.progress.has_lines = True
    workspace = session.open()
    if not embed_space(workspace):
        raise ProviderError("no vectors were made", "MEMCLI_EMBEDDER=onnx chooses the model that is built in")
    data = index_status(workspace)
    session.output.confirm(data, f"{data['vectors']} vectors of space {workspace.space}")


@command.verb()
def status(session: Session) -> None:
    """Say what the cache holds of the space."""
    from memcli.app.embed import index_status

    data = index_status(session.open())
    session.output.answer(data, "\n".join(f"{name:<8}  {value}" for name, value in data.items()))
