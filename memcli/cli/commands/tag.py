"""`memcli tag`"""

from __future__ import annotations

from typing import Annotated

import typer

from memcli.cli.options import Refs, verb
from memcli.cli.session import Session
from memcli.errors import UsageError


@verb
def command(
    session: Session,
    refs: Refs,
    add: Annotated[
        list[str] | None, typer.Option("--add", "-a", metavar="TAG", help="Add this tag, or several: a,b.")
    ] = None,
    remove: Annotated[
        list[str] | None, typer.Option("--remove", "-r", metavar="TAG", help="Remove this tag, or several: a,b.")
    ] = None,
) -> None:
    """Add or remove tags. Without options, the words after the first memory are tags to add to it.

    Example: memcli tag auth/tokens security reviewed

    Example: memcli tag auth/tokens auth/passwords --add security --remove draft
    """
    from memcli.app.edit import tag
    from memcli.cli import filters
    from memcli.render.listing import summary_json

    if not add and not remove:
        refs, add = refs[:1], _words(refs[1:])
    memories = tag(session.open(), refs, filters.parts(add or ()), filters.parts(remove or ()))
    text = "\n".join(f"{m.id} {m.path}: {', '.join(m.tags) or 'no tags'}" for m in memories)
    session.output.confirm([summary_json(m) for m in memories], text)


def _words(words: list[str]) -> list[str]:
    """Tags that were given without an option. Raises UsageError when there are none, or one looks like a memory."""
    if not words:
        raise UsageError("no tag given", "write memcli tag PATH TAG..., or use --add TAG or --remove TAG")
    for word in words:
        if "/" in word or word.startswith("mem_"):
            raise UsageError(f"{word!r} looks like a memory, not a tag", "for several memories use --add TAG")
    return words
