"""One grammar decides which line of code defines what, for all who ask."""

from __future__ import annotations

import pytest

from memcli.code.symbols import DEFINITION, cut, defined, is_holder, name_of, touched

LINES = [
    ("def refresh(self):", "refresh", "refresh()"),
    ("  def self.build(x)", "build", "build()"),
    ("defp load(x) do", "load", "load()"),
    ("fun load(x: Int) {", "load", "load()"),
    ("pub(crate) unsafe fn load() {", "load", "load()"),
    ('pub extern "C" fn load() {', "load", "load()"),
    ("func (s *Server) Start() error {", "Start", "Start()"),
    ("export default async function load() {", "load", "load()"),
    ("export const load = async (x: string): Promise<void> => {", "load", "load()"),
    ("const load = function () {", "load", "load()"),
    ("class Token:", "Token", "class Token"),
    ("enum class Color {", "Color", "enum class Color"),
    ("enum Color {", "Color", "enum Color"),
    ("public sealed partial class Token {", "Token", "class Token"),
    ("type Server struct {", "Server", "type Server"),
    ("typedef struct node {", "node", "typedef struct node"),
    ("union Value {", "Value", "union Value"),
    ("protocol Store {", "Store", "protocol Store"),
    ("macro_rules! square {", "square", "square()"),
]


@pytest.mark.parametrize(("line", "name", "shown"), LINES)
def test_a_line_that_defines_a_name(line: str, name: str, shown: str) -> None:
    match = DEFINITION.match(line)
    assert match is not None
    assert name_of(match) == (name, shown)
    assert defined(line) == name
    assert touched(f"@@ -1 +1 @@ {line.strip()}\n-  x\n+  y".encode(), "a.js") == [name]
    if line[0] != " ":
        assert [part.name for part in cut("a.js", f"{line}\n  x\n")] == ["", name]


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("impl<T> Display for Token<T> {", "Token"),
        ("unsafe impl Send for Token {}", "Token"),
        ("impl Token {", "Token"),
        ("namespace auth {", "auth"),
        ("extension Token {", "Token"),
        ("mod tests {", "tests"),
    ],
)
def test_what_holds_members_of_a_name_does_not_define_it(line: str, name: str) -> None:
    assert DEFINITION.match(line) is None
    assert defined(line) == name
    assert is_holder(line)


@pytest.mark.parametrize(
    "line", ["mod tests;", "union all", "const total = sum(rows)", "return type", "class", "x = 1"]
)
def test_a_line_that_defines_nothing(line: str) -> None:
    assert DEFINITION.match(line) is None
    assert defined(line) == ""


def test_functions_hold_no_members() -> None:
    assert is_holder("  export abstract class Token {")
    assert is_holder("enum class Color {")
    assert not any(map(is_holder, ["def refresh(self):", "classify(x)", "const load = () => {"]))
