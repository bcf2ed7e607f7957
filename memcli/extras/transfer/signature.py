"""Signatures of exports: ed25519, in the format of `ssh-keygen -Y sign`, which can make and check them too.

The signed message is the text of an export's digest, such as `sha256:1f3a...`. The format is SSHSIG
(PROTOCOL.sshsig of OpenSSH).
"""

from __future__ import annotations

import base64
import hashlib
import re
import struct
from typing import TYPE_CHECKING, Any

from memcli.errors import CorruptError, UsageError
from memcli.record import Record

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

PURPOSE = b"memcli"  # the namespace of SSHSIG: a signature that the key made for git or a file is not valid here
_MAGIC = b"SSHSIG"
_KIND = b"ssh-ed25519"
_HASH = b"sha512"
_BEGIN, _END = "-----BEGIN SSH SIGNATURE-----", "-----END SSH SIGNATURE-----"
_WIDTH = 70  # as ssh-keygen breaks the lines
_KEY_SIZE, _SIGNATURE_SIZE = 32, 64
_PUBLIC_LINE = re.compile(r"(?:(?P<before>[^#\s].*?)\s+)?ssh-ed25519\s+(?P<key>[A-Za-z0-9+/]+=*)(?:\s|\Z)")
_PURPOSES = re.compile(r'\S+\s+namespaces="([^"]*)"\Z')
MAKE_KEY = "create one with `ssh-keygen -t ed25519 -N '' -f memcli_key`"


class MissingExtraError(UsageError):
    """The library that signatures need is not installed."""


class Signer(Record):
    """An unlocked private key, with the 32 bytes of its public key."""

    key: Ed25519PrivateKey
    public: bytes

    @property
    def fingerprint(self) -> str:
        """The fingerprint of the public key, as `ssh-keygen -l` prints it."""
        return fingerprint(self.public)

    def sign(self, message: bytes) -> str:
        """The armored signature of `message`."""
        return _armor(self.public, self.key.sign(_signed(message)))


def open_key(data: bytes, where: str) -> Signer:
    """The private key in an OpenSSH or PEM file. Raises UsageError for a file without one, for a passphrase, and for a key of
    another kind than ed25519; MissingExtraError."""
    library = _library()
    from cryptography.exceptions import UnsupportedAlgorithm

    load = library.load_ssh_private_key if b"OPENSSH PRIVATE KEY" in data else library.load_pem_private_key
    try:
        key = load(data, None)
    except TypeError:
        raise UsageError(f"the key {where} has a passphrase", f"use a key without a passphrase: {MAKE_KEY}") from None
    except (ValueError, UnsupportedAlgorithm) as error:
        if "password" in str(error).lower():
            raise UsageError(
                f"the key {where} has a passphrase", f"use a key without a passphrase: {MAKE_KEY}"
            ) from None
        raise UsageError(f"{where} is not a private key in OpenSSH or PEM format", MAKE_KEY) from None
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    if not isinstance(key, Ed25519PrivateKey):
        raise UsageError(f"the key {where} is not an ed25519 key", MAKE_KEY)
    return Signer(key, key.public_key().public_bytes(library.Encoding.Raw, library.PublicFormat.Raw))


def verify(message: bytes, signature: str, where: str) -> str:
    """The fingerprint of the key in `signature`. Raises CorruptError unless it is a signature of `message`, and
    MissingExtraError."""
    # Before the library is loaded: a malformed signature is damage also where that is missing.
    public, value = _disarm(signature, where)
    _library()
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        Ed25519PublicKey.from_public_bytes(public).verify(value, _signed(message))
    except (InvalidSignature, ValueError):
        raise CorruptError(
            f"{where}: the signature is not valid", "it was modified after it was signed; get a new copy"
        ) from None
    return fingerprint(public)


