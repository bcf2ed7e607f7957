"""Where a symbol is defined, in each language."""

from __future__ import annotations

import pytest

from memcli.code.symbols import find_symbol

PYTHON = '''\
import os

LIMIT = 5


class Token:
    """It is `def refresh(): pass`."""

    @property
    @cached
    def refresh(self) -> str:
        text = """
def fake():
"""
        return text

    async def revoke(self): ...


def func(
    a: int,
) -> int:
    return a

if os.name == "nt":
    def other(): return 1
else:
    def other():
        return 2
'''
TYPESCRIPT = """\
// class Token { refresh() {} }
export class Token<T> extends Base {
  private map = new Map();

  @Memo() async refresh(id: string, { a } = {}): Promise<{ b: number }> {
    const text = "} not the end {";
    if (text) { this.refresh(text); }
    return `${text} }`;
  }

  revoke = async (id: string) => {
    await this.refresh(id);
  };
}

export const hash = (x: string) => x;
export const LIMIT: number = 5;

export interface Options {
  a: string;
}

function func(a: { b: number }): { c: number } {
  return { c: a.b };
}

const long = (x: string) =>
  x.length
    + 1;

type Id = string;
"""
GO = """\
package auth

type Token struct {
	id string
}

func (t *Token) Refresh(ctx context.Context) (string, error) {
	s := "}"
	return s, nil
}

func (t Other) Refresh() error {
	return nil
}

func New[T any](id T) *Token { return &Token{} }
"""
RUST = """\
pub struct Token<'a> {
    id: &'a str,
}

impl<'a> Token<'a> {
    pub(crate) async fn refresh(&self, c: char) -> Result<String, Error> {
        if c == '{' { return Err(Error::new("}")); }
        Ok(String::new())
    }
}

impl fmt::Display for Other {
    fn refresh(&self) -> u8 {
        1
    }
}

const LIMIT: usize = 5;
"""
JAVA = """\
package a;

@Entity("x")
public class Token extends Base<String> {
    private static final int LIMIT = 5;

    public Token(String id) { this.id = id; }

    @Override
    public <T> List<T> refresh(final String id)
            throws IOException {
        call(refresh(id));
        return null;
    }

    public void refresh(int n) {
        if (n > 0) {
            refresh("x");
        }
    }

    abstract void nothing(int n);
}
"""
CPP = """\
#include <x>
int refresh(int a);

namespace auth {
class Token {
 public:
  Token() : a_(1), b_{2} { go(); }
  int size() const { return a_; }
};

std::string Token::refresh(const char *c) const
{
  // }
  return "{";
}
}

static int func(struct x *p)
{
\treturn refresh(1);
}
"""
RUBY = """\
module Auth
  class Token
    LIMIT = 5

    def refresh(id)
      if id
        1
      end
      # end
    end

    def self.make = new

    def valid?
      true
    end
  end
end
"""


