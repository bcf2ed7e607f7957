"""`memcli trust`"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from memcli.cli.options import Options, argument, flag
from memcli.cli.output import ask, can_ask
from memcli.cli.verb import CHECK, CommandContext, find_verb, verb
from memcli.errors import RefusedError, UsageError
from memcli.model.memory import Json
from memcli.model.names import counted


class TrustOptions(Options):
    """The options of `memcli trust`."""

    refs: list[str] = argument("[ID|PATH...]", "Memories to accept.", many=True)
    imported: bool = flag(help="Accept all memories imported into the space.")
    status: bool = flag(help="Show what is trusted and change nothing.")
    revoke: bool = flag(help="Stop trusting this store.")
    yes: bool = flag("--yes", "-y", help="Accept without asking for confirmation.")


@verb(TrustOptions, section=CHECK, line="Accept a cloned store, imports or single memories", returns="Any")
def command(session: CommandContext, options: TrustOptions) -> None:
    """Accept a cloned store, imported memories, or single memories.

    A store that was created on this machine is trusted, and so are your copies of it and the other work trees of its repository
    (`git worktree add`); --revoke applies to all of them. A cloned store is not trusted until you accept it: recall marks its
    memories as unreviewed, its config.toml can set only space, project, backend and how recall ranks and prints, and its
    policies cannot delete memories, change the export location or weaken redaction. Memories that others accepted are not
    accepted here.

    Memories that contain instructions to an agent are excluded from recall in every store. Read one with `memcli get` and
    accept it by id: recall then includes it until its text changes.

    On a terminal, memcli shows what takes effect and asks before it accepts a store or all imported memories.

    Example: memcli trust --status && memcli trust

    >>> memory.trust(status=True)['accepted']
    True
    """
    from memcli.extras.trust.accepting import accept_memories, believed, standing

    if sum((bool(options.refs), options.imported, options.status, options.revoke)) > 1:
        raise UsageError("memories, --imported, --status and --revoke cannot be combined", "use one of them")
    workspace = session.open()
    trust = workspace.trust
    if options.refs:
        memories = accept_memories(workspace, options.refs)
        taken = [{"id": m.id, "path": m.path, "untrusted": m.metadata.get("untrusted", [])} for m in memories]
        session.output.confirm(taken, "\n".join(f"accepted {m.id} {m.path}" for m in memories))
        return
    if options.imported:
        _confirm(session, f"Accept all memories imported into space {workspace.space}?", options.yes)
        count = trust.accept_memories(workspace.space)
        session.output.confirm(
            {"accepted": count},
            f"accepted {counted(count, 'imported memory', 'imported memories')} in space {workspace.space}",
        )
        return
    if options.revoke:
        trust.revoke()
    config, policies = _config(workspace.root), believed(workspace)
    if not (options.revoke or options.status):
        if not trust.is_accepted:
            _confirm(session, f"Trust {workspace.root}?", options.yes, _believed(False, config, policies))
        trust.accept()
    spaces = standing(workspace)
    data = {
        "accepted": trust.is_accepted, "root": workspace.root, "spaces": spaces,
        "believed": {"config": config, "policies": policies},
    }  # fmt: skip
    lines = [_standing(trust.is_accepted, workspace.root, spaces), *_believed(trust.is_accepted, config, policies)]
    (session.output.answer if options.status else session.output.confirm)(data, "\n".join(lines))


def _confirm(session: CommandContext, question: str, yes: bool, takes_effect: Sequence[str] = ()) -> None:
    """Prints what takes effect and asks the question, on a terminal only. Raises RefusedError unless the answer is yes."""
    if yes or not can_ask():
        return
    for line in takes_effect:
        session.output.note(line)
    if not ask(question):
        raise RefusedError("nothing was accepted", "add --yes to accept without being asked")


def _config(root: str) -> dict[str, Json]:
    """The settings of the store that are in force only if it is trusted."""
    from memcli.cli.configured import withheld
    from memcli.settings import HARMLESS_FIELDS, TABLES
    from memcli.store.layout import Layout
    from memcli.wiring.roots import read_config

    config = read_config(Layout(root))
    values = {name: value for name, value in config.values.items() if name not in HARMLESS_FIELDS}
    return {**values, **withheld(config, {name: find_verb(name).options for name in TABLES})}


def _believed(accepted: bool, config: Mapping[str, Json], policies: Mapping[str, Mapping[str, Json]]) -> list[str]:
    """Lines for the settings and fields of policies that depend on trust; empty if there are none."""
    from memcli.codec.canonical import encode_line
    from memcli.render.clean import clean_line

    lines = [f"config.toml: {name} = {encode_line(value).decode()}" for name, value in config.items()]
    lines += [
        f"policy of {space}: {name} = {encode_line(value).decode()}"
        for space, fields in policies.items()
        for name, value in fields.items()
    ]
    head = "In force because the store is trusted:" if accepted else "Not in force before `memcli trust`:"
    # Cleaned, since keys come with a clone, and must not move the cursor of the terminal.
    return [head, *(f"  {clean_line(line)}" for line in lines)] if lines else []


def _standing(accepted: bool, root: str, spaces: Sequence[Mapping[str, Json]]) -> str:
    """The text about the trust of a store and its spaces."""
    from memcli.render.clean import grid

    head = f"{root} is trusted" if accepted else f"{root} was cloned and is not trusted yet"
    if not spaces:
        return head
    rows = [[str(s[name]) for name in ("space", "memories", "untrusted", "unreviewed")] for s in spaces]
    lines = [head, grid(["space", "memories", "with instructions", "unreviewed"], rows)]
    if any(s["untrusted"] for s in spaces):
        lines.append("Memories with instructions are excluded from recall: `memcli list` marks them with !,")
        lines.append("`memcli get ID` shows one, `memcli trust ID` accepts it.")
    if not accepted:
        lines.append("`memcli trust` accepts the store.")
    return "\n".join(lines)
