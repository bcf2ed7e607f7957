"""`memcli completions`"""

from __future__ import annotations

from memcli.cli.options import REQUIRED, Options, argument
from memcli.cli.verb import PLUMBING, CommandContext, verb
from memcli.errors import UsageError


class CompletionsOptions(Options):
    """The options of `memcli completions`."""

    shell: str = argument("bash|zsh|fish", "The shell.", default=REQUIRED)


@verb(CompletionsOptions, section=PLUMBING, line="Print a shell completion script")
def command(session: CommandContext, options: CompletionsOptions) -> None:
    """Print the completion script for a shell.

    \b
    bash:  memcli completions bash > ~/.local/share/bash-completion/completions/memcli
    zsh:   memcli completions zsh > "${fpath[1]}/_memcli"
    fish:  memcli completions fish > ~/.config/fish/completions/memcli.fish
    """
    from memcli.extras.completion.shells import SHELLS

    if options.shell not in SHELLS:
        raise UsageError(f"no completions for {options.shell!r}", f"choose one of {', '.join(sorted(SHELLS))}")
    session.output.write(SHELLS[options.shell]())
