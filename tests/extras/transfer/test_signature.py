"""Signatures are those of ssh: its keys sign, its program checks, and nothing else passes."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from memcli.errors import CorruptError, UsageError
from memcli.extras.transfer import signature
from memcli.extras.transfer.signature import MissingExtraError, open_key, trusted_fingerprints, verify

MESSAGE = b"sha256:0123"
needs_ssh = pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="there is no ssh-keygen")


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Keys of all kinds: `ssh` and `pem` are ed25519, `locked*` have a passphrase, `rsa` and `ec` are other kinds."""
    from cryptography.hazmat.primitives import serialization as s
    from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

    folder = tmp_path_factory.mktemp("keys")
    ours = ed25519.Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
    openssh, pkcs8, none = s.PrivateFormat.OpenSSH, s.PrivateFormat.PKCS8, s.NoEncryption()
    secret = s.BestAvailableEncryption(b"passphrase")
    for name, key, form, lock in (
        ("ssh", ours, openssh, none),
        ("pem", ours, pkcs8, none),
        ("locked.pem", ours, pkcs8, secret),
        ("rsa", rsa.generate_private_key(65537, 2048), openssh, none),
        ("ec", ec.generate_private_key(ec.SECP256R1()), pkcs8, none),
    ):
        (folder / name).write_bytes(key.private_bytes(s.Encoding.PEM, form, lock))  # type: ignore[attr-defined]
        (folder / name).chmod(0o600)
        public = key.public_key()  # type: ignore[attr-defined]
        (folder / f"{name}.pub").write_bytes(public.public_bytes(s.Encoding.OpenSSH, s.PublicFormat.OpenSSH))
        (folder / f"{name}.pub.pem").write_bytes(
            public.public_bytes(s.Encoding.PEM, s.PublicFormat.SubjectPublicKeyInfo)
        )
    if shutil.which("ssh-keygen"):
        make = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "passphrase", "-f", "locked"]
        subprocess.run(make, cwd=folder, check=True)
    return folder


def signed(keys: Path, name: str = "ssh") -> str:
    return open_key((keys / name).read_bytes(), name).sign(MESSAGE)


def test_what_is_signed_is_verified(keys: Path) -> None:
    assert signed(keys, "ssh") == signed(keys, "pem")
    name = verify(MESSAGE, signed(keys), "x")
    assert name == open_key((keys / "pem").read_bytes(), "pem").fingerprint
    assert {name} == trusted_fingerprints((keys / "ssh.pub").read_bytes(), "x")
    assert {name} == trusted_fingerprints((keys / "ssh.pub.pem").read_bytes(), "x")


@needs_ssh
def test_ssh_takes_our_signatures_and_we_take_those_of_ssh(keys: Path, tmp_path: Path) -> None:
    (tmp_path / "allowed").write_text(f"ann@example.org {(keys / 'ssh.pub').read_text()}\n")
    (tmp_path / "sig").write_text(signed(keys))
    check = ["ssh-keygen", "-Y", "verify", "-f", "allowed", "-I", "ann@example.org", "-n", "memcli", "-s", "sig"]
    done = subprocess.run(check, cwd=tmp_path, input=MESSAGE, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert verify(MESSAGE, signed(keys), "x") in done.stdout.decode()
    sign = ["ssh-keygen", "-Y", "sign", "-f", str(keys / "ssh"), "-n", "memcli"]
    theirs = subprocess.run(sign, cwd=tmp_path, input=MESSAGE, capture_output=True, check=True).stdout.decode()
    assert theirs == signed(keys)
    for_git = subprocess.run([*sign[:-1], "git"], cwd=tmp_path, input=MESSAGE, capture_output=True, check=True).stdout
    with pytest.raises(CorruptError):
        verify(MESSAGE, for_git.decode(), "x")


def test_nothing_else_passes(keys: Path) -> None:
    good = signed(keys)
    with pytest.raises(CorruptError, match="not valid"):
        verify(MESSAGE + b"4", good, "x")
    for at in range(len(good)):
        for new in {chr(ord(good[at]) ^ 1), "A", "\n"} - {good[at]}:
            with pytest.raises(CorruptError):
                verify(MESSAGE, good[:at] + new + good[at + 1 :], "x")
        with pytest.raises(CorruptError):
            verify(MESSAGE, good[:at], "x")
    for bad in ("", "\0", "é" * 99, "-----BEGIN SSH SIGNATURE-----", good + good):
        with pytest.raises(CorruptError):
            verify(MESSAGE, bad, "x")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        pytest.param("locked", "has a passphrase", marks=needs_ssh), ("locked.pem", "has a passphrase"), ("rsa", "not an ed25519 key"),
        ("ec", "not an ed25519 key"), ("ssh.pub", "not a private key"), ("ssh.pub.pem", "not a private key"),
    ],
)  # fmt: skip
def test_a_wrong_key_is_named(keys: Path, name: str, message: str) -> None:
    with pytest.raises(UsageError, match=message) as caught:
        open_key((keys / name).read_bytes(), name)
    assert "ssh-keygen" in caught.value.hint
    with pytest.raises(UsageError, match="not a private key"):
        open_key(b"\0\xff" * 20, "noise")


def test_trust_is_given_line_by_line(keys: Path) -> None:
    line = (keys / "ssh.pub").read_text().strip()
    for lines in (
        line, f"# mine\n\n{line} ann@laptop\n", f"ann@example.org,carl@example.org {line}", f"  {line}\r\n",
        f'* namespaces="git,memcli" {line}',
    ):  # fmt: skip
        assert len(trusted_fingerprints(lines.encode(), "x")) == 1
    for lines in (
        "", f"# {line}", f'* namespaces="git" {line}', f"* cert-authority {line}", line[:-9], line.replace("AAAA", "AAAB"),
        f'* valid-before="20200101" {line}', "ssh-ed25519 AAAA", (keys / "rsa.pub").read_text(), "\ufffd",
    ):  # fmt: skip
        with pytest.raises(UsageError, match="no ed25519 public key"):
            trusted_fingerprints(lines.encode(), "x")
    for name, message in (("ssh", "is a private key"), ("ec.pub.pem", "not an ed25519 key")):
        with pytest.raises(UsageError, match=message):
            trusted_fingerprints((keys / name).read_bytes(), name)
    with pytest.raises(UsageError, match="not a public key"):
        trusted_fingerprints(b"-----BEGIN PUBLIC KEY-----\n!!\n-----END PUBLIC KEY-----\n", "x")


def test_without_the_library_there_is_a_hint(keys: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    good = signed(keys)
    monkeypatch.setitem(sys.modules, "cryptography.hazmat.primitives", None)
    for call in (lambda: open_key(b"", "x"), lambda: verify(MESSAGE, good, "x")):
        with pytest.raises(MissingExtraError) as caught:
            call()
        assert "pip install" in caught.value.hint
    assert trusted_fingerprints((keys / "ssh.pub").read_bytes(), "x")
    assert signature.fingerprint(bytes(32)).startswith("SHA256:")
