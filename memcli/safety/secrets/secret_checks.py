"""Checks whether a match of a rule is a secret: those that rules name, and those of a value by the label of its name."""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Callable, Mapping
from functools import lru_cache

from memcli.safety.patterns import read_json
from memcli.safety.secrets.labels import FOREIGN, FOREIGN_PHRASES, PASSWORD_WORDS, Label, label_of
from memcli.safety.secrets.passwords import (
    ARGUMENT,
    MARKUP,
    STRING_ENDS,
    entropy,
    has_brackets,
    is_common,
    is_given_password,
    is_pass_phrase,
    is_reference,
    is_spoken_password,
    is_stand_in,
)
from memcli.safety.secrets.rules import SecretRule

_CODE = re.compile(
    r"[*&!-]{0,2}(?:[A-Za-z_][\w-]*[.:/>(\\]+)*[A-Za-z_]\w*(?:[(\[].*)\Z|[*&!]{0,2}(?:[A-Za-z_][A-Za-z_-]*\d{0,2}[A-Za-z_]*(?:[.:/-]|->|::))*"
    r"[A-Za-z_]+\d{0,2}\Z|[a-z_]+=[a-z_.]+\d{0,2}\Z"
)
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\Z", re.IGNORECASE)
_HEX = re.compile(r"(?:0x)?[0-9a-fA-F]+\Z")
_ODD_CASE = re.compile(r"[A-Z][a-z](?=[A-Z])|[a-z][A-Z]{2}(?=[a-z])")
_CAMEL = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_CONSONANTS = re.compile(r"[BCDFGHJKLMNPQRSTVWXZ]{5}")
_CHOSEN = re.compile(r"[A-Za-z]{6,}\d{2,4}\Z")
_VOWEL = re.compile(r"[aeiouyAEIOUY]")


def is_token(value: str, label: Label) -> bool:
    """Whether the value assigned to the name of a token or key is generated."""
    if " " in value or len(value) < (10 if label is Label.KEY else 16):
        return False
    is_upper = value.isascii() and value.isalpha() and value.isupper()
    # Only capital letters, with runs of consonants that no language has.
    is_unspoken = is_upper and len(value) >= 16 and entropy(value) >= 3.0 and _CONSONANTS.search(value) is not None
    if is_unspoken or _UUID.match(value):
        return True
    if _HEX.match(value):
        return len(value) >= 20 and not value.isdigit() and entropy(value) > 2.8
    is_shuffled = sum(c.isdigit() for c in value) >= 3 or len(_ODD_CASE.findall(value)) > 2
    if not is_shuffled and _CODE.match(value):  # a name in code or of a resource
        return (
            label is Label.KEY
            and _CHOSEN.match(value) is not None
            and is_given_password(value, is_quoted=False, is_config=False)
        )
    if label is Label.KEY and value.isalnum() and sum(c.isdigit() for c in value) > 1:
        return is_given_password(value, is_quoted=True, is_config=True)
    least = 3.4 if len(value) >= 24 else 3.0 if label is Label.TOKEN else 2.7
    return is_made_of_both(value) and entropy(value) >= least and not reads(value)


def is_made_of_both(value: str) -> bool:
    """Whether `value` has letters and digits, or changes of case that no name has."""
    return any(c.isalpha() for c in value) and (any(c.isdigit() for c in value) or len(_ODD_CASE.findall(value)) > 1)


def reads(value: str) -> bool:
    """Whether most letters of `value` are pronounceable words, as in names of things and not in tokens."""
    letters = sum(c.isalpha() for c in value)
    spoken = [word for word in _CAMEL.findall(value) if len(word) >= 3 and _VOWEL.search(word)]
    digits = sum(c.isdigit() for c in value)
    has_all_cases = re.search(r"[A-Z]{2}", value) is not None and re.search(r"[a-z]{2}", value) is not None
    return sum(map(len, spoken)) * 4 >= letters * 3 and digits * 4 <= len(value) and not (has_all_cases and digits > 2)


