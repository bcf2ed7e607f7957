"""The hooks themselves: small POSIX shell scripts that call what was there before, and then memcli.

A hook never fails or delays what git does: who was there first decides the exit code, memcli's own is dropped, and
what takes time goes into the background. Each script bears a digest of itself, so that an edited one is known.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from memcli.digests import sha256
from memcli.errors import UsageError

KEPT = ".memcli-saved"
"""What is put behind the name of a hook that was there before."""
DEFAULT = ("post-commit", "post-merge", "post-checkout", "post-rewrite", "prepare-commit-msg")
NAMES = (*DEFAULT, "pre-push")

_MARK = re.compile(rb"#!/bin/sh\n# memcli hook ([0-9a-f]{16}):[^\n]*\n")
_HEAD = """\
#!/bin/sh
# memcli hook {digest}: written by `memcli hook install`; `memcli hook uninstall` restores what was here.
"""
_KEPT_FIRST = """\
kept="${{0%/*}}/{hook}{ending}"
code=0
{before}if [ -f "$kept" ] && [ -x "$kept" ]; then
  {call}
  code=$?
fi
"""
_RUN = """\
run() {{
  if [ -x {program} ]; then {command} hook run "$@"
  elif command -v memcli > /dev/null 2>&1; then memcli hook run "$@"
  fi
}}
"""
_QUIET = '[ -n "${MEMCLI_HOOK_VERBOSE-}" ] || exec 2> /dev/null\n'
_NOT_WHILE_REBASING = """\
for folder in rebase-merge rebase-apply; do
  [ ! -d "${GIT_DIR:-.git}/$folder" ] || exit $code  # post-rewrite comes when it is over
done
"""
# What the background inherits it would hold open: a lock of who called git, or the pipe that somebody reads. Redirected
# for one call, a shell keeps a copy of what was there until that call is over; so the subshell gives it up for good.
_BEHIND = """\
if [ -n "${{MEMCLI_HOOK_FOREGROUND-}}" ]; then {into}run {hook} -- "$@" {stdin}> /dev/null
else (
  exec {stdin}> /dev/null 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-
  {into}run --detached {hook} -- "$@" &
)
fi
"""
_PAIRS = "printf '%s\\n' \"$pairs\" | "
_ONLY: Mapping[str, str] = {
    "post-commit": _NOT_WHILE_REBASING,
    "post-checkout": '[ "${3-}" = 1 ] || exit $code  # files, and no branch\n' + _NOT_WHILE_REBASING,
    # Only where a person is about to write: not for -m, merge, squash, amend, nor where no editor opens.
    "prepare-commit-msg": 'case "$code ${2-}" in "0 " | "0 template") ;; *) exit $code ;; esac\n'
    '[ "${GIT_EDITOR-}" != : ] || exit $code\n',
    "pre-push": "[ $code = 0 ] || exit $code\n",
}


def check_name(hook: str) -> None:
    """Raises UsageError for a hook that there is none for."""
    if hook not in NAMES:
        raise UsageError(f"no hook {hook!r}", f"choose one of {', '.join(NAMES)}")


def script(hook: str, program: Sequence[str], *, shell: str = "") -> bytes:
    """The hook, which calls memcli by the words of `program`.

    With a `shell` what was there before is read by it under the hook's own name: see `shell_of`.
    """
    return _signed(_body(hook, program, shell))


def state(hook: str, data: bytes | None, program: Sequence[str]) -> str:
    """`absent`, `installed`, `outdated` (ours, of another version or place), `edited` (ours, changed) or `foreign`."""
    if data is None:
        return "absent"
    if not (mark := _MARK.match(data)):
        return "foreign"
    if _digest(data[mark.end() :]) != mark[1]:
        return "edited"
    named = _NAMED_CALL.search(data)
    shell = named[1].decode() if named else ""
    return "installed" if data == script(hook, program, shell=shell) else "outdated"


def shell_of(data: bytes) -> str:
    """The shell, with its options, that must read a hook under the hook's own name, because the hook finds out by it
    which one it is, as husky's do; empty for any other hook."""
    found = _SHELL.match(data)
    return found[1].decode() if found and _LOOKS_AT_NAME.search(data) else ""


def is_lost_without_its_name(data: bytes) -> bool:
    """Whether a hook in another language than that of a shell looks at its own name, which it will not have."""
    return data.startswith(b"#!") and not _SHELL.match(data) and bool(_LOOKS_AT_ARGV.search(data))


_SHELL = re.compile(rb"#! ?(?:/[\w./+-]*/)?(?:env +(?:-S +)?)?((?:sh|dash|bash|ash|ksh|zsh)(?: +-[a-z]+)*)[ \t\r]*\n")
_LOOKS_AT_NAME = re.compile(
    rb"basename[^\n]{0,9}\$\{?0|\$\{0##\*/\}|\. +\"(\$\{0%/\*\}|\$\(dirname[^\n]{0,9}\$0\"?\))/h\""
)
_LOOKS_AT_ARGV = re.compile(rb"argv\[[01]\]|\bargv0\b|__file__|__FILE__|__filename|\$0\b|\$PROGRAM_NAME")


_NAMED_CALL = re.compile(rb"^(?:  |.*\| )(\w+(?: -[a-z]+)*) -c 'kept=", re.MULTILINE)


def _body(hook: str, program: Sequence[str], shell: str) -> str:
    call = '"$kept" "$@"'
    if shell:
        call = f"""{shell} -c 'kept=$1; shift; . "$kept"' "$0" "$kept" "$@\""""
    takes_pairs = hook == "post-rewrite"
    kept = _KEPT_FIRST.format(
        hook=hook,
        ending=KEPT,
        before="pairs=$(cat)\n" if takes_pairs else "",
        call=_PAIRS + call if takes_pairs else call,
    )
    import shlex

    run = _RUN.format(program=shlex.quote(program[0]), command=shlex.join(program))
    if hook == "pre-push":
        end = 'run pre-push -- "$@" < /dev/null > /dev/null\n'
    elif hook == "prepare-commit-msg":
        end = f'{_QUIET}run prepare-commit-msg -- "$@" < /dev/null > /dev/null\n'
    else:
        into, stdin = (_PAIRS, "") if takes_pairs else ("", "< /dev/null ")
        end = _QUIET + _BEHIND.format(hook=hook, into=into, stdin=stdin)
    return f"{kept}{_ONLY.get(hook, '')}{run}{end}exit $code\n"


def _signed(body: str) -> bytes:
    data = body.encode("utf-8", "surrogateescape")
    return _HEAD.format(digest=_digest(data).decode()).encode() + data


def _digest(body: bytes) -> bytes:
    return sha256(body).hexdigest()[:16].encode()
