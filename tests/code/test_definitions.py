"""One grammar decides which line of code defines what, for all who ask."""

from __future__ import annotations

from memcli.code.symbols import DEFINITION, HOLDER, cut, defined, name_of, touched

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


def test_a_line_that_defines_a_name() -> None:
    for line, name, shown in LINES:
        match = DEFINITION.match(line)
        assert match is not None, line
        assert (*name_of(match), defined(line)) == (name, shown, name)
        assert touched(f"@@ -1 +1 @@ {line.strip()}\n-  x\n+  y".encode(), "a.js") == [name]
        assert line[0] == " " or [own for own, *_ in cut("a.js", f"{line}\n  x\n")] == ["", name]


def test_what_holds_members_of_a_name_does_not_define_it() -> None:
    holders = [
        ("impl<T> Display for Token<T> {", "Token"), ("unsafe impl Send for Token {}", "Token"), ("impl Token {", "Token"),
        ("namespace auth {", "auth"), ("extension Token {", "Token"), ("mod tests {", "tests"),
    ]  # fmt: skip
    assert [(line, defined(line)) for line, _ in holders] == holders
    assert all(HOLDER.match(line) and not DEFINITION.match(line) for line, _ in holders)
    nothing = ("mod tests;", "union all", "const total = sum(rows)", "return type", "class", "x = 1")
    assert not any(DEFINITION.match(line) or defined(line) for line in nothing)


def test_functions_hold_no_members() -> None:
    assert HOLDER.match("  export abstract class Token {")
    assert HOLDER.match("enum class Color {")
    assert not any(map(HOLDER.match, ["def refresh(self):", "classify(x)", "const load = () => {"]))
