"""Labels: the words that introduce a secret, in the languages that people write, and those that turn them into something else."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

from memcli.regex import regex


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
_JOINED_ENDS = regex(rf"(?:{'|'.join(sorted(_OWNERS))})(?:pass|pwd|pw|psk)\Z")
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
_CAMEL = regex(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?(?:[a-z]|[^\x00-\x7f])+|[A-Z]+|\d+")
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
