"""Usage and gaps are not kept under a frozen clock, so that of these tests runs."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def running_clock(isolated: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MEMCLI_FREEZE_CLOCK", raising=False)
