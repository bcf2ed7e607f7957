"""Install and uninstall an agent's parts, planned for all files first and then written together; check what is installed.

A note of each changed file has the splices that restore it to the character, as long as its digest shows no other change.
Without a note that fits, as in another clone, only memcli's own parts are removed.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence

from memcli.errors import UsageError
from memcli.extras.agents import splice
from memcli.extras.agents.files import (
    Note,
    SettingsChange,
    Site,
    apply_changes,
    check_writable,
    digest_of,
    load_notes,
    missing_folders,
    read_text,
    remove_empty,
    save_notes,
)
from memcli.extras.agents.parts import (
    ABSENT,
    ACTIVE,
    FOREIGN,
    ROLES,
    STALE,
    InstalledPart,
    InstructionBlock,
    JsonValue,
    Whole,
    is_proof,
)
from memcli.extras.agents.splice import Splice, apply_all
from memcli.extras.agents.table import AGENTS, PROJECT, USER, parts_of, with_next_turn
from memcli.extras.agents.trust import PENDING, UNKNOWN, UNTRUSTED, blocked_by_client
from memcli.model.memory import Json
from memcli.record import Record, as_dict, replace


class InstallPlan(Record):
    """The changes to make in this order, the notes to store by path, and warnings for the user."""

    changes: tuple[SettingsChange, ...]
    notes: Mapping[str, Note]
    warnings: tuple[str, ...] = ()


def plan_install(site: Site, name: str, *, next_turn: bool = False) -> InstallPlan:
    """The plan that installs or updates an agent's parts. With `next_turn`, its hook for prompts runs no search. Raises
    UsageError."""
    notes, _ = load_notes(site)
    changes, warnings = [], []
    for path, parts in parts_by_path(site, name, next_turn=next_turn).items():
        change, note = _install_in_file(site, name, path, parts, notes.get(path))
        after = change.after or ""
        warnings += [f"{path} is not memcli's and is left as it is" for part in parts if part.state(after) == FOREIGN]
        if change.after != change.before:
            # Checked for all files before any is written, so that a read-only one leaves nothing to undo.
            check_writable(path)
            changes.append(change)
        if note is not None:
            notes[path] = note
    # Last the files that point to others: a crash in between leaves no entry for a file that is missing.
    return InstallPlan(tuple(sorted(changes, key=_is_entry)), notes, tuple(warnings))


def plan_uninstall(site: Site, name: str) -> InstallPlan:
    """The plan that removes an agent's parts. Raises UsageError."""
    notes, _ = load_notes(site)
    changes = []
    for path, parts in parts_by_path(site, name).items():
        before = read_text(path, site.root)
        if before is None:
            notes.pop(path, None)
            continue
        note = notes.pop(path, None)
        after: str | None
        try:
            if note is None or not note.fits(before) or name not in note.agents:
                removals = list(_removals(before, _unshared(site, name, parts)))
                left = apply_all(before, removals)
                after = None if removals and splice.is_bare(left) else left
            else:
                base = apply_all(before, note.undo)
                others = tuple(agent for agent in note.agents if agent != name)
                after, undo = _composed(base, [p for agent in others for p in parts_by_path(site, agent).get(path, ())])
                if undo:
                    notes[path] = replace(note, agents=others, digest=digest_of(after), undo=undo)
                elif not note.was_there:
                    after = None
        except UsageError as error:
            raise _in_file(path, error) from None
        if after != before:
            check_writable(path)
            changes.append(SettingsChange(path, before, after))
    # The files that point to others first, so that none points to a file that is gone.
    return InstallPlan(tuple(sorted(changes, key=_is_entry, reverse=True)), notes)


def carry_out(site: Site, plan: InstallPlan) -> None:
    """Makes the changes of a plan, and stores its notes. Raises StoreError."""
    notes, known = load_notes(site)
    folders = set(known)
    made = [folder for change in plan.changes if change.after for folder in missing_folders(change.path)]
    # Which folders memcli made for a file without a note, as in another clone, is unknown: any empty one may be its own.
    unknown = set[str]()
    for change in plan.changes:
        folder = os.path.dirname(change.path)
        while change.after is None and change.path not in notes and folder.startswith(site.folder + os.sep):
            unknown.add(folder)
            folder = os.path.dirname(folder)
    apply_changes(plan.changes, site.root)
    if any(change.after is None for change in plan.changes):
        folders = set(remove_empty(sorted(folders | unknown))) & folders
    # Last: after a crash before this line, memcli's parts are found without a note, as in another clone.
    save_notes(site, plan.notes, sorted({*folders, *made}))


