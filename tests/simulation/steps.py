"""The steps of a simulation. Each does one thing in a work tree, and has the model do the same; False when it cannot."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from typing import Any

from tests.simulation.judge import file_of
from tests.simulation.model import STORES, Clone, Memory, Private, Tree, merged_all
from tests.simulation.run import Change, Simulation

Step = Callable[[Simulation, Tree], object]
_CLONES = ("ann", "bob")
_TREES = 4
_KILLED = 0.2


def begin(run: Simulation) -> None:
    """A bare repository, and clones of it with both stores, hooks and the merge driver."""
    base, bench = run.bench.base, run.bench
    bench.git(base, base / "home-ann", "init", "-q", "--bare", "-b", "main", "origin.git")
    for n, name in enumerate(_CLONES):
        clone = Clone(base / name, base / f"home-{name}")
        tree = Tree(clone, clone.folder)
        clone.trees.append(tree)
        run.clones.append(clone)
        bench.git(base, clone.home, "clone", "-q", "origin.git", name)
        if n == 0:
            run.git(tree, "switch", "-q", "-c", "main")
            write(run, tree, "README.md", "# Shop\n")
            write(run, tree, "src/a.py", "a = 1\n")
            write(run, tree, "pkg/a/b.py", "b = 1\n")
        for store in STORES:
            bench.memcli(tree.folder / store, clone.home, ["init", "--git", f"--root={tree.folder / store}", "--hooks"])
        if n == 0:
            for store in STORES:
                tree.work[store] = {}
                word = run.word()
                run.act(tree, store, ["remember", run.text(word), "--path", "first"], puts("first", memory(run, word)))
            commit(run, tree)
            run.git(tree, "push", "-q", "-u", "origin", "main")
        else:
            tree.work = dict(run.states[run.head(tree)])
        run.look(tree)


def _with_store(step: Step) -> Step:
    """A step that needs the files of the stores; what memcli does without them, the judge tries each time."""
    return lambda run, tree: False if tree.absent else step(run, tree)


# What people tell memcli.


def memory(run: Simulation, word: str) -> Memory:
    """A new memory."""
    return run.changed(Memory(frozenset((word,))))


def puts(path: str, one: Memory) -> Change:
    """A command that puts a memory into the space."""
    return lambda state, private, told: state.update({path: one})


@_with_store
def remember(run: Simulation, tree: Tree) -> object:
    store, word = _store(run), run.word()
    path = f"notes/{word}"
    run.act(tree, store, ["remember", run.text(word), "--path", path], puts(path, memory(run, word)))
    return None


@_with_store
def edit(run: Simulation, tree: Tree) -> object:
    store = _store(run)
    if not (path := _some(run, tree.work[store])):
        return False
    word = run.word()
    one = run.changed(tree.work[store][path], words=frozenset((word,)))
    run.act(tree, store, ["edit", path, "--set", f"raw={run.text(word)}"], puts(path, one))
    return None


@_with_store
def forget(run: Simulation, tree: Tree) -> object:
    store = _store(run)
    if not (path := _some(run, {p: m for p, m in tree.work[store].items() if m.active == {True}})):
        return False
    one = run.changed(tree.work[store][path], active=frozenset((False,)))
    run.act(tree, store, ["forget", path], puts(path, one))
    return None


@_with_store
def revive(run: Simulation, tree: Tree) -> object:
    store = _store(run)
    if not (path := _some(run, {p: m for p, m in tree.work[store].items() if m.active == {False}})):
        return False
    one = run.changed(tree.work[store][path], active=frozenset((True,)))
    run.act(tree, store, ["edit", path, "--set", "active=true"], puts(path, one))
    return None


@_with_store
def purge(run: Simulation, tree: Tree) -> object:
    store = _store(run)
    if not (path := _some(run, tree.work[store])):
        return False
    run.act(tree, store, ["forget", path, "--purge", "--yes"], lambda s, p, _: p.trash.update({path: s.pop(path)}))
    return None


@_with_store
def restore(run: Simulation, tree: Tree) -> object:
    store = _store(run)
    path = _some(run, {p: 0 for p in tree.clone.private[store].trash if p not in tree.work[store]})
    if not path:
        return False
    run.act(tree, store, ["restore", path], lambda s, p, _: s.update({path: p.trash.pop(path)}))
    return None


@_with_store
def propose(run: Simulation, tree: Tree) -> object:
    store, word = _store(run), run.word(is_private=True)
    path = f"ideas/{word}"
    one = memory(run, word)
    line = ["remember", run.text(word), "--path", path, "--propose"]
    run.act(tree, store, line, lambda s, p, _: p.inbox.update({path: one}))
    return None


@_with_store
def accept(run: Simulation, tree: Tree) -> object:
    store = _store(run)
    ideas = {p: m for p, m in tree.clone.private[store].inbox.items() if m.words != {""}}
    path = _some(run, ideas)
    if not path or path in tree.work[store]:
        return False
    run.private_words -= ideas[path].words
    run.act(tree, store, ["inbox", "accept", path], lambda s, p, _: s.update({path: p.inbox.pop(path)}))
    return None


@_with_store
def reject(run: Simulation, tree: Tree) -> object:
    store = _store(run)
    if not (path := _some(run, tree.clone.private[store].inbox)):
        return False
    run.act(tree, store, ["inbox", "reject", path], lambda s, p, _: p.inbox.pop(path))
    return None


@_with_store
def talk(run: Simulation, tree: Tree) -> object:
    """A session with a message; every other time it ends, and what it yields is in the journal and in the inbox.

    It ends once: a second end puts what a later decision of the session replaced out of both.
    """
    store, word = _store(run), run.word(is_private=True)
    known = sorted(tree.clone.private[store].sessions)

    def starts(state: object, private: Private, told: Any) -> None:
        if told is not None:
            private.sessions[told["id"] if isinstance(told, dict) else told] = []

    if not known or run.rng.random() < 0.3:
        run.act(tree, store, ["session", "start"], starts)
        known = sorted(tree.clone.private[store].sessions)
        if not known:
            return None
    session = run.rng.choice(known)

    def adds(state: object, private: Private, told: Any) -> None:
        if told is not None:
            private.sessions[session].append(word)

    def ends(state: object, private: Private, told: Any) -> None:
        if told is None:
            private.is_open = True
            private.ended.add(session)
        else:
            private.ended.add(session)
            private.journal.update(one["id"] for part in ("episodes", "facts", "log") for one in told.get(part, ()))
            unknown = Memory(frozenset(("",)))
            private.inbox.update({one["path"]: unknown for one in told["promoted"] if one["status"] == "proposed"})

    run.act(tree, store, ["session", "resume", session], lambda s, p, t: None)
    run.act(tree, store, ["session", "add", session, f"We decided to use {word} for the harbor."], adds)
    if session not in tree.clone.private[store].ended and run.rng.random() < 0.5:
        run.act(tree, store, ["session", "end", session], ends)
    return None


@_with_store
def closed(run: Simulation, tree: Tree) -> object:
    """Some of the above where nothing below `.git` can be written, as in the sandboxes of agents."""
    folder = tree.clone.folder / ".git"
    run.bench.note(f"chmod -R a-w {folder}")
    modes = {path: path.lstat().st_mode & 0o777 for path in (folder, *folder.rglob("*")) if not path.is_symlink()}
    for path in modes:
        path.chmod(0o500 if path.is_dir() else 0o400)
    try:
        for _ in range(3):
            step = run.rng.choice([remember, edit, purge, restore, propose, accept, talk, forget])
            step(run, tree)
    finally:
        for path, mode in modes.items():
            if path.exists():
                path.chmod(mode)
        run.bench.note(f"chmod -R u+w {folder}")
    if run.rng.random() < 0.7:
        run.look(tree)
    return None


# What people do with git.


def write(run: Simulation, tree: Tree, name: str, text: str) -> None:
    """Writes a file."""
    path = tree.folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    run.bench.note(f"mkdir -p {path.parent}; printf %s '{text.strip()}' > {path}")


def commit(run: Simulation, tree: Tree) -> object:
    """Commits all, with a new file of code; hooks hand the commit to the stores whose folder it touches."""
    if run.number and not tree.dirty and run.rng.random() < 0.7:
        run.rng.choice([remember, edit])(run, tree)
    folder = run.rng.choice(["src", "pkg/a"]) if not tree.absent else "src"
    n = len(run.bench.log)
    write(run, tree, f"{folder}/f{n}.py", f"def f{n}():\n    return {n}\n")
    subject = f"Count to number{n}n"
    run.git(tree, "add", "-A")
    if run.number and run.rng.random() < _KILLED:
        run.git(tree, "-c", f"core.hooksPath={os.devnull}", "commit", "-q", "-m", subject)
        _was_committed(run, tree)
        run.bench.memcli(tree.folder, tree.clone.home, ["hook", "run", "post-commit"], run.fault())
        return None
    run.git(tree, "commit", "-q", "-m", subject)
    _was_committed(run, tree)
    for store in () if tree.absent else STORES if folder == "pkg/a" else STORES[:1]:
        derived = tree.folder / store / ".memory" / "spaces" / "repo.json"
        if not derived.exists() or subject not in derived.read_text():
            run.wrong(f"the hook did not hand {subject!r} to the store of {store}")
    return None


def _was_committed(run: Simulation, tree: Tree) -> None:
    tree.dirty.clear()
    run.committed(tree, tree.work)


@_with_store
def commit_beside(run: Simulation, tree: Tree) -> object:
    """Commits all while a memory is written."""
    store, word = _store(run), run.word()
    path = f"notes/{word}"

    def act() -> None:
        for n in range(3):
            write(run, tree, f"src/g{run.number}.py", f"g = {n}\n")
            run.git(tree, "add", "-A", fails=True)
        run.git(tree, "commit", "-q", "-m", f"Meanwhile {run.number}n")

    line = ["remember", run.text(word), "--path", path, "--json"]
    before, old = tree.work[store], run.head(tree)
    ended = run.bench.beside(tree.folder / store, tree.clone.home, line, act)
    if ended.code:
        run.wrong(f"a writer beside git: {ended}")
        return None
    if run.head(tree) == old:
        run.wrong("nothing was committed")
        return None
    run.acknowledged(tree, store, puts(path, memory(run, word)), ended)
    told = run.told(tree, "show", f"HEAD:{file_of(store)}")
    is_in = word in told
    run.committed(tree, {**tree.work, store: tree.work[store] if is_in else before})
    tree.dirty = set() if is_in else {store}
    return None


def _settle(run: Simulation, tree: Tree) -> None:
    """Commits what would be in the way, most of the time."""
    if tree.dirty and run.rng.random() < 0.9:
        commit(run, tree)


def merge(run: Simulation, tree: Tree) -> object:
    _settle(run, tree)
    if not (other := _other(run, tree)):
        return False
    ours, theirs = run.head(tree), run.told(tree, "rev-parse", other)
    expected = merged_all(run.base(tree, ours, theirs), run.states[ours], run.states[theirs])
    if run.git(tree, "merge", "-q", "--no-edit", other, fails=bool(tree.dirty)):
        _now_has(run, tree, expected)
    return None


def _now_has(run: Simulation, tree: Tree, expected: Any) -> None:
    head = run.head(tree)
    if head not in run.states:
        run.states[head] = run.check(tree, head, expected)
    run.arrive(tree)


def pull(run: Simulation, tree: Tree) -> object:
    """Takes in what origin has, and gives it what is here."""
    _settle(run, tree)
    run.git(tree, "fetch", "-q", "origin")
    ours, theirs = run.head(tree), run.told(tree, "rev-parse", "origin/main")
    expected = merged_all(run.base(tree, ours, theirs), run.states[ours], run.states[theirs])
    if run.git(tree, "pull", "-q", "--no-rebase", "--no-edit", "origin", "main", fails=bool(tree.dirty)):
        _now_has(run, tree, expected)
        run.git(tree, "push", "-q", "origin", "HEAD:main")
    return None


def rebase(run: Simulation, tree: Tree) -> object:
    _settle(run, tree)
    if tree.dirty:
        return False
    if run.rng.random() < 0.5:
        run.git(tree, "fetch", "-q", "origin")
    if not (other := _other(run, tree)):
        return False
    onto = run.told(tree, "rev-parse", other)
    picked = ("rev-list", "--reverse", "--topo-order", "--no-merges", "--cherry-pick", "--right-only")
    commits = run.told(tree, *picked, f"{onto}...HEAD").split()
    if run.told(tree, "merge-base", onto, "HEAD") == onto and not run.told(
        tree, "rev-list", "--merges", f"{onto}..HEAD"
    ):
        commits = []  # git leaves all as it is
        run.git(tree, "rebase", "-q", other)
    elif run.git(tree, "rebase", "-q", other):
        run.replay(tree, commits, onto)
    run.arrive(tree)
    return None


def pick(run: Simulation, tree: Tree) -> object:
    """Takes over a commit of another branch."""
    _settle(run, tree)
    if tree.dirty:
        return False
    commits = run.told(tree, "rev-list", "--no-merges", "--max-parents=1", "--min-parents=1", "--all", "^HEAD").split()
    commits = [commit for commit in commits if commit in run.states]
    if not commits:
        return False
    chosen, onto = run.rng.choice(commits), run.head(tree)
    if not run.git(tree, "cherry-pick", chosen, fails=True):
        run.git(tree, "cherry-pick", "--quit")  # it changes nothing here
    run.replay(tree, [chosen], onto)
    run.arrive(tree)
    return None


def revert(run: Simulation, tree: Tree) -> object:
    _settle(run, tree)
    if tree.dirty:
        return False
    found = ("rev-list", "--no-merges", "--min-parents=1", "-n", "5", "HEAD")
    commits = [c for c in run.told(tree, *found).split() if "Count" in run.told(tree, "log", "-1", "--format=%s", c)]
    if not commits:
        return False
    chosen, onto = run.rng.choice(commits), run.head(tree)
    run.git(tree, "revert", "--no-edit", chosen, fails=True)  # as it does where there is nothing left to revert
    run.replay(tree, [chosen], onto, backwards=True)
    run.arrive(tree)
    return None


def switch(run: Simulation, tree: Tree) -> object:
    branches = run.told(tree, "branch", "--format=%(refname:short)").split()
    if len(branches) < _TREES and run.rng.random() < 0.5:
        run.git(tree, "switch", "-q", "-c", f"b{run.number}")
        return None
    held = run.told(tree, "worktree", "list", "--porcelain")
    free = [name for name in branches if f"branch refs/heads/{name}\n" not in f"{held}\n"]
    if not free:
        return False
    run.git(tree, "switch", "-q", run.rng.choice(free), fails=bool(tree.dirty))
    run.arrive(tree)
    return None


@_with_store
def stash(run: Simulation, tree: Tree) -> object:
    clone, head = tree.clone, run.head(tree)
    if tree.dirty:
        before = run.told(tree, "stash", "list")
        run.git(tree, "stash", "push", "-q")
        if run.told(tree, "stash", "list") != before:
            clone.stash.append((run.states[head], dict(tree.work)))
        run.arrive(tree, drops=True)
        return None
    if not clone.stash:
        return False
    base, held = clone.stash[-1]
    if run.git(tree, "stash", "pop", "-q"):
        clone.stash.pop()
        tree.work = merged_all(base, run.states[head], held)
        tree.dirty = {
            store for store in STORES if tree.work[store] != run.states[head][store] or held[store] != base[store]
        }
    return None


def reset(run: Simulation, tree: Tree) -> object:
    target = (
        "HEAD~1" if run.rng.random() < 0.5 and run.told(tree, "rev-parse", "-q", "--verify", "HEAD~1~1") else "HEAD"
    )
    run.git(tree, "reset", "-q", "--hard", target)
    run.arrive(tree, drops=True)
    return None


def sparse(run: Simulation, tree: Tree) -> object:
    if tree.absent:
        run.git(tree, "sparse-checkout", "disable")
        tree.absent = False
        run.arrive(tree)
    elif tree.dirty:
        return False
    else:
        kind = run.rng.choice([["--no-sparse-index"], ["--sparse-index"]])
        run.git(tree, "sparse-checkout", "set", "--cone", *kind, "src")
        tree.absent = True
    return None


def clean(run: Simulation, tree: Tree) -> object:
    run.git(tree, "clean", "-fdxq")
    return None


@_with_store
def lose(run: Simulation, tree: Tree) -> object:
    """Deletes a store by hand, and brings it back as memcli says."""
    store = _store(run)
    shutil.rmtree(tree.folder / store / ".memory")
    run.bench.note(f"rm -rf {tree.folder / store}/.memory")
    line = ["remember", "Begun anew.", f"--root={store}"]
    ended = run.bench.memcli(tree.folder, tree.clone.home, line)
    path = f"{store}/.memory".removeprefix("./")
    if ended.code != 8 or f"restore {path}" not in ended.err:
        run.wrong(f"a lost store: exit {ended.code}: {ended.out}{ended.err}")
    run.git(tree, "restore", path)
    tree.dirty.discard(store)
    run.arrive(tree)
    return None


def add_tree(run: Simulation, tree: Tree) -> object:
    clone = tree.clone
    if len(clone.trees) > 1:
        gone = clone.trees[-1]
        if gone.dirty:
            return False
        run.git(clone.trees[0], "worktree", "remove", "--force", str(gone.folder))
        clone.trees.remove(gone)
        return None
    folder = run.bench.base / f"{clone.home.name.removeprefix('home-')}-tree{run.number}"
    run.git(clone.trees[0], "worktree", "add", "-q", "-b", f"w{run.number}", str(folder))
    new = Tree(clone, folder)
    new.absent = clone.trees[0].absent and not (folder / ".memory" / "spaces").exists()
    clone.trees.append(new)
    run.arrive(new)
    run.look(new)
    return None


def move(run: Simulation, tree: Tree) -> object:
    """Moves a clone to another folder."""
    clone = tree.clone
    target = run.bench.base / f"{clone.home.name.removeprefix('home-')}{run.number}"
    clone.folder.rename(target)
    run.bench.note(f"mv {clone.folder} {target}")
    clone.folder = clone.trees[0].folder = target
    if len(clone.trees) > 1:
        if run.rng.random() < 0.5:  # where the linked work tree does not find its repository
            remember(run, clone.trees[1])
        run.git(clone.trees[0], "worktree", "repair", *(str(one.folder) for one in clone.trees[1:]))
        run.look(clone.trees[1])
    run.look(clone.trees[0])
    return None


def _store(run: Simulation) -> str:
    return STORES[run.rng.random() < 0.3]


def _some(run: Simulation, found: Any) -> str:
    return run.rng.choice(sorted(found)) if found else ""


def _other(run: Simulation, tree: Tree) -> str:
    """Another branch whose commit the model knows."""
    found = run.told(tree, "branch", "-a", "--format=%(refname:short)").split()
    head = run.head(tree)
    others = [(name, run.told(tree, "rev-parse", name)) for name in found if name != "origin"]
    return _some(run, [name for name, commit in others if commit != head and commit in run.states])


STEPS: dict[str, tuple[Step, int]] = {
    "remember": (remember, 5), "edit": (edit, 5), "forget": (forget, 3), "revive": (revive, 2), "purge": (purge, 4),
    "restore": (restore, 4), "propose": (propose, 4), "accept": (accept, 4), "reject": (reject, 1), "talk": (talk, 5),
    "closed": (closed, 3), "commit": (commit, 12), "commit beside": (commit_beside, 2), "merge": (merge, 8),
    "pull": (pull, 10), "rebase": (rebase, 8), "cherry-pick": (pick, 5), "revert": (revert, 3), "switch": (switch, 5),
    "stash": (stash, 6), "reset": (reset, 2), "sparse": (sparse, 3), "clean": (clean, 3), "lose": (lose, 2),
    "work tree": (add_tree, 3), "move": (move, 2),
}  # fmt: skip
"""The steps, and how often each is drawn."""
