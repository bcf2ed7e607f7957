"""`memcli init`"""

from __future__ import annotations

import os
from typing import Annotated

import typer

from memcli.cli.options import verb
from memcli.cli.session import Session
from memcli.git.driver import configure
from memcli.git.repository import Repository, find_repository
from memcli.store.attributes import install_attributes
from memcli.store.layout import FOLDER


@verb
def command(
    session: Session,
    project: Annotated[
        str | None, typer.Option(metavar="NAME", help="The project's name, the first segment of new paths.")
    ] = None,
    git: Annotated[bool, typer.Option("--git", help="Let git merge memories by memcli, in this clone.")] = False,
) -> None:
    """Make a store: `.memory/` at the root of the work tree, or here.

    Run it again at any time: it adds what is missing and changes nothing else.
    """
    from memcli.wiring.roots import make_store

    # The repository first of all, so that nothing is made where there is none.
    check = _repository if git else lambda _: None
    root, new = make_store({**session.options, "project": project}, os.environ, check)
    done = _install_driver(root) if git else []
    text = f"made a store at {root}" if new else f"there is a store at {root}"
    session.output.confirm({"root": root, "created": new, **({"git": done} if git else {})}, "\n".join([text, *done]))


def _install_driver(root: str) -> list[str]:
    """Lets git merge memories by memcli; what that took, a line each."""
    done = []
    if install_attributes(root):
        done.append(f"wrote {FOLDER}/.gitattributes: commit it, so that every clone asks for the merge")
    if configure(_repository(root)):
        done.append("set merge.memcli in the git config of this clone: in every other, run `memcli init --git` once")
    return done or ["git merges memories by memcli already"]


def _repository(root: str) -> Repository:
    return find_repository(os.path.dirname(root))
