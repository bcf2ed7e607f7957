"""Completion scripts for bash, zsh and fish: their fixed parts, and what is generated from the verbs; and the values of a
store on a server.

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
from memcli.ports.views import SpaceView
from memcli.ranking import RANKERS
from memcli.record import Record
from memcli.wiring import extra
from memcli.wiring.workspace import chosen_store, open_workspace

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


class Value(Record):
    """What completes a value: a source of `memcli __complete`, files, dirs, fixed words, or nothing."""

    source: str = ""
    words: tuple[str, ...] = ()


class Parameter(Record):
    """An option with all its names, or an argument without names. A flag has no value."""

    names: tuple[str, ...]
    help: str
    metavar: str
    value: Value | None
    is_repeated: bool


class Command(Record):
    """A command, or a group with the names and help of its commands. The path of the program itself is empty."""

    path: tuple[str, ...]
    options: tuple[Parameter, ...]
    arguments: tuple[Parameter, ...]
    commands: tuple[tuple[str, str], ...]


_SOURCES = {
    FILE: "files", FOLDER: "dirs", MEMORY: "refs", KIND: "kinds", PATH: "paths", SESSION: "sessions", SPACE: "spaces",
    TAG: "tags",
}  # fmt: skip
"""The kinds of values that are completed from the store or from the files of the disk, and how."""
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
"""What completes values whose words are too heavy to load for each command, by metavar or flag."""


def command_tree() -> list[Command]:
    """The program and all its commands with all their options."""
    named = {**{name: name for name in names()}, **ALIASES}
    known = {name: found for name, verb in named.items() if (found := find(verb))}
    texts = tuple((name, _text(found)) for name, found in known.items())
    root = Command((), (_VERSION, _HELP_OPTION), (), texts)
    return [root, *(one for name, found in known.items() for one in _walk(found, (name,)))]


def _text(command: Verb | Group) -> str:
    return command.about.line or command.text.partition("\n\n")[0]


def _walk(command: Verb | Group, path: tuple[str, ...]) -> Iterator[Command]:
    """The command, and those below it."""
    verb = command.default if isinstance(command, Group) else command
    below = command.verbs if isinstance(command, Group) else {}
    fields = verb.options.FIELDS.values() if verb else ()
    options = [_parameter(field) for field in fields if not field.is_argument]
    options += [_parameter(field) for field in CommonOptions.FIELDS.values()] if verb else []
    arguments = tuple(_parameter(field) for field in fields if field.is_argument)
    yield Command(path, (*options, _HELP_OPTION), arguments, tuple((n, _text(v)) for n, v in below.items()))
    for name, child in below.items():
        yield from _walk(child, (*path, name))


def _parameter(field: Field) -> Parameter:
    metavar = field.metavar.strip("[].")
    if field.is_argument:
        return Parameter((), "", metavar, _value(field, metavar), field.many)
    flags = [flag for text in field.flags for flag in text.split("/")]
    value = None if field.type is bool else _value(field, metavar)
    return Parameter(tuple(sorted(flags, key=lambda n: (n[:2] != "--", n))), field.help, metavar, value, field.many)


def _value(field: Field, metavar: str) -> Value:
    for name in (*field.flags, metavar):
        if name in _WORDS:
            return Value(words=_WORDS[name])
    if field.kind == CHOICE:
        return Value(words=tuple(metavar.split("|")))
    return Value(_SOURCES.get(field.kind, ""))


_HELP_OPTION = Parameter(("--help", "-h"), "Show this message and exit.", "", None, False)
_VERSION = Parameter(("--version",), "Print the version.", "", None, False)


def _bash() -> str:
    return BASH.replace("@TABLE@", "\n".join(_bash_case(c) for c in command_tree()))


def _bash_case(command: Command) -> str:
    named = [(name, option.value) for option in command.options for name in option.names]
    sets = {
        "commands": [name for name, _ in command.commands],
        "options": [name if value is None else f"{name}={_bash_value(value)}" for name, value in named],
        "arguments": [_bash_value(a.value or Value()) + "..." * a.is_repeated for a in command.arguments],
    }
    lines = [f"    {name}='{' '.join(words)}'" for name, words in sets.items() if words]
    return "\n".join([f"  '{' '.join(command.path)}')", *lines, "    ;;"])


def _bash_value(value: Value) -> str:
    return value.source or "".join(f",{word}" for word in value.words) or "-"


def _zsh() -> str:
    return ZSH.replace("@TABLE@", "".join(_zsh_function(c) for c in command_tree()))


def _zsh_function(command: Command) -> str:
    name = "-".join(("_memcli", *command.path))
    specs = [_zsh_option(option, name) for option in command.options for name in option.names]
    specs += [f"{'*' if a.is_repeated else n}{_zsh_value(a)}" for n, a in enumerate(command.arguments, 1)]
    below = ""
    if command.commands:
        specs += ["1: : _describe -t commands command commands", f"*:: : _call_function - {name}-$words[1]"]
        below = "  local -a commands=(\n" + "".join(f"    {_quote(':'.join(c))}\n" for c in command.commands) + "  )\n"
    lines = " \\\n".join(f"    {_quote(spec)}" for spec in specs)
    return f"\n{name}() {{\n  local -A opt_args\n{below}  _arguments -s -S \\\n{lines}\n}}\n"


def _zsh_option(option: Parameter, name: str) -> str:
    others = "*" if option.is_repeated else "(- *)" if name in ("--help", "-h") else f"({' '.join(option.names)})"
    mark = "" if option.value is None else "=" if name.startswith("--") else "+"
    return f"{others}{name}{mark}[{_zsh_text(option.help)}]{_zsh_value(option)}"


def _zsh_value(parameter: Parameter) -> str:
    if parameter.value is None:
        return ""
    known = {"": f"({' '.join(parameter.value.words)})", "files": "_files", "dirs": "_files -/"}
    action = known.get(parameter.value.source, f" _memcli_values {parameter.value.source}")
    return f":{_zsh_text(parameter.metavar)}:{action}"


def _zsh_text(text: str) -> str:
    return re.sub(r"([\\:\[\]])", r"\\\1", text)


def _quote(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def _fish() -> str:
    commands = command_tree()
    names = " ".join(_quote(" ".join(c.path)) for c in commands if c.path)
    lines = "\n".join(line for command in commands for line in _fish_lines(command))
    return FISH.replace("@COMMANDS@", names).replace("@TABLE@", lines)


def _fish_lines(command: Command) -> Iterator[str]:
    at = f"complete -c memcli -n '{' '.join(('__memcli_at', *command.path))}'"
    for name, text in command.commands:
        yield f"{at} -a {name}{_fish_text(text)}"
    for option in command.options:
        names = " ".join(f"-l {n[2:]}" if n.startswith("--") else f"-s {n[1:]}" for n in option.names)
        takes = "" if option.value is None else f" -r{_fish_value(option.value)}"
        yield f"{at} {names}{takes}{_fish_text(option.help)}"
    for argument in command.arguments:
        yield at + _fish_value(argument.value or Value())


def _fish_value(value: Value) -> str:
    known = {"": " ".join(value.words), "dirs": "(__fish_complete_directories)"}
    given = known.get(value.source, f"(__memcli_values {value.source})")
    return " -F" if value.source == "files" else f" -f -a '{given}'" if given else " -f"


def _fish_text(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f" -d '{escaped}'" if text else ""


SHELLS: Mapping[str, Callable[[], str]] = {"bash": _bash, "zsh": _zsh, "fish": _fish}


_MOST = 10_000
"""So many paths are read; of more only their beginnings."""


def served(kind: str, prefix: str, space: str, root: str) -> list[str] | None:
    """The spaces, paths, tags, kinds, ids or refs on the server, more than begin with `prefix`; None where the store is in
    files. Raises StoreError, RefusedError, UsageError, CorruptError."""
    options = {"root": root or None, "space": space or None}
    if not chosen_store(options, os.environ):
        return None
    os.environ.setdefault("PGCONNECT_TIMEOUT", "1")  # who types does not wait for a server that is away
    workspace = open_workspace(options, os.environ)
    if kind == "spaces":
        return workspace.store.spaces()
    with closing(workspace.store.open(workspace.space)) as snapshot:
        catalogue = workspace.index.kept(snapshot)
        if not catalogue:
            return []
        if kind in ("tags", "kinds"):
            counts = catalogue.counts()
            return list(counts.tags if kind == "tags" else counts.kinds)
        ids = list(catalogue.ids_with_prefix(prefix)) if kind == "ids" or (kind == "refs" and prefix) else []
        return ids if kind == "ids" else [*ids, *_paths(catalogue, prefix)]


def _paths(space: SpaceView, prefix: str) -> list[str]:
    """The paths that are in the folder of `prefix`; of very many only the next segment."""
    wanted = CatalogueFilter(under=prefix.rpartition("/")[0], inactive=True)
    if space.count(wanted) <= _MOST:
        return [path for path, _ in space.places(wanted)]
    branches = CatalogueFilter(under=wanted.under, inactive=True, depth=prefix.count("/") + 1)
    return [path if name else f"{path}/" for path, name in space.places(branches)]
