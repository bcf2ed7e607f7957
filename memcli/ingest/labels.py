"""The path, kind and tags of a memory, derived from the name of its file alone."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

from memcli.digests import blake2b
from memcli.model.names import MAX_PATH, readable, safe_path, slug

_MAX_TAGS = 5
_MAX_ROOT = 150
_DULL = frozenset(["src", "lib", "pkg", "index", "main", "init", "mod", "code", "internal", "source", "sources"])
_DOC_FOLDERS = frozenset(["docs", "doc", "documentation"])
_ADR_FOLDERS = frozenset(["adr", "adrs", "decisions", "decision-records", "decision-log"])
_NUMBERED = re.compile(r"(adr[-_ ]?)?\d{1,5}[-_ ]")
_LOG = re.compile(r"(changelog|changes|history|news|releases?|release[-_]?notes)(\.\w+)?\Z")
_PROSE = frozenset([".md", ".markdown", ".mdx", ".rst", ".adoc", ".asciidoc", ".org"])
_CONFIG = frozenset([".toml", ".ini", ".cfg", ".conf", ".yaml", ".yml", ".json", ".jsonc", ".json5", ".properties",
                     ".editorconfig", ".tf", ".tfvars", ".hcl", ".plist"])  # fmt: skip
_CONFIG_NAMES = frozenset(["dockerfile", "makefile", "justfile", "procfile", "vagrantfile", "jenkinsfile",
                           ".gitattributes", ".gitignore", ".dockerignore", ".npmrc", ".nvmrc", ".env.example",
                           ".env.sample", ".env.template", "codeowners"])  # fmt: skip
_LANGUAGES: Mapping[str, str] = {
    ".py": "python", ".pyi": "python", ".js": "javascript", ".mjs": "javascript", ".cjs": "javascript",
    ".jsx": "javascript", ".ts": "typescript", ".tsx": "typescript", ".rs": "rust", ".go": "go", ".java": "java",
    ".kt": "kotlin", ".kts": "kotlin", ".scala": "scala", ".rb": "ruby", ".php": "php", ".c": "c", ".h": "c",
    ".cc": "cpp", ".cpp": "cpp", ".cxx": "cpp", ".hpp": "cpp", ".cs": "csharp", ".swift": "swift", ".m": "objc",
    ".sh": "shell", ".bash": "shell", ".zsh": "shell", ".fish": "shell", ".ps1": "powershell", ".sql": "sql",
    ".lua": "lua", ".pl": "perl", ".r": "r", ".jl": "julia", ".ex": "elixir", ".exs": "elixir", ".erl": "erlang",
    ".hs": "haskell", ".ml": "ocaml", ".clj": "clojure", ".dart": "dart", ".zig": "zig", ".nim": "nim",
    ".html": "html", ".css": "css", ".scss": "css", ".vue": "vue", ".svelte": "svelte", ".proto": "protobuf",
}  # fmt: skip


def memory_path(file: str, prefix: str = "", leaf: str = "") -> str:
    """The path of a memory, `prefix/file/leaf`, which differs for different files, whatever characters their names have."""
    name = readable(file)
    wanted = "/".join(part for part in (prefix, name, leaf) if part)
    if name == file and len(wanted) <= MAX_PATH and safe_path(wanted) == wanted:
        return wanted
    # Two names may be equal after cleaning, so a digest of the bytes is added.
    mark = blake2b(os.fsencode(file), digest_size=4).hexdigest()
    tail = f"/{leaf}~{mark}" if leaf else f"~{mark}"
    room = MAX_PATH - len(tail) - len(prefix) - 1
    cleaned = safe_path(name)[-room:]
    return safe_path(f"{prefix}/{cleaned}") + tail


def file_places(file: str) -> tuple[str, str]:
    """The path of the memory of a whole file, and the path prefix of those of its parts; equal except for long names."""
    whole = memory_path(file)
    if len(whole) <= _MAX_ROOT:
        return whole, whole
    mark = blake2b(os.fsencode(file), digest_size=4).hexdigest()
    return whole, safe_path(readable(file)[-_MAX_ROOT:]) + f"~{mark}"


def part_path(root: str, leaf: str) -> str:
    """The path of the part `leaf` of a file whose parts are below `root`; it differs for different leaves."""
    wanted = f"{root}/{leaf}"
    if len(wanted) <= MAX_PATH and safe_path(wanted) == wanted:
        return wanted
    mark = blake2b(leaf.encode(), digest_size=4).hexdigest()
    return safe_path(wanted[: MAX_PATH - len(mark) - 1]) + f"~{mark}"


def kind_of(file: str) -> str | None:
    """The kind of memory that the name implies; None where it implies none."""
    *folders, name = readable(file).lower().split("/")
    suffix = os.path.splitext(name)[1]
    is_numbered = not _ADR_FOLDERS.isdisjoint(folders) and _NUMBERED.match(name) is not None
    if (suffix in _PROSE or suffix == ".txt") and (is_numbered or name.startswith("adr-")):
        return "decision"
    if _LOG.match(name):
        return "log"
    is_document = suffix in _PROSE or (suffix == ".txt" and not _DOC_FOLDERS.isdisjoint(folders))
    if is_document or name.split(".")[0] in ("readme", "contributing"):
        return "guide"
    if suffix in _LANGUAGES:
        return "code"
    if suffix in _CONFIG or name in _CONFIG_NAMES:
        return "config"
    return None


def tags_of(file: str) -> list[str]:
    """At most five tags: the nearest folders, the name, the language."""
    *folders, name = readable(file).split("/")
    stem, suffix = os.path.splitext(name)
    words = [*folders[-3:], stem, _LANGUAGES.get(suffix.lower(), "")]
    plain = (word for word in words if "@" not in word)  # no part of an e-mail address
    tags = dict.fromkeys(tag for tag in map(slug, plain) if len(tag) > 1 and tag not in _DULL)
    return list(tags)[:_MAX_TAGS]
