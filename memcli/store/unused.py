"""A store that was made for a command that then failed: it goes again, unless anything is in it."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress

from memcli.store.layout import Layout


def remove_unused(root: str) -> bool:
    """Removes a store without memories; whether it did. A space that another process writes meanwhile stays, or that
    process is told that it could not write."""
    layout = Layout(root)
    with suppress(OSError):
        for folder in (layout.local("inbox/spaces"), layout.local("journal")):
            if os.path.isdir(folder) and os.listdir(folder):
                return False
        os.rmdir(os.path.join(root, "spaces"))
        shutil.rmtree(root)
        return True
    return False
