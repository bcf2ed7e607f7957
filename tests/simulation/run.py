"""A run of the simulation: clones of one repository, steps drawn from a seed, and the model after each."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random  # noqa: TID251 - drawn from a seed
from typing import Any

from tests.faults.inject import Fault
from tests.faults.scene import Ended
from tests.seeds import Report, draw_fault
from tests.simulation.bench import Bench
from tests.simulation.judge import Judge, file_of, found_in, read_space
from tests.simulation.model import STORES, Clone, Memory, Private, State, States, Tree, compare, merged_all

_START = datetime(2026, 1, 31, 9, 30, tzinfo=UTC)
_KILLED = 0.15
_CALLS = 90
_DEAD = -9

Change = Callable[[dict[str, Memory], Private, Any], object]
"""Makes of the memories of a store and of its private state what a command must; given what the command answered."""


class Simulation:
    """The run of a seed in the folder `base`. Each step has random numbers of its own, so that any can be left out."""

    def __init__(self, base: Path, seed: int) -> None:
        self.bench = Bench(base)
        self.judge = Judge(self.bench)
        self.report = Report(seed, log=self.bench.log)
        self.rng = Random(seed)
        self.clones: list[Clone] = []
        self.states: dict[str, dict[str, State]] = {}
        self.private_words: set[str] = set()
        self.words: list[str] = []
        self.number = 0
        self.is_over = False

    def run(self, numbers: Sequence[int]) -> Report:
        """Runs the steps of these numbers, up to the first that has problems."""
        from tests.simulation.steps import STEPS, begin

        names = [name for name, (_, weight) in STEPS.items() for _ in range(weight)]
        self._begin(0)
        begin(self)
        for number in numbers:
            self._begin(number)
            tree = self.rng.choice([tree for clone in self.clones for tree in clone.trees])
            line = len(self.bench.log)
            for name in self.rng.sample(names, len(names)):
                if STEPS[name][0](self, tree) is not False:
                    break
            self.bench.log.insert(line, f"# step {number}: {name}")
            self.report.steps += 1
            self.report.done[name] = self.report.done.get(name, 0) + 1
            self.look(tree)
            if self.report.problems:
                self.report.step = f"{number}: {name}"
                break
        else:
            self.is_over = True
            for tree in (tree for clone in self.clones for tree in clone.trees):
                self.look(tree)
            for clone in self.clones:
                self.report.problems += self.judge.leaks(clone, self.private_words)
        self.report.checks = self.judge.checks
        return self.report

    def _begin(self, number: int) -> None:
        self.rng = Random(f"{self.report.seed}:{number}")
        self.number = number
        self.bench.now = (_START + timedelta(minutes=number)).isoformat().replace("+00:00", "Z")

    def look(self, tree: Tree) -> None:
        """Judges a work tree, if it is there still."""
        if not self.report.problems and tree in tree.clone.trees:
            word = self.rng.choice(self.words[-20:]) if self.words else ""
            private = STORES if self.is_over else self.rng.sample(STORES, 1)
            found = self.judge.problems(tree, self.states.get(self.head(tree)), word, private)
            self.report.problems += [f"{tree.folder.name}: {problem}" for problem in found]

    def wrong(self, problem: str) -> None:
        """Notes a problem of the step that runs."""
        self.report.problems.append(problem)

    def word(self, *, is_private: bool = False) -> str:
        """A new word, which no other text has."""
        letters = "".join(self.rng.choice("bdfgklmnprstvz") + self.rng.choice("aeiou") for _ in range(4))
        word = f"{letters}{self.number}q"
        (self.private_words.add if is_private else self.words.append)(word)
        return word

    def text(self, word: str) -> str:
        """A text with a word."""
        a, b, c = self.rng.sample(_VOCABULARY, 3)
        return f"The {a} of {word} keeps its {b} apart from every {c}."

    # What memcli does.

    def act(self, tree: Tree, store: str, arguments: Sequence[str], change: Change) -> Ended:
        """Runs a command in the folder of a store. It must succeed, or be killed, and then all is as before or as after."""
        fault = None
        if self.number and self.rng.random() < _KILLED:
            fault = self.fault()
        ended = self.bench.memcli(tree.folder / store, tree.clone.home, (*arguments, "--json"), fault)
        if ended.code == _DEAD:
            self.report.killed += 1
            self._after_kill(tree, store, change)
        elif ended.code:
            self.wrong(f"{' '.join(arguments)}: exit {ended.code}: {ended.out}{ended.err}")
        else:
            self.acknowledged(tree, store, change, ended)
        return ended

    def fault(self) -> Fault:
        """A kill at any call of a command."""
        return draw_fault(self.rng, _CALLS)

    def acknowledged(self, tree: Tree, store: str, change: Change, ended: Ended) -> None:
        """Has the model do what a command said that it did."""
        self.report.writes += 1
        state = dict(tree.work[store])
        change(state, tree.clone.private[store], json.loads(ended.out) if ended.out else None)
        if state != tree.work[store]:
            tree.work[store] = state
            tree.dirty.add(store)

    def _after_kill(self, tree: Tree, store: str, change: Change) -> None:
        """Takes over what is found, when each part of it is as before the command or as after it, and nothing is nowhere."""
        before, private = tree.work[store], tree.clone.private[store]
        state, after = dict(before), deepcopy(private)
        change(state, after, None)
        found = found_in(tree, store)
        is_before, is_after = (not compare(one, found)[0] for one in (before, state))
        if not is_before and not is_after:
            self.wrong(f"after a kill neither as before nor as after: {sorted(found)}, {compare(before, found)[0]}")
            return
        tree.work[store] = before if is_before else state
        if before != state:
            tree.dirty.add(store)  # the same memories may be other bytes
        inbox = {one["path"] for one in self.judge.ask(tree, store, "inbox") if isinstance(one, dict)}
        told = self.judge.ask(tree, store, "restore", "--list")
        trash = {one["path"] for run in told for one in run["memories"]}
        known = (private.inbox.keys() | after.inbox.keys(), private.trash | after.trash)
        sure = private.inbox.keys() & after.inbox.keys(), private.trash.keys() & after.trash.keys()
        private.is_open |= after.is_open
        private.ended |= after.ended
        if not inbox >= sure[0] or not trash >= sure[1]:
            self.wrong(f"lost by a kill: {sorted(sure[0] - inbox)} {sorted(sure[1] - trash)}")
        now = {*tree.work[store], *inbox, *trash}
        if lost := ({*before, *private.inbox, *private.trash} & {*state, *after.inbox, *after.trash}) - now:
            self.wrong(f"lost by a kill: {sorted(lost)}")
        unknown = Memory(frozenset(("",)))
        private.inbox = {path: (private.inbox | after.inbox).get(path, unknown) for path in sorted(inbox)}
        private.trash = {path: memory for path, memory in known[1].items() if path in trash}

    # What git does.

    def git(self, tree: Tree, *arguments: str, fails: bool = False) -> bool:
        """Runs git in a work tree; whether it succeeded. It must, unless it `fails` for reasons of its own. It never leaves
        a conflict behind."""
        ended = self.bench.git(tree.folder, tree.clone.home, *arguments)
        if ended.returncode and not fails:
            self.wrong(f"git {' '.join(arguments)}: exit {ended.returncode}: {ended.stdout}{ended.stderr}")
        if ended.returncode and self.told(tree, "ls-files", "--unmerged"):
            self.wrong(f"git {' '.join(arguments)} left a conflict: {ended.stdout}{ended.stderr}")
        return not ended.returncode

    def told(self, tree: Tree, *arguments: str) -> str:
        """What git says, without a note."""
        return self.bench.ask_git(tree.folder, tree.clone.home, *arguments).stdout.strip()

    def head(self, tree: Tree) -> str:
        """The commit of a work tree."""
        return self.told(tree, "rev-parse", "HEAD")

    def committed(self, tree: Tree, states: States) -> None:
        """Notes what a new commit has."""
        self.states.setdefault(self.head(tree), dict(states))

    def arrive(self, tree: Tree, *, drops: bool = False) -> None:
        """What is in a work tree whose commit is another now: what was not committed stays, unless git dropped it."""
        if drops:
            tree.dirty.clear()
        head = self.states.get(self.head(tree))
        for store in STORES:
            if head is not None and store not in tree.dirty:
                tree.work[store] = head[store]

    def base(self, tree: Tree, left: str, right: str) -> States:
        """What two commits both come from; of several such commits what a merge of them has."""
        found = self.told(tree, "merge-base", "--all", left, right).split()
        states: States = self.states[found[0]]
        for n, commit in enumerate(found[1:], start=1):
            states = merged_all(self.base(tree, found[n - 1], commit), states, self.states[commit])
        return states

    def replay(self, tree: Tree, commits: Sequence[str], onto: str, *, backwards: bool = False) -> None:
        """Notes what the commits that git made of others after `onto` must have."""
        state: States = self.states[onto]
        last = onto
        new = self.told(tree, "rev-list", "--reverse", "--topo-order", f"{onto}..HEAD").split()
        for commit in commits:
            sides = [self.states[f] for f in (self.told(tree, "rev-parse", f"{commit}^"), commit)]
            was, becomes = reversed(sides) if backwards else sides
            before, state = state, merged_all(was, state, becomes)
            subject = self.told(tree, "log", "-1", "--format=%s", commit)
            if new and (backwards or self.told(tree, "log", "-1", "--format=%s", new[0]) == subject):
                last = new.pop(0)
                state = self.check(tree, last, state)
                self.states.setdefault(last, dict(state))
            elif state != before:  # git leaves out what changes nothing: where either may be shown, what was there is
                self.check(tree, last, state)
                state = before
        if new:
            self.wrong(f"git made commits that the model has no place for: {new}")

    def check(self, tree: Tree, commit: str, states: States) -> dict[str, State]:
        """Compares what a commit has with what it must have; the latter, with what was open decided."""
        decided = {}
        for store in STORES:
            told = self.told(tree, "show", f"{commit}:{file_of(store)}")
            problems, decided[store] = compare(states[store], read_space(told))
            self.report.problems += [f"{store} at {commit[:8]}: {problem}" for problem in problems]
        return decided

    def changed(self, memory: Memory, **fields: Any) -> Memory:
        """A memory after a change of this step."""
        return replace(memory, marks=frozenset((f"{self.number}:{len(self.bench.log)}",)), **fields)


_VOCABULARY = (
    "harbor lantern orchard compass violin glacier meadow anchor saddle thimble beacon quarry kettle turbine walnut pebble "
    "ribbon furnace canyon pillow magnet hammock trumpet cactus marble canoe saffron ladder mosaic pretzel"
).split()
