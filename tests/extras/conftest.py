"""What tests of extras share with those of use cases and commands."""

from __future__ import annotations

from tests.app.conftest import project
from tests.cli.conftest import repository
from tests.store.conftest import layout

__all__ = ["layout", "project", "repository"]
