"""The effect of a shell command on files, read from its words. Nothing is run, expanded or read from the disk."""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Iterator, Sequence

_MAX = 1 << 16
_MAX_DEPTH = 4
_HEREDOC = re.compile(r"(?<!<)<<(?!<)-?[ \t]*(['\"]?)([\w.-]+)\1")
_TOKEN = re.compile(
    r"""(?P<blank>[ \t\r]+|\\\r?\n|\#[^\n]*)
      | (?P<into>\d*(?:>>|>\||<>|>&|>)|&>>?)
      | (?P<from>\d*(?:<<<|<<-?|<&|<))
      | (?P<end>&&|\|\||;;|\|&|[|&;()\n])
      | (?P<word>(?:[^\s"'\\|&;()<>]|\\.|'[^']*'|"(?:[^"\\]|\\.)*")+)""",
    re.VERBOSE | re.DOTALL,
)
_ASSIGNMENT = re.compile(r"\w+\+?=")
_SUBSTITUTION = re.compile(r"`|\$\(")
_NO_FILE = re.compile(r"/dev/(?:null|stdout|stderr|tty|fd/)|\d+\Z|-\Z")
_IN_PLACE = re.compile(r"-[0-9a-zE]*i|--in-place")
_WITH_SCRIPT = re.compile(r"-\w*[ef]\Z|--expression\Z|--file\Z")
_BEFORE_COMMANDS = frozenset(
    ("!", "builtin", "command", "do", "elif", "else", "env", "exec", "if", "nohup", "sudo", "then", "time", "until", "while", "{")
)  # fmt: skip
_SHELLS = frozenset(("ash", "bash", "dash", "ksh", "sh", "zsh"))
_EDITORS = frozenset(("gsed", "perl", "ruby", "sed"))
"""Programs that edit files in place with an option."""
_REMOVERS = frozenset(("rm", "rmdir", "shred", "tee", "truncate", "unlink"))
"""Programs that change every file among their arguments."""
_COPIERS = frozenset(("cp", "install", "ln", "rsync"))
_READERS = frozenset(
    """
    [ [[ : ag basename cat cmp column comm cut date df diff dirname done du echo egrep esac false fgrep fi file find for
    fold grep gsed head id jq less ls md5sum more nl paste printf ps pwd readlink realpath rg sed seq sha1sum sha256sum
    sleep sort stat strings tail test tr tree true type uname uniq wc whereis which whoami }
    """.split()
)
"""Programs, and words of the shell, that change nothing without the options in `_CHANGING`."""
_GIT_READERS = frozenset(
    """
    blame cat-file describe diff diff-tree for-each-ref grep log ls-files ls-tree merge-base name-rev rev-list rev-parse
    shortlog show show-ref status version
    """.split()
)
# Options by which these programs write a file, or run another program.
_CHANGING = {
    "date": re.compile(r"-s|--set"),
    "find": re.compile(r"-(?:delete|exec|ok|fprint|fls)"),
    "git": re.compile(r"--output|-O|--open-files|--ext-diff"),
    "rg": re.compile(r"--pre"),
    "sort": re.compile(r"-\w*o|--output|--compress"),
    "tree": re.compile(r"-o"),
}


def read_command(text: str) -> tuple[tuple[str, ...], bool]:
    """The files that a command writes, moves or removes, relative to the folder that it starts in, and whether every program
    that it runs only reads. A command that cannot be parsed has no files and may write."""
    reader = _ShellReader()
    try:
        reader.read(text)
    except ValueError:
        return (), False
    return tuple(dict.fromkeys(reader.files)), reader.only_reads


