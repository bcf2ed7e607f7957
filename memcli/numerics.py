"""Loading numerical modules without a thread for each core, which spin and gain nothing in algebra of this size."""

from __future__ import annotations

import os
from importlib import import_module
from types import ModuleType

_THREADS = "OPENBLAS_NUM_THREADS"


def load(name: str) -> ModuleType:
    """The module of this name, which is `numpy` or brings it. What the user says of threads holds. Raises ImportError."""
    if _THREADS in os.environ:
        return import_module(name)
    os.environ[_THREADS] = "1"
    try:
        return import_module(name)
    finally:
        os.environ.pop(_THREADS, None)
