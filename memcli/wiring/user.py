"""Who is at work, as the audit log names them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress

_MAX_USER = 64


def user_name(environ: Mapping[str, str]) -> str:
    """Who is at work: `MEMCLI_USER`, or the name that this person logged in with, or else the number."""
    named = next((environ[name] for name in ("MEMCLI_USER", "LOGNAME", "USER", "USERNAME") if environ.get(name)), "")
    if not named and os.name != "nt":
        import pwd

        with suppress(KeyError):  # a user that the system has no name for, as in many a container
            named = pwd.getpwuid(os.getuid()).pw_name
        named = named or str(os.getuid())
    from memcli.safety.secrets.detector import Detector

    named = "".join(c for c in named if c.isprintable())
    return Detector({"detectors": ["secrets"]}, lambda _: "").redact(named)[0][:_MAX_USER]
