"""`memcli edit`, `tag`, `pin` and `unpin`"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from memcli.cli.assignments import assignments
from memcli.cli.options import Options, check_one, digest_option, flag, option, ref_argument, refs_argument
from memcli.cli.output import redacted_told
from memcli.cli.verb import Session, verb
from memcli.errors import MemcliError, UsageError
from memcli.model.memory import Json

if TYPE_CHECKING:
    from memcli.app.workspace import Workspace
    from memcli.model.memory import Memory

    Edited = tuple[Memory, Mapping[str, int]]


class EditOptions(Options):
    """What `memcli edit` takes."""

    ref: str = ref_argument()
    text: str | None = option(metavar="TEXT", help="Set the text; `-` reads standard input.")
    set: list[str] = option(
        metavar="FIELD=VALUE",
        help="Set a field: text as is, other types as JSON, null for the default. Repeatable.",
        many=True,
    )
    object: bool = flag(help="Edit all fields as JSON in the editor.")
    if_digest: str | None = digest_option()


@verb(EditOptions)
def edit(session: Session, options: EditOptions) -> None:
    """Change the text or other fields of a memory.

    Without --text or --set, open the text in an editor: $VISUAL, $EDITOR, or the first installed of sensible-editor, nano and
    vi. If the result cannot be saved, you can edit it again.

    Example: memcli edit auth/tokens --text "Tokens live for 15 minutes."

    Example: memcli edit auth/tokens --set kind=decision --set tags=auth,security
    """
    from memcli.app import edit as app
    from memcli.app.homes import by_home
    from memcli.cli.arguments import note_similar

    fields = _given(options.text, options.set)
    if fields and options.object:
        raise UsageError("--object cannot be used with --text or --set", "--object opens the editor; use it alone")
    if options.if_digest and not fields:
        raise UsageError("--if-digest requires --text or --set", "the editor checks it anyway")
    ((workspace, _),), _ = by_home(session.open(), [options.ref])
    note_similar(session, [fields["kind"]] if isinstance(fields.get("kind"), str) else [])
    done = (
        app.edit(workspace, options.ref, fields, digest=options.if_digest)
        if fields
        else _in_editor(session, workspace, options.ref, options.object)
    )
    if done is None:
        session.output.confirm({"status": "unchanged"}, "nothing changed")
        return
    memory, redactions = done
    data = {
        "status": "updated", "id": memory.id, "path": memory.path, "version": memory.version, "redactions": redactions,
    }  # fmt: skip
    told = f"updated {memory.id} {memory.path} (version {memory.version}){redacted_told(redactions)}"
    found, lines = _found(workspace, memory) if "raw" in fields or not fields else ({}, [])
    session.output.confirm({**data, **found}, "\n".join([told, *lines]))


def _found(workspace: Workspace, memory: Memory) -> tuple[dict[str, Json], list[str]]:
    """What the new text contradicts and repeats, as JSON and as text."""
    from memcli.app.contradictions import link_found
    from memcli.app.copying import over_told
    from memcli.app.remember import Outcome
    from memcli.cli.stored import by_kind, found_lines

    space = over_told(workspace).space
    found = link_found(workspace, memory)
    outcome = Outcome("updated", memory.id, memory.path, space, memory.version, found=found)
    return by_kind(found, space), list(found_lines([outcome], can_repeat=False))


class TagOptions(Options):
    """What `memcli tag` takes."""

    refs: list[str] = refs_argument()
    add: list[str] = option("--add", "-a", metavar="TAG", help="Add this tag, or several: a,b.", many=True)
    remove: list[str] = option("--remove", "-r", metavar="TAG", help="Remove this tag, or several: a,b.", many=True)
    if_digest: str | None = digest_option()


@verb(TagOptions)
def tag(session: Session, options: TagOptions) -> None:
    """Add or remove tags. Without options, add the words after the first memory as tags.

    Example: memcli tag auth/tokens security reviewed

    Example: memcli tag auth/tokens auth/passwords --add security --remove draft
    """
    add = options.add
    refs = options.refs
    from memcli.app import edit as app
    from memcli.app.homes import by_home
    from memcli.cli import arguments

    if not add and not options.remove:
        refs, add = refs[:1], _words(refs[1:])
    check_one(refs, options.if_digest)
    tags = arguments.parts(add or ()), arguments.parts(options.remove or ())
    homes, missing = by_home(session.open(), refs)
    memories = [memory for home, own in homes for memory in app.tag(home, own, *tags, options.if_digest)]
    _confirm(session, memories, [f"{m.id} {m.path}: {', '.join(m.tags) or 'no tags'}" for m in memories], missing)


class PinOptions(Options):
    """What `memcli pin` and `memcli unpin` take."""

    refs: list[str] = refs_argument()
    if_digest: str | None = digest_option()


@verb(PinOptions)
def pin(session: Session, options: PinOptions) -> None:
    """Pin memories: recall ranks them first if they match, and lists them under "Always" if not."""
    _set_pinned(session, options, pinned=True)


@verb(PinOptions)
def unpin(session: Session, options: PinOptions) -> None:
    """Unpin memories: recall ranks them by relevance again."""
    _set_pinned(session, options, pinned=False)


def _set_pinned(session: Session, options: PinOptions, *, pinned: bool) -> None:
    from memcli.app import edit as app
    from memcli.app.homes import by_home

    check_one(options.refs, options.if_digest)
    homes, missing = by_home(session.open(), options.refs)
    memories = [memory for home, own in homes for memory in app.pin(home, own, pinned, options.if_digest)]
    _confirm(session, memories, [f"{'pinned' if pinned else 'unpinned'} {m.id} {m.path}" for m in memories], missing)


def _confirm(session: Session, memories: Sequence[Memory], lines: Sequence[str], missing: MemcliError | None) -> None:
    """Says what was changed, and then raises the error for what is `missing`, if anything is."""
    from memcli.render.memory import summary_json

    session.output.confirm([summary_json(memory) for memory in memories], "\n".join(lines))
    if missing is not None:
        raise missing


def _given(text: str | None, pairs: list[str] | None) -> dict[str, Json]:
    from memcli.cli.arguments import read_text

    fields = assignments(pairs)
    if text is None:
        return fields
    if "raw" in fields:
        raise UsageError("--text cannot be used with --set raw", "use one of them")
    return {**fields, "raw": read_text(text, None)}


def _in_editor(session: Session, workspace: Workspace, ref: str, as_object: bool) -> Edited | None:
    from memcli.app import edit as app
    from memcli.app.lookup import get
    from memcli.cli.editor import edit_memory

    (memory,) = get(workspace, [ref], as_stored=True)

    def save(fields: Mapping[str, Json], expected: Memory | None) -> Edited:
        return app.edit(workspace, memory.id, fields, expected)

    return edit_memory(memory, as_object, save, session.output.json)


def _words(words: list[str]) -> list[str]:
    """The tags given as arguments. Raises UsageError if there are none, or if one looks like a memory."""
    if not words:
        raise UsageError("no tag named", "run `memcli tag PATH TAG...`, or use --add TAG or --remove TAG")
    for word in words:
        if "/" in word or word.startswith("mem_"):
            raise UsageError(f"{word!r} looks like a memory, not a tag", "to tag several memories, use --add TAG")
    return words
