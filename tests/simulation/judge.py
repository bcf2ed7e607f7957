"""Look at a work tree, and say what is not as the model has it."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator
from typing import Any

from tests.simulation.bench import Bench
from tests.simulation.model import STORES, Clone, Seen, State, Tree, compare

_TRACKED = re.compile(
    r"(pkg/a/)?\.memory/(\.gitignore|\.gitattributes|spaces/main\.json)|(src|pkg/a)/\w+\.py|README\.md"
)
_MISSING = 8


def file_of(store: str) -> str:
    """The file of a store's space, from the top."""
    return f"{store}/.memory/spaces/main.json".removeprefix("./")


def read_space(data: str) -> dict[str, Seen]:
    """The memories of the file of a space, by their paths."""
    return {
        one["path"]: Seen(one["raw"], bool(one.get("active", True)), json.dumps(one["metadata"].get("conflicts")))
        for one in json.loads(data)["objects"]
    }


def found_in(tree: Tree, store: str) -> dict[str, Seen]:
    """The memories in the file of a store."""
    return read_space((tree.folder / file_of(store)).read_text())


class Judge:
    """What is found wrong on a bench; `checks` counts the work trees that were looked at."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self.checks = 0

    def problems(self, tree: Tree, head: dict[str, State] | None, word: str, private: Collection[str]) -> list[str]:
        """What is wrong in a work tree whose commit has the state `head`. `word` is one that recall is asked for; of the
        stores in `private` the private state is looked at too."""
        self.checks += 1
        found = list(self._of_git(tree, head))
        for store in STORES:
            if tree.absent:
                found += self._of_absent(tree, store)
            else:
                found += [f"{store}: {problem}" for problem in self._of_store(tree, store, word)]
                if store in private:
                    found += [f"{store}: {problem}" for problem in self._of_private(tree, store)]
        return found

    def ask(self, tree: Tree, store: str, *arguments: str) -> Any:
        """What memcli answers with `--json`, in the folder of a store; the error when it fails."""
        ended = self.bench.ask(tree.folder / store, tree.clone.home, (*arguments, "--json"))
        try:
            return json.loads(ended.out)
        except ValueError:
            return {"error": f"{' '.join(arguments)}: exit {ended.code}: {ended.out}{ended.err}"}

    def _of_store(self, tree: Tree, store: str, word: str) -> Iterator[str]:
        problems, tree.work[store] = compare(tree.work[store], found_in(tree, store))
        yield from problems
        work = tree.work[store]
        listed = self.ask(tree, store, "list", "--all", "-s", "main", "-l", "1000")
        if _paths(listed) != work.keys():
            yield f"list is not what the file has: {listed}"
        ended = self.bench.ask(tree.folder / store, tree.clone.home, ("check", "store"))
        if ended.code:
            yield f"fsck: exit {ended.code}: {ended.out}{ended.err}"
        yield from self._of_recall(tree, store, word)

    def _of_private(self, tree: Tree, store: str) -> Iterator[str]:
        private = tree.clone.private[store]
        ended = self.bench.ask(tree.folder / store, tree.clone.home, ("store", "audit", "--verify"))
        if ended.code:
            yield f"audit --verify: exit {ended.code}: {ended.out}{ended.err}"
        inbox = self.ask(tree, store, "inbox")
        extra = _paths(inbox) - private.inbox.keys()
        if private.inbox.keys() - _paths(inbox) or (extra and not private.is_open):
            yield f"inbox: {inbox}, not {sorted(private.inbox)}"
        deleted = self.ask(tree, store, "restore", "--list")
        if missing := private.trash.keys() - _trash(deleted):
            yield f"lost from the trash: {sorted(missing)} {deleted}"
        sessions = self.ask(tree, store, "session", "list", "-l", "0")
        if missing := private.sessions.keys() - _ids(sessions):
            yield f"lost sessions: {sorted(missing)} {sessions}"
        for session in sorted(private.sessions)[-2:]:
            shown = json.dumps(self.ask(tree, store, "session", "show", session))
            if missing := {said for said in private.sessions[session] if said not in shown}:
                yield f"lost messages of {session}: {sorted(missing)}"
        if private.journal:
            journal = self.ask(tree, store, "list", "--all", "-s", "journal", "-l", "1000")
            if missing := private.journal - _ids(journal):
                yield f"lost from the journal: {sorted(missing)}"

    def _of_recall(self, tree: Tree, store: str, word: str) -> Iterator[str]:
        if not word:
            return
        recalled = json.dumps(self.ask(tree, store, "recall", word, "-s", "main"))
        wanted = [path for path, one in tree.work[store].items() if one.words == {word} and one.active == {True}]
        for path in wanted:
            if json.dumps(path) not in recalled:
                yield f"recall {word} does not find {path}: {recalled[:500]}"
        if not any(word in one.words | one.lasting for one in tree.work[store].values()) and f"{word} " in recalled:
            yield f"recall {word} finds what is not there: {recalled[:500]}"

    def _of_absent(self, tree: Tree, store: str) -> Iterator[str]:
        """A store that a sparse checkout leaves out is refused, and not begun anew."""
        arguments = ("remember", "Begun anew.", "--root", store)
        ended = self.bench.ask(tree.folder, tree.clone.home, arguments)
        if ended.code != _MISSING or "sparse-checkout" not in ended.err:
            yield f"{store}: a store that is left out: exit {ended.code}: {ended.out}{ended.err}"
        if (tree.folder / file_of(store)).exists():
            yield f"{store}: a store that is left out was begun anew"

    def _of_git(self, tree: Tree, head: dict[str, State] | None) -> Iterator[str]:
        status = self._git(tree, "status", "--porcelain", "--untracked-files=all").splitlines()
        allowed = {file_of(store) for store in tree.dirty}
        for line in status:
            if line[:2].strip() != "M" or line[3:] not in allowed:
                yield f"git status: {line}"
        for name in self._git(tree, "ls-files").splitlines():
            if not _TRACKED.fullmatch(name):
                yield f"tracked: {name}"
        if head is None:
            yield "a commit that the model does not know"
            return
        for store in STORES:
            problems, head[store] = compare(head[store], read_space(self._git(tree, "show", f"HEAD:{file_of(store)}")))
            yield from (f"{store} at HEAD: {problem}" for problem in problems)

    def _git(self, tree: Tree, *arguments: str) -> str:
        return self.bench.ask_git(tree.folder, tree.clone.home, *arguments).stdout

    def leaks(self, clone: Clone, words: set[str]) -> list[str]:
        """Words of private text in any commit of a clone, its stash among them."""
        told = self.bench.ask_git(
            clone.folder, clone.home, "log", "--all", "-p", "-m", "--no-textconv", "--no-ext-diff", "--format=%B"
        ).stdout
        return [f"private text was committed: {word}" for word in sorted(words) if word in told]


def _paths(listed: Any) -> set[str]:
    return {one["path"] for one in listed} if isinstance(listed, list) else {str(listed)}


def _ids(listed: Any) -> set[str]:
    return {one["id"] for one in listed} if isinstance(listed, list) else set()


def _trash(listed: Any) -> set[str]:
    runs = listed if isinstance(listed, list) else []
    return {one["path"] for run in runs if run["space"] == "main" for one in run["memories"]}