def trusted_fingerprints(data: bytes, where: str) -> frozenset[str]:
    """The fingerprints of the public keys in a file: lines of OpenSSH (also of `allowed_signers`), or PEM.

    Raises UsageError for a file with a private key or without an ed25519 key.
    """
    if b"PRIVATE KEY-----" in data:
        raise UsageError(f"{where} is a private key", "use the public key, FILE.pub")
    if data.lstrip().startswith(b"-----BEGIN PUBLIC KEY-----"):
        library = _library()
        from cryptography.exceptions import UnsupportedAlgorithm
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

        try:
            key = library.load_pem_public_key(data)
        except (ValueError, UnsupportedAlgorithm):
            raise UsageError(f"{where} is not a public key", "use an OpenSSH public key, or PEM") from None
        if not isinstance(key, Ed25519PublicKey):
            raise UsageError(f"the key {where} is not an ed25519 key", MAKE_KEY)
        found = {key.public_bytes(library.Encoding.Raw, library.PublicFormat.Raw)}
    else:
        found = set(_line_keys(data.decode(errors="replace")))
    if not found:
        raise UsageError(f"no ed25519 public key in {where}", "use a line such as `ssh-ed25519 AAAA... name`, or PEM")
    return frozenset(fingerprint(public) for public in found)


def fingerprint(public: bytes) -> str:
    """`SHA256:...`, as `ssh-keygen -l` prints it."""
    return "SHA256:" + base64.b64encode(hashlib.sha256(_blob(public)).digest()).decode().rstrip("=")


def _library() -> Any:
    try:
        from cryptography.hazmat.primitives import serialization
    except ImportError:
        raise MissingExtraError(
            "signatures need the extra `sign`", "pip install '.[sign]' in a clone of memcli"
        ) from None
    return serialization


def _line_keys(text: str) -> Iterator[bytes]:
    """The keys in lines `ssh-ed25519 KEY`, and in lines of `allowed_signers`, which name a signer and options first."""
    for line in text.splitlines():
        match = _PUBLIC_LINE.match(line.strip())
        if not match:
            continue
        signer = match["before"]
        if signer is not None and re.search(r"\s", signer):
            # A key with any option but namespaces is not trusted: it may restrict the key in a way that is not checked.
            purposes = _PURPOSES.match(signer)
            if purposes is None or PURPOSE.decode() not in purposes[1].split(","):
                continue
        try:
            kind, public, rest = _fields(base64.b64decode(match["key"], validate=True), 2)
        except ValueError:
            continue
        if (kind, len(public), rest) == (_KIND, _KEY_SIZE, b""):
            yield public


def _signed(message: bytes) -> bytes:
    """The bytes that the key signs for a message, by SSHSIG."""
    digest = hashlib.sha512(message).digest()
    return _MAGIC + b"".join(map(_string, (PURPOSE, b"", _HASH, digest)))


def _armor(public: bytes, value: bytes) -> str:
    """The text of a signature, from the 32 bytes of the public key and the 64 bytes of the signature."""
    signature = _string(_KIND) + _string(value)
    parts = (_blob(public), PURPOSE, b"", _HASH, signature)
    text = base64.b64encode(_MAGIC + struct.pack(">I", 1) + b"".join(map(_string, parts))).decode()
    lines = [text[at : at + _WIDTH] for at in range(0, len(text), _WIDTH)]
    return "\n".join([_BEGIN, *lines, _END]) + "\n"


def _disarm(armored: str, where: str) -> tuple[bytes, bytes]:
    """The public key and the 64 bytes of the signature. Raises CorruptError for another text than `_armor` makes of them."""
    body = armored.removeprefix(_BEGIN).rstrip().removesuffix(_END)
    try:
        data = base64.b64decode("".join(body.split()), validate=True)
        blob, _, _, _, signature, _ = _fields(data[len(_MAGIC) + 4 :], 5)
        public = _fields(blob, 2)[1]
        value = _fields(signature, 2)[1]
    except ValueError:
        public = value = b""
    # Only one text is valid for a signature, so that nothing can hide in it.
    if (len(public), len(value)) != (_KEY_SIZE, _SIGNATURE_SIZE) or _armor(public, value) != armored:
        raise CorruptError(
            f"{where}: the signature was not made by memcli", "it was modified after it was signed; get a new copy"
        )
    return public, value


def _blob(public: bytes) -> bytes:
    return _string(_KIND) + _string(public)


def _string(data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + data


def _fields(data: bytes, count: int) -> list[bytes]:
    """The first `count` strings of SSH (a length in 4 bytes, then the bytes) in `data`, and the rest. Raises ValueError."""
    found = []
    for _ in range(count):
        if len(data) < 4 or len(data) - 4 < (size := struct.unpack_from(">I", data)[0]):
            raise ValueError(data)
        found.append(data[4 : 4 + size])
        data = data[4 + size :]
    return [*found, data]
