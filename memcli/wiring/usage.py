"""Opens what a store keeps of its use: the usage log, the counters, and the questions that nothing answered."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memcli.ports.gaps import Gaps
    from memcli.ports.usage import Counters, Usage
    from memcli.store.layout import Layout
    from memcli.store.state import State
    from memcli.store.trust import FileTrust

_SESSION = "MEMCLI_SESSION"


def open_usage(state: State, environ: Mapping[str, str], *, is_frozen: bool, is_past: bool) -> Usage:
    """The usage log, which records nothing under a frozen clock and while memory is off; none for a store as it was."""
    if is_past:
        from memcli.ports.usage import NoUsage

        return NoUsage()
    from memcli.store.usage import LocalUsage

    return LocalUsage(state, environ.get(_SESSION, ""), _recording(state.layout, environ, is_frozen))


def open_gaps(state: State, environ: Mapping[str, str], *, is_frozen: bool, is_past: bool) -> Gaps:
    """The questions that nothing answered, to which none are added when the usage log records nothing."""
    if is_past:
        from memcli.ports.gaps import NoGaps

        return NoGaps()
    from memcli.store.notes import LocalGaps

    return LocalGaps(state, _recording(state.layout, environ, is_frozen))


def open_counters(
    state: State, environ: Mapping[str, str], trust: FileTrust, *, is_frozen: bool, is_past: bool
) -> Counters:
    """The counters, to which nothing is added when the usage log records nothing, and in a clone that nobody has accepted."""
    if is_past:
        from memcli.ports.usage import NoCounters

        return NoCounters()
    from memcli.store.notes import LocalCounters

    is_recording = _recording(state.layout, environ, is_frozen)
    return LocalCounters(state, lambda: is_recording() and trust.is_accepted)


def sign_topic(layout: Layout, topic: str) -> str:
    """A digest of a topic by the key of the store; empty where there is none."""
    from memcli.digests import blake2b
    from memcli.errors import MemcliError
    from memcli.store.key import own_key

    try:
        key = own_key(layout)
    except (MemcliError, OSError):
        return ""
    data = " ".join(topic.lower().split()).encode("utf-8", "replace")
    return blake2b(data, key=key, digest_size=8, person=b"memcli/otel/1").hexdigest()


def _recording(layout: Layout, environ: Mapping[str, str], is_frozen: bool) -> Callable[[], bool]:
    from memcli.store.switch import is_off

    return cache(lambda: not (is_frozen or is_off(layout.root, environ)))
