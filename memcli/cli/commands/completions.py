"""`memcli completions`"""

from __future__ import annotations

from typing import Annotated

import typer

from memcli.cli.options import verb
from memcli.cli.session import Session
from memcli.errors import UsageError


@verb
def command(session: Session, shell: Annotated[str, typer.Argument(metavar="bash|zsh|fish")]) -> None:
    """Print the completions of a shell.

    \b
    bash:  memcli completions bash > ~/.local/share/bash-completion/completions/memcli
    zsh:   memcli completions zsh > "${fpath[1]}/_memcli"
    fish:  memcli completions fish > ~/.config/fish/completions/memcli.fish
    """
    from memcli.cli.completion import SHELLS

    if shell not in SHELLS:
        raise UsageError(f"no completions for {shell!r}", f"there are {', '.join(sorted(SHELLS))}")
    session.output.write(SHELLS[shell]())
