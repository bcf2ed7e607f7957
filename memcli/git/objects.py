"""Objects: what git stores, read one after the other through one process."""

from __future__ import annotations

import os
import subprocess

from memcli.errors import ProviderError


class Objects:
    """The objects of a repository, read one by one."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdin
        assert process.stdout
        self._asked, self._told = process.stdin, process.stdout

    def read(self, name: str) -> bytes | None:
        """What the object is, by its hash or as `commit:path`; None when there is none. Raises ProviderError."""
        if "\n" in name:
            raise ProviderError("paths with a line break are not supported", "rename the folder")
        try:
            self._asked.write(os.fsencode(name) + b"\n")
            self._asked.flush()
            facts = self._told.readline()
            if facts.endswith(b" missing\n"):
                return None
            size = int(facts.rsplit(b" ", 1)[-1])
            data = self._told.read(size + 1)
        except (OSError, ValueError):
            size, data = 0, b""
        if len(data) != size + 1:
            raise ProviderError("git exited while memcli was reading objects", "run `git fsck`")
        return data[:-1]
