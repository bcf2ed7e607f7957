"""The real repositories of `tests/ingest`, for the room that they are read through."""

from tests.ingest.conftest import repo as repo  # noqa: PLC0414 - a fixture is taken over by its name
