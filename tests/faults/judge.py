"""What must be true after a fault, whatever the command and wherever it struck."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from memcli.codec.canonical import decode
from memcli.codec.space import decode_space, encode_space
from tests.faults.commands import AFTERWARDS, NEXT, Case, is_known
from tests.faults.scene import STORE, TEMP, Ended, Scene

Files = dict[str, bytes]
MAY_BE_THERE = re.compile(r"was written|may not survive|unknown|was stored|was made", re.IGNORECASE)
"""What a message says when the new state may be there although the command failed."""
IS_THERE = re.compile(r"done all the same")
"""What it says when the command did all but tell."""

KINDS = ("torn", "false ack", "false failure", "message", "next", "leftover")


@dataclass(frozen=True)
class Golden:
    """The states of one case without faults: before, after, and each of them after one more command."""

    template: Path
    before: Files
    after: Files
    next_before: Files
    next_after: Files
    names: frozenset[str]
    ended: Ended


def golden(scene: Scene, case: Case) -> Golden:
    """Runs the case without faults. Raises ValueError when it does not run: then its line needs mending."""
    scene.reset()
    for step in case.setup:
        _must(scene.run(step), case, step)
    scene.write(case.files)
    template = scene.keep("template")
    before = scene.snapshot()
    _must(scene.run(NEXT), case, NEXT)
    next_before, names = scene.snapshot(), scene.listing()
    scene.reset(template)
    ended = scene.run(case.arguments, case.stdin)
    _must(ended, case, case.arguments)
    after = scene.snapshot()
    if after == before and not case.arguments[0].startswith("init"):
        raise ValueError(f"{case.name}: changes nothing")
    names |= scene.listing()
    _must(scene.run(NEXT), case, NEXT)
    return Golden(
        template, before, after, next_before, scene.snapshot(), frozenset(names | scene.listing()), ended
    )  # fmt: skip


def judge(scene: Scene, case: Case, golden: Golden, ended: Ended) -> list[str]:
    """Every promise that was broken, as `kind: what`; then the next command has been run in the scene too."""
    now = scene.snapshot()
    problems = [f"torn: {name}" for name in _neither(now, golden.before, golden.after)]
    problems += [f"torn: {name} {why}" for name, why in _unreadable(now, golden.before)]
    told = ended.code == 0 or bool(IS_THERE.search(ended.err))
    if told and now != golden.after:
        problems.append(f"false ack: {_differing(now, golden.after)} not as it says: {ended.err.strip()!r}")
    clean_failure = not told and ended.code > 0 and not case.stepwise and not MAY_BE_THERE.search(ended.err)
    if clean_failure and now != golden.before:
        problems.append(f"false failure: {_differing(now, golden.before)} changed, and it says {ended.err.strip()!r}")
    problems += _wrong_message(ended)
    problems += _next(scene, case, golden, told, clean_failure)
    return problems


def _next(scene: Scene, case: Case, golden: Golden, told: bool, clean_failure: bool) -> list[str]:
    problems = []
    ended = scene.run(NEXT)
    if ended.code:
        return [f"next: remember exits with {ended.code}: {ended.err.strip()}"]
    now = scene.snapshot()
    if case.stepwise:
        problems += [f"next: {name}" for name in _neither(now, golden.next_before, golden.next_after)]
    elif told and now != golden.next_after:
        problems.append(f"false ack: {_differing(now, golden.next_after)} after the next command")
    elif clean_failure and now != golden.next_before:
        problems.append(f"false failure: {_differing(now, golden.next_before)} after the next command")
    elif now not in (golden.next_before, golden.next_after):
        problems.append(f"next: {_differing(now, golden.next_after)} is neither old nor new after the next command")
    extra = {name for name in scene.listing() - golden.names if name.startswith(f"{STORE}/")}
    problems += [f"leftover: {name}" for name in sorted(extra) if not case.stepwise or TEMP in name]
    for step in filter(is_known, AFTERWARDS):
        ended = scene.run(step)
        if ended.code or "Traceback" in ended.err:
            problems.append(
                f"next: {' '.join(step)} exits with {ended.code}: {(ended.err or ended.out).strip()[-300:]}"
            )
    return problems


def _wrong_message(ended: Ended) -> list[str]:
    lines = [line for line in ended.err.splitlines() if "made a store at" not in line]
    if "Traceback" in ended.err or "internal error" in ended.err:
        return [f"message: {lines[-1] if lines else ''}"]
    if ended.code > 0 and (len(lines) != 1 or not lines[0].startswith("memcli: ")):
        return [f"message: exit {ended.code} with {len(lines)} lines: {ended.err.strip()!r}"]
    if ended.code not in (0, 2, 3, 4, 5, 6, 7, 8, -9):
        return [f"message: exit {ended.code}"]
    return []


def _neither(now: Files, old: Files, new: Files) -> list[str]:
    return sorted(n for n in {*now, *old, *new} if now.get(n) not in (old.get(n), new.get(n)))


def _unreadable(now: Files, before: Files) -> list[tuple[str, str]]:
    found = []
    for name, data in now.items():
        if data == before.get(name) or not name.endswith(".json"):
            continue
        try:
            if not name.startswith(f"{STORE}/spaces/"):
                decode(data, name)
            elif encode_space(decode_space(data, name)) != data:
                found.append((name, "is not canonical"))
        except Exception as error:
            found.append((name, f"cannot be read: {error}"))
    return found


def _differing(now: Files, wanted: Files) -> str:
    return ", ".join(_neither(now, wanted, wanted)) or "nothing"


def _must(ended: Ended, case: Case, step: tuple[str, ...]) -> None:
    if ended.code or "Traceback" in ended.err:
        raise ValueError(f"{case.name}: `{' '.join(step)}` exits with {ended.code}: {ended.err.strip()}")
