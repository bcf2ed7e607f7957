"""Labels: the words that introduce a secret, in the languages that people write; and values that no person would write."""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import Enum

from memcli.safety.secrets.passwords import entropy, is_given_password


class Label(Enum):
    """What the name of a value says about it."""

    PASSWORD = 1
    KEY = 2  # named as nothing but a secret is: api_key, client_secret
    TOKEN = 3  # a secret, or one of the many other things called token or key


PASSWORD_WORDS = (
    "password", "passwd", "passphrase", "passcode", "passwort", "kennwort", "losung", "wachtwoord", "senha", "contrasena", "contraseña",
    "clave", "mdp", "motdepasse", "haslo", "hasło", "heslo", "lösenord", "losenord", "adgangskode", "passord", "salasana", "jelszó", "jelszo",
    "parola", "parolă", "şifre", "sifre", "пароль", "пароля", "паролем", "пароли", "密码", "密碼", "口令", "パスワード", "暗証番号", "비밀번호",
    "암호", "סיסמה", "סיסמא", "رمز", "पासवर्ड", "รหัสผ่าน", "kodeord",
)  # fmt: skip
SECRET_WORDS = (
    "token", "secret", "credential", "credentials", "apikey", "geheimnis", "секрет", "токен", "令牌", "トークン", "シークレット",
    "토큰", "密钥", "密鑰", "秘钥", "秘密鍵", "キー", "schlüssel", "schluessel", "llave", "chave", "clé", "ключ", "klucz", "jeton", "ficha",
)  # fmt: skip
FOREIGN = tuple(word for word in (*PASSWORD_WORDS, *SECRET_WORDS) if not word.isascii() or word in (
    "passwort", "kennwort", "wachtwoord", "senha", "contrasena", "mdp", "motdepasse", "haslo", "heslo", "losenord", "adgangskode",
    "passord", "salasana", "jelszo", "parola", "sifre", "kodeord", "clave", "jeton", "geheimnis", "schluessel", "llave", "chave", "klucz",
))  # fmt: skip
FOREIGN_PHRASES = (
    "mot de passe",
    "mots de passe",
    "kata sandi",
    "mật khẩu",
    "palavra-passe",
    "كلمة المرور",
    "كلمة السر",
    "code d'accès",
    "palabra clave",
)
_SHORT_WORDS = frozenset(
    ["pwd", "pw", "pass", "psk", "pswd", "passw", "passkey", "pword", "psw", "mdp", "pin", "presharedkey"]
)
_PASSWORD_ENDS = ("password", "passwd", "passphrase", "passcode", "passwort", "kennwort", "wachtwoord")
_OWNERS = frozenset(
    "db database user admin root my ssh ftp mail email smtp imap pg mysql mariadb postgres redis mongo ldap sudo ansible become auth require http proxy login "
    "wifi wpa rabbitmq keystore truststore vault service app bind repl replication archive zip rpc vpn router the".split()
)
_PASSES = frozenset(
    "first second third last next one two single multi render shadow opt shader by can could must did tests all".split()
)
_JOINED_ENDS = re.compile(rf"(?:{'|'.join(sorted(_OWNERS))})(?:pass|pwd|pw|psk)\Z")
_KEY_QUALIFIERS = frozenset(
    "api access private auth encryption encrypt signing sign master account storage service session client app application consumer shared "
    "subscription license admin deploy webhook hmac aes jwt crypto cipher server root write secret bot integration ingest publishing".split()
)
_KEY_ENDS = tuple(f"{word}key" for word in sorted(_KEY_QUALIFIERS - {"sign", "app", "bot"}))
_TOKEN_ENDS = ("token", "secret", "jwt")
_STRONG_ENDS = ("secret", "secretkey", "accesskey", "privatekey", "apikey")
_MODIFIERS = frozenset(
    "prod production staging stage dev development test testing live sandbox old new current prev previous next backup primary secondary main "
    "default value plain plaintext raw text base64 b64 hex string local remote v1 v2 v3 eu us de uk internal external temp tmp initial here "
    "prd stg qa uat env now base".split()
)
_NOT_TOKENS = frozenset(
    "next page pagination continuation start starting cursor stop eos bos pad unk mask sep cls special cancellation cancel correlation position design "
    "change lock creation request update upload invocation parser syntax lexer sync resume marker idempotency contract erc20 last first current_page public reserved operator keyword".split()
)  # fmt: skip
_CAMEL = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?(?:[a-z]|[^\x00-\x7f])+|[A-Z]+|\d+")
KEY = rf"(?:(?:{'|'.join(sorted(_KEY_QUALIFIERS))})[_. -]?key|(?-i:[A-Z0-9]_KEY))"
"""What `key` must stand with to be a secret, for RE2 in any case."""
TAIL = rf"(?:[_.-]?(?:{'|'.join(sorted(_MODIFIERS, key=lambda w: (-len(w), w)))}|\d{{1,4}})){{0,2}}"
"""What may follow a label within its name."""
_PUBLIC = frozenset(
    [
        "public",
        "pub",
        "publishable",
        "hash",
        "hashed",
        "salt",
        "digest",
        "fingerprint",
        "primary",
        "foreign",
        "cache",
        "sort",
        "partition",
    ]
)


