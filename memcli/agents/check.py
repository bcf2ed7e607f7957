"""Check what is installed: is each part active, up to date, trusted by its agent, and not there twice?"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator

from memcli.agents.clients import PENDING, UNKNOWN, UNTRUSTED
from memcli.agents.files import read_text
from memcli.agents.install import is_installed, states
from memcli.agents.notes import Site
from memcli.agents.parts import ABSENT, ACTIVE, FOREIGN, ROLES, STALE, InstalledPart
from memcli.agents.table import AGENTS, PROJECT
from memcli.agents.trust import held_back
from memcli.errors import UsageError
from memcli.model.memory import Json
from memcli.record import Record, as_dict

_FIRST_OF_ZED = (
    ".rules", ".cursorrules", ".windsurfrules", ".clinerules", ".github/copilot-instructions.md", "AGENT.md",
)  # fmt: skip
_MAX_OF_CODEX = 32 << 10
UNREADABLE = "unreadable"


class RoleRow(Record):
    """One role of an agent in a scope, and what to do about it; nothing if it is active."""

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
    def waits(self) -> bool:
        """Whether it is installed as it should be, and the client's user has to let it run."""
        return self.state in (UNTRUSTED, PENDING, UNKNOWN)

    def to_json(self) -> dict[str, Json]:
        return {**as_dict(self), "files": list(self.files)}


def check(site: Site, name: str) -> list[RoleRow]:
    """A row for each role of an agent that is installed at `site`."""
    try:
        found = list(states(site, name))
    except UsageError as error:
        return [RoleRow(name, site.scope, "files", UNREADABLE, (), f"{error.message} ({error.hint})")]
    return [_row(site, name, role, of_role) for role in ROLES if (of_role := [f for f in found if f[0].role == role])]


def steps(site: Site, name: str) -> list[str]:
    """What the user must still do for an agent that is installed at `site`."""
    return list(dict.fromkeys(row.fix for row in check(site, name) if row.waits))


def remark(name: str) -> str:
    """On what an agent's parts rest, if not on the program itself; empty otherwise."""
    agent = AGENTS[name]
    return (
        f"{agent.title}: by its documents of {agent.documents}, not tried with the program" if agent.documents else ""
    )


def warnings(sites: list[Site], name: str) -> Iterator[str]:
    """What keeps an agent that is installed from working well, besides its parts."""
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


def find_program() -> str | None:
    """Where hooks find memcli; None if they do not."""
    return shutil.which("memcli")


def _row(site: Site, name: str, role: str, found: list[tuple[InstalledPart, str, str]]) -> RoleRow:
    files = tuple(dict.fromkeys(path for _, path, _ in found))
    kinds = {state for _, _, state in found}
    install = f"run `memcli agent install {name}{_flag(site.scope)}`"
    if FOREIGN in kinds:
        return RoleRow(name, site.scope, role, FOREIGN, files, "move the file away and install again")
    if kinds != {ACTIVE}:
        state = STALE if STALE in kinds or ACTIVE in kinds else ABSENT
        return RoleRow(name, site.scope, role, state, files, install)
    state, fix = held_back(site, name, role, found) or (ACTIVE, "")
    return RoleRow(name, site.scope, role, state, files, fix)


def _flag(scope: str) -> str:
    return "" if scope == PROJECT else f" --{scope}"


def installed(sites: list[Site]) -> Iterator[tuple[Site, str]]:
    """Every agent that is installed, and where."""
    for site in sites:
        for name, agent in AGENTS.items():
            if site.scope in agent.scopes and is_installed(site, name):
                yield site, name
