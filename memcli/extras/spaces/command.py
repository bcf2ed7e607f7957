"""`memcli space`"""

from __future__ import annotations

from memcli.cli.arguments import assignments, read_text, split_pairs
from memcli.cli.options import REQUIRED, SPACE, Options, argument, flag, option
from memcli.cli.verb import SHARE, CommandContext, Group, Http
from memcli.errors import UsageError
from memcli.model.space import ADMIN, READER, SPACES

command = Group(
    "space",
    "Create, list, configure and delete spaces.",
    section=SHARE,
    line="Create, list, configure and delete spaces",
)


class CreateOptions(Options):
    """The options of `memcli space create`."""

    name: str = argument("NAME", kind=SPACE, help="The name of the space.", default=REQUIRED)
    reset: bool = flag(help="Delete all its memories, if it was created with --reset or its policy allows it.")
    meta: list[str] = option(
        "--meta", "--metadata", metavar="NAME=VALUE", help="Set a metadata field. Repeatable.", many=True
    )


@command.verb(CreateOptions)
def create(session: CommandContext, options: CreateOptions) -> None:
    """Create a space. An existing space is left unchanged.

    >>> memory.space_create('notes')['created']
    True
    """
    from memcli.extras.spaces.managing import create as create_space
    from memcli.model.names import check_space

    space, new = create_space(
        session.open(create=True), check_space(options.name), split_pairs(options.meta, "--meta"), options.reset
    )
    done = "created" if new else "reset" if options.reset else "exists already:"
    session.output.confirm({"space": space.name, "created": new, "reset": options.reset}, f"{done} space {space.name}")


@command.verb(reach=SPACES, role=READER, returns="Objects")
def list_(session: CommandContext) -> None:
    """List spaces.

    >>> [space['space'] for space in memory.space_list()]
    ['main']
    """
    from memcli.extras.spaces.managing import list_spaces
    from memcli.render.clean import grid

    found = list_spaces(session.open())
    rows = [[s.name, str(s.objects), str(s.pinned), s.updated_at, s.problem] for s in found]
    text = grid(["space", "memories", "pinned", "updated", ""], rows) if rows else ""
    session.output.answer([s.to_json() for s in found], text)


class ShowOptions(Options):
    """The options of `memcli space show`."""

    name: str | None = argument("[NAME]", kind=SPACE, help="The name of the space [default: the current one].")


@command.verb(ShowOptions, role=READER)
def show(session: CommandContext, options: ShowOptions) -> None:
    """Show the counts, policy and metadata of a space.

    >>> memory.space_show()['objects']
    3
    """
    from memcli.codec.canonical import encode_line
    from memcli.extras.spaces.managing import show as show_space

    workspace = session.open()
    found = show_space(workspace, options.name or workspace.space).to_json()
    lines = [
        f"{key:<10}  {value if isinstance(value, str) else encode_line(value).decode()}" for key, value in found.items()
    ]
    session.output.answer(found, "\n".join(lines))


class PolicyOptions(Options):
    """The options of `memcli space policy`."""

    name: str | None = argument("[NAME]", kind=SPACE, help="The name of the space [default: the current one].")
    set: list[str] = option(
        metavar="FIELD=VALUE",
        help="Set a field, or a part of one, such as quota.openai.tokens_per_day=5000. Repeatable.",
        many=True,
    )
    unset: list[str] = option(
        metavar="FIELD", help="Reset a field, or a part of one, to its default. Repeatable.", many=True
    )
    file: str | None = option("--file", "-f", metavar="FILE", help="Replace the whole policy with this JSON file.")


@command.verb(
    PolicyOptions,
    role=ADMIN,
    http=(
        Http(
            method="PATCH",
            path="/apps/{space}/policy",
            summary="Change the policy of a space",
            fields=("name", "set", "unset"),
            renamed={"name": "space"},
        ),
    ),
)
def policy(session: CommandContext, options: PolicyOptions) -> None:
    """Show or change the policy of a space: expiry, deletion, automatic pins, redaction.

    Example: memcli space policy main --set ttl_days=90 --set retention.log=7 --set allow_delete=true

    Above max_objects, compaction says what makes room for new memories: value (the least valuable, the default), fifo (the
    oldest), or llm: a language model deletes some, or merges them into others, before `remember`, `inbox accept` or
    `session end` writes. When it fails, and for ingest, import and gc, value decides. `memcli schema policy` lists the fields.

    >>> memory.space_policy(set={'ttl_days': 90})['ttl_days']
    90
    """
    name = options.name
    from memcli.codec.canonical import decode_object, encode
    from memcli.codec.space import policy_to_json
    from memcli.extras.spaces.managing import set_policy
    from memcli.model.shapes import POLICY_FIELDS

    if options.file and (options.set or options.unset):
        raise UsageError(
            "--file cannot be used with --set or --unset", "the file replaces the whole policy; use it alone"
        )
    given = (
        decode_object(read_text(None, options.file), options.file)
        if options.file
        else assignments(options.set, POLICY_FIELDS)
    )
    fields = {**given, **dict.fromkeys(options.unset or [])}
    workspace = session.open()
    name = name or workspace.space
    before, after = set_policy(workspace, name, fields, whole=options.file is not None)
    # Git ignores no file that it tracks already.
    if before.is_tracked and not after.is_tracked:
        session.output.note(f"if git tracks it already, run `git rm --cached .memory/spaces/{name}.json`")
    data = policy_to_json(after)
    session.output.answer(data, encode(data).decode())


class DeleteOptions(Options):
    """The options of `memcli space delete`."""

    name: str = argument("NAME", kind=SPACE, help="The name of the space.", default=REQUIRED)


@command.verb(DeleteOptions, role=ADMIN)
def delete(session: CommandContext, options: DeleteOptions) -> None:
    """Delete a space with all its memories, if its policy allows it. `memcli restore` restores it.

    >>> _ = memory.space_create('notes')
    >>> _ = memory.space_policy('notes', set={'allow_delete': True})
    >>> memory.space_delete('notes')['deleted']
    0
    """
    from memcli.extras.spaces.managing import delete as delete_space

    count = delete_space(session.open(), options.name)
    session.output.confirm(
        {"space": options.name, "deleted": count}, f"deleted space {options.name} ({count} memories)"
    )
