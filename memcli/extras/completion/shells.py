"""Completion scripts for bash, zsh and fish: their fixed parts, and the tables generated from the verbs. And the values to
complete from a store on a server, since `values.py` imports as little as possible.

The scripts are committed in `completions/`. After a change of commands, options or this module, run
`pytest tests/extras/completion/test_completion.py --update-golden`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing

from memcli.cli.options import CHOICE, FILE, FOLDER, KIND, MEMORY, PATH, SESSION, SPACE, TAG, CommonOptions, Field
from memcli.cli.verb import ALIASES, Group, Verb, find, names
from memcli.git import NAMES
from memcli.model.catalogue import CatalogueFilter
from memcli.model.shapes import MEMORY_FIELDS, SOURCES
from memcli.ranking import RANKERS
from memcli.record import Record
from memcli.wiring import extra
from memcli.wiring.workspace import chosen_store, open_workspace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memcli.index.view import IndexedSpace

BASH = r"""# Completions of memcli for bash. Made by `memcli completions bash`: do not edit.

# What a command takes: `commands`; `options`, each NAME or NAME=VALUE; `arguments`, each VALUE or, repeated, VALUE...
# A VALUE is files, dirs, what `memcli __complete` has by this name, `,one,of,these`, or - for anything.
_memcli_table() {
  commands= options= arguments=
  case $1 in
@TABLE@
  esac
}

# Cuts the line up to the cursor into `words`. COMP_WORDS is cut at `:` and `=` too, where no word of ours ends.
_memcli_split() {
  local line=${COMP_LINE:0:COMP_POINT} blank piece i
  words=()
  for ((i = 0; i <= COMP_CWORD; i++)); do
    blank=${line%%[![:space:]]*} line=${line#"${line%%[![:space:]]*}"} piece=${COMP_WORDS[i]}
    ((i < COMP_CWORD)) || piece=$line
    if [[ $i -gt 0 && -z $blank ]]; then words[${#words[@]} - 1]+=$piece; else words+=("$piece"); fi
    line=${line#"$piece"}
  done
}

# Sets `plain` to what the shell makes of the word $1, without running anything, and `quote` to what it leaves open.
_memcli_plain() {
  local rest=$1 char
  plain= quote=
  case $rest in \~ | \~/*) plain=$HOME rest=${rest:1} ;; esac
  while [[ -n $rest ]]; do
    char=${rest:0:1} rest=${rest:1}
    case $quote$char in
    \' | \") quote=$char ;;
    "''" | '""') quote= ;;
    \\ | '"\') if [[ -n $rest ]]; then plain+=${rest:0:1} rest=${rest:1}; else quote=\\; fi ;;
    *) plain+=$char ;;
    esac
  done
}

# Offers those lines of $1 that begin with `plain`: what was `typed`, and the rest quoted as its place wants it.
_memcli_offer() {
  local value rest
  while IFS= read -r value; do
    [[ -n $value && $value == "$plain"* ]] || continue
    rest=${value:${#plain}}
    case $quote in
    \') rest=${rest//\'/$apostrophe} ;;
    \") rest=${rest//\\/\\\\} rest=${rest//\"/\\\"} rest=${rest//\$/\\\$} rest=${rest//\`/\\\`} ;;
    *) [[ -z $rest ]] || printf -v rest %q "$rest" ;;
    esac
    COMPREPLY+=("$typed$rest")
  done <<< "$1"
  if [[ ${#COMPREPLY[@]} == 1 && $value$COMPREPLY == */ ]]; then compopt -o nospace 2> /dev/null; fi
}

_memcli_offer_value() {
  case $1 in
  -) ;;
  files) compopt -o default 2> /dev/null ;;
  dirs) compopt -o dirnames 2> /dev/null ;;
  ,*) _memcli_offer "${1//,/$newline}" ;;
  *) _memcli_offer "$(memcli __complete "$1" "$plain" "$space" "$root" 2> /dev/null < /dev/null)" ;;
  esac
}

