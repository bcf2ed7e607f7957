"""Which functions a diff touches, by the diffs that git itself makes."""

from __future__ import annotations

from memcli.code.symbols import touched
from tests.ingest.conftest import Repo
from tests.ingest.conftest import repo as repo  # noqa: PLC0414 - a fixture is taken over by its name

BODY = "    a = 1\n    b = 2\n    c = 3\n    d = 4\n"
TWO = f"import os\n\n\ndef first():\n{BODY}    return a\n\n\ndef second():\n{BODY}    return b\n"
CLASS = (
    f"class Store:\n    def load(self):\n{BODY.replace('    ', '        ')}        return 1\n\n"
    f"    def save(self):\n{BODY.replace('    ', '        ')}        return 2\n"
)
C = "int first(void)\n{\n\tint a = 1;\n\ta++;\n\ta--;\n\treturn a;\n}\n\nint second(void)\n{\n\treturn 2;\n}\n"
GO = "func First() int {\n\ta := 1\n\ta++\n\ta--\n\treturn a\n}\n\nfunc Second() int {\n\treturn 2\n}\n"
JS = "function first() {\n  const a = 1;\n  log(a);\n  return a;\n}\n\nfunction second() {\n  return 2;\n}\n"


CASES = (
    ("a.py", TWO, TWO.replace("return a", "return 0"), ["first"]),
    ("a.py", TWO, TWO.replace("return b", "return 0"), ["second"]),
    ("a.py", TWO, TWO + "\n\ndef third():\n    pass\n", ["third"]),
    ("a.py", TWO, TWO + "\n\n@cached\ndef third():\n    pass\n", ["third"]),
    ("a.py", TWO, TWO + "\n\nLIMIT = 3\n", []),
    ("a.py", TWO, TWO.replace("\n\n\ndef second", "\n\n\nLIMIT = 3\n\n\ndef second"), []),
    ("a.py", TWO, TWO.replace("\n\n\ndef second", "\n\n\n# what follows\ndef second"), ["second"]),
    ("a.py", TWO, TWO.replace("\n\n\ndef second", "\n\n\ndef new():\n    pass\n\n\ndef second"), ["new"]),
    ("a.py", TWO, TWO.replace("    return a\n", "    return a\n\n"), []),
    ("a.py", TWO, TWO.replace("import os", "import sys"), []),
    ("a.py", TWO, TWO.replace("def second():", "def second(x):"), ["second"]),
    ("a.py", TWO, TWO[: TWO.index("def second")], ["second"]),
    ("a.py", CLASS, CLASS.replace("return 1", "return 3"), ["load"]),
    ("a.py", CLASS, CLASS + "\n    def flush(self):\n        pass\n", ["flush"]),
    ("a.py", CLASS, CLASS + "\n    @property\n    def size(self):\n        return 1\n", ["size"]),
    ("a.py", CLASS, CLASS.replace("        a = 1\n", "        if x:\n            a = 1\n", 1), ["load"]),
    ("a.c", C, C.replace("return a", "return 0"), ["int first(void)"]),
    ("a.c", C, C + "\nint third;\n", []),
    ("a.go", GO, GO.replace("return a", "return 0"), ["First"]),
    ("a.go", GO, GO.replace("}\n\nfunc Second", "}\n\nvar x = 1\n\nfunc Second"), []),
    ("a.js", JS, JS.replace("return a", "return 0"), ["first"]),
    ("a.js", JS, JS.replace("}\n\nfunction second", "}\n\nfunction mid() {\n  return 1;\n}\n\nfunction second"), ["mid"]),
    ("a.js", JS, JS.replace("return 2", "return 0"), ["second"]),
    ("a.md", "# One\n\na\n\n# Two\n\nb\n", "# One\n\na\n\n# Two\n\nc\n", ["Two"]),
    ("a.md", "# One\n\na\n", "# One\n\na\n\n# Two\n\nb\n", ["Two"]),
)  # fmt: skip


def test_what_is_touched(repo: Repo) -> None:
    for n, (file, before, _, _) in enumerate(CASES):
        repo.write(f"{n}/{file}", before)
    repo.commit("one", {".gitattributes": "*.py diff=python\n*.go diff=golang\n*.md diff=markdown\n"})
    for n, (file, _, after, names) in enumerate(CASES):
        repo.write(f"{n}/{file}", after)
        for unified in (0, 3):
            diff = repo.git("diff", f"--unified={unified}", "HEAD", "--", f"{n}/{file}")
            found = touched(diff[diff.index("@@ ") :].encode(), file)
            if unified:
                assert found == names, after
            else:  # without the lines around it less is known, and what is defined is known all the same
                assert not found or set(names) <= set(found) or names == [], after


ENDED = (
    ("a.py", "def total(self):\n     return 1\n \n def tax(x):\n-    return 5\n+    return 6", ["tax"]),
    ("a.py", "def total(self):\n     a = 1\n-    b = 2\n+    b = 3\n \n def tax(x):\n     pass", ["total"]),
    ("a.py", "def total(self):\n     a = 1\n \n+def tax(x):\n+    pass", ["tax"]),
    ("a.py", "class Cart:\n     x = 1\n \n+    def add(self):\n+        pass", ["Cart", "add"]),
    ("a.md", "## Install\n text\n \n ## Deploy\n \n x\n+## Rollback\n+\n+Run y.", ["Rollback"]),
    ("a.md", "## Install\n text\n-old\n+new", ["Install"]),
)


def test_what_has_ended_before_the_change_is_not_touched() -> None:
    assert [row for row in ENDED if touched(f"@@ -9 +9 @@ {row[1]}".encode(), row[0]) != row[2]] == []
