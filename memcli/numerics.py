"""Loads numerical modules without a thread for each core: on matrices of this size threads only spin."""

from __future__ import annotations

import os
from importlib import import_module
from types import ModuleType

_THREADS = "OPENBLAS_NUM_THREADS"


def load(name: str) -> ModuleType:
    """Imports a module that is or imports `numpy`. A number of threads that the user has set is respected. Raises ImportError."""
    if _THREADS in os.environ:
        return import_module(name)
    os.environ[_THREADS] = "1"
    try:
        return import_module(name)
    finally:
        os.environ.pop(_THREADS, None)