def parts_by_path(site: Site, name: str, *, next_turn: bool = False) -> dict[str, list[InstalledPart]]:
    """An agent's parts by the path of their file. The line that imports AGENTS.md is left out where a link makes both one."""
    found: dict[str, list[InstalledPart]] = {}
    for part in parts_of(name, site.scope, next_turn=next_turn):
        path = site.path(part.file)
        # Projects link CLAUDE.md to AGENTS.md; `read_text` refuses links, so a link within the folder is resolved here.
        if isinstance(part, InstructionBlock) and site.scope != USER and os.path.islink(path):
            target = os.path.realpath(path)
            if os.path.dirname(target) == os.path.realpath(site.folder) and target.endswith(".md"):
                path = os.path.join(site.folder, os.path.basename(target))
        found.setdefault(path, []).append(part)
    for path, parts in found.items():
        imports = [part for part in parts if isinstance(part, InstructionBlock) and part.unless]
        if any(isinstance(part, InstructionBlock) and not part.unless for part in parts):
            found[path] = [part for part in parts if part not in imports]
    return found


def states(site: Site, name: str) -> Iterator[tuple[InstalledPart, str, str]]:
    """Each part of an agent, its file, and its state. Raises UsageError for a file that cannot be read."""
    for path, parts in parts_by_path(site, name).items():
        text = read_text(path, site.root) or ""
        for part in parts:
            try:
                state = part.state(text)
                # Whether `install` ran with --next-turn is not noted, so a part in either form is up to date.
                yield part, path, with_next_turn(part, name).state(text) if state == STALE else state
            except UsageError as error:
                raise _in_file(path, error) from None


def is_installed(site: Site, name: str) -> bool:
    """Whether a part is present that belongs to this agent alone, or a note names the agent if it has no such part."""
    shared = [part for other in AGENTS if other != name for part in parts_of(other, site.scope)]
    try:
        # A part that several agents share, such as the block of AGENTS.md, shows of none that it is installed.
        own = [state for part, _, state in states(site, name) if is_proof(part) and part not in shared]
    except UsageError:
        return False
    if own:
        return any(state in (ACTIVE, STALE) for state in own)
    return any(name in note.agents for note in load_notes(site)[0].values())


def _install_in_file(
    site: Site, name: str, path: str, parts: Sequence[InstalledPart], note: Note | None
) -> tuple[SettingsChange, Note | None]:
    """The change that puts the parts into the file at `path`, and the note to store of it. Raises UsageError."""
    before = read_text(path, site.root)
    try:
        if note is not None and before is not None and note.fits(before):
            base, was_there = apply_all(before, note.undo), note.was_there
            agents = tuple(dict.fromkeys((*note.agents, name)))
        else:
            removals = list(_removals(before or "", _unshared(site, name, parts)))
            base = apply_all(before or "", removals)
            # A file with nothing but memcli's parts was created by memcli, in another clone.
            was_there = before is not None and not (removals and splice.is_bare(base))
            agents = (name,)
            # Somebody else may have committed the file with these parts: it is not written again.
            if before is not None and all(part.state(before) in (ACTIVE, FOREIGN) for part in parts):
                current = Note(agents, digest_of(before), tuple(removals), was_there) if removals else None
                return SettingsChange(path, before, before), current
        after, undo = _composed(
            base,
            [
                part
                for agent in agents
                for part in (parts if agent == name else parts_by_path(site, agent).get(path, ()))
            ],
        )
    except UsageError as error:
        raise _in_file(path, error) from None
    is_executable = any(isinstance(part, Whole) and part.is_executable for part in parts)
    if not undo:
        return SettingsChange(path, before, before), note
    return SettingsChange(path, before, after, is_executable), Note(agents, digest_of(after), undo, was_there)


def _composed(text: str, parts: Sequence[InstalledPart]) -> tuple[str, tuple[Splice, ...]]:
    """The text with the parts, and the splices that remove them again, the last one first."""
    undo: list[Splice] = []
    for part in parts:
        splice = part.put(text)
        if splice is not None:
            undo.insert(0, splice.undo(text))
            text = splice.apply(text)
    return text, tuple(undo)


def _removals(text: str, parts: Sequence[InstalledPart]) -> Iterator[Splice]:
    """The splices that remove the parts from the text, each for the text after the one before."""
    has_begun = False
    # A default is the project's own setting unless a part that needs it goes too, so defaults are last.
    defaults = [part for part in parts if isinstance(part, JsonValue) and part.is_default]
    for part in (*(part for part in parts if part not in defaults), *defaults):
        while (has_begun or part not in defaults) and (splice := part.remove(text)) is not None:
            has_begun = True
            yield splice
            text = splice.apply(text)


