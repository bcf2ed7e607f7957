"""The metrics of a store as a scraper reads them."""

from __future__ import annotations

from memcli.app.metrics import metrics
from memcli.app.workspace import Workspace
from memcli.telemetry.prometheus import render


def exposition(workspace: Workspace) -> str:
    """The metrics in the text format of Prometheus. Raises StoreError."""
    return render(metrics(workspace))
