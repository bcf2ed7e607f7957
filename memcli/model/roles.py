"""Roles of callers, what a token of `memcli serve` allows; and what a verb reaches beyond its space."""

from __future__ import annotations

READER, WRITER, ADMIN = "reader", "writer", "admin"
ROLES = (READER, WRITER, ADMIN)
"""Each may do what those before it may."""

SPACE_ALONE, JOURNAL, SPACES, STORE = "space", "journal", "spaces", "store"
"""What a verb concerns: the space that it is called for, that space and its journal, each space that the caller may see, or
the store as a whole, which a caller who is for some spaces only may not ask about."""