@pytest.mark.parametrize(
    ("text", "file", "symbol", "lines"),
    [
        (PYTHON, "a.py", "Token", [(6, 17)]),
        (PYTHON, "a.py", "Token.refresh", [(9, 15)]),
        (PYTHON, "a.py", "refresh", [(9, 15)]),
        (PYTHON, "a.py", "Token::revoke", [(17, 17)]),
        (PYTHON, "a.py", "func", [(20, 23)]),
        (PYTHON, "a.py", "other", [(26, 26), (28, 29)]),
        (PYTHON, "a.py", "LIMIT", [(3, 3)]),
        (PYTHON, "a.py", "fake", []),
        (PYTHON, "a.py", "Token.func", []),
        ("def func():\n    print 'two'\n\n    return 1\n\n\ndef other():\n    pass\n", "a.py", "func", [(1, 4)]),
        ('def func(\n    a,\n):\n    """Text.\n    """\n\nprint "two"\n', "a.py", "func", [(1, 5)]),
        (TYPESCRIPT, "a.ts", "Token", [(2, 14)]),
        (TYPESCRIPT, "a.ts", "Token.refresh", [(5, 9)]),
        (TYPESCRIPT, "a.ts", "Token.revoke", [(11, 13)]),
        (TYPESCRIPT, "a.ts", "hash", [(16, 16)]),
        (TYPESCRIPT, "a.ts", "LIMIT", [(17, 17)]),
        (TYPESCRIPT, "a.ts", "Options", [(19, 21)]),
        (TYPESCRIPT, "a.ts", "func", [(23, 25)]),
        (TYPESCRIPT, "a.ts", "long", [(27, 29)]),
        (TYPESCRIPT, "a.ts", "Id", [(31, 31)]),
        (TYPESCRIPT, "a.ts", "nothing", []),
        (GO, "a.go", "Token", [(3, 5)]),
        (GO, "a.go", "Token.Refresh", [(7, 10)]),
        (GO, "a.go", "Refresh", [(7, 10), (12, 14)]),
        (GO, "a.go", "New", [(16, 16)]),
        (RUST, "a.rs", "Token", [(1, 3)]),
        (RUST, "a.rs", "Token::refresh", [(6, 9)]),
        (RUST, "a.rs", "Other::refresh", [(13, 15)]),
        (RUST, "a.rs", "LIMIT", [(18, 18)]),
        (JAVA, "Token.java", "Token", [(4, 23)]),
        (JAVA, "Token.java", "Token.refresh", [(10, 14), (16, 20)]),
        (JAVA, "Token.java", "Token.Token", [(7, 7)]),
        (JAVA, "Token.java", "Token.LIMIT", [(5, 5)]),
        (CPP, "a.cc", "Token", [(5, 9)]),
        (CPP, "a.cc", "Token::refresh", [(11, 15)]),
        (CPP, "a.cc", "auth::Token::refresh", [(11, 15)]),
        (CPP, "a.cc", "Token::size", [(8, 8)]),
        (CPP, "a.cc", "func", [(18, 21)]),
        (RUBY, "a.rb", "Token", [(2, 17)]),
        (RUBY, "a.rb", "Auth::Token#refresh", [(5, 10)]),
        (RUBY, "a.rb", "Token.make", [(12, 12)]),
        (RUBY, "a.rb", "Token#valid?", [(14, 16)]),
    ],
    ids=lambda value: value if isinstance(value, str) and "\n" not in value else "",
)
def test_where_it_is_defined(text: str, file: str, symbol: str, lines: list[tuple[int, int]]) -> None:
    assert find_symbol(text, symbol, file) == lines


@pytest.mark.parametrize(
    "text",
    ["(" * 30_000, "a(" * 20_000, "a(\n" * 20_000, "def a\n" * 30_000, "/*" * 20_000, '"\\' * 20_000, "`\\" * 50_000,
     "'" * 100_000, "a " * 100_000, "a\n" * 100_000, "-" * 100_000 + "a", "{" * 100_000, "class a {" * 30_000, "\x00a\ud800",
     "a.b" * 20_000, "impl " * 40_000, "if a:\n" * 50_000],
    ids=lambda text: repr(text[:9]),
)  # fmt: skip
def test_no_file_keeps_it_busy(text: str) -> None:
    for file in ("x.py", "x.js", "x.c", "x.rb"):
        find_symbol(text, "a", file)
        find_symbol(text, "b.a", file)


def test_no_symbol_keeps_it_busy() -> None:
    for file in ("x.py", "x.js"):
        assert find_symbol(PYTHON, "a." * 100_000, file) == []
        assert find_symbol(PYTHON, "(" * 100_000, file) == []
        assert find_symbol(PYTHON, ".", file) == []
    assert find_symbol("if x: pass\n" + "elif x: pass\n" * 3_000 + "else:\n    a = 1\n", "b", "x.py") == []