# Sets `value` to what the option $1 takes; fails when it takes nothing.
_memcli_takes() {
  [[ " $options " == *" $1="* ]] || return 1
  value=" $options" value=${value#*" $1="} value=${value%% *}
}

_memcli() {
  local IFS=$' \t\n' newline=$'\n' apostrophe="'\\''" typed=$2 commands options arguments words word plain quote value
  local at= wanted= ended= space= root= count=0
  COMPREPLY=()
  _memcli_split
  _memcli_table ''
  for word in "${words[@]:1:${#words[@]} - 2}"; do
    _memcli_plain "$word"
    if [[ -n $wanted ]]; then plain=$wanted=$plain wanted=
    elif [[ -n $ended ]]; then ((++count)); continue
    elif [[ $word == -- ]]; then ended=1
    elif [[ $word == -* ]] && _memcli_takes "$word"; then wanted=$word
    elif [[ $word == -[!-]?* ]]; then plain=${plain:0:2}=${plain:2}
    elif [[ $word == -* ]]; then :
    elif [[ " $commands " == *" $plain "* ]]; then at+=${at:+ }$plain; _memcli_table "$at"
    else ((++count))
    fi
    case $plain in --space=* | -s=*) space=${plain#*=} ;; --root=*) root=${plain#*=} ;; esac
  done
  word=${words[${#words[@]} - 1]}
  if [[ -z $wanted$ended && $word == --*=* ]]; then wanted=${word%%=*} word=${word#*=}; fi
  _memcli_plain "$word"
  if [[ $quote == \\ ]]; then typed=${typed%\\}; fi
  if [[ -n $wanted ]]; then _memcli_takes "$wanted" && _memcli_offer_value "$value"
  elif [[ -z $ended && $word == -* ]]; then
    value=
    for word in $options; do value+=${word%%=*}$newline; done
    _memcli_offer "$value"
  elif [[ -n $commands ]]; then ((count)) || _memcli_offer "${commands// /$newline}"
  else
    for word in $arguments; do
      if [[ $((count--)) == 0 || $word == *... ]]; then _memcli_offer_value "${word%...}"; break; fi
    done
  fi
}

complete -F _memcli memcli
"""

ZSH = r"""#compdef memcli
# Completions of memcli for zsh. Made by `memcli completions zsh`: do not edit.

# Offers what the store has of $1, in the space and at the root that the line names.
_memcli_values() {
  local space=${(Q)${opt_args[--space]:-$opt_args[-s]}} root=${(Q)${opt_args[--root]/#\~\//$HOME/}} prefix
  local -a expl found headings
  # At first by what is typed, of which there may be much; then all, for matchers that forgive more than a shell does.
  for prefix in "${(Q)PREFIX}" ''; do
    found=("${(@f)$(memcli __complete $1 "$prefix" "$space" "$root" 2> /dev/null < /dev/null)}")
    [[ -z $found ]] || break
  done
  headings=("${(@M)found:#*/}") found=("${(@)found:#(*/|)}")
  _wanted $1 expl $1 compadd -S '' -a headings
  _wanted $1 expl $1 compadd -a found
}
@TABLE@

if [[ $funcstack[1] == _memcli ]]; then _memcli "$@"; else compdef _memcli memcli; fi
"""

FISH = r"""# Completions of memcli for fish. Made by `memcli completions fish`: do not edit.

set -g __memcli_commands @COMMANDS@

function __memcli_words
    set -l words (commandline -xpc 2>/dev/null; or commandline -opc)
    set -q words[2]; and printf '%s\n' $words[2..-1]
end

# Whether the line has the command $argv. Options before it take no values.
function __memcli_at
    set -l at
    for word in (string match -v -- '-*' (__memcli_words))
        contains -- (string join ' ' $at $word) $__memcli_commands; or break
        set -a at $word
    end
    test "$at" = "$argv"
end

# What the store has of $source, in the space and at the root that the line names.
function __memcli_values -a source
    # The empty word stands for the one being typed, which the last option may be waiting for.
    argparse -i s/space=+ root=+ -- (__memcli_words) '' 2>/dev/null
    set -l root (string replace -r '^~(?=/|$)' $HOME -- $_flag_root[-1])
    set -l typed (string replace -r -- '^(--[^=]+=|-[^-])' '' (commandline -ct))
    set typed (string unescape -- $typed; or string trim -l -c '"\'' -- $typed)
    # At first by what is typed, of which there may be much; then all, since fish finds it also in the middle.
    for prefix in "$typed" ''
        memcli __complete $source "$prefix" "$_flag_space[-1]" "$root" 2>/dev/null </dev/null | string match -e ''
        and break
    end
end

complete -c memcli -f
@TABLE@
"""


class Command(Record):
    """A command with its options and arguments; of a group, `commands` are names and lines of help. `path` are its words,
    none for the program itself."""

    path: tuple[str, ...]
    options: tuple[Field, ...]
    arguments: tuple[Field, ...]
    commands: tuple[tuple[str, str], ...]


_SOURCES = {
    FILE: "files", FOLDER: "dirs", MEMORY: "refs", KIND: "kinds", PATH: "paths", SESSION: "sessions", SPACE: "spaces",
    TAG: "tags",
}  # fmt: skip
"""The kinds of values that are completed from the store or the file system, with the source that the scripts name."""
_WORDS: Mapping[str, tuple[str, ...]] = {
    "AGENT": tuple(extra("agents.table").AGENTS),
    "FORMAT": ("json", "md", "prompt", "table", "text"),
    "HOOK": tuple(NAMES),
    "SOURCE": SOURCES,
    "TASK": tuple(extra("upkeep.plan").TASKS),
    "token ACTION": ("token", "create", "list", "revoke"),
    "--backend": tuple(sorted(RANKERS)),
    "--field": tuple(MEMORY_FIELDS),
}
"""The words for values that their declarations do not list, by metavar or flag: these modules are too slow to import for
each command."""
_HELP = Field(("--help", "-h"), bool, help="Show this message and exit.")
_VERSION = Field(("--version",), bool, help="Print the version.")


def command_tree() -> list[Command]:
    """The program, all its commands and the commands of its groups, in the order in which the scripts list them."""
    known = {name: found for name in (*names(), *ALIASES) if (found := find(ALIASES.get(name, name)))}
    root = Command((), (_VERSION, _HELP), (), _lines(known))
    return [root, *(one for name, found in known.items() for one in _walk(found, (name,)))]


def _walk(command: Verb | Group, path: tuple[str, ...]) -> Iterator[Command]:
    """The command, then the commands of a group."""
    verb = command.default if isinstance(command, Group) else command
    below = command.verbs if isinstance(command, Group) else {}
    own = [] if verb is None else [*verb.options.FIELDS.values(), *CommonOptions.FIELDS.values()]
    options = tuple(field for field in own if not field.is_argument)
    arguments = tuple(field for field in own if field.is_argument)
    yield Command(path, (*options, _HELP), arguments, _lines(below))
    for name, child in below.items():
        yield from _walk(child, (*path, name))


def _lines(commands: Mapping[str, Verb | Group]) -> tuple[tuple[str, str], ...]:
    """The names of commands, each with its line of help."""
    return tuple((name, one.line or one.text.partition("\n\n")[0]) for name, one in commands.items())


def flags_of(option: Field) -> list[str]:
    """All flags of an option, the long ones first."""
    return sorted(
        (flag for text in option.flags for flag in text.split("/")), key=lambda flag: (flag[:2] != "--", flag)
    )


def completed(field: Field) -> str | tuple[str, ...]:
    """What completes a value: a source of `memcli __complete`, `files` or `dirs`, or fixed words; no words for free text."""
    metavar = field.metavar.strip("[].")
    for name in (*field.flags, metavar):
        if name in _WORDS:
            return _WORDS[name]
    if field.kind == CHOICE:
        return tuple(metavar.split("|"))
    return _SOURCES.get(field.kind, ())


def _bash() -> str:
    """The script for bash: for each command a `case` with its commands, options and arguments."""
    cases = []
    for command in command_tree():
        flags = [(flag, option) for option in command.options for flag in flags_of(option)]
        sets = {
            "commands": [name for name, _ in command.commands],
            "options": [flag if one.type is bool else f"{flag}={_bash_value(one)}" for flag, one in flags],
            "arguments": [_bash_value(one) + "..." * one.many for one in command.arguments],
        }
        lines = [f"    {name}='{' '.join(words)}'" for name, words in sets.items() if words]
        cases.append("\n".join([f"  '{' '.join(command.path)}')", *lines, "    ;;"]))
    return BASH.replace("@TABLE@", "\n".join(cases))


def _bash_value(field: Field) -> str:
    found = completed(field)
    return found if isinstance(found, str) else "".join(f",{word}" for word in found) or "-"


def _zsh() -> str:
    """The script for zsh: for each command a function that calls `_arguments` with its options and arguments."""
    functions = []
    for command in command_tree():
        name = "-".join(("_memcli", *command.path))
        specs = []
        for option in command.options:
            for flag in flags_of(option):
                # To `_arguments`, `*` allows an option again, and parentheses list what it excludes: `(- *)` is all else.
                # `--name=` takes `--name=X` and `--name X`, and `-n+` takes `-nX` and `-n X`.
                others = "*" if option.many else "(- *)" if option is _HELP else f"({' '.join(flags_of(option))})"
                mark = "" if option.type is bool else "=" if flag.startswith("--") else "+"
                specs.append(f"{others}{flag}{mark}[{_zsh_text(option.help)}]{_zsh_value(option)}")
        specs += [f"{'*' if a.many else n}{_zsh_value(a)}" for n, a in enumerate(command.arguments, 1)]
        below = ""
        if command.commands:
            specs += ["1: : _describe -t commands command commands", f"*:: : _call_function - {name}-$words[1]"]
            rows = "".join(f"    {_quote(':'.join(row))}\n" for row in command.commands)
            below = f"  local -a commands=(\n{rows}  )\n"
        lines = " \\\n".join(f"    {_quote(spec)}" for spec in specs)
        functions.append(f"\n{name}() {{\n  local -A opt_args\n{below}  _arguments -s -S \\\n{lines}\n}}\n")
    return ZSH.replace("@TABLE@", "".join(functions))


def _zsh_value(field: Field) -> str:
    if field.type is bool:
        return ""
    found = completed(field)
    if isinstance(found, str):
        action = {"files": "_files", "dirs": "_files -/"}.get(found, f" _memcli_values {found}")
    else:
        action = f"({' '.join(found)})"
    return f":{_zsh_text(field.metavar.strip('[].'))}:{action}"


def _zsh_text(text: str) -> str:
    return re.sub(r"([\\:\[\]])", r"\\\1", text)


def _quote(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def _fish() -> str:
    """The script for fish: a `complete` for each subcommand, option and argument."""
    commands = command_tree()
    lines = []
    for command in commands:
        at = f"complete -c memcli -n '{' '.join(('__memcli_at', *command.path))}'"
        lines += [f"{at} -a {name}{_fish_text(text)}" for name, text in command.commands]
        for option in command.options:
            flags = " ".join(f"-l {n[2:]}" if n.startswith("--") else f"-s {n[1:]}" for n in flags_of(option))
            takes = "" if option.type is bool else f" -r{_fish_value(option)}"
            lines.append(f"{at} {flags}{takes}{_fish_text(option.help)}")
        lines += [at + _fish_value(argument) for argument in command.arguments]
    paths = " ".join(_quote(" ".join(c.path)) for c in commands if c.path)
    return FISH.replace("@COMMANDS@", paths).replace("@TABLE@", "\n".join(lines))


def _fish_value(field: Field) -> str:
    found = completed(field)
    # With -F, `complete` offers files though the command as a whole has none, and with -f none.
    if found == "files":
        return " -F"
    if isinstance(found, str):
        given = "(__fish_complete_directories)" if found == "dirs" else f"(__memcli_values {found})"
    else:
        given = " ".join(found)
    return f" -f -a '{given}'" if given else " -f"


def _fish_text(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f" -d '{escaped}'" if text else ""


SHELLS: Mapping[str, Callable[[], str]] = {"bash": _bash, "zsh": _zsh, "fish": _fish}


_MOST = 10_000
"""The most paths that are read; in a larger folder only their next segments are."""


def served(kind: str, prefix: str, space: str, root: str) -> list[str] | None:
    """The spaces, paths, tags, kinds, ids or refs on the server, also some that do not begin with `prefix`; None if the store is
    in files. Raises StoreError, RefusedError, UsageError, CorruptError."""
    options = {"root": root or None, "space": space or None}
    if not chosen_store(options, os.environ):
        return None
    os.environ.setdefault("PGCONNECT_TIMEOUT", "1")  # seconds: the shell waits, and the server may be out of reach
    workspace = open_workspace(options, os.environ)
    if kind == "spaces":
        return workspace.store.spaces()
    with closing(workspace.store.open(workspace.space)) as snapshot:
        catalogue = workspace.index.existing(snapshot)
        if not catalogue:
            return []
        if kind in ("tags", "kinds"):
            counts = catalogue.counts()
            return list(counts.tags if kind == "tags" else counts.kinds)
        ids = list(catalogue.ids_with_prefix(prefix)) if kind == "ids" or (kind == "refs" and prefix) else []
        return ids if kind == "ids" else [*ids, *_paths(catalogue, prefix)]


def _paths(space: IndexedSpace, prefix: str) -> list[str]:
    """The paths in the folder of `prefix`; if there are more than _MOST, only up to their next segment."""
    wanted = CatalogueFilter(under=prefix.rpartition("/")[0], inactive=True)
    if space.count(wanted) <= _MOST:
        return [path for path, _ in space.places(wanted)]
    branches = CatalogueFilter(under=wanted.under, inactive=True, depth=prefix.count("/") + 1)
    return [path if name else f"{path}/" for path, name in space.places(branches)]
