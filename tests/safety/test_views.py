"""Views: what they show, that each place in them is found in the text again, and that they take linear time."""

from __future__ import annotations

import base64
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memcli.safety import patterns
from memcli.safety.secrets import views
from memcli.safety.secrets.detector import Detector
from memcli.safety.secrets.redact_memory import redact_fields
from memcli.safety.secrets.views import TextView
from tests.safety.secrets_corpus import secret

TOKEN = secret("github_token", 7)[1]
PIECES = st.sampled_from(
    ["abc", "Zürich ", "\u00ad", "\ufe0f", "\x1b[31m", "\x1b]0;t\x07", "\uff21", "%3D", "%e9", "\\u0022", "\\x3d", "&quot;", "&#61;", "=3D", "=\n", "\\n",
     '" + "', "\\\n  ", f"\n{'Ab3+' * 17}\n", "\n> ", "0123456789abcdefXYZ", "密码", " ", "\n"]
)  # fmt: skip
TEXTS = st.lists(PIECES, max_size=30).map("".join)


def all_views(text: str) -> list[TextView]:
    data = text.encode("utf-8", "surrogatepass")
    made = (views.plain(text, data), views.unescaped(data), views.armoured(data), views.joined(data))
    return [view for view in made if view is not None]


@pytest.mark.parametrize("plenty", [0, 1 << 40], ids=["with RE2", "without"])
@given(text=TEXTS)
def test_every_place_leads_back(plenty: int, text: str) -> None:
    data = text.encode()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(patterns, "_PLENTY", plenty)
        for view in all_views(text):
            shown = view.text.encode()
            last = 0
            for at, start, end, is_literal in view.pieces:
                assert last <= start <= end <= len(data)
                last = end
                if is_literal:
                    size = end - start
                    assert shown[at : at + size] == data[start:end]
                    assert view.origin(at, at + size) == (start, end)


