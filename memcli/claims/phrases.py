"""Phrases of several words that count as other words. Data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

_MODALS = "may must can should shall do does did will".split()
_MORE = "more larger longer bigger greater higher".split()
_GROUPS: Mapping[str, tuple[str, ...]] = {
    "pr": ("pull request", "pull requests", "merge request", "merge requests"),
    "timeout": (
        "time out", "times out", "timed out", "timing out", "time-out", "time-outs", "timeouts",
        "give up", "gives up", "giving up", "give up on", "gives up on", "giving up on",
    ),
    "dropped": ("gave up on", "moved off", "moved away from", "got rid of", "getting rid of", "said goodbye to"),
    "logged-in": ("logged in", "signed in", "signed-in"),
    "no longer": ("no more", "not any more", "not anymore"),
    "because": ("so that",),
    "fully": ("from scratch",),
    "manually": ("by hand",),
    "force-push": ("force push", "force pushes", "force pushing", "force-pushes", "force-pushing", "force-pushed"),
    "unit-test tests": ("unit tests",),
    "integration-test tests": ("integration tests",),
    "ota": ("over the air", "over-the-air"),
    "debug-build": ("debug build", "debug builds"),
    "release-build": ("release build", "release builds"),
    "nightly-build": ("nightly build", "nightly builds"),
    "≤": (
        "up to", "exceed", "exceeds", "exceeding", *(f"{modal} not exceed" for modal in _MODALS),
        *(f"{no} {more} than" for no in ("no", "not", "never") for more in _MORE),
    ),
    "setup": ("set up",),
    "startup": ("start up", "start-up"),
    "deployed": ("rolled out",),
    "on": ("turned on", "switched on"),
    "off": ("turned off", "switched off"),
    "at-least-once": ("at least once",),
    "at-most-once": ("at most once",),
    "exactly-once": ("exactly once",),
    "": (
        "as well", "in order", "at once", "without exception", "not only", "no matter", "whether or not",
        "no need to worry", "of course",
    ),
    **{f"{verb} not": (f"{verb}nt",) for verb in "do does did is are was must should could would".split()},
    "will not": ("wont",),
    "can not": ("cant",),
}  # fmt: skip


def _phrases() -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
    for written, group in _GROUPS.items():
        for phrase in group:
            yield tuple(phrase.split()), tuple(written.split())


PHRASES: Mapping[tuple[str, ...], tuple[str, ...]] = dict(_phrases())
"""The words that a sequence of words in lower case stands for."""

LONGEST_PHRASE = max(map(len, PHRASES))
FIRST_WORDS = frozenset(phrase[0] for phrase in PHRASES)
