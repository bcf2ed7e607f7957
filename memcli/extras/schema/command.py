"""`memcli schema`"""

from __future__ import annotations

from memcli.cli.arguments import check_known
from memcli.cli.options import Options, argument
from memcli.cli.verb import PLUMBING, CommandContext, verb


class SchemaOptions(Options):
    """The options of `memcli schema`."""

    what: str = argument("[space|object|policy|bundle|export|session]", "The schema to print.", default="space")


@verb(SchemaOptions, section=PLUMBING, line="Print the JSON Schema of stored data")
def command(session: CommandContext, options: SchemaOptions) -> None:
    """Print the JSON Schema of a space file, an object, a policy, a recall bundle, an export or a session.

    >>> memory.schema('object')['type']
    'object'
    """
    from memcli.codec.canonical import encode
    from memcli.extras.schema.schemas import SCHEMAS

    check_known("schema", options.what, sorted(SCHEMAS))
    schema = SCHEMAS[options.what]
    session.output.answer(schema, encode(schema).decode())
