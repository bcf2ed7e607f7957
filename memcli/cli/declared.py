"""What a command declares beside its options: where the help lists it, who may call it, and how programs call it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from memcli.model.roles import SPACE_ALONE
from memcli.record import Record

START, RECALL, CHECK, SHARE, PLUMBING = (
    "Start", "Remember and recall", "Check", "Feed and share", "Plumbing",
)  # fmt: skip
SECTIONS = (START, RECALL, CHECK, SHARE, PLUMBING)
"""The sections of the help, in order."""


class Http(Record, kw_only=True):
    """An endpoint of `memcli serve`: `method` and `path`, and the options that a caller may give there.

    `required` are those that a caller must give although the command line has a default. `renamed` has the names of
    options that differ in the endpoint, `fixed` the values of options that it sets itself, `defaults` those of options that a
    caller may set. With `posted`, the endpoint can be
    called by POST too, for what is too long for an address; with `in_query`, a DELETE has its options in the address.
    """

    method: str = "GET"
    path: str
    summary: str
    fields: Sequence[str] = ()
    required: Sequence[str] = ()
    renamed: Mapping[str, str] = {}
    fixed: Mapping[str, object] = {}
    defaults: Mapping[str, object] = {}
    status: int = 200
    posted: bool = False
    in_query: bool = False
    media: str = ""


class ToolDeclaration(Record, kw_only=True):
    """A tool of the MCP server: its name, what an agent reads of it, and the options that it may give.

    `required` are those that an agent must give although the command line has a default. `renamed` has the names of options
    that differ in the tool, `defaults` the values of those that it does not give. `bare_verb` is called in the place of the verb when no
    argument is given but the space. `content` describes the JSON value that an agent may give instead of a text, or beside
    it; empty where it may not. `is_idempotent`: the same call again changes nothing more. `is_always_loaded`: clients that
    load tools on demand should show it at once.
    """

    name: str
    description: str
    fields: Sequence[str] = ()
    required: Sequence[str] = ()
    renamed: Mapping[str, str] = {}
    defaults: Mapping[str, object] = {}
    bare_verb: str = ""
    content: str = ""
    reads_only: bool = True
    destroys: bool = False
    is_idempotent: bool = True
    is_always_loaded: bool = False


class About(Record, kw_only=True):
    """What a command declares beside its options.

    `section` and `line` are where and how the help lists it. `role` is the role (`model/roles.py`) that a caller of
    `memcli serve` needs; None: it is not served. `escalates` has the roles for calls with certain options instead: an
    option that is given, or `name=value`. `reach` says what else than the space it concerns. `returns` is the type of the result in Python.
    """

    section: str = ""
    line: str = ""
    role: str | None = None
    escalates: Mapping[str, str] = {}
    reach: str = SPACE_ALONE
    http: Sequence[Http] = ()
    tools: Sequence[ToolDeclaration] = ()
    returns: str = "Object"


NOTHING = About()