OPENING = ("(", "[")
CLOSING = ")]}>,;"
QUOTES = ('"', "'", "`")
_SIGN = re.compile(
    r"[\\\"'`\])*_]{0,6}[\t ]{0,8}(?:=>|:=|->|[:=,|：]|→|is|was)\*{0,2}\s{0,40}(?:[|>][+-]?\d?[\t ]*\n\s{0,40})?\*{0,2}(?:[brfuBRFU]{0,2}\\{0,3}[\"'`]|)\Z"
)
_SAYS_NAME = re.compile(r"[\"'`][\])]?\s*\Z|:\w+\s*\Z|\b[A-Z][A-Z0-9_.]+\s*\Z")
_LONGEST_NAME = 60
_NAME = re.compile(r"(?:[^\W\d_][\w-]* ){0,2}[\w.'-]+\Z")
_LONG_NAME = re.compile(r"[\w.-]{3,80}")
_TYPED = re.compile(r"([\w.-]+)\s*:\s*[\w\[\]| .]+[\t ]*=\s*(?:[brfuBRFU]{0,2}\\?[\"'`]|)\Z")
_SETTING = re.compile(r"[+-]?[A-Za-z][\w.-]*=")
_DIGEST_LIKE = re.compile(r"[0-9a-f]{7,12}\Z|[0-9a-f]{40}\Z")
_ARN = re.compile(r"\barn:\S*\Z")


def is_assigned_secret(value: str, before: str, after: str) -> bool:
    """Whether the value assigned to a name such as `api_key` or `password` is a secret, and not a word, a name or a digest."""
    if after in OPENING:
        return False
    is_quoted = before[-1:] in QUOTES
    sign = _SIGN.search(before, max(0, len(before) - _LONGEST_NAME))
    head = before[: sign.start()] if sign else before
    if _ARN.search(head) or (is_quoted and STRING_ENDS.match(value)):
        return False
    # The name is directly before the sign, or before a type annotation.
    label = label_of(_last_name(head))
    if label is None and (typed := _TYPED.search(before[-_LONGEST_NAME:])):
        label = label_of(_last_name(typed[1]))
    value = value.strip() if is_quoted else value.rstrip(CLOSING)
    if label is None or is_reference(value) or (not is_quoted and has_brackets(value)):
        return False
    if label is not Label.PASSWORD:
        named = ARGUMENT.match(value)
        return is_token(value[named.end() :] if named else value, label)
    if sign and "," in sign[0]:  # the value may be an item of a list, in which bare words are names
        if not _SAYS_NAME.search(before[: sign.start() + sign[0].index(",")]):
            return False  # the password itself is an argument, in a variable
        return any(c.isdigit() for c in value) and is_given_password(value, is_quoted=True, is_config=True)
    is_prose = after == " " and value.isalpha() and sign is not None and sign[0].lstrip("\\\"'`])*_").startswith(":")
    is_config = is_quoted or (_is_config(head, before, after) and not is_prose)
    return is_given_password(value, is_quoted=is_quoted, is_config=is_config)


def is_paired_secret(value: str, before: str, after: str) -> bool:  # noqa: ARG001
    """Whether the value beside a name, as in `{"name": "DB_PASSWORD", "value": ...}`, is a secret of its label."""
    names = [label for word in _LONG_NAME.findall(before)[-6:] if (label := label_of(word))]
    value = value.strip()
    if not names or is_reference(value):
        return False
    if names[-1] is Label.PASSWORD:
        return is_given_password(value, is_quoted=True, is_config=True)
    return is_token(value, names[-1])


def is_foreign_secret(value: str, before: str, after: str) -> bool:
    """Whether the text after the word for a password or a key in another language is one."""
    is_quoted = before[-1:] in (*QUOTES, "“", "„", "«", "「", "『")
    low = before.lower()
    label = max(
        (low.rfind(word), word in PASSWORD_WORDS or " " in word or "-" in word) for word in (*FOREIGN, *FOREIGN_PHRASES)
    )
    sign = before.rstrip("\"'`*_ \t　「『“„«")[-1:]
    is_torn = after.isalpha() and after < "\u2e80"  # a word continues with a letter outside of ASCII
    if after in OPENING or is_torn or is_reference(value) or (not is_quoted and has_brackets(value)):
        return False
    if not label[1]:
        return is_token(value, Label.KEY if sign in ":=：" else Label.TOKEN)
    if sign in ":=：":
        return is_given_password(value, is_quoted=is_quoted, is_config=True)
    return is_spoken_password(value, is_quoted=is_quoted)


