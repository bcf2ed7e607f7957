"""`memcli store`"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from memcli.cli.arguments import check_known
from memcli.cli.options import DRY_RUN, REQUIRED, Options, argument, flag, option
from memcli.cli.output import ProgressBar
from memcli.cli.verb import SHARE, CommandContext, Group, Http
from memcli.errors import CorruptError, MemcliError, ProviderError, UsageError
from memcli.model.names import counted, listed_spaces
from memcli.model.space import ADMIN, READER
from memcli.record import as_dict
from memcli.wiring import extra

if TYPE_CHECKING:
    from memcli.app.workspace import Workspace
    from memcli.extras.stores.copying import Copied
    from memcli.extras.stores.sides import SyncSide
    from memcli.model.space import Space

command = Group(
    "store",
    "Copy or sync the store, tidy it up, and look into its files.",
    section=SHARE,
    line="Copy, sync, index, tidy and audit the store",
)
_SHOWN_CHANGES = 3


class CopyOptions(Options):
    """The options of `memcli store copy`."""

    source: str = argument("FROM", "A folder with a store, or the URL of a server; `.`: this store.", default=REQUIRED)
    target: str = argument(
        "TO", "A folder, which is created if it is missing, or the URL of a server.", default=REQUIRED
    )
    mode: str | None = option(
        metavar="merge|replace",
        help="merge: keep the newer version of each memory; replace: make each space equal to that of FROM.",
    )


@command.verb(CopyOptions, returns="Objects")
def copy(session: CommandContext, options: CopyOptions) -> None:
    """Copy all spaces, or --space, with policies, audit log and trash to another store, and verify each by its hash.

    What TO has already is skipped, so that an interrupted copy can be resumed by the same command; what differs is refused
    unless --mode says otherwise. The spaces `repo` and `journal`, sessions and caches stay where they are.

    Example: memcli store copy . postgresql://ann@db.example.com/team

    >>> [row['space'] for row in memory.store_copy('.', 'copy')]
    ['main']
    """
    from memcli.extras.stores.sides import SyncSide
    from memcli.store.layout import remove_unused
    from memcli.wiring.roots import make_store

    if options.mode not in (None, "merge", "replace"):
        raise UsageError(f"no mode {options.mode!r}", "choose merge or replace")
    source = SyncSide(options.source, session.options, os.environ)
    target = SyncSide(options.target, session.options, os.environ)
    if source.identity == target.identity:
        raise UsageError("FROM and TO are the same store", "name two stores")
    is_new = False
    try:
        if not source.is_server:
            _open_side(session, source)
        is_new = not target.is_server and make_store({"root": target.root}, os.environ)[1]
        done = _copied(session, source, target, options.mode or "")
    except MemcliError:
        if is_new:  # a failed copy leaves no empty store behind
            remove_unused(target.root)
        raise
    session.output.confirm([as_dict(one) for one in done], "\n".join(map(_copied_line, done)) or "nothing to copy")


def _copied(session: CommandContext, source: SyncSide, target: SyncSide, mode: str) -> Sequence[Copied]:
    from memcli.app.workspace import load_space
    from memcli.extras.stores.copying import BATCH, check_copy, copied_spaces, copy_space
    from memcli.extras.stores.log import read_log
    from memcli.extras.stores.sync_base import FileSyncBase
    from memcli.store.layout import Layout

    def settled(space: Space) -> None:
        """Stores what both sides have now as the base of a later sync, if one side is files and the other a server."""
        # Without a base the first sync would record every field that one side has changed as a conflict.
        if source.is_server != target.is_server:
            files, (server, there) = (source, (target, theirs)) if target.is_server else (target, (source, ours))
            log = read_log(there, space.name)  # before the space, so that a write in between counts as later
            point = log.point(load_space(there.store, space.name), len(log.acts))
            if point.space == space:
                FileSyncBase(Layout(files.root), server.identity).save(point)

    ours, theirs = _open_side(session, source, target), _open_side(session, target, source)
    names = copied_spaces(ours, session.options["space"])
    check_copy(ours, theirs, names, is_shared=target.is_server)
    progress = ProgressBar("copying", session.output.quiet)
    # A space file is replaced whole by every write, so that batches would only repeat the work.
    batch = BATCH if target.is_server else 0
    try:
        return [copy_space(ours, theirs, name, mode, batch, progress, settled, source.shown) for name in names]
    finally:
        progress.close()


def _open_side(session: CommandContext, side: SyncSide, beside: SyncSide | None = None) -> Workspace:
    """Opens one side of a copy or a sync."""
    store, root = side.options(beside)
    return session.open(store=store, root=root)


def _copied_line(done: Copied) -> str:
    parts = [f"{done.written} of {done.objects} memories written"]
    parts += [f"{done.removed} removed"] if done.removed else []
    parts += [f"{done.runs} runs of the trash"] if done.runs else []
    parts += [f"{done.entries} audit entries"] if done.entries else []
    return f"copied space {done.space}: {', '.join(parts)}; verified sha256 {done.hash}"


class SyncOptions(Options):
    """The options of `memcli store sync`."""

    name: str | None = argument("[SPACE]", "The space to sync [default: the current one].")
    with_: str | None = option(
        metavar="URL", help="The server to sync with, or a folder with a store [default: the configured server]."
    )
    accept_deletions: bool = flag(
        "--accept-deletions",
        help="Delete what the other side deleted, also more than 10 memories or 20 % of the space.",
    )
    as_new: bool = flag(
        "--as-new", help="Merge with a server that was wiped, replaced or restored; nothing is deleted."
    )


@command.verb(SyncOptions)
def sync(session: CommandContext, options: SyncOptions) -> None:
    """Merge a space of this repository's files with that of the team's server, and store the result in both.

    Memories are merged as git merges them with the merge driver: both sides' additions survive, and where both changed one
    field, the newer value wins and the older one is recorded in metadata.conflicts. What one side purged for good does not
    come back, and what it deleted goes into the trash. A server that was wiped, replaced or restored from a backup, or whose
    audit log cannot be believed, is refused, and so are many deletions at once. What comes from the server waits for
    `memcli trust`, as imports do. If the server cannot be reached, nothing changes; run it again later.

    Example: memcli store sync main --with postgresql://ann@db.example.com/team

    >>> memory.store_sync()
    Traceback (most recent call last):
    memcli.errors.UsageError: no server to sync with
    """
    from memcli.codec.merge import Merged
    from memcli.extras.stores.sides import HERE, SyncSide
    from memcli.extras.stores.sync_base import FileSyncBase
    from memcli.extras.stores.syncing import sync as sync_space
    from memcli.model.names import check_space
    from memcli.model.space import Space
    from memcli.render.reports import merged_text
    from memcli.store.layout import Layout
    from memcli.wiring.workspace import chosen_store

    here = SyncSide(HERE, session.options, os.environ)
    url = options.with_ or chosen_store(session.options, os.environ)
    if not url:
        raise UsageError("no server to sync with", "set MEMCLI_STORE, or name one with --with")
    there = SyncSide(url, session.options, os.environ)
    if here.identity == there.identity:
        raise UsageError("a store cannot be synced with itself", "name another one with --with")
    ours, theirs = _open_side(session, here), _open_side(session, there, here)
    name = check_space(options.name or ours.space)
    base = FileSyncBase(Layout(here.root), there.identity)
    done = sync_space(
        ours, theirs, name, base,
        accept_deletions=options.accept_deletions, as_new=options.as_new, shown=there.shown,
    )  # fmt: skip
    session.output.confirm(
        done.to_json(),
        f"synced space {name} with {there.shown}: {done.received} received, {done.sent} sent; sha256 {done.hash}",
    )
    if done.conflicts or done.moved:
        session.output.note(merged_text(Merged(Space(name), tuple(done.conflicts), done.moved)))


class MaintainOptions(Options):
    """The options of `memcli store maintain`."""

    dry_run: bool = DRY_RUN
    only: list[str] = option(
        metavar="TASK",
        help="Only usage, archive, decay, links, clusters, merge, tags or review. Repeatable.",
        many=True,
    )
    background: bool = flag(
        help="Only what is due by the policy `upkeep: auto`, silently, at the lowest priority. Recalls start this."
    )


@command.verb(MaintainOptions, role=ADMIN, escalates={"dry_run": READER})
def maintain_(session: CommandContext, options: MaintainOptions) -> None:
    """Apply feedback to confidence, and tidy up what has aged.

    In this order: `usage` applies feedback; `archive` takes old logs, episodes and inferred memories of low value out of
    recall, and what you stored only where something newer contradicts it; `decay` lowers the relevance of what nobody
    confirmed; `links` relates memories that were recalled together and judged helpful; `clusters` names clusters; `merge`
    merges near-duplicate episodes; `tags` adds tags; `review` lists contradictions, near-duplicates and
    the nearest memories on the same matter.
    Nothing is deleted, and pinned memories stay. `memcli restore --run RUN` undoes a run.

    With the policy `upkeep=auto` this also runs in the background, after every 50th recall and when `watch` is idle, at most
    once an hour. It then changes only derived and private spaces; a plan for the others waits in the inbox.

    Example: memcli store maintain --dry-run

    >>> memory.store_maintain(dry_run=True)['changed']
    0
    """
    upkeep, report = extra("upkeep.maintain"), extra("upkeep.plan")
    tasks = upkeep.check_tasks(options.only or ())
    if options.background:
        from memcli.cli.background import run_alone
        from memcli.store.trust import is_off

        session.output.quiet = True
        root = session.open().root
        if not is_off(root, os.environ):
            run_alone(root, lambda _: upkeep.maintain_behind(session.open()))
        return
    workspace = session.open()
    done = upkeep.preview(workspace, tasks) if options.dry_run else list(upkeep.maintain(workspace, tasks))
    text = report.upkeep_text(done, dry_run=options.dry_run)
    session.output.confirm(report.upkeep_json(done, dry_run=options.dry_run), text or "nothing to do")


class AuditOptions(Options):
    """The options of `memcli store audit`."""

    limit: int = option(
        "--limit", "-l", metavar="N", help="Show the last N entries; 0 shows all.", type=int, low=0, default=20
    )
    since: str | None = option(metavar="TIME", help="Only entries since TIME.")
    id: str | None = option(metavar="ID|PATH", help="Only entries about this memory.")
    verify: bool = flag(help="Check that no line was changed, moved or removed.")


@command.verb(
    AuditOptions,
    role=READER,
    http=(
        Http(path="/api/audit", summary="Show who changed what, and when", fields=("limit", "since", "id", "verify")),
    ),
    returns="Any",
)
def audit(session: CommandContext, options: AuditOptions) -> None:
    """Show the audit log, of this machine or of the server: when, by whom and with which command memories were changed.

    Each line contains the digest of the line before it. --verify detects changed, moved and removed lines, but cannot
    detect that the last lines are missing: store the head that it prints in a safe place and compare it later.

    >>> memory.store_audit()[-1]['command']
    'remember'
    """
    from memcli.extras.stores.log import check_log, log
    from memcli.render.clean import fitted

    workspace = session.open()
    if not options.verify:
        found = log(workspace, options.limit or None, options.since, options.id)
        session.output.answer(found, fitted("\n".join(_entry(act) for act in found), below="  ") or "no entries")
        return
    checked = check_log(workspace)
    for line in checked.torn:
        session.output.note(
            f"audit/{workspace.space}.jsonl:{line}: this line was cut short by a crash; the others are intact"
        )
    verified = checked.entries - checked.unchecked
    data = {
        "space": workspace.space, "acts": checked.entries, "head": checked.head, "torn": list(checked.torn),
        "unchecked": checked.unchecked,
    }  # fmt: skip
    if checked.gap:
        session.output.note(f"audit/{workspace.space}.jsonl: {checked.gap}")
    session.output.answer(data, f"{counted(verified, 'entry', 'entries')} verified; head {checked.head or 'none'}")


def _entry(act: dict[str, Any]) -> str:
    changes = act.get("changes", [])
    parts = [f"{change.get('id')} {change.get('path', '(erased)')}" for change in changes[:_SHOWN_CHANGES]]
    if len(changes) > _SHOWN_CHANGES:
        parts.append(f"and {len(changes) - _SHOWN_CHANGES} more")
    if created := act.get("created"):
        parts.append(f"{created.get('count')} new")
    if policy := act.get("policy"):
        parts.append(f"policy: {', '.join(map(str, policy.get('fields', [])))}")
    if isinstance(tasks := act.get("tasks"), dict):
        parts.append(f"tasks: {', '.join(sorted(map(str, tasks)))}; run {act.get('run') or 'none'}")
    if isinstance(advised := act.get("advised"), list):
        for step in (one for one in advised if isinstance(one, dict)):  # why a model removed a memory
            into = f" into {step['into']}" if "into" in step else ""
            done = f"{'merged' if into else 'deleted'} {step.get('id')}{into}"
            parts.append(f"{done}: {step.get('reason')}, says {step.get('model')}")
    head = f"{act.get('time')}  {act.get('user')}  {act.get('command')}: {act.get('action')}"
    return f"{head}  {'; '.join(parts)}".rstrip()


class IndexOptions(Options):
    """The options of `memcli store index`."""

    action: str = argument("[show|rebuild|embed]", "What to do.", default="show")
    background: bool = flag(
        help="With embed: wait for a turn, then work silently at the lowest priority. `ingest` and hooks start this."
    )


@command.verb(IndexOptions)
def index(session: CommandContext, options: IndexOptions) -> None:
    """Show what the index of the space holds and which model makes its vectors; rebuild it, or compute missing vectors.

    The index is a cache: it can be deleted at any time.

    `ingest` and hooks start embed in the background (MEMCLI_BACKGROUND=off: they do not). A recall computes missing
    vectors for about a second, those of the best by words first, and searches the rest by words only; its answer is degraded
    while one of the best fifty has none. Memories that people or agents stored come first, then documents, messages of commits
    and the newest changes. Stopped at any time, it goes on where it was.
    When standard error is not a terminal, progress is printed every ten seconds unless -q is given. MEMCLI_EMBEDDER chooses
    the model: onnx (built in), onnx:DIR (a sentence-transformers model in ONNX), hashed (words only) or off.

    Example: memcli ingest --git HEAD && memcli store index embed

    >>> memory.store_index('rebuild')['objects']
    3
    """
    from memcli.app.space import embed_spaces, index_status

    check_known("action", options.action, ("show", "rebuild", "embed"))
    if options.background:
        if options.action != "embed":
            raise UsageError("--background needs embed", "run `memcli store index embed --background`")
        from memcli.cli.background import run_alone

        session.output.quiet = True
        root = session.open().root
        run_alone(root, lambda is_there: embed_spaces(session.open(), is_there))
        return
    if options.action == "embed":
        session.progress.has_lines = True
        workspace = session.open()
        if not embed_spaces(workspace):
            raise ProviderError(
                "no embedder: no vectors were computed", "set MEMCLI_EMBEDDER=onnx to use the built-in model"
            )
        data = index_status(workspace)
        session.output.confirm(data, f"{data['vectors']} vectors of {listed_spaces(data['spaces'])}")
        return
    workspace = session.open()
    if options.action == "rebuild":
        for name in workspace.spaces_to_read:
            workspace.index.rebuild(name)
        data = index_status(workspace)
        session.output.confirm(data, f"indexed {data['objects']} memories of {listed_spaces(data['spaces'])}")
    else:
        data = index_status(workspace)
        lines = {**data, "spaces": ", ".join(data["spaces"])}
        session.output.answer(data, "\n".join(f"{name:<8}  {value}" for name, value in lines.items()))


class FmtOptions(Options):
    """The options of `memcli store fmt`."""

    spaces: list[str] = argument("[SPACE|FILE]...", "Spaces, by name or file [default: all].", many=True)
    check: bool = flag(help="Change nothing; exit with 6 if a file is not canonical.")


@command.verb(FmtOptions)
def fmt(session: CommandContext, options: FmtOptions) -> None:
    """Rewrite space files in canonical form: sorted keys, fixed indentation, fixed order. The content stays the same.

    >>> memory.store_fmt(check=True)['canonical']
    ['main']
    """
    from memcli.store.layout import Layout

    repair = extra("check.repair")
    layout = Layout(session.open().root)
    done = [
        (name, repair.format_space(layout, name, options.check)) for name in repair.space_names(layout, options.spaces)
    ]
    untidy = [name for name, canonical in done if not canonical]
    session.output.answer(
        {
            "canonical": [name for name, canonical in done if canonical],
            "not_canonical" if options.check else "written": untidy,
        },
        "\n".join(f"{'not canonical' if options.check else 'wrote'} spaces/{name}.json" for name in untidy),
    )
    if options.check and untidy:
        raise CorruptError(
            f"{len(untidy)} of {len(done)} space files not canonical", "`memcli store fmt` rewrites them"
        )