def key_lines(count: int, length: int) -> list[str]:
    """Lines as those of a key in base64, the last one shorter."""
    made = b"".join(sha256(bytes([n])).digest() for n in range(count * length // 32))
    data = base64.b64encode(made[: count * length * 3 // 4 - 17]).decode()
    return [data[at : at + length] for at in range(0, len(data), length)]


@pytest.mark.parametrize("before", ["", "+", "-", "  ", "+  ", "# ", "> "])
@pytest.mark.parametrize("length", [64, 70, 76])
def test_a_key_is_found_without_its_first_lines(before: str, length: int) -> None:
    lines = key_lines(8, length)
    end = f"-----END {'OPENSSH'} PRIVATE KEY-----"
    find = Detector({}, lambda _: "0" * 8)
    for part in (lines[3:], [*lines[3:], end], [*lines[-2:], end], lines[2:4], lines[2:5]):
        text = "\n".join(["d.yaml", "@@", *(before + line for line in part), "-port: 22", "+port: 2222"])
        clean, hits = find.redact(text)
        assert [hit.kind for hit in hits] == ["private_key"], part
        assert [line for line in part if line in clean and len(line) > 20] == []
        assert clean.endswith("-port: 22\n+port: 2222"), part


@pytest.mark.parametrize("form", [
    '    "{}\\n"', '    b"{}\\n"', "    '{}',", "    '{}' +", "    '{}' + \\", "; {}", "<!-- {} -->", "`{}`", "  | {}",
])  # fmt: skip
def test_a_part_of_a_key_is_found_in_what_surrounds_each_line(form: str) -> None:
    lines = key_lines(9, 64)[2:7]
    clean, hits = Detector({}, lambda _: "0" * 8).redact("\n".join(map(form.format, lines)))
    assert ([hit.kind for hit in hits], [line for line in lines if line in clean]) == (["private_key"], [])


def test_a_header_elsewhere_hides_no_key() -> None:
    lines, find = key_lines(9, 64), Detector({}, lambda _: "0" * 8)
    begin, end = "-----BEGIN RSA" + " PRIVATE KEY-----", "-----END RSA" + " PRIVATE KEY-----"
    for text in (
        "\n".join(
            ["v.yaml", "@@", "+# changed", " key: |", f"   {begin}", "@@ key: |", *(f"   {one}" for one in lines)]
        ),
        "\n".join([f"Files start with {begin} as usual.", "", "More text.", "", *lines[3:], end]),
        '{"key": "' + "\\n".join([*lines[3:], end, ""]) + '"}',
    ):
        clean, _ = find.redact(text)
        assert [line for line in lines if line in clean] == [], text


def test_what_is_no_private_key_stays() -> None:
    lines = key_lines(6, 64)
    paths = [f"- src/main/java/com/example/application/{n}/services/implementation" for n in ("api", "web", "data")]
    names = [f"  useGetOrganizationMembersInvitationsPendingListQueryInfinite{n}," for n in "ABC"]
    image = ["![x](data:image/png;base64,", *lines, ")"]
    public = ["---- BEGIN SSH2 PUBLIC KEY ----", "Comment: x", *lines, "---- END SSH2 PUBLIC KEY ----"]
    digests = [sha256(line.encode()).hexdigest() for line in lines]
    certificate = ["-----BEGIN CERTIFICATE-----", *lines, "-----END CERTIFICATE-----"]
    words = ["A line of a text that is as long as one of a key, and has blanks."] * 3
    for text in ("\n".join(part) for part in (digests, certificate, words, lines[:1], paths, names, image, public)):
        assert Detector({}, lambda _: "0" * 8).redact(text) == (text, [])


def test_no_disguise_helps() -> None:
    disguises = [
        TOKEN[:9] + "\u00ad" + TOKEN[9:], TOKEN[:2] + "\u034f" + TOKEN[2:], TOKEN[:20] + "\ufe0f" + TOKEN[20:], TOKEN[:4] + "\u200b" + TOKEN[4:],
        TOKEN[:12] + "\x1b[1;31m" + TOKEN[12:], "\x1b[32m" + TOKEN, "\\n" + TOKEN, "\\t" + TOKEN, "x%3D" + TOKEN, "say%20" + TOKEN, "key_" + TOKEN,
        TOKEN[:20] + '" + "' + TOKEN[20:], TOKEN[:20] + "\\\n    " + TOKEN[20:], TOKEN[:24] + "\n" + TOKEN[24:], TOKEN[:24] + "=\n" + TOKEN[24:],
        base64.b64encode(TOKEN.encode()).decode(), base64.b64encode(base64.b64encode(TOKEN.encode())).decode(), TOKEN.encode().hex(), "".join(chr(ord(char) + 0xFEE0) for char in TOKEN),
    ]  # fmt: skip
    for hidden in disguises:
        clean, hits = Detector({}, lambda _: "").redact(f"first {hidden} last")
        assert [hit.kind for hit in hits] == ["github_token"], hidden
        assert (clean[:6], clean[-5:]) == ("first ", " last")
        assert not any(part in clean for part in (TOKEN[5:9], TOKEN[13:19], TOKEN[26:34])), hidden


def test_repeats_take_linear_time() -> None:
    """A search that took quadratic time would not end."""
    pieces = [" ", "\t", "\n", '"', "'", "\\", "%", "=", "&#", "\x1b[", "IIII", "61", "a" * 16 + "\n", '"+"', "password: ", "password=", "key:", "login a/", "|",
     "-----BEGIN ", "[REDACTED:", "pass is ", "root:", "\\n", "value: ", "name: password, "]  # fmt: skip
    for piece in pieces:
        Detector({}, lambda _: "").find(piece * (50_000 // len(piece)))


def test_a_dump_that_begins_a_text_is_read() -> None:
    data = b"kubeadm join --token vlp9x4." + b"h6ekgrywmxyndtsl"
    rows = [data[at : at + 16].hex(" ", 2) for at in range(0, len(data), 16)]
    dump = "".join(f"{16 * n:08x}: {row}  ......\n" for n, row in enumerate(rows))
    assert redact_fields(Detector({}, lambda _: "0" * 8), {"raw": dump}).kinds == {"kubeadm_token": 1}
