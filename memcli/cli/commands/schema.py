"""`memcli schema`"""

from __future__ import annotations

from memcli.cli.options import Options, argument
from memcli.cli.session import Session
from memcli.cli.verb import verb
from memcli.errors import UsageError


class SchemaOptions(Options):
    """What `memcli schema` takes."""

    what: str = argument("[space|object|policy|bundle|export]", "The schema to print.", default="space")


@verb(SchemaOptions)
def command(session: Session, options: SchemaOptions) -> None:
    """Print the JSON Schema of a space file, an object, a policy, a recall bundle or an export."""
    from memcli.codec.canonical import encode
    from memcli.codec.schema import SCHEMAS

    if options.what not in SCHEMAS:
        raise UsageError(f"no schema {options.what!r}", f"choose one of {', '.join(sorted(SCHEMAS))}")
    session.output.write(encode(SCHEMAS[options.what]()).decode())
