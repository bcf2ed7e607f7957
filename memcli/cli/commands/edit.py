"""`memcli edit`"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from memcli.cli.assignments import assignments
from memcli.cli.options import Options, flag, option, ref_argument
from memcli.cli.output import redacted_told
from memcli.cli.session import Session
from memcli.cli.verb import verb
from memcli.errors import UsageError
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


@verb(EditOptions)
def command(session: Session, options: EditOptions) -> None:
    """Change the text or other fields of a memory.

    Without --text or --set, open the text in an editor: $VISUAL, $EDITOR, or the first installed of sensible-editor, nano and
    vi. If the result cannot be saved, you can edit it again.

    Example: memcli edit auth/tokens --text "Tokens live for 15 minutes."

    Example: memcli edit auth/tokens --set kind=decision --set tags=auth,security
    """
    from memcli.app.edit import edit
    from memcli.cli.filters import note_similar

    fields = _given(options.text, options.set)
    if fields and options.object:
        raise UsageError("--object cannot be used with --text or --set", "--object opens the editor; use it alone")
    workspace = session.open()
    note_similar(session, [fields["kind"]] if isinstance(fields.get("kind"), str) else [])
    done = (
        edit(workspace, options.ref, fields) if fields else _in_editor(session, workspace, options.ref, options.object)
    )
    if done is None:
        session.output.confirm({"status": "unchanged"}, "nothing changed")
        return
    memory, redactions = done
    data = {
        "status": "updated", "id": memory.id, "path": memory.path, "version": memory.version, "redactions": redactions,
    }  # fmt: skip
    told = f"updated {memory.id} {memory.path} (version {memory.version}){redacted_told(redactions)}"
    session.output.confirm(data, told)


def _given(text: str | None, pairs: list[str] | None) -> dict[str, Json]:
    from memcli.cli.input import read_text

    fields = assignments(pairs)
    if text is None:
        return fields
    if "raw" in fields:
        raise UsageError("--text cannot be used with --set raw", "use one of them")
    return {**fields, "raw": read_text(text, None)}


def _in_editor(session: Session, workspace: Workspace, ref: str, as_object: bool) -> Edited | None:
    from memcli.app.edit import edit
    from memcli.app.lookup import get
    from memcli.cli.editor import edit_memory

    (memory,) = get(workspace, [ref], as_stored=True)

    def save(fields: Mapping[str, Json], expected: Memory | None) -> Edited:
        return edit(workspace, memory.id, fields, expected)

    return edit_memory(memory, as_object, save, session.output.json)