def is_spaced_secret(value: str, before: str, after: str) -> bool:  # noqa: ARG001
    """Whether the value after a name and blanks, as in `ENV DB_PASSWORD x`, is a secret of its label."""
    words = before.rstrip("\"'` \t").split()
    label = (
        Label.PASSWORD
        if words and words[-1] in ("requirepass", "masterauth", "rootpw")
        else label_of(words[-1] if words else "")
    )
    if label is None or is_reference(value):
        return False
    if label is Label.PASSWORD:
        return is_given_password(value, is_quoted=before[-1:] in QUOTES, is_config=True)
    return is_token(value, label)


def is_session(value: str, before: str, after: str) -> bool:  # noqa: ARG001
    """Whether the value of a session cookie is an id, which may be shorter and less random than a token."""
    is_mixed = value.isalnum() and sum(c.isdigit() for c in value) > 1 and not value.isdigit() and entropy(value) >= 3.2
    return not is_reference(value) and (is_mixed or is_token(value, Label.TOKEN))


def _last_name(text: str) -> str:
    """The last words of a text that can be one name."""
    found = _NAME.search(text[-_LONGEST_NAME:].rstrip("\\\"'`])}*_ \t"))
    return found[0] if found else ""


def _is_config(head: str, before: str, after: str) -> bool:
    """Whether an unquoted value is in settings, a shell or a note, and not in code."""
    line = head.rpartition("\n")[2]
    sign = before[len(head) :].strip()
    name = _last_name(head)
    is_alone = after in ("", "\n", "\r", " ", "|", "&", ";", "<", "\\") and after != ";"
    starts_line = line.strip(" \t+->*#_`|\"'") == name.strip() or line.lstrip("+- \t").startswith(
        ("export ", "ENV ", "ARG ", "$env:")
    )
    if name.rpartition(".")[2].replace("_", "").isupper():
        return "=" in sign or starts_line
    return is_alone and starts_line and (sign != "=" or before[-1:] == "=" or "." in name)


Judge = Callable[[str, str, str], bool]
"""A check whether a value is a secret, given the text before it (at most 200 bytes) and the character after it."""
_WORDS = read_json(__package__, "words.json")
_WEAK = frozenset(_WORDS["weak"])
_DULL_MAIL = re.compile(
    r"(?:git|hg|svn|noreply|no-reply|no_reply|donotreply|do-not-reply|root|[\w.+-]*\+?noreply)@|"
    r"[^@]+@(?:[\w-]+\.)*(?:example(?:\.(?:com|org|net|edu))?|noreply\.github\.com|noreply\.gitlab\.com|[\w-]*noreply[\w.-]*)\Z|"
    r"[^@]+@(?:[\w-]+\.)+(?:test|invalid|localhost|local|example|internal|lan|localdomain|png|jpe?g|gif|svg|webp|ico|pdf|py|pyc|js|mjs|"
    r"cjs|ts|tsx|jsx|css|scss|html?|xml|json|ya?ml|toml|md|rst|txt|csv|log|lock|rs|go|rb|java|kt|c|h|cc|cpp|sh|zip|gz|tgz|tar|"
    r"whl|service|socket|timer|target|mount|slice|setter|getter|deleter|cache|property|fixture|mark)\Z",
    re.IGNORECASE,
)
_LOGIN = re.compile(r"(?:\b(?:ssh|scp|rsync|sftp|mosh|ssh-copy-id)\b[^\n]*|//\S*|@)\Z")
_ARMOUR_TEXT = re.compile(r"(?:[A-Za-z0-9+/=]{24,}|\\n|[\r\n])")
_PORT = re.compile(r"(?:[\d.]+:)*\d{1,5}(?::\d{1,5})?(?:/(?:tcp|udp))?\Z")
_JOINED = re.compile(r"[A-Za-z]+(?:[_-][A-Za-z]+)+\Z")
_FUNCTION_WORDS = frozenset(
    "the and for are was with from into they them their which were have has should would".split()
)
_LONG_BASE64 = re.compile(r"[A-Za-z0-9+/=]{32,}")
_STRONG_SIGNS = "!@#$%^&*"
_LOGIN_IN_A_NAME = re.compile(r"(?:log-?in|log-?on|sign-?in|creds?|credentials?)[.-]\w[\w.+-]*/\Z")