class _ShellReader:
    """Collects the files that a command changes, and whether it only reads; follows `cd` and nested shells."""

    def __init__(self) -> None:
        self.files: list[str] = []
        self.only_reads = True
        self._folder = ""
        self._depth = 0

    def read(self, text: str) -> None:
        """Reads a script. Raises ValueError for a script that is too long, nested too deeply or no valid command."""
        self._depth += 1
        if len(text) > _MAX or self._depth > _MAX_DEPTH:
            raise ValueError
        # The body of a heredoc is standard input and no part of the command line, however much it looks like one.
        lines = iter(text.split("\n"))
        script = []
        for line in lines:
            script.append(line)
            for _, mark in _HEREDOC.findall(line):
                if not any(body.strip() == mark for body in lines):
                    raise ValueError
        for words, targets in _commands("\n".join(script)):
            # What is run inside of a word is not read, so that it may change anything.
            self.only_reads &= not any(_SUBSTITUTION.search(word) for word in words)
            self._write(self._folder, [target for target in targets if not _NO_FILE.match(target)])
            self._run(words)
        self._depth -= 1

    def _write(self, folder: str, names: Sequence[str]) -> None:
        self.only_reads &= not names
        self.files += [posixpath.join(folder, name) for name in names if name]

    def _run(self, words: Sequence[str]) -> None:
        """Records the effect of a simple command."""
        words = list(words)
        while words and (words[0] in _BEFORE_COMMANDS or _ASSIGNMENT.match(words[0])):
            del words[0]
        if not words:
            return
        name, rest = posixpath.basename(words[0]), words[1:]
        if name == "cd" and rest:
            self._folder = posixpath.join(self._folder, rest[-1])
        elif name == "timeout":
            self._run(rest[1:])
        elif name in _SHELLS:
            # A shell runs the argument of -c as a script.
            place = next((n for n, word in enumerate(rest) if word[:1] == "-" and word.endswith("c")), None)
            if place is None or place + 1 == len(rest):
                self.only_reads = False
            else:
                self.read(rest[place + 1])
        elif name == "git":
            self._run_git(rest)
        elif changed := _changed(name, rest):
            self._write(self._folder, changed)
        elif name not in _READERS or _changes(name, rest):
            self.only_reads = False

    def _run_git(self, rest: Sequence[str]) -> None:
        """Records the effect of git with these arguments."""
        folder, rest = self._folder, list(rest)
        while rest and rest[0].startswith("-"):
            option = rest.pop(0)
            value = rest.pop(0) if option in ("-C", "-c", "--git-dir", "--work-tree") and rest else ""
            folder = posixpath.join(folder, value) if option == "-C" else folder
        if rest and rest[0] in ("mv", "rm"):
            self._write(folder, _changed(rest[0], rest[1:]))
        elif not rest or rest[0] not in _GIT_READERS or _changes("git", rest):
            self.only_reads = False


def _changes(name: str, rest: Sequence[str]) -> bool:
    """Whether an option makes a program that usually only reads change files."""
    pattern = _CHANGING.get(name)
    return pattern is not None and any(map(pattern.match, rest))


def _changed(name: str, rest: Sequence[str]) -> Sequence[str]:
    """The files among the arguments of a program that it changes."""
    if name in _REMOVERS:
        return _operands(rest)
    if name == "mv" or name in _COPIERS:
        names = _operands(rest)
        sources, targets = names[:-1], names[-1:]
        if "-t" in rest[:-1]:
            place = rest.index("-t")
            sources, targets = _operands([*rest[:place], *rest[place + 2 :]]), [rest[place + 1]]
        inside = [posixpath.join(target, posixpath.basename(one)) for target in targets for one in sources]
        return [*(sources if name == "mv" else ()), *targets, *inside]
    if name in _EDITORS and any(map(_IN_PLACE.match, rest)):
        scripts = {n + 1 for n, word in enumerate(rest) if _WITH_SCRIPT.match(word)}
        # An empty word is the suffix in `sed -i ''`, as the sed of macOS wants it.
        files = _operands([word for n, word in enumerate(rest) if word and n not in scripts])
        return files if scripts else files[1:]
    return ()


def _operands(rest: Sequence[str]) -> list[str]:
    """The arguments that are no options."""
    end = rest.index("--") if "--" in rest else len(rest)
    return [*(word for word in rest[:end] if not word.startswith("-")), *rest[end + 1 :]]


def _commands(text: str) -> Iterator[tuple[list[str], list[str]]]:
    """The words of each simple command, and the files that its output is redirected to. Raises ValueError."""
    words: list[str] = []
    targets: list[str] = []
    before, at = "", 0
    while at < len(text):
        token = _TOKEN.match(text, at)
        if token is None:
            raise ValueError
        kind, at = str(token.lastgroup), token.end()
        if kind == "end":
            yield words, targets
            words, targets = [], []
        elif kind == "word" and before != "from":
            (targets if before == "into" else words).append("".join(shlex.split(token[0])))
        before = before if kind == "blank" else kind
    yield words, targets
