"""`memcli verify`"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from memcli.cli.options import Options, argument, flag, option
from memcli.cli.verb import Session, verb
from memcli.errors import CorruptError, NotFoundError
from memcli.model.names import show

if TYPE_CHECKING:
    from memcli.app.verify import Finding

_MEND = (
    "review these memories and `memcli edit` those that no longer hold; `memcli verify --reanchor` accepts code that "
    "changed, `memcli edit ID --set anchors=FILE:10-42` sets a new anchor"
)


class VerifyOptions(Options):
    """What `memcli verify` takes."""

    paths: list[str] = argument("[PATH...]", "Check only anchors in these files and folders.", many=True)
    changed: str | None = option(metavar="REV", help="Check only anchors in files that changed since this commit.")
    reanchor: bool = flag(help="Accept the current code where it moved or changed.")


@verb(VerifyOptions)
def command(session: Session, options: VerifyOptions) -> int:
    """Check the code that memories are anchored to, in all spaces that git tracks or in --space.

    Lists anchors that moved, are stale (the code changed) or gone. Exits with 6 if the memory of a stale or gone anchor is a
    decision, constraint, negative or procedure.

    Example: memcli verify --changed origin/main
    """
    from memcli.app.verify import open_code, tracked_spaces, verify
    from memcli.app.verify import reanchor as accept

    workspace = session.open()
    code = open_code(workspace)
    places = [code.name(path) for path in options.paths or ()]

    def is_named(file: str) -> bool:
        return not places or any(_is_in(file, place) for place in places)

    named = session.options["space"]
    spaces = [named] if named else tracked_spaces(workspace)
    findings = verify(workspace, code, spaces, is_named, options.changed)
    for place, path in zip(places, options.paths or (), strict=True):
        is_known = os.path.lexists(path) or any(_is_in(finding.file, place) for finding in findings)
        if not is_known and options.changed is None:  # else it may be anchored to, and not have changed
            raise NotFoundError(f"no such file or anchor: {show(path)}", "name a file or a folder")
    accepted = accept(workspace, code, findings) if options.reanchor else []
    left = [finding for finding in findings if finding not in accepted]
    failures = [finding for finding in left if finding.is_failure]
    data = {
        "anchors": len(findings),
        "failed": len(failures),
        "found": [finding.to_json() for finding in left if not finding.checked.is_fresh],
        "reanchored": [finding.to_json() for finding in accepted],
    }
    session.output.answer(data, _told(findings, left, accepted, workspace.space))
    if failures:
        session.output.note(_MEND)
        return CorruptError.exit_code
    return 0


def _is_in(file: str, place: str) -> bool:
    return place in ("", file) or file.startswith(f"{place}/")


def _told(findings: Sequence[Finding], left: Sequence[Finding], accepted: Sequence[Finding], space: str) -> str:
    lines = [_line(finding, finding.checked.state, space) for finding in left if not finding.checked.is_fresh]
    lines += [_line(finding, "reanchored", space) for finding in accepted]
    counts = Counter(finding.checked.state for finding in left)
    counts["reanchored"] = len(accepted)
    told = ", ".join(f"{counts[name]} {name}" for name in _ORDER if counts[name])
    return "\n".join([*lines, f"{len(findings)} {'anchor' if len(findings) == 1 else 'anchors'}{told and f': {told}'}"])


_ORDER = ("fresh", "reanchored", "moved", "stale", "gone")


def _line(finding: Finding, state: str, space: str) -> str:
    memory, checked = finding.memory, finding.checked
    lines = f":{checked.lines[0]}-{checked.lines[1]}" if checked.lines else ""
    symbol = f" {checked.symbol}" if checked.symbol else ""
    elsewhere = f" (space {finding.space})" if finding.space != space else ""
    return f"{memory.path}: {memory.id} {state} {checked.file}{lines}{symbol}{elsewhere}"
