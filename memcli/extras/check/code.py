"""`memcli check code`"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from memcli.cli.options import FILE, Options, argument, flag, option
from memcli.cli.verb import CommandContext, Http, ToolDeclaration, verb
from memcli.errors import CorruptError, NotFoundError
from memcli.model.anchors import GONE, STALE
from memcli.model.names import show
from memcli.model.space import READER, WRITER

if TYPE_CHECKING:
    from memcli.extras.check.anchored import AnchorFinding

_MEND = {
    STALE: "stale: the code changed: `memcli edit` what no longer holds, then `memcli check code --reanchor` accepts the code",
    GONE: "gone: the code is no longer there: `memcli edit ID --set anchors=FILE:10-42` names its new place, `memcli forget ID` "
    "drops a memory that no longer holds",
    "": "matches no file: `memcli edit ID --set triggers=path:GLOB` sets a new trigger",
}
"""What to do about a memory, by the state of its anchor; "" for a trigger."""


class CheckCodeOptions(Options):
    """The options of `memcli check code`."""

    paths: list[str] = argument(
        "[PATH...]", kind=FILE, help="Check only anchors in these files and folders.", many=True
    )
    changed: str | None = option(metavar="REV", help="Check only anchors in files that changed since this commit.")
    reanchor: bool = flag(help="Accept the current code where it moved or changed.")


@verb(
    CheckCodeOptions,
    role=READER,
    escalates={"reanchor": WRITER},
    http=(Http(path="/api/verify", summary="Check memories against the code", fields=("paths",)),),
    tools=(
        ToolDeclaration(
            name="verify",
            description="Check whether the code that memories are anchored to has changed since they were stored.",
            fields=("paths", "changed"),
        ),
    ),
)
def command(session: CommandContext, options: CheckCodeOptions) -> int:
    """Check the code that memories are anchored to, in all spaces that git tracks or in --space.

    Lists anchors that moved, are stale (the code changed) or gone. Exits with 6 if the memory of a stale or gone anchor is a
    decision, constraint, negative or procedure. So does a trigger of one that matched files when the memory was last edited
    and matches none now, since the memory can no longer come up.

    Example: memcli check code --changed origin/main

    >>> memory.check_code()['failed']
    0
    """
    from memcli.app.anchors import tracked_spaces
    from memcli.extras.check.anchored import open_code, unmatched_triggers, verify
    from memcli.extras.check.anchored import reanchor as accept

    workspace = session.open()
    code = open_code(workspace)
    places = [code.name(path) for path in options.paths or ()]

    def is_named(file: str) -> bool:
        return not places or any(_is_in(file, place) for place in places)

    named = session.options["space"]
    spaces = [named] if named else tracked_spaces(workspace)
    findings = verify(workspace, code, spaces, is_named, options.changed)
    unmatched = unmatched_triggers(workspace, code, spaces, is_named, options.changed)
    files = [*(finding.file for finding in findings), *(one.file for one in unmatched)]
    for place, path in zip(places, options.paths or (), strict=True):
        is_known = os.path.lexists(path) or any(_is_in(file, place) for file in files)
        # With --changed, an anchored file that did not change is not among the findings, so it may be known after all.
        if not is_known and options.changed is None:
            raise NotFoundError(f"no such file or anchor: {show(path)}", "name a file or a folder")
    accepted = accept(workspace, code, findings) if options.reanchor else []
    remaining = [finding for finding in findings if finding not in accepted]
    failed = sum(finding.is_failure for finding in remaining) + sum(one.is_failure for one in unmatched)
    data = {
        "anchors": len(findings),
        "failed": failed,
        "found": [
            *(finding.to_json() for finding in remaining if not finding.checked.is_fresh),
            *(one.to_json() for one in unmatched),
        ],
        "reanchored": [finding.to_json() for finding in accepted],
    }
    lines = []
    for one in unmatched:
        elsewhere = f" (space {one.space})" if one.space != workspace.space else ""
        matched = f"matched {show(one.file)}{one.now and f', now {one.now}'}"
        lines.append(f"{one.memory.path}: {one.memory.id} matches no file: {show(one.trigger)} ({matched}){elsewhere}")
    session.output.answer(data, "\n".join([*lines, _text(findings, remaining, accepted, workspace.space)]))
    states = {finding.checked.state for finding in remaining} | {"" for _ in unmatched}
    for state in filter(states.__contains__, _MEND):
        session.output.note(_MEND[state])
    return CorruptError.exit_code if failed else 0


def _is_in(file: str, place: str) -> bool:
    return place in ("", file) or file.startswith(f"{place}/")


def _text(
    findings: Sequence[AnchorFinding], remaining: Sequence[AnchorFinding], accepted: Sequence[AnchorFinding], space: str
) -> str:
    lines = [_line(finding, finding.checked.state, space) for finding in remaining if not finding.checked.is_fresh]
    lines += [_line(finding, "reanchored", space) for finding in accepted]
    counts = Counter(finding.checked.state for finding in remaining)
    counts["reanchored"] = len(accepted)
    text = ", ".join(f"{counts[name]} {name}" for name in _ORDER if counts[name])
    return "\n".join([*lines, f"{len(findings)} {'anchor' if len(findings) == 1 else 'anchors'}{text and f': {text}'}"])


_ORDER = ("fresh", "reanchored", "moved", "stale", "gone")


def _line(finding: AnchorFinding, state: str, space: str) -> str:
    memory, checked = finding.memory, finding.checked
    lines = f":{checked.lines[0]}-{checked.lines[1]}" if checked.lines else ""
    symbol = f" {checked.symbol}" if checked.symbol else ""
    elsewhere = f" (space {finding.space})" if finding.space != space else ""
    return f"{memory.path}: {memory.id} {state} {checked.file}{lines}{symbol}{elsewhere}"
