"""The fixed parts of each shell's completion script."""

from __future__ import annotations

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
