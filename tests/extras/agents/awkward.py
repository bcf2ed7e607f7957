"""Files as people leave them: comments, tabs, CRLF, no final newline, null, empty, foreign hooks, long lines."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

KEYS = st.sampled_from(
    ["mcpServers", "servers", "hooks", "mcp", "context_servers", "SessionStart", "Stop", "version", "a b", "", "ü", "x"]
)
TEXTS = st.sampled_from(["", "a", 'quote " and \\ here', "// no comment", "/* nor this */", "née", "}", "memcli"])
LEAVES = st.one_of(st.none(), st.booleans(), st.integers(-9, 99), TEXTS)
VALUES = st.recursive(
    LEAVES, lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(KEYS, inner, max_size=3)), max_leaves=8
)
FOREIGN = {"type": "command", "command": "other hook run"}
GROUPS = st.lists(
    st.sampled_from([
        {"hooks": [FOREIGN]}, {"matcher": "Edit", "hooks": [FOREIGN, FOREIGN]}, {"command": "other", "timeout": 3}, {"hooks": []},
        {"hooks": [{"type": "command", "command": "memcli hook run"}]},
    ]),
    max_size=3,
)  # fmt: skip
EVENTS = st.sampled_from(
    ["SessionStart", "UserPromptSubmit", "Stop", "sessionStart", "stop", "PreToolUse", "BeforeAgent"]
)
HOOKS = st.one_of(st.none(), st.dictionaries(EVENTS, st.one_of(GROUPS, st.none()), max_size=4))
SERVERS = st.one_of(st.none(), st.dictionaries(st.sampled_from(["other", "mem", "x"]), VALUES, max_size=2))
SETTINGS = st.fixed_dictionaries(
    {}, optional={"hooks": HOOKS, "mcpServers": SERVERS, "servers": SERVERS, "mcp": SERVERS, "context_servers": SERVERS,
                  "version": st.just(1), "x": VALUES, "née": VALUES, "disableAllHooks": st.booleans()},
)  # fmt: skip
COMMENTS = st.sampled_from(["", "", "", " // note, with a comma", " /* block */", ' // {"a": [1,'])


@st.composite
def json_texts(draw: st.DrawFn, with_comments: bool = True) -> str:
    """A settings file, in some style."""
    if draw(st.integers(0, 9)) == 0:
        return draw(st.sampled_from(["", " ", "\n", "{}", "{ }\n", "{\n}\n", "null", "\ufeff{}", "\r\n"]))
    value = draw(SETTINGS)
    unit = draw(st.sampled_from(["", "  ", "    ", "\t", " "]))
    text = _written(draw, value, unit, "", with_comments and bool(unit))
    text += draw(st.sampled_from(["", "\n", "\n\n", " "]))
    text = draw(st.sampled_from(["", "", "\ufeff", "// first line\n" if with_comments else ""])) + text
    return text.replace("\n", "\r\n") if draw(st.booleans()) else text


def _written(draw: st.DrawFn, value: Any, unit: str, indent: str, with_comments: bool) -> str:
    if not isinstance(value, dict | list) or not value:
        return json.dumps(value, ensure_ascii=draw(st.booleans()))
    pairs = value.items() if isinstance(value, dict) else ((None, item) for item in value)
    deeper = indent + unit
    parts = []
    for key, item in pairs:
        name = "" if key is None else json.dumps(key, ensure_ascii=False) + draw(st.sampled_from([":", ": ", " : "]))
        parts.append(name + _written(draw, item, unit, deeper, with_comments))
    opening, closing = ("{", "}") if isinstance(value, dict) else ("[", "]")
    if not unit:
        return opening + draw(st.sampled_from([",", ", "])).join(parts) + closing
    lines = []
    for n, part in enumerate(parts):
        comma = "," if n < len(parts) - 1 or (with_comments and draw(st.booleans())) else ""
        lines.append(f"{deeper}{part}{comma}{draw(COMMENTS) if with_comments else ''}")
    return "\n".join([opening, *lines, f"{indent}{closing}"])


@st.composite
def toml_texts(draw: st.DrawFn) -> str:
    """A configuration of Codex."""
    parts = draw(
        st.lists(
            st.sampled_from([
                'model = "o5"\n', "# a comment\n", '[mcp_servers.other]\ncommand = "x"\n', "[features]\nhooks = true # yes\n",
                "\n", '[projects."/a b"]\ntrust_level = "trusted"\n', "[[list]]\nx = 1\n", "[mcp_servers]\n",
            ]),
            max_size=5, unique=True,
        )
    )  # fmt: skip
    first = [part for part in parts if not part.startswith("[")]
    text = "".join([*first, *(part for part in parts if part.startswith("["))])
    text = text.removesuffix("\n") if draw(st.booleans()) else text
    return text.replace("\n", "\r\n") if draw(st.booleans()) else text


MARKDOWN = st.builds(
    lambda lines, end, crlf: ("\n".join(lines) + end).replace("\n", "\r\n" if crlf else "\n"),
    st.lists(st.sampled_from(["# Rules", "", "Be kind.", "@AGENTS.md", "<!-- other -->", "```", "\ttabbed", "@./AGENTS.md"]),
             max_size=6),
    st.sampled_from(["", "\n", "\n\n", "  "]),
    st.booleans(),
)  # fmt: skip


def texts_for(path: str) -> st.SearchStrategy[str]:
    """Texts for a file of this name."""
    if path.endswith(".json"):
        return json_texts()
    return toml_texts() if path.endswith(".toml") else MARKDOWN
