"""`memcli store index`"""

from __future__ import annotations

from memcli.cli.options import Options, argument, flag
from memcli.cli.verb import CommandContext, verb
from memcli.errors import ProviderError, UsageError

_ACTIONS = ("show", "rebuild", "embed")


class IndexOptions(Options):
    """What `memcli store index` takes."""

    action: str = argument("[show|rebuild|embed]", "What to do.", default="show")
    background: bool = flag(
        help="With embed: wait for a turn, then work silently at the lowest priority. `ingest` and hooks start this."
    )


@verb(IndexOptions)
def command(session: CommandContext, options: IndexOptions) -> None:
    """Show what the index of the space holds and which model makes its vectors; rebuild it, or compute missing vectors.

    The index is a cache: it can be deleted at any time.

    `ingest` and hooks start embed in the background (MEMCLI_BACKGROUND=off: they do not). A recall computes up to 512
    missing vectors; if more are missing, it uses those that are there, and searches the rest by words only. Memories that
    people or agents stored come first, then documents, then the newest commits. Stopped at any time, it goes on where it was.
    When standard error is not a terminal, progress is printed every ten seconds unless -q is given. MEMCLI_EMBEDDER chooses
    the model: onnx (built in), onnx:DIR (a sentence-transformers model in ONNX), hashed (words only) or off.

    Example: memcli ingest --git HEAD && memcli store index embed

    >>> memory.store_index('rebuild')['objects']
    3
    """
    from memcli.app.space import index_status

    if options.action not in _ACTIONS:
        raise UsageError(f"no action {options.action!r}", f"choose one of {', '.join(_ACTIONS)}")
    if options.background and options.action != "embed":
        raise UsageError("--background needs embed", "run `memcli store index embed --background`")
    if options.action == "rebuild":
        _rebuild(session)
    elif options.action == "embed":
        _embed(session, options)
    else:
        data = index_status(session.open())
        session.output.answer(data, "\n".join(f"{name:<8}  {value}" for name, value in data.items()))


def _rebuild(session: CommandContext) -> None:
    from memcli.app.space import index_status

    workspace = session.open()
    for name in workspace.asked_spaces:
        workspace.index.rebuild(name)
    data = index_status(workspace)
    session.output.confirm(data, f"indexed {data['objects']} memories of space {workspace.space}")


def _embed(session: CommandContext, options: IndexOptions) -> None:
    from memcli.app.space import embed_spaces, index_status

    if options.background:
        from memcli.cli.background import run_alone

        session.output.quiet = True
        workspace = session.open()
        run_alone(workspace.root, lambda is_there: embed_spaces(session.open(), is_there))
        return
    session.progress.has_lines = True
    workspace = session.open()
    if not embed_spaces(workspace):
        raise ProviderError(
            "no embedder: no vectors were computed", "set MEMCLI_EMBEDDER=onnx to use the built-in model"
        )
    data = index_status(workspace)
    session.output.confirm(data, f"{data['vectors']} vectors of space {workspace.space}")
