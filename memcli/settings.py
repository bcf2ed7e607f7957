"""Settings: one frozen value made of options, environment and configuration, in this order of precedence."""

from __future__ import annotations

from collections.abc import Mapping

from memcli.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

FOLDER = ".memory"
"""The name of the folder that is a store."""
DEFAULT_SUMMARIZER = "local"
"""The name of the semantic layer, of `summarize/`, that describes memories unless another is chosen."""
DEFAULT_SPACE = "main"
REPO, JOURNAL = "repo", "journal"
BESIDE = (REPO, JOURNAL)
"""The spaces that are read with the default one: memories of the repository, and memories made from sessions."""
OWN_JOURNAL = f"{JOURNAL}@"
"""The prefix of the journal of a space other than `main`. No other name of a space contains an `@`."""
FILES = "files"
"""The value of the option `store` for the files in the folder, even where a server is configured."""
CONFIG_FIELDS: Mapping[str, type] = {
    "space": str,
    "project": str,
    "backend": str,
    "embedder": str,
    "semantic": str,
    "model": str,
    "hook_verify": str,
    "store": str,
}
"""The keys of `.memory/config.toml` and their types. The file comes with a clone, so no key names a command, and keys that
name a file or a provider apply only once the clone is accepted."""

TABLES = ("recall", "remember")
"""The commands whose options `.memory/config.toml` may set, each in a table of its name. In a clone that nobody here has
accepted, only options apply that are declared with `is_harmless`."""

HARMLESS_FIELDS = frozenset(("space", "project", "backend"))
"""The keys that apply in a clone that nobody here has accepted: their values name only spaces, projects and backends."""


_NO = ("", "0", "false", "no")


class Config(Record):
    """A configuration file: the `values` that can be used, the `problems` of the keys that cannot, the tables of TABLES as
    they were parsed, and the text of the file."""

    values: Mapping[str, str]
    problems: tuple[str, ...] = ()
    tables: Mapping[str, Mapping[str, Any]] = {}
    text: str = ""


class Settings(Record, kw_only=True):
    """The settings of a command, by options, environment and configuration. None: not set."""

    space: str = DEFAULT_SPACE
    main: str = DEFAULT_SPACE
    is_space_named: bool = False
    freeze_clock: str | None = None
    project: str = ""
    backend: str | None = None
    embedder: str | None = None
    semantic: str | None = None
    model: str | None = None
    hook_verify: str | None = None
    store: str = ""
    is_offline: bool = False


def journal_of(space: str) -> str:
    """The private space for memories made from the sessions of a space: `journal` for `main`, `journal@shop` for `shop`."""
    if is_journal(space):
        return space
    return JOURNAL if space in (DEFAULT_SPACE, REPO) else f"{OWN_JOURNAL}{space}"


def is_journal(space: str) -> bool:
    """Whether a space is a journal, which holds memories made from sessions."""
    return space == JOURNAL or space.startswith(OWN_JOURNAL)


def is_beside(space: str) -> bool:
    """Whether a space is on this machine alone: its memories were read from the repository, or made from sessions."""
    return space == REPO or is_journal(space)


def meant_by(space: str) -> tuple[str, ...]:
    """The spaces that a name given by a user stands for: the space, and its journal where it has one of its own."""
    journal = journal_of(space)
    return (space,) if journal in (space, JOURNAL) else (space, journal)


def is_on(environ: Mapping[str, str], name: str) -> bool:
    """Whether an environment variable is set to anything but empty, 0, false or no."""
    return environ.get(name, "").strip().lower() not in _NO


def variable(name: str) -> str:
    """The name of the environment variable of a setting."""
    return "MEMCLI_SEMANTIC_MODEL" if name == "model" else f"MEMCLI_{name.upper()}"


def resolve(options: Mapping[str, str | None], environ: Mapping[str, str], config: Mapping[str, str]) -> Settings:
    """The settings: an option wins over `MEMCLI_<NAME>`, which wins over the configuration.

    `space` in the configuration replaces `main` as the default space, which others are read with; an option or a variable
    selects one space. The option `store` is the URL of a server, or `files` or `global` for a store in files.
    """

    def pick(name: str) -> str | None:
        given = options.get(name)
        return given if given is not None else environ.get(variable(name)) or config.get(name)

    store, server = options.get("store"), environ.get("MEMCLI_STORE") or config.get("store") or ""
    if store and is_server(store):
        server = store
    elif store == FILES:
        server = ""
    space = pick("space")
    main = config.get("space") or DEFAULT_SPACE
    return Settings(
        space=main if space is None else space,
        main=main,
        is_space_named=options.get("space") is not None or bool(environ.get("MEMCLI_SPACE")),
        freeze_clock=pick("freeze_clock"),
        project=pick("project") or "",
        backend=pick("backend"),
        embedder=pick("embedder"),
        semantic=pick("semantic"),
        model=pick("model"),
        hook_verify=pick("hook_verify"),
        store=server,
        is_offline=bool(options.get("offline")) or is_on(environ, "MEMCLI_OFFLINE"),
    )


def check_config(data: Mapping[str, Any]) -> Config:
    """The settings of a parsed configuration that can be used, and the problems of the others."""
    values: dict[str, str] = {}
    tables: dict[str, Mapping[str, Any]] = {}
    problems = []
    for key, value in sorted(data.items()):
        if key in TABLES and isinstance(value, dict):
            tables[key] = value
        elif key in TABLES:
            problems.append(f"{key} must be a table (write [{key}] on a line of its own)")
        elif key not in CONFIG_FIELDS:
            problems.append(f"unknown key {key[:40]!a} (known: {', '.join(sorted((*CONFIG_FIELDS, *TABLES)))})")
        elif key == "space" and is_beside(str(value)):
            problems.append(f"space cannot be {value!r}, which holds no memories of your own")
        elif not isinstance(value, CONFIG_FIELDS[key]):
            problems.append(f'{key} must be text (write {key} = "...")')
        else:
            values[key] = str(value)
    return Config(values, tuple(problems), tables)


def is_server(store: str) -> bool:
    """Whether a value of `MEMCLI_STORE` or of the configuration is the URL of a server."""
    return store.startswith(("postgresql://", "postgres://"))


def has_password(url: str) -> bool:
    """Whether the URL of a server contains a password."""
    from urllib.parse import unquote

    # Unquoted as libpq does it, or an escape in the name of the parameter would hide it.
    address, _, query = url.partition("://")[2].partition("?")
    names = {unquote(part.partition("=")[0]).lower() for part in query.split("&")}
    return ":" in unquote(address.rpartition("@")[0]) or not names.isdisjoint(("password", "sslpassword"))
