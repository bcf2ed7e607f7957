"""Frame: the bytes between which the memories of a canonical space file, and their fields, stand.

JSON escapes newlines in text, so a newline can only be structure: between the mark of the list and its end, a line of
four spaces and a brace is the edge of a memory, and what stands behind six spaces is the name of one of its fields.
"""

from __future__ import annotations

OBJECTS = b'\n  "objects": ['
"""What the list of memories begins with."""
END = b"\n  ]"
"""What it ends with, behind the last memory."""
INDENT = b"\n    "
"""The new line of a memory: before its first brace, and before each of its lines."""
OPEN = INDENT + b"{\n"
CLOSE = INDENT + b"}"
USUAL_END = CLOSE + END + b',\n  "policy": '
"""The end of the list as it nearly always is, with the last memory before it and a policy behind it."""


def of_space(name: str) -> bytes:
    """What stands before the value of a field of the space."""
    return f'\n  "{name}": '.encode()


def of_memory(name: str) -> bytes:
    """What stands before the value of a field of a memory."""
    return f'\n      "{name}": '.encode()
