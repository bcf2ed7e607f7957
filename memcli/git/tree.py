"""The files under a folder that memcli may read, in a total order, with a count of those that it skips.

It skips what git ignores (`.gitignore` at every level, `.git/info/exclude`, the user's own excludes file), what
`.secretsignore` at the root names in the same syntax, and always `.git`, `.memory`, `.env` files and editors' temporary
files. A pattern counts for tracked files too, which git would go on tracking.
"""

from __future__ import annotations

import os
import re
import stat
from collections import Counter
from collections.abc import Iterator

from memcli.code.globs import Patterns, compile_patterns
from memcli.code.noise import folder_noise, noise
from memcli.errors import MemcliError
from memcli.git.reading import UnfitError, read_bytes
from memcli.git.repository import Repository, common_dir
from memcli.record import Record, field

RULE_FILES = frozenset([".gitignore", ".secretsignore"])
OURS = frozenset([".git", ".memory"])
_SECRET = re.compile(r"\.env(\.(?!(example|sample|template)\Z).*)?\Z", re.DOTALL)
_TEMPORARY = re.compile(r"(.*\.sw[a-z]|4913|.*~|#.*#|\.#.*|.*\.tmp|.*___jb_.*)\Z", re.DOTALL)

_Chain = tuple[tuple[int, Patterns], ...]
"""The rules that apply in a folder, nearest first, each with the length of the path that it is relative to."""


class Secrets:
    """The names that are never read, tracked or not: `.env` files, `.git`, `.memory`, what `.secretsignore` says."""

    def __init__(self, root: str) -> None:
        self._rules = _read_rules(os.path.join(root, ".secretsignore"))

    def cover(self, file: str) -> bool:
        """Whether the file, relative to the root, or a folder above it is one of them."""
        ends = [at for at, char in enumerate(file) if char == "/"]
        return any(self.name(file[:end], is_folder=True) for end in ends) or self.name(file)

    def name(self, path: str, *, is_folder: bool = False) -> bool:
        """Whether this entry is one, whatever is above it."""
        leaf = path.rpartition("/")[2]
        if leaf in OURS or _SECRET.match(leaf):
            return True
        return self._rules is not None and self._rules.verdict(path, is_folder=is_folder) is True


class Ignore:
    """The rules of one work tree as its files state them now; make a new one when a rule file changed."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._secrets = Secrets(root)
        self._common = _common_rules(root)
        self._chains: dict[str, _Chain] = {}
        self._folders: dict[str, bool] = {"": False}

    def covers(self, path: str, *, is_folder: bool = False) -> bool:
        """Whether the file or folder, relative to the root with `/`, is ignored, itself or by a folder above."""
        if is_folder:
            return self._covers_folder(path)
        parent = _parent(path)
        return self._covers_folder(parent) or self._matches(parent, path, is_folder=False)

    def _covers_folder(self, folder: str) -> bool:
        unknown = []
        # From the top down and without recursion: a tree may be deeper than Python's stack.
        while (ignored := self._folders.get(folder)) is None:
            unknown.append(folder)
            folder = _parent(folder)
        for inner in reversed(unknown):
            ignored = ignored or self._matches(_parent(inner), inner, is_folder=True)
            self._folders[inner] = ignored
        return ignored

    def _matches(self, parent: str, path: str, *, is_folder: bool) -> bool:
        if _TEMPORARY.match(path, len(parent) + 1 if parent else 0) or self._secrets.name(path, is_folder=is_folder):
            return True
        for above, rules in self._chain(parent):
            verdict = rules.verdict(path[above:], is_folder=is_folder)
            if verdict is not None:
                return verdict
        return False

    def _chain(self, folder: str) -> _Chain:
        chain = self._chains.get(folder)
        if chain is None:
            chain = self._chain(_parent(folder)) if folder else self._common
            rules = _read_rules(os.path.join(self._root, folder, ".gitignore"))
            if rules is not None:
                chain = ((len(folder) + 1 if folder else 0, rules), *chain)
            self._chains[folder] = chain
        return chain


def _parent(path: str) -> str:
    return path.rpartition("/")[0]


def _common_rules(root: str) -> _Chain:
    """What holds below every `.gitignore`: the repository's exclude file, then the user's."""
    files = []
    try:
        repository = Repository(root)
        files.append((os.path.join(common_dir(repository.git_dir()), "info", "exclude"), False))
        files.append((_user_excludes(repository), True))
    except MemcliError:
        return ()
    rules = [_read_rules(file, follow=follow) for file, follow in files if file]
    return tuple((0, patterns) for patterns in rules if patterns)


def _user_excludes(repository: Repository) -> str:
    try:
        return repository.run("config", "--type=path", "--get", "core.excludesFile").removesuffix("\n")
    except MemcliError:
        home = os.environ.get("XDG_CONFIG_HOME") or os.path.join(os.path.expanduser("~"), ".config")
        return os.path.join(home, "git", "ignore")


def _read_rules(file: str, *, follow: bool = False) -> Patterns | None:
    try:
        data = read_bytes(file, follow=follow)
    except UnfitError:
        return None
    return compile_patterns(data.removeprefix(b"\xef\xbb\xbf").split(b"\n")) or None


class Tree(Record, frozen=False):
    """A walk of the folder `root`. Paths are relative to it, with `/`; links are never followed.

    `folders` are those walked, `unread` those that could not be, `pruned` those left out.
    """

    root: str
    ignore: Ignore
    skipped: Counter[str] = field(default_factory=Counter)
    folders: list[str] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)
    pruned: list[str] = field(default_factory=list)

    def files(self, start: str = "") -> Iterator[tuple[str, os.stat_result]]:
        """Each file below the folder `start`, with its facts, sorted by name within its folder."""
        # A stack of our own: a tree may be deeper than Python's.
        stack = [start]
        while stack:
            folder = stack.pop()
            entries = self._list(folder, is_start=folder == start)
            inner = []
            for entry in entries:
                path = f"{folder}/{entry.name}" if folder else entry.name
                if entry.is_dir(follow_symlinks=False):
                    if self._is_wanted_folder(path, entry.name):
                        inner.append(path)
                elif (facts := self._facts(path, entry)) is not None:
                    yield path, facts
            stack.extend(reversed(inner))

    def _list(self, folder: str, *, is_start: bool) -> list[os.DirEntry[str]]:
        try:
            with os.scandir(os.path.join(self.root, folder)) as entries:
                found = sorted(entries, key=lambda entry: os.fsencode(entry.name))
        except OSError:
            self.unread.append(folder)
            self.skipped["unreadable"] += 1
            return []
        if not is_start and any(entry.name == ".git" for entry in found):
            # A repository of its own, or a submodule: its files are another project's.
            self.skipped["repository"] += 1
            self.pruned.append(folder)
            return []
        self.folders.append(folder)
        return found

    def _is_wanted_folder(self, path: str, name: str) -> bool:
        reason = "ignored" if self.ignore.covers(path, is_folder=True) else folder_noise(name)
        if reason:
            self.pruned.append(path)
            # Every tree has those, so to count them would tell nobody anything.
            if name not in OURS:
                self.skipped[reason] += 1
        return not reason

    def _facts(self, path: str, entry: os.DirEntry[str]) -> os.stat_result | None:
        if self.ignore.covers(path):
            reason = "ignored"
        elif not (reason := noise(path)):
            try:
                facts = entry.stat(follow_symlinks=False)
            except OSError:
                reason = "vanished"
            else:
                if stat.S_ISREG(facts.st_mode):
                    return facts
                reason = "link" if stat.S_ISLNK(facts.st_mode) else "special"
        self.skipped[reason] += 1
        return None
