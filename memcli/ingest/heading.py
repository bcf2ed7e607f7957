"""Heading: where a document names one of its sections."""

from __future__ import annotations

from typing import NamedTuple


class Heading(NamedTuple):
    """`level` counts from 1; `first` and `last` are the numbers of the lines that it takes, counted from 1."""

    level: int
    title: str
    first: int
    last: int
