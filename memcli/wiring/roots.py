"""Finds and makes the folders of stores, and reads their configuration."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping

from memcli.errors import NoStoreError, StoreError, UsageError
from memcli.record import replace
from memcli.settings import Config, check_config, has_password, is_server
from memcli.store.atomic import read_regular, write_file
from memcli.store.layout import FOLDER, Layout, check_root, complete_ignore, find_root, find_work_tree, make_root
from memcli.store.place import PrivatePlace, describe
from memcli.store.trust import FileTrust

_MAX_CONFIG = 1 << 20
Warn = Callable[[str], None]


def global_root(environ: Mapping[str, str]) -> str:
    """The root of the user-wide store: `MEMCLI_GLOBAL`, or in the platform's folder for a user's data."""
    if named := environ.get("MEMCLI_GLOBAL"):
        return named_root(named)
    system = sys.platform
    if system == "linux":  # as platformdirs, whose import would take milliseconds of every recall
        home = environ.get("XDG_DATA_HOME", "").strip()
        home = home if os.path.isabs(home) else os.path.expanduser("~/.local/share")
        return os.path.join(home, "memcli", FOLDER)
    import platformdirs

    return os.path.join(platformdirs.user_data_dir("memcli", appauthor=False), FOLDER)


def locate(options: Mapping[str, str | None], environ: Mapping[str, str]) -> str | None:
    """The root of the store of a command, None if there is none. Raises NotFoundError when a named one does not exist, StoreError
    when git tracks one that is missing in the work tree, UsageError when `MEMCLI_STORE` is not the URL of a server."""
    check_store(environ.get("MEMCLI_STORE", ""), "MEMCLI_STORE")
    named = options.get("root") or environ.get("MEMCLI_ROOT")
    if named:
        root = named_root(named)
        if not os.path.lexists(root):
            _check_present(root)
        return check_root(root)
    here, home = os.getcwd(), os.path.expanduser("~")
    found = find_root(here, home)
    # A store of a folder above must not stand in for the one that git tracks here and a sparse checkout leaves out.
    _check_above(here, home, found)
    return found


def make_store(
    options: Mapping[str, str | None], environ: Mapping[str, str], check: Callable[[str], object] = lambda _: None
) -> tuple[str, bool]:
    """Makes the store of a command: at `--root`, or `.memory` in the work tree, or in the working directory. Returns its root, and
    whether it is new. `check` is called with the root first, and may raise."""
    check_store(environ.get("MEMCLI_STORE", ""), "MEMCLI_STORE")
    named = options.get("root") or environ.get("MEMCLI_ROOT")
    here = os.getcwd()
    home = os.path.expanduser("~")
    if not named:
        _check_above(here, home, find_root(here, home))
    root = named_root(named) if named else os.path.join(find_work_tree(here, home) or here, FOLDER)
    check(root)
    new = make_trusted(root)
    if project := options.get("project"):
        escaped = project.replace("\\", "\\\\").replace('"', '\\"')
        write_file(Layout(root).config, f'project = "{escaped}"\n'.encode(), temporary=Layout(root).temporary)
    return root, new


def read_config(layout: Layout) -> Config:
    """The configuration of the store. Raises UsageError when it is not TOML, StoreError when it cannot be read."""
    try:
        data = read_regular(layout.config, _MAX_CONFIG)
    except OSError as error:
        raise StoreError(
            f"cannot read {FOLDER}/config.toml: {error.strerror}", "replace it with a regular file"
        ) from None
    if data is None:
        return Config({})
    import tomllib

    try:
        text = data.decode()
        found = replace(check_config(tomllib.loads(text)), text=text)
    except RecursionError:
        raise UsageError(f"{FOLDER}/config.toml: nested too deeply", "correct the file") from None
    except ValueError as error:  # TOMLDecodeError, UnicodeDecodeError, and a number with too many digits
        raise UsageError(f"{FOLDER}/config.toml: {error}", "correct the file") from None
    # Everybody who clones the repository would have it.
    if has_password(found.values.get("store", "")):
        raise UsageError(
            f"{FOLDER}/config.toml: store contains a password",
            "remove it there; set PGPASSWORD, PGPASSFILE or MEMCLI_STORE, or name a service",
        )
    return found


def make_trusted(root: str) -> bool:
    """Makes the store at `root`, or its missing parts; returns whether it is new. A new store is trusted."""
    _check_present(root)
    new = make_root(root)
    if new:
        PrivatePlace(Layout(root)).claim()
        FileTrust(Layout(root)).accept()
    complete_ignore(Layout(root))  # after the claim: it writes a temporary file in `local/`
    return new


def root_of(options: Mapping[str, str | None], environ: Mapping[str, str], create: bool, warn: Warn) -> str:
    """The root of the store of a command; with `create`, makes one in a work tree that has none. Raises NotFoundError if there is
    none, and as `locate`."""
    if options.get("store") == "global":
        root = global_root(environ)
        make_trusted(root)
        return root
    found = locate(options, environ)
    here, home = os.getcwd(), os.path.expanduser("~")
    if create and found is not None:  # it may be incomplete after an `init` that was killed
        _check_present(found)
        make_root(found)
    elif create and (work_tree := find_work_tree(here, home)) is not None:
        found = os.path.join(work_tree, FOLDER)
        make_trusted(found)
        warn(f"created a store at {found}; commit it to share it")
    if found is None:
        from memcli.store.absent import absent_above

        raise absent_above(here, home) or NoStoreError(
            "no store found: no .memory in this folder or above", "run `memcli init`, or name a store with --root"
        )
    return found


def _check_present(root: str) -> None:
    """Raises StoreError when git tracks spaces of the store at `root`, and the work tree has none of them."""
    spaces = Layout(root).spaces
    if not os.path.isdir(spaces) or not any(name.endswith(".json") for name in os.listdir(spaces)):
        from memcli.store.absent import check_present

        check_present(root)


def _check_above(here: str, home: str, nearest: str | None) -> None:
    """Raises StoreError when git tracks a store that is missing in the work tree, and nearer to `here` than `nearest`."""
    if nearest is None or os.path.dirname(nearest) != here:
        from memcli.store.absent import check_above

        check_above(here, home, nearest)


def claimed(root: str, warn: Warn) -> Layout:
    """The layout of the store at `root`. Moves private state aside that was copied from another place or machine, with a
    warning."""
    # The private folder is determined once: it would be another one if the folder became a repository during the command.
    layout = Layout(root, Layout(root).private_folder)
    if aside := PrivatePlace(layout).claim():
        warn(describe(aside))
    return layout


def check_store(store: str, where: str) -> None:
    """Raises UsageError for a value of `where` that is not the URL of a server, instead of ignoring it."""
    if store and not is_server(store):
        raise UsageError(
            f"{where} is not the URL of a server",
            "write postgresql://USER@HOST:PORT/DATABASE, or use MEMCLI_ROOT for a folder",
        )


def named_root(named: str) -> str:
    """The root of the store that `named` is, or that the folder `named` has."""
    path = os.path.abspath(named)
    return path if os.path.basename(path) == FOLDER else os.path.join(path, FOLDER)
