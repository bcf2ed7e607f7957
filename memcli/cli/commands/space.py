"""`memcli space`"""

from __future__ import annotations

from typing import Annotated

import typer

from memcli.cli.assignments import assignments, split_pairs
from memcli.cli.options import group, verb
from memcli.cli.session import Session
from memcli.cli.text import read_text
from memcli.errors import UsageError

app = group("space", "Create, list, govern and delete spaces.")
_Name = Annotated[str, typer.Argument(metavar="NAME")]
_OptionalName = Annotated[str | None, typer.Argument(metavar="[NAME]", help="The space [default: the current one].")]


@app.command()
@verb
def create(
    session: Session,
    name: _Name,
    reset: Annotated[
        bool,
        typer.Option(
            "--reset", help="Remove all its memories, if it was created with --reset or its policy allows it."
        ),
    ] = False,
    meta: Annotated[
        list[str] | None, typer.Option("--meta", "--metadata", metavar="NAME=VALUE", help="Metadata; may be repeated.")
    ] = None,
) -> None:
    """Make a space. One that is there stays as it is."""
    from memcli.app.space import create as create_space
    from memcli.model.names import check_space

    space, new = create_space(session.open(create=True), check_space(name), split_pairs(meta, "--meta"), reset)
    done = "created" if new else "reset" if reset else "there is"
    session.output.confirm({"space": space.name, "created": new, "reset": reset}, f"{done} space {space.name}")


@app.command("list")
@verb
def list_(session: Session) -> None:
    """List spaces."""
    from memcli.app.space import list_spaces
    from memcli.render.grid import grid

    found = list_spaces(session.open())
    rows = [[s.name, str(s.objects), str(s.pinned), s.updated_at, s.problem] for s in found]
    text = grid(["space", "memories", "pinned", "updated", ""], rows) if rows else ""
    session.output.answer([s.to_json() for s in found], text)


@app.command()
@verb
def show(session: Session, name: _OptionalName = None) -> None:
    """Show a space: counts, policy, metadata."""
    from memcli.app.space import show as show_space
    from memcli.codec.canonical import encode_line

    workspace = session.open()
    found = show_space(workspace, name or workspace.space).to_json()
    lines = [
        f"{key:<10}  {value if isinstance(value, str) else encode_line(value).decode()}" for key, value in found.items()
    ]
    session.output.answer(found, "\n".join(lines))


@app.command()
@verb
def policy(
    session: Session,
    name: _OptionalName = None,
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="FIELD=VALUE", help="May be repeated; FIELD.PART for a part, such as retention.log."
        ),
    ] = None,
    unset: Annotated[
        list[str] | None, typer.Option("--unset", metavar="FIELD", help="Take the default again; may be repeated.")
    ] = None,
    file: Annotated[str | None, typer.Option("--file", "-f", metavar="FILE", help="The whole policy as JSON.")] = None,
) -> None:
    """Show or set the policy of a space: what lives how long, what may be deleted, what is pinned by itself.

    Example: memcli space policy main --set ttl_days=90 --set retention.log=7 --set allow_delete=true

    `memcli schema policy` lists the fields.
    """
    from memcli.app.space import set_policy
    from memcli.codec.canonical import decode_object, encode
    from memcli.codec.space import policy_to_json
    from memcli.model.shapes import POLICY_FIELDS

    if file and (set_ or unset):
        raise UsageError("--file is given beside --set or --unset", "a file is the whole policy: give it alone")
    given = decode_object(read_text(None, file), file) if file else assignments(set_, POLICY_FIELDS)
    fields = {**given, **dict.fromkeys(unset or [])}
    workspace = session.open()
    name = name or workspace.space
    before, after = set_policy(workspace, name, fields, whole=file is not None)
    if after.is_private and not before.is_private:
        session.output.note(f"if git knows it already: git rm --cached .memory/spaces/{name}.json")
    data = policy_to_json(after)
    session.output.answer(data, encode(data).decode())


@app.command()
@verb
def delete(session: Session, name: _Name) -> None:
    """Delete a space with all its memories; its policy must allow it. `memcli restore` brings it back."""
    from memcli.app.space import delete as delete_space

    gone = delete_space(session.open(), name)
    session.output.confirm({"space": name, "deleted": gone}, f"deleted space {name} ({gone} memories)")
