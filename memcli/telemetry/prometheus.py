"""The text exposition format of Prometheus, version 0.0.4. It is three rules of escaping and one line a sample, so that
`memcli metrics` needs no library; a test reads it by the parser of prometheus-client."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from memcli.model.metrics import Family, Sample

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


def render(families: Iterable[Family]) -> str:
    """The text, one family after the other, with a newline at the end."""
    return "".join(f"{line}\n" for family in families for line in _lines(family))


def _lines(family: Family) -> Iterator[str]:
    text = family.help.replace("\\", r"\\").replace("\n", r"\n")
    yield f"# HELP {family.name} {text}"
    yield f"# TYPE {family.name} {family.kind}"
    yield from map(_line, family.samples)


def _line(sample: Sample) -> str:
    labels = ",".join(f'{name}="{_escaped(value)}"' for name, value in sample.labels)
    return f"{sample.name}{{{labels}}} {sample.value!r}" if labels else f"{sample.name} {sample.value!r}"


def _escaped(value: str) -> str:
    return value.replace("\\", r"\\").replace("\n", r"\n").replace('"', r"\"")
