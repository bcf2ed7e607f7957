"""`memcli feedback`"""

from __future__ import annotations

from memcli.cli.commands.feedback import gaps, judge
from memcli.cli.verb import RECALL, About, Group

command = Group(
    "feedback",
    "Say whether recalled memories helped; list what nothing answers.",
    gaps.command,
    default=judge.command,
    about=About(section=RECALL, line="Say whether recalled memories helped; list what nothing answers"),
)
