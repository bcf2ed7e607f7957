"""What must be true after a fault, whatever the command and wherever it struck."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path

from memcli.codec.canonical import decode
from memcli.codec.space import decode_space, encode_space
from tests.faults.commands import AFTERWARDS, NEXT, REPAIR, SECRET, Case
from tests.faults.scene import PRIVATE, STORE, TEMP, Ended, Scene

Files = dict[str, bytes]
MAY_BE_THERE = re.compile(
    r"was written|was removed|may not survive|power failure|cannot tell whether|stored memory|saved, but|was created",
    re.IGNORECASE,
)
"""What a message says when the new state may be there although the command failed."""
PARTLY = re.compile(r"memcli: stopped after \d+ \w")
"""What it says when some writes of a command with several were done; the same command must then do the rest."""
IS_THERE = re.compile(r"the command itself succeeded")
"""What it says when the command did all but tell."""


@dataclass(frozen=True)
class States:
    """The states of one case without faults: before, after, and each of them after one more command."""

    before: Files
    after: Files
    next_before: Files
    next_after: Files


@dataclass(frozen=True)
class Golden:
    """What may be. With a request in the journal there are two of each state, with it folded in and without."""

    template: Path
    states: tuple[States, ...]
    names: frozenset[str]
    between: tuple[Files, Files] | None = None

    def may_be(self, *which: str) -> list[Files]:
        return [getattr(states, name) for states in self.states for name in which]

    def between_writes(self, *, is_next: bool) -> list[Files]:
        """The state between the writes of a command with two, without or with the next command."""
        return [self.between[is_next]] if self.between else []


def golden(scene: Scene, case: Case) -> Golden:
    """Runs the case without faults. Raises ValueError when it does not run: then its line needs mending."""
    scene.reset()
    for step in case.setup:
        _must(scene.run(step), case, step)
    scene.write(case.files)
    template = scene.keep("template")
    names: set[str] = set()
    states = [_states(scene, case, template, names)]
    if case.waiting:
        scene.reset(template)
        scene.kill_while_waiting(case.waiting)
        template = scene.keep("template")
        states.append(_states(scene, case, template, names))
    between = None
    if case.between:
        reached = _states(scene, replace(case, arguments=case.between), template, names)
        between = (reached.after, reached.next_after)
    return Golden(template, tuple(states), frozenset(names), between)


def _states(scene: Scene, case: Case, template: Path, names: set[str]) -> States:
    """The four states from `template` on; the files that were there at any time are added to `names`."""
    found = []
    for step in (case.arguments, ()):
        scene.reset(template)
        if step:
            _must(scene.run(step, case.stdin), case, step)
        found.append(scene.snapshot())
        _must(scene.run(NEXT), case, NEXT)
        found.append(scene.snapshot())
        names |= scene.listing()
    after, next_after, before, next_before = found
    return States(before, after, next_before, next_after)


def judge(scene: Scene, case: Case, golden: Golden, ended: Ended) -> list[str]:
    """Every promise that was broken, as `kind: what`; then the next command has been run in the scene too."""
    now = scene.snapshot()
    before, after = golden.may_be("before"), golden.may_be("after")
    problems = [f"torn: {name}" for name in _neither(now, [*before, *after, *golden.between_writes(is_next=False)])]
    problems += [f"torn: {name} {why}" for name, why in _unreadable(now, before[0])]
    is_done = ended.code == 0 and not (case.stepwise and "saved, but" in ended.err)
    told = is_done or bool(IS_THERE.search(ended.err))
    if told and now not in after:
        problems.append(f"false ack: {_differing(now, after)} not as it says: {ended.err.strip()!r}")
    may_be_there = case.stepwise or PARTLY.search(ended.err) or MAY_BE_THERE.search(ended.err)
    clean_failure = not told and ended.code > 0 and not may_be_there
    if clean_failure and now not in before:
        problems.append(f"false failure: {_differing(now, before)} changed, and it says {ended.err.strip()!r}")
    if not any(SECRET.encode() in data for state in after for data in state.values()):
        problems += [f"secret: in {name}" for name in _holding(scene, SECRET.encode())]
    problems += _wrong_message(ended)
    problems += _next(scene, case, golden, ended, told, clean_failure)
    return problems


def _next(scene: Scene, case: Case, golden: Golden, struck: Ended, told: bool, clean_failure: bool) -> list[str]:
    problems = []
    ended = scene.run(NEXT)
    if ended.code:
        return [f"next: remember exits with {ended.code}: {ended.err.strip()}"]
    now = scene.snapshot()
    before, after = golden.may_be("next_before"), golden.may_be("next_after")
    if case.stepwise:
        problems += [f"next: {name}" for name in _neither(now, [*before, *after])]
    elif told and now not in after:
        problems.append(f"false ack: {_differing(now, after)} after the next command")
    elif clean_failure and now not in before:
        problems.append(f"false failure: {_differing(now, before)} after the next command")
    elif now not in [*before, *after, *golden.between_writes(is_next=True)]:
        problems.append(f"next: {_differing(now, after)} is neither old nor new after the next command")
    is_rerun = case.stepwise or PARTLY.search(struck.err)
    for step in (*((case.arguments,) if is_rerun else ()), *AFTERWARDS):
        ended = scene.run(step)
        if ended.code or "Traceback" in ended.err:
            told_what = (ended.err or ended.out).strip()[-300:]
            problems.append(f"next: {' '.join(step)} exits with {ended.code}: {told_what}")
    if PARTLY.search(struck.err) and scene.snapshot() not in after:
        problems.append(f"next: {_differing(scene.snapshot(), after)} after the same command again")
    if _left(scene, case, golden):
        scene.run(REPAIR)
    problems += [
        f"leftover: {name}" for name in sorted(_left(scene, case, golden)) if not case.stepwise or TEMP in name
    ]
    return problems


def _left(scene: Scene, case: Case, golden: Golden) -> set[str]:
    """Files of the store that no run without faults leaves. What the next write to the same file takes, may stay, and
    so may what a repair has put aside.
    """
    extra = {name for name in scene.listing() - golden.names if name.startswith((f"{STORE}/", f"{PRIVATE}/"))}
    extra = {name for name in extra if not case.may_leave or case.may_leave not in name}
    return {name for name in extra if not name.endswith(TEMP) and "/quarantine/" not in name}


def _holding(scene: Scene, text: bytes) -> list[str]:
    """Every file but git's that has `text` in it: temporary files, the journal and the cache too."""
    return sorted(str(p) for p in scene.work.rglob("*") if p.is_file() and text in p.read_bytes())


