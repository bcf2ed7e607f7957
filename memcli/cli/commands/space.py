"""`memcli space`, `index` and `stats`"""

from __future__ import annotations

from memcli.cli.arguments import read_text
from memcli.cli.assignments import assignments, split_pairs
from memcli.cli.options import REQUIRED, Options, argument, dry_run_option, flag, option
from memcli.cli.verb import Group, Session, verb
from memcli.errors import ProviderError, UsageError
from memcli.store.layout import FOLDER

command = Group("space", "Create, list, configure and delete spaces.")


class CreateOptions(Options):
    """What `memcli space create` takes."""

    name: str = argument("NAME", "The name of the space.", default=REQUIRED)
    reset: bool = flag(help="Delete all its memories, if it was created with --reset or its policy allows it.")
    meta: list[str] = option(
        "--meta", "--metadata", metavar="NAME=VALUE", help="Set a metadata field. Repeatable.", many=True
    )


@command.verb(CreateOptions)
def create(session: Session, options: CreateOptions) -> None:
    """Create a space. An existing space is left unchanged."""
    from memcli.app.space import create as create_space
    from memcli.model.names import check_space

    space, new = create_space(
        session.open(create=True), check_space(options.name), split_pairs(options.meta, "--meta"), options.reset
    )
    done = "created" if new else "reset" if options.reset else "exists already:"
    session.output.confirm({"space": space.name, "created": new, "reset": options.reset}, f"{done} space {space.name}")


@command.verb()
def list_(session: Session) -> None:
    """List spaces."""
    from memcli.app.space import list_spaces
    from memcli.render.clean import grid

    found = list_spaces(session.open())
    rows = [[s.name, str(s.objects), str(s.pinned), s.updated_at, s.problem] for s in found]
    text = grid(["space", "memories", "pinned", "updated", ""], rows) if rows else ""
    session.output.answer([s.to_json() for s in found], text)


class ShowOptions(Options):
    """What `memcli space show` takes."""

    name: str | None = argument("[NAME]", "The name of the space [default: the current one].")


@command.verb(ShowOptions)
def show(session: Session, options: ShowOptions) -> None:
    """Show the counts, policy and metadata of a space."""
    from memcli.app.space import show as show_space
    from memcli.codec.canonical import encode_line

    workspace = session.open()
    found = show_space(workspace, options.name or workspace.space).to_json()
    lines = [
        f"{key:<10}  {value if isinstance(value, str) else encode_line(value).decode()}" for key, value in found.items()
    ]
    session.output.answer(found, "\n".join(lines))


class PolicyOptions(Options):
    """What `memcli space policy` takes."""

    name: str | None = argument("[NAME]", "The name of the space [default: the current one].")
    set: list[str] = option(
        metavar="FIELD=VALUE",
        help="Set a field, or a part of one, such as quota.openai.tokens_per_day=5000. Repeatable.",
        many=True,
    )
    unset: list[str] = option(
        metavar="FIELD", help="Reset a field, or a part of one, to its default. Repeatable.", many=True
    )
    file: str | None = option("--file", "-f", metavar="FILE", help="Replace the whole policy with this JSON file.")


@command.verb(PolicyOptions)
def policy(session: Session, options: PolicyOptions) -> None:
    """Show or change the policy of a space: expiry, deletion, automatic pins, redaction.

    Example: memcli space policy main --set ttl_days=90 --set retention.log=7 --set allow_delete=true

    Above max_objects, compaction says what makes room for new memories: value (the least valuable, the default), fifo (the
    oldest), or llm: a language model deletes some, or merges them into others, before `remember`, `inbox accept` or
    `session end` writes. When it fails, and for ingest, import and gc, value decides. `memcli schema policy` lists the fields.
    """
    name = options.name
    from memcli.app.space import set_policy
    from memcli.codec.canonical import decode_object, encode
    from memcli.codec.space import policy_to_json
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
    if before.is_tracked and not after.is_tracked:
        session.output.note(f"if git tracks it already, run `git rm --cached .memory/spaces/{name}.json`")
    data = policy_to_json(after)
    session.output.answer(data, encode(data).decode())


class DeleteOptions(Options):
    """What `memcli space delete` takes."""

    name: str = argument("NAME", "The name of the space.", default=REQUIRED)


