"""`memcli store fmt`"""

from __future__ import annotations

from memcli.cli.options import Options, argument, flag
from memcli.cli.verb import CommandContext, verb
from memcli.errors import CorruptError


class FmtOptions(Options):
    """What `memcli store fmt` takes."""

    spaces: list[str] = argument("[SPACE|FILE]...", "Spaces, by name or file [default: all].", many=True)
    check: bool = flag(help="Change nothing; exit with 6 if a file is not canonical.")


@verb(FmtOptions)
def command(session: CommandContext, options: FmtOptions) -> None:
    """Rewrite space files in canonical form: sorted keys, fixed indentation, fixed order. The content stays the same.

    >>> memory.store_fmt(check=True)['canonical']
    ['main']
    """
    from memcli.store.layout import Layout
    from memcli.store.repair import format_space, space_names

    layout = Layout(session.open().root)
    done = [(name, format_space(layout, name, options.check)) for name in space_names(layout, options.spaces)]
    untidy = [name for name, canonical in done if not canonical]
    session.output.answer(
        {
            "canonical": [name for name, canonical in done if canonical],
            "not_canonical" if options.check else "written": untidy,
        },
        "\n".join(f"{'not canonical' if options.check else 'wrote'} spaces/{name}.json" for name in untidy),
    )
    if options.check and untidy:
        raise CorruptError(
            f"{len(untidy)} of {len(done)} space files not canonical", "`memcli store fmt` rewrites them"
        )
