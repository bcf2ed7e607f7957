"""Hostile names: what a space, a path or a file could be called by somebody who means harm, or by accident."""

from __future__ import annotations

from itertools import chain

_TRAVERSAL = (
    "..", "../..", "../x", "../../x", "a/../../x", "a/../b", "./x", ".", "a/./b", "/etc/passwd", "/tmp/x", "//x", "///",
    "a//b", "a/", "/", "~", "~/x", "~root/x", "$HOME/x", "..\\x", "..\\..\\x", "a\\..\\..\\x", "\\\\host\\share\\x",
    "C:\\x", "C:/x", "c:x", "file:///etc/passwd", "..%2fx", "%2e%2e/x", "%2e%2e%2fx", "..%5cx", "..;/x", "....//x",
    "..././x", "..\u2215x", "..\u2044x", "\u2025/x", "\uff0e\uff0e/x", ".. /x", " ../x", "..\t/x", "x/..", "x/../..",
    ".memory", ".memory/x", "../.memory", ".git", ".git/config", ".git/hooks/pre-commit", "local", "cache", "spaces",
    "local/main.lock", "../local/x", "../../outside", "../../outside/secret", "../spaces/main", "main.json", "main/../main",
)  # fmt: skip
_DEVICES = (
    tuple(
        chain.from_iterable(
            (n, n.upper(), f"{n}.txt", f"{n}.json", f"a/{n}", f"{n} ", f"{n}.") for n in ("con", "prn", "aux", "nul")
        )
    )
    + tuple(f"{n}{k}" for n in ("com", "lpt", "COM", "LPT") for k in (1, 2, 9))
    + ("com0", "conin$", "CONOUT$", "clock$")
)
_ENDS = (
    "a.", "a..", "a...", "a ", " a", "a. ", ".a", "..a", "-", "--", "-a", "a-", "_", "a/b.", "a./b", "a /b", " ", "",
)  # fmt: skip
_CONTROLS = tuple(f"a{chr(code)}b" for code in (*range(1, 32), 127, 128, 133, 155, 159))
_UNSEEN = tuple(
    f"a{chr(code)}b"
    for code in (
        0xAD, 0x34F, 0x61C, 0x115F, 0x180E, 0x200B, 0x200C, 0x200D, 0x200E, 0x200F, 0x2028, 0x2029, 0x202A, 0x202B, 0x202C,
        0x202D, 0x202E, 0x2060, 0x2061, 0x2066, 0x2067, 0x2068, 0x2069, 0x3000, 0x3164, 0xFE0F, 0xFEFF, 0xFFA0, 0xFFF9,
        0xFFFC, 0xFFFD, 0xFFFE, 0xFFFF, 0xE000, 0xE0001, 0xE0041, 0xE007F, 0xE0100, 0x10FFFF,
    )
)  # fmt: skip
_LOOKALIKES = (
    "m\u0430in", "ma\u0456n", "\uff4dain", "main\u0301", "MAIN", "Main", "mAiN", "ma\u0131n", "ma\u0130n", "\u212aey", "stra\u00dfe",
    "STRASSE", "e\u0301", "\u00e9", "\u1e9b\u0323", "\u2126", "\u03a9", "\ufb01le", "\u01c5", "\u0149", "\U0001f600", "\u4e2d\u6587",
    "\u05d0\u05d1", "\u0627\u0644", "a\u0300\u0301\u0302" * 20, "\u0f40\u0f72", "\u1100\u1161", "\uac00",
)  # fmt: skip
_SHELL = (
    "-rf", "--help", "--root", "--root=/tmp/x", "-s", "--version", "-", "--", "$(touch x)", "`touch x`", "${HOME}", "$HOME",
    "a;touch x", "a|touch x", "a&touch x", "a&&touch x", "a>x", "a<x", "a*", "a?", "[a]", "{a,b}", "!x", "!!", "#x", "'x'",
    '"x"', "a'b", 'a"b', "a\\", "\\", "\\n", "%s", "%n%n%n", "%00", "{0}", "{x.__class__}", "%(x)s", "a=b", "@x", "+x", "^x",
    "a:b", "a,b", "a b", "a\u00a0b", "(x)", "<x>", "<script>", "[red]x[/red]", "[link=x]y", "*x*", "_x_", "`", "```", "|", "||",
)  # fmt: skip
_JSON = (
    "null", "true", "1", "1e9", "[]", "{}", '{"a":1}', '"', "NaN", "\\u0000", "\\ud800", "'; DROP TABLE x; --",
    "a' OR '1'='1",
)  # fmt: skip
_LONG = (
    "a" * 64, "a" * 65, "a" * 255, "a" * 256, "a" * 300, "a" * 5000, "a/" * 150, "/".join("a" * 60 for _ in range(6)),
    "\U0001f600" * 70, "." * 300, "-" * 300, "a" * 252 + ".json", "../" * 100 + "etc/passwd", " " * 300, "e\u0301" * 150,
)  # fmt: skip
_BYTES = (
    b"\xff", b"a\xffb", b"\xc0\xaf", b"..\xc0\xaf..", b"\xed\xa0\x80", b"\xed\xbf\xbf", b"\xf4\x90\x80\x80", b"\xe2\x80",
    b"a\x80", b"\xfe\xfe", b"\xc3\x28", b"main\xff", b"\xef\xbb\xbfmain", b"\x80\x81\x82", b"../\xff",
)  # fmt: skip

NAMES: tuple[bytes, ...] = tuple(
    dict.fromkeys(
        [
            *(
                name.encode()
                for name in (
                    *_TRAVERSAL, *_DEVICES, *_ENDS, *_CONTROLS, *_UNSEEN, *_LOOKALIKES, *_SHELL, *_JSON, *_LONG,
                )
            ),
            *_BYTES,
        ]
    )
)  # fmt: skip
"""All of them, as the bytes of an argument. NUL cannot be in one; it comes in by way of JSON."""
