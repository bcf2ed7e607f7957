"""`memcli store`"""

from __future__ import annotations

from memcli.cli.commands.store import audit, copy, fmt, index, maintain, sync
from memcli.cli.verb import SHARE, About, Group

command = Group(    "store", "Copy or sync the store, tidy it up, and look into its files.",
    copy.command, sync.command, maintain.command, audit.command, index.command, fmt.command, about=About(section=SHARE, line="Copy, sync, index, tidy and audit the store"))  # fmt: skip