def _unshared(site: Site, name: str, parts: Sequence[InstalledPart]) -> list[InstalledPart]:
    """The parts that no other installed agent has too."""
    left = list(parts)
    for other in AGENTS:
        theirs = parts_of(other, site.scope) if other != name else ()
        if any(part in theirs for part in left) and is_installed(site, other):
            left = [part for part in left if part not in theirs]
    return left


def _is_entry(change: SettingsChange) -> bool:
    """Whether a file holds entries that point to other files."""
    return change.path.endswith((".json", ".jsonc", ".toml"))


def _in_file(path: str, error: UsageError) -> UsageError:
    return UsageError(f"cannot edit {path}: {error.message}; nothing was changed", "correct the file, and try again")


# Zed reads the first of these files that exists, and only then AGENTS.md.
_FIRST_OF_ZED = (
    ".rules", ".cursorrules", ".windsurfrules", ".clinerules", ".github/copilot-instructions.md", "AGENT.md",
)  # fmt: skip
# `project_doc_max_bytes` of Codex.
_MAX_OF_CODEX = 32 << 10
UNREADABLE = "unreadable"


class RoleRow(Record):
    """The state of one role of an agent in a scope, and how to fix it; `fix` is empty if it is active."""

    agent: str
    scope: str
    role: str
    state: str
    files: tuple[str, ...]
    fix: str = ""

    @property
    def is_fine(self) -> bool:
        return self.state == ACTIVE

    @property
    def needs_user(self) -> bool:
        """Whether it is installed correctly, but the user has yet to approve it in the client, or may have to."""
        return self.state in (UNTRUSTED, PENDING, UNKNOWN)

    def to_json(self) -> dict[str, Json]:
        return {**as_dict(self), "files": list(self.files)}


def check(site: Site, name: str) -> list[RoleRow]:
    """A row for each role of an agent that is installed at `site`."""
    try:
        found = list(states(site, name))
    except UsageError as error:
        return [RoleRow(name, site.scope, "files", UNREADABLE, (), f"{error.message} ({error.hint})")]
    rows = []
    for role in ROLES:
        of_role = [one for one in found if one[0].role == role]
        kinds = {state for _, _, state in of_role}
        if FOREIGN in kinds:
            state, fix = FOREIGN, "move the file away and install again"
        elif kinds == {ACTIVE}:
            state, fix = blocked_by_client(site, name, role, of_role) or (ACTIVE, "")
        else:
            state = STALE if STALE in kinds or ACTIVE in kinds else ABSENT
            fix = f"run `memcli agent install {name}{_flag(site.scope)}`"
        if of_role:
            files = tuple(dict.fromkeys(path for _, path, _ in of_role))
            rows.append(RoleRow(name, site.scope, role, state, files, fix))
    return rows


def remark(name: str) -> str:
    """That an agent's parts follow its documents and were never tried with the program; empty if they were."""
    agent = AGENTS[name]
    return (
        f"{agent.title}: by its documents of {agent.documents}, not tried with the program" if agent.documents else ""
    )


def warnings(sites: list[Site], name: str) -> Iterator[str]:
    """Problems of an installed agent besides its parts: several scopes, a file that is too long or takes precedence."""
    scopes = [site.scope for site in sites if site.scope in AGENTS[name].scopes and is_installed(site, name)]
    if len(scopes) > 1:
        yield (
            f"{name} is installed for {' and '.join(scopes)}: each hook is called twice, though nothing is shown twice; "
            f"remove one with `memcli agent uninstall {name}{_flag(scopes[-1])}`"
        )
    project = next((site for site in sites if site.scope == PROJECT), None)
    if project is None or PROJECT not in scopes:
        return
    instructions = read_text(os.path.join(project.folder, "AGENTS.md")) if name in ("codex", "zed") else None
    if name == "codex" and len((instructions or "").encode()) > _MAX_OF_CODEX:
        yield "AGENTS.md is larger than 32 KiB: Codex reads no more than that, and memcli's block is at the end"
    first = next((file for file in _FIRST_OF_ZED if os.path.isfile(os.path.join(project.folder, file))), None)
    if name == "zed" and first:
        yield f"Zed reads {first} and not AGENTS.md: add memcli's block of AGENTS.md to it"


def _flag(scope: str) -> str:
    return "" if scope == PROJECT else f" --{scope}"


def installed(sites: list[Site]) -> Iterator[tuple[Site, str]]:
    """Each site and the name of each agent that is installed there."""
    for site in sites:
        for name, agent in AGENTS.items():
            if site.scope in agent.scopes and is_installed(site, name):
                yield site, name
