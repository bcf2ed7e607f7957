"""What the name of a file or a path says about the text under it."""

from __future__ import annotations

from collections.abc import Mapping

FOLDERS: Mapping[str, str] = {
    "guide": "guides", "config": "config", "decision": "decisions", "log": "logs", "code": "code", "diff": "diffs",
    "fact": "facts", "preference": "preferences", "procedure": "procedures", "correction": "corrections",
    "negative": "never", "entity": "entities", "constraint": "constraints", "goal": "goals", "episode": "episodes",
    "inferred": "inferred", "custom": "custom",
}  # fmt: skip
"""Where memories of a kind are put."""

_BY_FOLDER: Mapping[str, str] = {
    **{folder: kind for kind, folder in FOLDERS.items() if kind not in ("config", "log", "code", "custom", "inferred")},
    "adr": "decision", "adrs": "decision", "rfc": "decision", "rfcs": "decision", "runbook": "procedure",
    "runbooks": "procedure", "playbooks": "procedure", "howto": "procedure", "how-to": "procedure",
    "gotchas": "negative", "changelog": "log", "changelogs": "log",
}  # fmt: skip
_BY_STEM: Mapping[str, str] = {
    "changelog": "log", "changes": "log", "history": "log", "news": "log", "releases": "log", "release-notes": "log",
    "release_notes": "log", "dockerfile": "config", "makefile": "code", "justfile": "code", "jenkinsfile": "config",
    "procfile": "config", "codeowners": "config", "runbook": "procedure", "playbook": "procedure",
}  # fmt: skip
_SUFFIXES: Mapping[str, str] = {
    "guide": "md mdx markdown rst adoc asciidoc",
    "config": "toml yaml yml ini cfg conf env json json5 jsonc properties editorconfig gitignore dockerignore lock hcl",
    "log": "log",
    "diff": "diff patch",
    "code": "py pyi ipynb js mjs cjs jsx ts tsx go rs java kt kts scala c h cc cpp cxx hpp cs rb php swift m sh "
    "bash zsh fish ps1 pl lua r jl ex exs erl hs ml clj dart vue svelte sql proto graphql tf css scss html zig nim",
}
_BY_SUFFIX: Mapping[str, str] = {suffix: kind for kind, suffixes in _SUFFIXES.items() for suffix in suffixes.split()}


def kind_of(name: str) -> str:
    """The kind that a file name or path suggests; empty when it suggests none.

    The stem comes before the folder and the folder before the suffix: `docs/adr/0007.md` is a decision,
    `docs/adr/CHANGELOG.md` a log.
    """
    *folders, leaf = name.lower().split("/")
    stem, _, suffix = leaf.rpartition(".")
    if leaf.startswith(".env"):
        return "config"
    by_stem = _BY_STEM.get(stem or leaf)
    if by_stem:
        return by_stem
    by_folder = next((_BY_FOLDER[f] for f in reversed(folders) if f in _BY_FOLDER), "")
    by_suffix = _BY_SUFFIX.get(suffix, "") if stem or leaf.startswith(".") else ""
    # A folder named `guides` or `decisions` may hold modules of a program: only documents are what it says.
    return by_suffix if by_suffix in ("code", "diff", "config") else by_folder or by_suffix


def is_document(name: str) -> bool:
    """Whether a file name is that of a text to read, not of code or settings."""
    return _BY_SUFFIX.get(name.lower().rpartition(".")[2]) == "guide"
