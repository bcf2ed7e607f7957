"""The repositories of `tests/ingest`."""

from __future__ import annotations

from tests.ingest.conftest import repo as repo  # noqa: PLC0414 - a fixture is taken over by its name