def is_prose_password(value: str, before: str, after: str) -> bool:
    """Whether the word after `the password is` is a password, and not a word of the sentence or code."""
    is_quoted = before[-1:] in QUOTES
    if MARKUP.search(value) or (is_quoted and STRING_ENDS.match(value)):
        return False
    if before.endswith("\n") and _SETTING.match(value):  # the next setting, below an empty one
        return False
    return after != "(" and not is_reference(value) and is_spoken_password(value.strip("*_"), is_quoted=is_quoted)


def is_url_password(value: str, before: str, after: str) -> bool:  # noqa: ARG001
    """Whether the password in a URL is a real one, and not the name of the user, a placeholder or a weak example."""
    user = before.rstrip(":").rpartition("/")[2]
    return (
        bool(value)
        and value != user
        and value.lower() not in _WEAK
        and not (_JOINED.match(value) and label_of(value))
        and value[0] not in "${<%*["
        and len(value) >= (8 if value.isalpha() and value.islower() else 4)
    )


def is_typed_password(value: str, before: str, after: str) -> bool:
    """Whether the value of a password option on a command line is a password."""
    is_quoted = before[-1:] in QUOTES
    value = value if is_quoted else value.rstrip(CLOSING)
    if after in OPENING or value.startswith(("-", "$")) or is_reference(value):
        return False
    return is_given_password(value, is_quoted=is_quoted, is_config=is_quoted or any(c.isdigit() for c in value))


def is_basic_credentials(value: str, before: str, after: str) -> bool:  # noqa: ARG001
    """Whether the value is `user:password` in base64 with a real password."""
    try:
        user, colon, password = b64decode(value + "=" * (-len(value) % 4), validate=True).decode().partition(":")
    except ValueError:
        return False
    return bool(colon) and user.isprintable() and password.isprintable() and is_url_password(password, f"{user}:", "")


def is_key_material(value: str, before: str, after: str) -> bool:  # noqa: ARG001
    """Whether the text between the header and footer of a key is a key, and not prose."""
    body = value.replace("\\n", "\n").replace("\\r", "")
    if entropy(body) < 4:  # entropy, and not runs of equal characters: real keys have long runs of A
        return False
    return _LONG_BASE64.search(body) is not None or len(_ARMOUR_TEXT.findall(body)) > 8


def is_flag_password(value: str, before: str, after: str) -> bool:  # noqa: ARG001
    """Whether the value of a password flag of a program is a password."""
    value = value if before[-1:] in QUOTES else value.rstrip(CLOSING)
    if value.startswith(("-", "$", "/", "%", "{")) or is_reference(value) or _PORT.match(value):
        return False
    return is_given_password(value, is_quoted=True, is_config=True) and (
        not value.isalpha() or is_common(value) or len(value) >= 8
    )


def is_argument(value: str, before: str, after: str) -> bool:  # noqa: ARG001
    """Whether a quoted argument at the position of a password is one."""
    value = value.strip()
    if is_reference(value) or value.lower() in _WEAK:
        return False
    return is_given_password(value, is_quoted=True, is_config=False) and not (
        value.isalpha() and value.islower() and len(value) < 10
    )


def is_login_pair(value: str, before: str, after: str) -> bool:  # noqa: ARG001
    """Whether the text after `user: ... pass:` is a password: any that has letters and digits, or is a frequent one."""
    bare = value.rstrip(CLOSING + ".")
    has_digits = any(c.isdigit() for c in bare) and any(c.isalpha() for c in bare)
    return (
        after not in OPENING
        and not is_reference(bare)
        and bare.lower() not in _WEAK
        and (has_digits or is_common(bare))
        and "(" not in bare
    )


def is_below(value: str, before: str, after: str) -> bool:  # noqa: ARG001
    """Whether a word alone on the line below a label is a secret of that label."""
    if is_reference(value) or (not any(c.isdigit() for c in value) and not is_common(value)):
        return False
    head = before.rstrip("\"'`*#>-/ \t\r\n:").lower()
    if head.endswith(("token", "secret", "key")):
        return is_token(value, Label.KEY)
    return is_spoken_password(value, is_quoted=False) and not value.endswith((":", ",", "{", "(", ";"))


def is_seed_phrase(value: str, before: str, after: str) -> bool:  # noqa: ARG001
    """Whether many words are the seed phrase of a wallet: no words of grammar, and at most two repetitions."""
    words = re.findall(r"[a-z]{3,8}", value)
    return len(words) >= 12 and len(set(words)) >= len(words) - 2 and _FUNCTION_WORDS.isdisjoint(words)


