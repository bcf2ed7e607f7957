"""`memcli index`"""

from __future__ import annotations

from memcli.cli.verb import Group, Session
from memcli.errors import ProviderError

command = Group("index", "Show or rebuild the cache. It can be deleted at any time.")


@command.verb()
def rebuild(session: Session) -> None:
    """Rebuild the index of the space."""
    from memcli.app.space import index_status

    workspace = session.open()
    workspace.index.rebuild(workspace.space)
    data = index_status(workspace)
    session.output.confirm(data, f"indexed {data['objects']} memories of space {workspace.space}")


@command.verb()
def embed(session: Session) -> None:
    """Compute missing vectors.

    A recall computes up to 512 missing vectors; if more are missing, it searches by words only. `watch --embed` computes
    them in the background. When standard error is not a terminal, progress is printed every ten seconds unless -q is given.

    Example: memcli ingest --git HEAD && memcli index embed
    """
    from memcli.app.space import embed_space, index_status

    session.progress.has_lines = True
    workspace = session.open()
    if not embed_space(workspace):
        raise ProviderError(
            "no embedder: no vectors were computed", "set MEMCLI_EMBEDDER=onnx to use the built-in model"
        )
    data = index_status(workspace)
    session.output.confirm(data, f"{data['vectors']} vectors of space {workspace.space}")


@command.verb()
def status(session: Session) -> None:
    """Show what the cache holds for the space."""
    from memcli.app.space import index_status

    data = index_status(session.open())
    session.output.answer(data, "\n".join(f"{name:<8}  {value}" for name, value in data.items()))
