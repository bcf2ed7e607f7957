"""What every verb allows to whom, as one table that is compared with a golden: no change of it goes unseen."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from memcli.cli.options import ASSIGNMENT, JSON, LINK, MEMORY, TEXT, TIME
from memcli.cli.verb import all_verbs
from memcli.extras.serve.access import references
from tests.conftest import Golden

GOLDEN = Path(__file__).parent / "golden" / "rules.txt"


def lines() -> Iterator[str]:
    """A line for each verb: its role, what other options need, what it reaches; then its endpoints and tools."""
    for verb in sorted(all_verbs(), key=lambda one: one.name):
        escalates = "".join(f", {option}: {role}" for option, role in sorted(verb.escalates.items()))
        yield f"{verb.name}: {verb.role or 'not served'}{escalates}; {verb.reach}"
        for http in verb.http:
            fixed = f" fixed {dict(http.fixed)}" if http.fixed else ""
            yield f"  {http.method}{'|POST' if http.posted else ''} {http.path}: {verb.role_for(http.fixed)}{fixed} {' '.join(http.fields)}"
        for tool in verb.tools:
            yield f"  tool {tool.name}: {'reads' if tool.reads_only else 'writes'} {' '.join(tool.fields)}"


def test_the_rules_are_those_of_the_golden(golden: Golden) -> None:
    golden(GOLDEN, "".join(f"{line.rstrip()}\n" for line in lines()))


def test_every_endpoint_and_tool_is_of_a_served_verb_and_gives_options_that_it_has() -> None:
    for verb in all_verbs():
        for one in (*verb.http, *verb.tools):
            assert verb.role, verb.name
            assert {*one.fields, *one.renamed, *one.defaults} <= verb.options.FIELDS.keys(), verb.name
        for option in verb.escalates:
            assert option.partition("=")[0] in verb.options.FIELDS


def test_every_option_that_may_name_a_memory_is_checked() -> None:
    """Of a served verb; by its kind, so that a new option cannot be forgotten."""
    for verb in (verb for verb in all_verbs() if verb.role):
        named = [name for name, field in verb.options.FIELDS.items() if field.kind in (MEMORY, LINK, ASSIGNMENT, JSON)]
        given = dict.fromkeys(named, "relates_to:shop:mem_a")
        assert (verb.name, len(list(references(verb.name, given)))) == (verb.name, len(named))
        free = {name for name, field in verb.options.FIELDS.items() if field.kind in (TEXT, TIME)}
        assert (verb.name, list(references(verb.name, dict.fromkeys(free, "shop:mem_a")))) == (verb.name, [])
        assert not free & {"ref", "start", "end", "supersedes", "links", "object", "insert"}, verb.name