def is_code_list(value: str, before: str, after: str) -> bool:  # noqa: ARG001
    """Whether the text after `recovery codes` is a list of codes: every part has digits."""
    parts = re.findall(r"[0-9A-Za-z]{4,}(?:-[0-9A-Za-z]{4,})*", value)
    return bool(parts) and all(any(c.isdigit() for c in part) for part in parts) and entropy(value) > 2.5


JUDGES: Mapping[str, Judge] = {
    "seed": is_seed_phrase,
    "codes": is_code_list,
    "assigned": is_assigned_secret,
    "paired": is_paired_secret,
    "prose": is_prose_password,
    "foreign": is_foreign_secret,
    "spaced": is_spaced_secret,
    "cookie": is_session,
    "url": is_url_password,
    "flag": is_flag_password,
    "argument": is_argument,
    "login_pair": is_login_pair,
    "below": is_below,
    "typed": is_typed_password,
    "basic": is_basic_credentials,
    "key": is_key_material,
}
"""The checks of several statements; `judged` has the others."""


@lru_cache(1024)  # a text may repeat one line thousands of times
def judged(judge: str, value: str, before: str, after: str) -> bool:
    """The result of the check with the name `judge`."""
    digits = sum(c.isdigit() for c in value)
    match judge:
        case "token":  # the value of a header
            return not is_reference(value) and is_token(value, Label.TOKEN)
        case "prose_token":  # a key or token in a sentence
            bare = value.strip("*_")
            is_digest = _DIGEST_LIKE.match(bare) is not None
            return after not in OPENING and not is_reference(bare) and is_token(bare, Label.TOKEN) and not is_digest
        case "flag_token":  # after a flag such as `--api-key`, which may also have a file or a name
            bare = value.rstrip(CLOSING)
            return not bare.startswith(("-", "/", "./")) and not is_reference(bare) and is_token(bare, Label.KEY)
        case "mixed":
            return is_made_of_both(value) and not reads(value)
        case "phrase":
            return is_pass_phrase(value)
        case "paired_value":  # a quoted password
            return not is_reference(value) and is_given_password(value, is_quoted=True, is_config=True)
        case "netrc":  # the word after `password`, which may be a word of prose
            is_given = not is_reference(value) and is_given_password(value, is_quoted=False, is_config=True)
            return is_given or is_typed_password(value, before, after)
        case "beside":  # directly after `password`, where a value without digits or signs may be any word
            bare = value.strip("*_.,;:!?)")
            has_signs = any(c.isdigit() or c in _STRONG_SIGNS for c in bare)
            return (has_signs or is_common(bare)) and is_prose_password(value, "", after)
        case "account":  # after `admin:` or `root/`, where the next part of a name or path may follow
            is_made_up = digits > 1 and any(c.isalpha() for c in value)
            return (is_made_up or is_common(value)) and is_prose_password(value, "", after)
        case "login":  # after a user's name and a sign, as also in addresses and paths: `slow-login-9f2c/6-decision`
            is_name = _LOGIN_IN_A_NAME.search(before.lower()) is not None
            return "/" not in value and "::" not in value and not is_name and is_prose_password(value, "", after)
        case "setting":  # the last word of a line of settings, which may be the name of a mode
            has_signs = digits > 0 or any(c in _STRONG_SIGNS for c in value)
            return (has_signs or is_common(value)) and is_flag_password(value, before, after)
        case "email":  # not an example's, a robot's, a login on a host, the name of a file or package, or a call
            is_login = _LOGIN.search(before.rpartition("\n")[2]) is not None
            return not (_DULL_MAIL.match(value) or is_login or (after in ":/@(" and after))
    return JUDGES[judge](value, before, after)


def is_secret(rule: SecretRule, value: str, before: str, after: str) -> bool:
    """Whether all checks of the rule accept a value as a secret; one that raises an error does not clear it."""
    try:
        return (
            (not rule.entropy or entropy(value) >= rule.entropy)
            and (rule.judge in ("key", "email") or not is_stand_in(value))
            and (not rule.judge or judged(rule.judge, value, before, after))
        )
    except Exception:  # noqa: BLE001 - a text must neither stop a command nor pass unchecked
        return True