def _wrong_message(ended: Ended) -> list[str]:
    lines = [line for line in ended.err.splitlines() if "created a store at" not in line]
    if "Traceback" in ended.err or "internal error" in ended.err:
        return [f"message: {lines[-1] if lines else ''}"]
    if ended.code > 0 and (len(lines) != 1 or not lines[0].startswith("memcli: ")):
        return [f"message: exit {ended.code} with {len(lines)} lines: {ended.err.strip()!r}"]
    if ended.code not in (0, 2, 3, 4, 5, 6, 7, 8, -9):
        return [f"message: exit {ended.code}"]
    return []


def _neither(now: Files, states: list[Files]) -> list[str]:
    """The files that are as in none of the states."""
    names = set(now).union(*states)
    return sorted(name for name in names if all(now.get(name) != state.get(name) for state in states))


def _unreadable(now: Files, before: Files) -> list[tuple[str, str]]:
    found = []
    for name, data in now.items():
        if data == before.get(name) or not name.endswith(".json"):
            continue
        try:
            if not name.startswith((f"{STORE}/spaces/", f"{PRIVATE}/spaces/")):
                decode(data, name)
            elif encode_space(decode_space(data, name)) != data:
                found.append((name, "is not canonical"))
        except Exception as error:
            found.append((name, f"cannot be read: {error}"))
    return found


def _differing(now: Files, wanted: list[Files]) -> str:
    return ", ".join(_neither(now, wanted)) or "some file"


def _must(ended: Ended, case: Case, step: tuple[str, ...]) -> None:
    if ended.code or "Traceback" in ended.err:
        raise ValueError(f"{case.name}: `{' '.join(step)}` exits with {ended.code}: {ended.err.strip()}")