@command.verb(DeleteOptions)
def delete(session: Session, options: DeleteOptions) -> None:
    """Delete a space with all its memories, if its policy allows it. `memcli restore` restores it."""
    from memcli.app.space import delete as delete_space

    gone = delete_space(session.open(), options.name)
    session.output.confirm({"space": options.name, "deleted": gone}, f"deleted space {options.name} ({gone} memories)")


class SplitOptions(Options):
    """What `memcli space split` takes."""

    dry_run: bool = dry_run_option()


@command.verb(SplitOptions)
def split(session: Session, options: SplitOptions) -> None:
    """Move what was read from files and commits from `main` to the space `repo`, which git ignores.

    Older versions stored both in `main`. What somebody changed, pinned or linked stays there. `memcli restore` undoes it.

    Example: memcli space split --dry-run
    """
    from memcli.app.split import plan
    from memcli.app.split import split as split_spaces
    from memcli.wiring.sources import lost_commits

    workspace = session.open()
    find_lost = lost_commits(workspace.root)
    done = plan(workspace, find_lost) if options.dry_run else split_spaces(workspace, find_lost)
    data = {
        "moved": [memory.path for memory in done.moved],
        "dropped": [memory.path for memory in done.dropped],
        "kept": done.kept,
        "run": done.run,
        "dry_run": options.dry_run,
    }
    verb = "would move" if options.dry_run else "moved"
    dropped = f", dropped {len(done.dropped)} that files and commits no longer have" if done.dropped else ""
    kept = f"; {done.kept} that somebody changed, pinned or linked stay" if done.kept else ""
    session.output.confirm(data, f"{verb} {len(done.moved)} memories from {workspace.main} to repo{dropped}{kept}")
    if done.run:
        session.output.note(f"commit {FOLDER} now; `memcli restore --run {done.run}` undoes it")


index = Group("index", "Show or rebuild the cache. It can be deleted at any time.")


@index.verb()
def rebuild(session: Session) -> None:
    """Rebuild the index of the space."""
    from memcli.app.space import index_status

    workspace = session.open()
    for name in workspace.asked_spaces:
        workspace.index.rebuild(name)
    data = index_status(workspace)
    session.output.confirm(data, f"indexed {data['objects']} memories of space {workspace.space}")


class EmbedOptions(Options):
    """What `memcli index embed` takes."""

    background: bool = flag(
        help="Wait for a turn, then work silently at the lowest priority. `ingest` and hooks start this."
    )


@index.verb(EmbedOptions)
def embed(session: Session, options: EmbedOptions) -> None:
    """Compute missing vectors.

    `ingest` and hooks start this in the background (MEMCLI_BACKGROUND=off: they do not). A recall computes up to 512
    missing vectors; if more are missing, it uses those that are there, and searches the rest by words only. What was
    told comes first, then documents, then the newest commits. Stopped at any time, it goes on where it was. When standard
    error is not a terminal, progress is printed every ten seconds unless -q is given. MEMCLI_EMBEDDER chooses the model:
    onnx (built in), onnx:DIR (a sentence-transformers model in ONNX), hashed (words only) or off.

    Example: memcli ingest --git HEAD && memcli index embed
    """
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


@index.verb()
def status(session: Session) -> None:
    """Show what the cache holds for the space, and which model makes its vectors."""
    from memcli.app.space import index_status

    data = index_status(session.open())
    session.output.answer(data, "\n".join(f"{name:<8}  {value}" for name, value in data.items()))


class StatsOptions(Options):
    """What `memcli stats` takes."""

    usage: bool = flag(help="Also show which memories are read most often, and which were never read.")


@verb(StatsOptions)
def stats(session: Session, options: StatsOptions) -> None:
    """Count the memories of a space by kind and tag, and show the size of its files."""
    from memcli.app import space as app
    from memcli.render.clean import clean_line
    from memcli.store.layout import Layout

    workspace = session.open()
    data = app.stats(workspace)
    data["bytes"] |= {"cache": Layout(workspace.root).cache_size(workspace.space)}
    lines: list[str] = []
    if options.usage:
        from memcli.app.readership import readership
        from memcli.render.memory import usage_lines

        read = readership(workspace)
        lines += usage_lines(read)
        data |= {"usage": read}
    for name, value in data.items():
        shown = ", ".join(f"{k} {v}" for k, v in value.items()) if isinstance(value, dict) else str(value)
        lines.append(f"{name:<10}  {clean_line(shown)}".rstrip())
    session.output.answer(data, "\n".join(lines))