def label_of(name: str) -> Label | None:
    """What `name` says about the value it is given: its last words decide, so that `password_hasher` is no password."""
    words = [word.lower() for word in _CAMEL.findall(name)]
    while len(words) > 1 and (words[-1] in _MODIFIERS or words[-1].isdigit()):
        words.pop()
    if not words or not _PUBLIC.isdisjoint(words[-3:]):
        return None
    return _label(words, name)


def _is_pass_of_owner(owner: str, name: str) -> bool:
    """Whether `pass` is somebody's, and not the second pass of a compiler."""
    return owner in _OWNERS or (name.isupper() and owner not in _PASSES)


def _label(words: Sequence[str], name: str) -> Label | None:
    last = words[-1]
    if last == "pass" and len(words) > 1 and not _is_pass_of_owner(words[-2], name):
        return None
    if last in _SHORT_WORDS or last in PASSWORD_WORDS or last.endswith(_PASSWORD_ENDS) or _JOINED_ENDS.search(last):
        return Label.PASSWORD
    if words[-2:] in (
        ["pass", "word"],
        ["pass", "phrase"],
        ["pass", "code"],
        ["shared", "key"],
        ["preshared", "key"],
        ["wpa", "key"],
        ["wifi", "key"],
    ) or " ".join(words[-3:]).endswith(FOREIGN_PHRASES):
        return Label.PASSWORD
    if not _NOT_TOKENS.isdisjoint(words[-2:-1]):
        return None
    if (
        last.endswith(_STRONG_ENDS)
        or (last == "key" and not _KEY_QUALIFIERS.isdisjoint(words[-3:-1]))
        or last.endswith(_KEY_ENDS)
    ):
        return Label.KEY
    if words[-2:] == ["secret", "id"]:
        return Label.KEY
    if last in SECRET_WORDS or last.endswith((*_TOKEN_ENDS, *(w for w in SECRET_WORDS if not w.isascii()))):
        return Label.TOKEN
    if last in ("auth", "cookie", "bearer") or (last == "key" and name.isupper() and len(words) > 1):
        return Label.TOKEN
    return None


_CODE = re.compile(
    r"[*&!-]{0,2}(?:[A-Za-z_][\w-]*[.:/>(\\]+)*[A-Za-z_]\w*(?:[(\[].*)\Z|[*&!]{0,2}(?:[A-Za-z_][A-Za-z_-]*\d{0,2}[A-Za-z_]*(?:[.:/-]|->|::))*"
    r"[A-Za-z_]+\d{0,2}\Z|[a-z_]+=[a-z_.]+\d{0,2}\Z"
)
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\Z", re.IGNORECASE)
_HEX = re.compile(r"(?:0x)?[0-9a-fA-F]+\Z")
_ODD_CASE = re.compile(r"[A-Z][a-z](?=[A-Z])|[a-z][A-Z]{2}(?=[a-z])")
_SPOKEN = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_CONSONANTS = re.compile(r"[BCDFGHJKLMNPQRSTVWXZ]{5}")
_CHOSEN = re.compile(r"[A-Za-z]{6,}\d{2,4}\Z")
_VOWEL = re.compile(r"[aeiouyAEIOUY]")


def is_token(value: str, label: Label) -> bool:
    """Whether what the name of a token or key is given was made by a machine."""
    if " " in value or len(value) < (10 if label is Label.KEY else 16):
        return False
    if _UUID.match(value) or _is_unspoken(value):
        return True
    if _HEX.match(value):
        return len(value) >= 20 and not value.isdigit() and entropy(value) > 2.8
    if _is_code_name(value):
        return (
            label is Label.KEY
            and _CHOSEN.match(value) is not None
            and is_given_password(value, is_quoted=False, is_config=False)
        )
    if label is Label.KEY and value.isalnum() and sum(c.isdigit() for c in value) > 1:
        return is_given_password(value, is_quoted=True, is_config=True)
    least = 3.4 if len(value) >= 24 else 3.0 if label is Label.TOKEN else 2.7
    return is_made_of_both(value) and entropy(value) >= least and not reads(value)


def _is_unspoken(value: str) -> bool:
    """Whether letters alone stand in an order that no language has: consonants in long runs, in one case."""
    return (
        value.isascii()
        and value.isalpha()
        and value.isupper()
        and len(value) >= 16
        and entropy(value) >= 3.0
        and _CONSONANTS.search(value) is not None
    )


def _is_code_name(value: str) -> bool:
    """Whether it is a name in code or of a resource: words joined by dots, dashes, slashes, with few digits."""
    return _CODE.match(value) is not None and not _is_shuffled(value)


def _is_shuffled(value: str) -> bool:
    return sum(c.isdigit() for c in value) >= 3 or len(_ODD_CASE.findall(value)) > 2


def is_made_of_both(value: str) -> bool:
    """Whether there are digits among letters, or letters in such cases as no name has."""
    return any(c.isalpha() for c in value) and (any(c.isdigit() for c in value) or len(_ODD_CASE.findall(value)) > 1)


def reads(value: str) -> bool:
    """Whether most of its letters are words that can be spoken, whatever joins them: names of things, not tokens."""
    letters = sum(c.isalpha() for c in value)
    spoken = [word for word in _SPOKEN.findall(value) if len(word) >= 3 and _VOWEL.search(word)]
    digits = sum(c.isdigit() for c in value)
    has_all_cases = re.search(r"[A-Z]{2}", value) is not None and re.search(r"[a-z]{2}", value) is not None
    return sum(map(len, spoken)) * 4 >= letters * 3 and digits * 4 <= len(value) and not (has_all_cases and digits > 2)
