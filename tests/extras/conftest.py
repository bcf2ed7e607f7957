"""What tests of extras share with those of use cases and commands."""

from __future__ import annotations

from tests.app.conftest import project
from tests.cli.conftest import repository

__all__ = ["project", "repository"]
