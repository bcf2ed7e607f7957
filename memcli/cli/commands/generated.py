"""`memcli schema` and `completions`: what other programs read"""

from __future__ import annotations

from memcli.cli.options import REQUIRED, Options, argument
from memcli.cli.verb import Session, verb
from memcli.errors import UsageError


class CompletionsOptions(Options):
    """What `memcli completions` takes."""

    shell: str = argument("bash|zsh|fish", "The shell.", default=REQUIRED)


@verb(CompletionsOptions)
def completions(session: Session, options: CompletionsOptions) -> None:
    """Print the completion script for a shell.

    \b
    bash:  memcli completions bash > ~/.local/share/bash-completion/completions/memcli
    zsh:   memcli completions zsh > "${fpath[1]}/_memcli"
    fish:  memcli completions fish > ~/.config/fish/completions/memcli.fish
    """
    from memcli.cli.completion.tree import SHELLS

    if options.shell not in SHELLS:
        raise UsageError(f"no completions for {options.shell!r}", f"choose one of {', '.join(sorted(SHELLS))}")
    session.output.write(SHELLS[options.shell]())


class SchemaOptions(Options):
    """What `memcli schema` takes."""

    what: str = argument("[space|object|policy|bundle|export|session]", "The schema to print.", default="space")


@verb(SchemaOptions)
def schema(session: Session, options: SchemaOptions) -> None:
    """Print the JSON Schema of a space file, an object, a policy, a recall bundle, an export or a session."""
    from memcli.codec.canonical import encode
    from memcli.codec.schema import SCHEMAS

    if options.what not in SCHEMAS:
        raise UsageError(f"no schema {options.what!r}", f"choose one of {', '.join(sorted(SCHEMAS))}")
    schema = SCHEMAS[options.what]()
    session.output.answer(schema, encode(schema).decode())
