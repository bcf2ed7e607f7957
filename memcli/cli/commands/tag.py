"""`memcli tag`"""

from __future__ import annotations

from memcli.cli.options import Options, option, refs_argument
from memcli.cli.session import Session
from memcli.cli.verb import verb
from memcli.errors import UsageError


class TagOptions(Options):
    """What `memcli tag` takes."""

    refs: list[str] = refs_argument()
    add: list[str] = option("--add", "-a", metavar="TAG", help="Add this tag, or several: a,b.", many=True)
    remove: list[str] = option("--remove", "-r", metavar="TAG", help="Remove this tag, or several: a,b.", many=True)


@verb(TagOptions)
def command(session: Session, options: TagOptions) -> None:
    """Add or remove tags. Without options, add the words after the first memory as tags.

    Example: memcli tag auth/tokens security reviewed

    Example: memcli tag auth/tokens auth/passwords --add security --remove draft
    """
    add = options.add
    refs = options.refs
    from memcli.app.edit import tag
    from memcli.cli import filters
    from memcli.render.memory import summary_json

    if not add and not options.remove:
        refs, add = refs[:1], _words(refs[1:])
    memories = tag(session.open(), refs, filters.parts(add or ()), filters.parts(options.remove or ()))
    text = "\n".join(f"{m.id} {m.path}: {', '.join(m.tags) or 'no tags'}" for m in memories)
    session.output.confirm([summary_json(m) for m in memories], text)


def _words(words: list[str]) -> list[str]:
    """The tags given as arguments. Raises UsageError if there are none, or if one looks like a memory."""
    if not words:
        raise UsageError("no tag named", "run `memcli tag PATH TAG...`, or use --add TAG or --remove TAG")
    for word in words:
        if "/" in word or word.startswith("mem_"):
            raise UsageError(f"{word!r} looks like a memory, not a tag", "to tag several memories, use --add TAG")
    return words
