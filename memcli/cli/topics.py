"""The texts of `memcli help TOPIC`: kinds, paths, exit codes, environment, formats. The manual and
the pages in `docs/` use the tables too."""

from __future__ import annotations

from textwrap import wrap

from memcli.model.memory import default_importance
from memcli.model.shapes import KINDS
from memcli.policy.ageing import HALF_LIVES

_WIDTH = 79
# Scripts depend on the numbers: golden/stability.json holds that none gets another meaning.
EXIT_CODES = (
    ("0", "success, even if the result is empty"),
    ("1", "internal error; differences (`diff --exit-code`); work left (`hook retry`, `merge-driver`)"),
    ("2", "usage error"),
    ("3", "not found; with `--fail-empty` nothing relevant, with `--fail-weak` no sure answer"),
    ("4", "locked, or in conflict"),
    ("5", "refused by policy, or by a rule that `guard` enforces"),
    ("6", "corrupt or tampered data, or a failed check"),
    ("7", "a model or program failed"),
    ("8", "the store cannot be read or written"),
    ("130", "interrupted"),
)
_PATHS = """\
A memory has a path, such as decisions/database: segments between slashes, the
last one its heading. It is unique in its space and may be changed (`edit --set
path=NEW`). Without --path, memcli derives one from kind and text. `list --tree`
shows them, `recall --under PATH` asks below one.

.memory/spaces/main.json  what people and agents stored: commit it
.memory/spaces/repo.json  what `ingest` read: git-ignored, can be built anew
.memory/config.toml       settings; .memory/tests/ tests of answers: commit both
.memory/cache/, local/    indexes, locks: can be deleted at any time
.git/memcli/              conversations, journal, inbox, trash, audit log:
                          private; without git .memory/local/
"""
ENVIRONMENT = (
    ("MEMCLI_SPACE, MEMCLI_ROOT", "the space and the store, as --space and --root"),
    ("MEMCLI_STORE", "a store on a server: postgresql://..."),
    ("MEMCLI_GLOBAL", "the folder of the user-wide store"),
    ("MEMCLI_BACKEND", "how recall ranks, as --backend"),
    ("MEMCLI_EMBEDDER", "onnx (default), onnx:DIR, hashed, off, or provider:MODEL"),
    ("MEMCLI_OFFLINE", "1: no language model is asked"),
    ("MEMCLI_OFF", "1: hooks, watch and agents do nothing"),
    ("MEMCLI_BACKGROUND", "off: no work is left to a process in the background"),
    ("MEMCLI_HELPER", "off: ask no helper; auto: the first command starts one; require: fail without one"),
    ("MEMCLI_PROPOSE", "1: what is remembered waits in the inbox"),
    ("MEMCLI_SESSION", "the session that commands belong to"),
    ("MEMCLI_USER", "who is at work, in the audit log"),
    ("MEMCLI_HOOK_VERIFY", "N: a language model checks the first N of what hooks show"),
    ("MEMCLI_HOOK_VERBOSE, MEMCLI_HOOK_FOREGROUND", "1: git hooks say what they do; git waits for them"),
    ("MEMCLI_PRICES", "prices of models: openai:gpt-5-mini=0.25/2"),
    ("MEMCLI_REDACTION_KEY", "a key for the marks of redacted secrets, the same on all machines"),
    ("MEMCLI_FREEZE_CLOCK", "the current time, as --freeze-clock"),
    ("MEMCLI_OTEL", "1: traces; OTEL_* and MEMCLI_OTEL_* say where they go"),
    ("MEMCLI_DEBUG", "1: errors with a traceback"),
    ("MEMCLI_PAGER, PAGER", "what shows long output; cat: nothing does"),
    ("NO_COLOR, CLICOLOR_FORCE", "no colours; colours also where text for people goes into a pipe"),
)
_FORMATS = (
    ("recall", "text on a terminal, prompt (fenced, cited) in a pipe; md, json, table"),
    ("session context", "markdown, json, openai, anthropic"),
    ("export", "json, jsonl, md"),
    ("import", "exports, Markdown folders, CLAUDE.md and rules, ADRs, exports of other memory tools"),
    ("guard", "text, json, sarif, github"),
    ("graph", "text, json, dot, mermaid, html"),
    ("--json", "any command: its result on standard output; `schema` prints the schemas"),
)


def topics() -> dict[str, str]:
    """The text of each topic by name."""
    kinds = [
        f"{kind:<11} {default_importance(kind):.1f}  " + (f"{HALF_LIVES[kind]:.0f} days" if kind in HALF_LIVES else "")
        for kind in sorted(KINDS)
    ]
    return {
        "kinds": "The kinds that memcli knows, the importance of each, and after how many days\n"
        "without confirmation its confidence falls to a third. Any other word is a kind\n"
        "too. `warning` is read as negative; negative, constraint and procedure may have\n"
        "triggers.\n\n" + "\n".join(line.rstrip() for line in kinds) + "\n",
        "paths": _PATHS,
        "exit-codes": _table(EXIT_CODES),
        "environment": _table(ENVIRONMENT),
        "formats": _table(_FORMATS),
        "version": "`memcli version`, `memcli --version` and `memcli -V` print the version of memcli.\n",
    }


def _table(rows: tuple[tuple[str, str], ...]) -> str:
    """Two columns, together at most _WIDTH wide; the text of a name that is too long for the first starts below it."""
    width = min(24, max(len(name) for name, _ in rows))
    lines = []
    for name, text in rows:
        first, *others = wrap(text, _WIDTH - width - 2)
        lines += [f"{name:<{width}}  {first}"] if len(name) <= width else [name, f"{'':<{width}}  {first}"]
        lines += [f"{'':<{width}}  {line}" for line in others]
    return "\n".join(lines) + "\n"
