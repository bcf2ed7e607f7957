"""`memcli edit`"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from memcli.cli.arguments import assignments, read_text
from memcli.cli.options import IF_DIGEST, REFS, Options, check_one, flag, option
from memcli.cli.output import confirm_changed, redaction_note
from memcli.cli.verb import RECALL, CommandContext, ToolDeclaration, verb
from memcli.errors import UsageError
from memcli.model.memory import Json
from memcli.model.space import WRITER

if TYPE_CHECKING:
    from memcli.model.memory import Memory

    Edited = tuple[Memory, Mapping[str, int]]


class EditOptions(Options):
    """The options of `memcli edit`."""

    refs: list[str] = REFS
    text: str | None = option(metavar="TEXT", help="Set the text; `-` reads standard input.")
    set: list[str] = option(
        metavar="FIELD=VALUE",
        help="Set a field: text as is, other types as JSON, null for the default. Repeatable.",
        many=True,
    )
    tag: list[str] = option("--tag", "-t", metavar="TAG", help="Add this tag, or several: a,b.", many=True)
    untag: list[str] = option(metavar="TAG", help="Remove this tag, or several: a,b.", many=True)
    object: bool = flag(help="Edit all fields as JSON in the editor.")
    if_digest: str | None = IF_DIGEST


@verb(
    EditOptions,
    section=RECALL,
    line="Change the text, fields or tags of a memory",
    role=WRITER,
    tools=(
        ToolDeclaration(
            name="tag",
            description="Add tags to memories, or remove them.",
            fields=("refs", "tag", "untag"),
            renamed={"tag": "add", "untag": "remove"},
            reads_only=False,
        ),
    ),
    returns="Any",
)
def command(session: CommandContext, options: EditOptions) -> None:
    """Change the text or other fields of a memory, or the tags of memories.

    Without --text, --set, --tag or --untag, open the text in an editor: $VISUAL, $EDITOR, or the first installed of
    sensible-editor, nano and vi. If the result cannot be saved, you can edit it again.

    Example: memcli edit auth/tokens --text "Tokens live for 15 minutes."

    Example: memcli edit auth/tokens --set kind=decision --set tags=auth,security

    Example: memcli edit auth/tokens auth/passwords --tag security --untag draft

    >>> memory.edit('ops/deploy', set={'tags': ['release']})['version']
    2
    >>> memory.edit('ops/deploy', tag='release')[0]['tags']
    ['release']
    """
    fields = assignments(options.set)
    if options.text is not None:
        if "raw" in fields:
            raise UsageError("--text cannot be used with --set raw", "use one of them")
        fields["raw"] = read_text(options.text, None)
    is_of_tags = bool(options.tag or options.untag)
    if is_of_tags and (fields or options.object):
        raise UsageError("--tag and --untag cannot be used with other changes", "run `memcli edit` once for each")
    if fields and options.object:
        raise UsageError("--object cannot be used with --text or --set", "--object opens the editor; use it alone")
    if options.if_digest and not fields and not is_of_tags:
        raise UsageError("--if-digest requires --text, --set or --tag", "the editor checks it anyway")
    if not is_of_tags:
        if len(options.refs) > 1:
            raise UsageError("one memory can be edited at a time", "--tag and --untag take several")
        _edit(session, options, fields)
        return
    from memcli.app.edit import tag
    from memcli.app.homes import by_home
    from memcli.cli import arguments

    check_one(options.refs, options.if_digest)
    tags = arguments.split_commas(options.tag), arguments.split_commas(options.untag)
    homes, missing = by_home(session.open(), options.refs)
    memories = [memory for home, own in homes for memory in tag(home, own, *tags, options.if_digest)]
    lines = [f"{m.id} {m.path}: {', '.join(m.tags) or 'no tags'}" for m in memories]
    confirm_changed(session.output, memories, lines, missing)


def _edit(session: CommandContext, options: EditOptions, fields: dict[str, Json]) -> None:
    """Sets fields of one memory, or opens it in the editor if there are none; prints the result, and what a new text
    contradicts or repeats."""
    from memcli.app import edit as app
    from memcli.app.homes import by_home
    from memcli.cli.arguments import note_similar

    (ref,) = options.refs
    ((workspace, _),), _ = by_home(session.open(), [ref])
    note_similar(session, [fields["kind"]] if isinstance(fields.get("kind"), str) else [])
    if fields:
        done: Edited | None = app.edit(workspace, ref, fields, digest=options.if_digest)
    else:
        from memcli.app.catalogue import get
        from memcli.cli.editor import edit_memory

        (stored,) = get(workspace, [ref], as_stored=True)

        def save(changed: Mapping[str, Json], expected: Memory | None) -> Edited:
            return app.edit(workspace, stored.id, changed, expected)

        done = edit_memory(stored, options.object, save, session.output.json)
    if done is None:
        session.output.confirm({"status": "unchanged"}, "nothing changed")
        return
    memory, redactions = done
    data: dict[str, Json] = {
        "status": "updated", "id": memory.id, "path": memory.path, "version": memory.version, "redactions": redactions,
    }  # fmt: skip
    text = f"updated {memory.id} {memory.path} (version {memory.version}){redaction_note(redactions)}"
    lines: Iterable[str] = ()
    # Only a new text can contradict another memory, and in the editor it may have changed.
    if "raw" in fields or not fields:
        from memcli.app.contradictions import link_found
        from memcli.app.remember import Outcome
        from memcli.app.repo import over_main
        from memcli.cli.submit import by_kind, found_lines

        space = over_main(workspace).space
        found = link_found(workspace, memory)
        outcome = Outcome("updated", memory.id, memory.path, space, memory.version, found=found)
        data |= by_kind(found, space)
        lines = found_lines([outcome], can_repeat=False)
    session.output.confirm(data, "\n".join([text, *lines]))
