"""The kinds of stores whose index keeps the same promises."""

from __future__ import annotations

import pytest

KINDS = ["files", "server"]
on_both = pytest.mark.parametrize("workspace", KINDS, indirect=True)
