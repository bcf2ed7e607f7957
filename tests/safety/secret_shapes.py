"""Secrets in the shapes that people and tools give them, and what only looks like one; generated, the same every time.

A template holds `{}` where the value stands. Those of `held_out` were set apart before any rule was tuned.
"""

from __future__ import annotations

import base64
import html
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple
from urllib.parse import quote

from tests.safety.secrets_corpus import BASE62, BASE64, DIGITS, HEX, LOWER, SECRETS, UPPER, Dice, secret


class Sample(NamedTuple):
    """A text, and what redaction must take out of it; empty where nothing may change."""

    text: str
    value: str = ""


Make = Callable[[Dice], str]


def random_password(d: Dice) -> str:
    """Ten to fourteen characters of a password manager, signs among them."""
    return d(LOWER, 1) + d(BASE62, 7 + d.below(4)) + d("!#%+=@^*", 1) + d(DIGITS, 1)


def letters(d: Dice) -> str:
    return d(UPPER, 1) + d(LOWER + UPPER, 10) + d(LOWER, 1)


def token(d: Dice) -> str:
    return d(BASE62, 28 + d.below(12)) + d(DIGITS, 1)


def hex40(d: Dice) -> str:
    return d(HEX, 40)


def uuid(d: Dice) -> str:
    return d.uuid()


def long_value(d: Dice) -> str:
    return d(BASE62, 110)


def encoded(d: Dice) -> str:
    return base64.b64encode(random_password(d).encode()).decode()


def chosen(d: Dice) -> str:
    """What people choose: a word or two, a year, a sign."""
    words = (
        "sunshine", "dragon", "Summer", "monkey", "winter", "Liverpool", "charlie", "Batman", "tiger", "purple", "coffee",
        "Welcome", "ninja", "football", "Berlin", "orange", "shadow", "princess", "Oktober", "bailey",
    )  # fmt: skip
    first, second = words[d.below(len(words))], words[d.below(len(words))]
    number = ("99", "123", "2024", "1!", "42", "2023!", "7", "88", "1987", "_01")[d.below(10)]
    style = d.below(6)
    if style == 0:
        return f"{first}{number}!"
    if style == 1:
        return f"{first.lower()}{second.lower()}{number}"
    if style == 2:
        return first.lower().replace("e", "3").replace("o", "0").replace("a", "4") + number
    if style == 3:
        return ("letmein", "hunter2", "qwerty123", "iloveyou", "trustno1", "passw0rd!", "abc123", "1q2w3e4r")[
            d.below(8)
        ]
    return f"{first}{number}"


def phrase(d: Dice) -> str:
    words = (
        "correct",
        "horse",
        "battery",
        "staple",
        "purple",
        "monkey",
        "window",
        "rocket",
        "banana",
        "castle",
        "yellow",
    )
    return "".join(words[d.below(len(words))] for _ in range(3))


# fmt: off
CONTEXT: tuple[tuple[Make, str], ...] = (
    (random_password, "password: {}"), (random_password, "DB_PASSWORD={}"), (random_password, "export PGPASSWORD='{}'"),
    (random_password, "spring.datasource.password={}\nspring.jpa.show-sql=true"), (letters, "password: {}"),
    (letters, 'db_pass = "{}"'), (random_password, 'psk="{}"'), (random_password, "pass = {}"),
    (random_password, "ENV ADMIN_PASSWORD {}"), (random_password, "**Password:** {}"), (random_password, "- **Admin password**: `{}`"),
    (random_password, "| user | password |\n|---|---|\n| admin | {} |"), (random_password, "| Password | {} |"),
    (random_password, '{{"name": "DB_PASSWORD", "value": "{}"}}'), (random_password, "- name: SMTP_PASSWORD\n  value: {}\n"),
    (token, '{{"Key": "apiToken", "Value": "{}"}}'), (random_password, "password: >-\n  {}\nuser: ann"),
    (token, "client_secret: |\n    {}\n"), (random_password, "machine git.corp.net\n  login ann\n  password {}\n"),
    (random_password, "machine git.corp.net\nlogin ann\npassword {}"), (token, "Cookie: theme=dark; sessionid={}; lang=en"),
    (token, "Set-Cookie: connect.sid={}; Path=/; HttpOnly"), (hex40, "token: {}"), (uuid, "x-api-key: {}"),
    (uuid, "access_token={}"), (hex40, "Authorization: token {}"), (uuid, '"apiKey": "{}"'), (hex40, "curl -H 'X-Auth-Token: {}' https://api.corp.net"),
    (long_value, 'secret = "{}"'), (long_value, "password={}"), (encoded, "apiVersion: v1\nkind: Secret\ndata:\n  password: {}\n"),
    (random_password, "Passwort: {}"), (random_password, "contraseña: {}"), (random_password, "Mot de passe : {}"), (random_password, "пароль: {}"),
    (random_password, "密码：{}"), (random_password, "パスワード: {}"), (random_password, "senha = {}"), (random_password, "Kennwort={}"),
    (token, "ключ API: {}"), (token, "API-Schlüssel: {}"), (token, "密钥：{}"), (random_password, "hasło: {}"),
    (random_password, "CREATE USER app WITH PASSWORD '{}';"), (random_password, "ALTER USER 'root'@'localhost' IDENTIFIED BY '{}';"),
    (random_password, "requirepass {}"), (random_password, "mysql -u root -p'{}' shop"), (random_password, "mysqldump --password={} shop"),
    (random_password, "kubectl create secret generic db --from-literal=password={}"), (random_password, "echo '{}' | docker login -u ann --password-stdin"),
    (random_password, '<add key="SmtpPassword" value="{}" />'), (random_password, "define('DB_PASSWORD', '{}');"), (random_password, "Server=db;User Id=sa;Password={};Encrypt=true"),
    (random_password, "https://api.corp.net/login?user=ann&password={}&next=1"), (random_password, "ansible_become_pass={}"), (random_password, ':password => "{}",'),
    (random_password, "wpa_passphrase={}"), (token, "GITEA_TOKEN={}"), (token, "auth_token => '{}'"), (random_password, "the root password was changed to {}"),
    (random_password, "wget --http-password={} https://x.corp.net"), (token, "Authorization: ApiKey {}"), (token, '"refresh_token" : "{}"'),
    (random_password, "set -gx DB_PASSWORD {}"), (random_password, "smtp:\n  user: ann\n  pass: '{}'\n"), (random_password, '$env:ADMIN_PASSWORD = "{}"'),
    (token, "//npm.corp.net/:_authToken={}"), (random_password, "net use \\\\srv\\share /user:ann {}"), (random_password, "db.corp.net:5432:shop:ann:{}"),
    (random_password, "echo 'root:{}' | chpasswd"), (token, "webhook secret: {}"), (random_password, "keystore.password={}"), (random_password, "비밀번호: {}"),
    (random_password, "PASSWORD_PROD={}"), (token, "slack signing secret is {}"),
)

CHOSEN: tuple[tuple[Make, str], ...] = (
    (chosen, "The wifi password is {}"), (chosen, "password: {}"), (chosen, "login admin / {}"), (phrase, "login admin / {}"),
    (chosen, "The guest Wi-Fi password is {}."), (chosen, "pw: {}"), (chosen, "pass: {}"), (chosen, "We set the admin password to {} for now."),
    (chosen, "user: admin\npassword: {}\n"), (chosen, "log in with admin:{}"), (chosen, "credentials: admin / {}"), (chosen, "Das Passwort lautet {}"),
    (chosen, "la contraseña es {}"), (chosen, "le mot de passe est {}"), (chosen, "Пароль от вайфая: {}"), (chosen, "パスワードは{}です"),
    (chosen, "密码是{}"), (chosen, "DB_PASSWORD={}"), (chosen, 'The staging password is "{}", ask Ann for more.'), (chosen, "Use the password `{}` for the demo box"),
    (chosen, "root password = {}"), (phrase, "passphrase: {}"), (phrase, "The passphrase of the backup key is {}"), (chosen, '"password": "{}"'),
    (chosen, "Jenkins: user deploy, password {}"), (chosen, "ssh into the box as bob with password {}"), (chosen, "{} is the wifi password"),
    (chosen, "The new password for the router is: {}"), (chosen, "Password for staging: {}"), (chosen, "username: bob / password: {}"),
    (chosen, "bob's password is {}"), (chosen, "my password was {} until May"), (chosen, "POSTGRES_PASSWORD: {}"), (chosen, "sudo password on build1: {}"),
    (chosen, "Wifi: CorpGuest / Password: {}"), (chosen, "Sign in as ann@corp.net with {} as the password"), (chosen, "admin creds are admin/{}"),
    (chosen, "hasło to {}"), (chosen, "senha: {}"), (chosen, "het wachtwoord is {}"),
)

WRAPPED: tuple[tuple[str, str], ...] = (
    ("token", "line one\\n{}\\nline three"), ("token", "a\\t{}"), ("token", "url?x%3D{}"), ("token", "say%20{}%20now"), ("token", "key_{}"),
    ("token", "\x1b[32m{}\x1b[0m"), ("token+soft", "token {}"), ("token+zwsp", "the key is {}"), ("token+cgj", "{}"), ("token+vs", "deploy with {}"),
    ("token+colour", "export T={}"), ("token+b64", "blob: {}"), ("token+b64", "echo {} | base64 -d"), ("token+hex", "payload {}"),
    ("assign+b64", "config: {}"), ("assign+url", "body={}"), ("assign+json", "{}"), ("assign+html", "<td>{}</td>"), ("token+wrapped", "{}"),
    ("token+continued", "TOKEN={}"), ("token+concat", "key = {}"), ("assign+u", "{}"), ("token+full", "code {}"), ("token+qp", "{}"),
    ("token", "<b>{}</b>"), ("token", "'x'+'{}'"), ("token", '\\"{}\\"'), ("token", "&quot;{}&quot;"), ("token", "\\u0022{}\\u0022"), ("token", "%22{}%22"),
    ("assign+b64", "data:text/plain;base64,{}"), ("token+json", "{}"), ("token+b64url", "state={}"), ("token+wrapped", "> {}"), ("token+url", "q={}"),
    ("assign+qp", "{}"), ("assign+zwsp", "{}"), ("token+concat2", "s = {}"), ("assign+b64b64", "v: {}"), ("token+bold", "use {}"),
)

LOOK_ALIKES: tuple[str, ...] = (
    "the password field must be at least 12 characters", "PASSWORD_HASHER=argon2id", "The password is stored hashed", "password is incorrect",
    "secretArn: arn:aws:secretsmanager:eu-west-1:{d12}:secret:prod/db-{b6}", "commit {h40}", "fix: token refresh (#{d4})", "request_id: {uuid}",
    '"integrity": "sha512-{b86}=="', 'resolved "https://registry.corp.net/a/-/a-1.2.3.tgz#{h40}"', "token_count: {d5}", "max_tokens={d4}",
    "password: string", "password: Optional[str] = None", "password = getpass.getpass()", "password: ${{DB_PASSWORD}}", "password: {{{{ vault_db_password }}}}",
    "password = request.form['password']", "const password = watch('password1');", '"password": "Passwort"', 'password: "Enter your password"',
    'label: "Password"', '<input type="password" name="password2">', "passwordMinLength: 12", "password_reset_timeout = 3600", "PASSWORD_FILE=/run/secrets/db_password",
    "The password is checked against haveibeenpwned.com", "The password is never logged", "the token is refreshed every 15 minutes", "The password is required when 2FA is off",
    "login admin / user roles are separate", "The login / signup flow needs work", "Password reset takes 3 steps", "password must contain 1 uppercase and 2 digits",
    "secret: true", "token: null", "API key rotation every 90 days", "the api key is read from the environment", "api_key=YOUR_API_KEY", "token = <your token here>",
    "secretName: db-credentials", "secretKeyRef:\n  name: db\n  key: password", "key: value", "primary_key: user_id", 'cache_key = f"user:{{id}}:v2"',
    "sort_key: created_at_2024", "foreign key (author_id2) references users", "public_key: ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{b43}", "fingerprint SHA256:{b43}",
    'password_hash = "$argon2id$v=19$m=65536,t=3,p=4$c29tZXNhbHQ$RdescudvJCsgt3ub"', "auth: oauth2", "auth_method: scram-sha-256", "authentication = md5",
    "Authorization: Bearer <token>", "Authorization header is missing", "Set-Cookie: theme=dark; Path=/", "Cookie: lang=en; consent=true", "session_timeout: 3600s",
    "token_url: https://auth.corp.net/oauth2/token", "passwordEncoder: BCryptPasswordEncoder", "password: this.form.password", "password: 'admin.password.label'",
    "def check_password(password: str, hashed: str) -> bool:", "if password == confirm_password:", "password, salt = split(line)", "raise ValueError('password too short')",
    "self.password = password", "password=None", "password: yes", "password: required", "password: z.string().min(8)", "password: { type: String, required: true }",
    'token := os.Getenv("GITHUB_TOKEN")', "token = token.strip()", "let token = parser.next_token();", "case TOKEN_IDENTIFIER: return 12;", "secrets.token_hex(16)",
    'id = "{uuid}"', "trace_id={h32}", 'etag: "{h32}"', "image: app@sha256:{h64}", 'checksum = "{h64}"', "the sha is {h40}", "x-request-id: {uuid}",
    "idempotency-key: {uuid}", "partition key: tenant_{d4}", "key_id: {h16}", "kms_key_id: {uuid}", "key: {uuid}", "correlation token pattern: ^[a-z0-9]{{32}}$",
    "Das Passwort muss mindestens 12 Zeichen haben", "la contraseña debe tener 8 caracteres", "le mot de passe est obligatoire", "пароль должен быть длиннее 8 символов",
    "パスワードは8文字以上です", "密码长度至少8位", "senha: obrigatória", "Passwort vergessen?", "Passwort: erforderlich",
    "password = os.environ.get('DB_PASSWORD')", "password_verify($input2, $hash)", "passwd -l root", "the passwd file /etc/passwd2", "pass: 12, fail: 3", "tests pass: 142",
    "first pass = 30ms", "passes = 3", "PASS: test_login_2fa", "PIN the version to 1.2.3", "pin: 18.04.2", "psk_mode = psk_dhe_ke", "bypass=true", "compass: north42west",
    "2024-05-01 12:00:03 INFO auth: user 4711 logged in from 10.0.0.12", "WARN token expired for session {uuid}", "auth failed for user=ann reason=bad_password code=401",
    "The default password is empty.", "the password is 'None' by default", "There is no password on build1.", "The password of the day rotates at 03:00",
    "password policy: 12 chars, 1 digit", "Password1 and Password2 must match", "the secret is out: we ship on 2024-06-01", "The secret of speed is caching level 2",
    "secret santa budget is 20eur", "the key is to batch 100 rows", "key takeaway: p99 < 250ms", "credentials: include", "credentials: same-origin", "credential helper is osxkeychain",
    "with: { token: ${{{{ secrets.GITHUB_TOKEN }}}} }", "token: ${{{{ github.token }}}}", "password_field = driver.find_element(By.ID, 'pw2')", "page.fill('#password1', user.password)",
    "cy.get('[name=password]').type(Cypress.env('pw'))", "passwordInput.current?.value", "type Token = { kind: 'ident2'; value: string }", "enum Auth { None, Basic, OAuth2 }",
    "go.sum: golang.org/x/crypto v0.1.0 h1:{b43}=", '{{ name = "cfg-if", checksum = "{h64}" }}', '"version": "1.2.3", "hash": "{h32}"', "build {h7} on main", 'mongodb ObjectId("{h24}")',
    "export PATH=$HOME/.local/bin:$PATH", "gpg key 0x{h16}", "pub rsa4096/{h16} 2024-01-01", "passphrase is asked interactively", "passphrase-file = ~/.config/borg/passphrase",
    "sshpass is not installed on ci-runner-12", "we use --password-stdin, never --password", "docs say --token TOKEN or --token-file FILE", "curl --user $USER:$PASS https://x",
    "postgres://user:password@localhost/db", "redis://localhost:6379/0", "amqp://guest:guest@localhost:5672", "https://github.com/corp/app/pull/{d4}", "jdbc:postgresql://db:5432/app?ssl=true",
    "ann@example.com", 'tokens: ["the", "cat", "sat2"]', "tokenizer: cl100k_base", "stop_token: <|endoftext|>", "eos_token_id: 50256", "secret_version: 12", "secret_id: prod/db/main",
    "vault read secret/data/app1/db", "The login page loads in 1.2s / 3.4s on 3G", "log in with SSO/SAML2", "sign in with google / github", "user/group: deploy/www-data", "account: 4711 / Ann Lee",
    "username / email", "admin / editor / viewer", "password manager is 1Password", "the password is hashed with PBKDF2", "passwords are salted (16 bytes)", "password.length >= 8",
    "t('login.password2')", "PASSWORD_REGEX = r'^(?=.*[A-Z]).{{8,}}$'", "password_validators: [MinLength8]", '"passwordPolicy": "STRONG_V2"', "password-rotation: 90d", "token-ttl: 15m",
    "access_token_lifetime: 3600", "jwt_algorithm: RS256", "signing_alg = ES256K", "signing key is kept in KMS", "encryption_key_alias: alias/app-v2", "data: aGVsbG8gd29ybGQgdGhpcyBpcyBmaW5l",
    "Password changed on 2024-05-01", "Password set to expire in 30days", "the password was rotated on 2024-05-01", "set the password to something strong", "Passwort ist falsch", "password is at least 8chars",
    "basic auth is off", "Basic authentication2 is deprecated", 'password: ""', "password: ''", "password: '********'", "password=xxxxxxxx", "password: changeme", "token: abc...xyz", "-p 8080:80", "mkdir -p build/out2",
    "psql -p 5432 -U ann", "docker run -p 127.0.0.1:8080:80 app", "nmap -p 1-1024 host1", "Cisco: password 7 is weak", "password strength: zxcvbn score 3", "enter the password twice", "the pw hash uses bcrypt12",
    "pwd: /home/ann/src2", "PWD=/home/ann/app1", "oldpwd=/srv/www2", "cwd, pwd = 1, 2", "set -x DB_HOST db1", "ENV PASSWORD_FILE /run/secrets/pw1", "ENV NODE_ENV production",
    "machine learning login password reset v2", "the machine has login and password prompts", "password prompts: 3", "cookie: 1st-party only", "cookie_secret is read from vault2",
)
# fmt: on


def _held_out(number: int) -> bool:
    """Every other template, in an order that has nothing to do with how they are written down."""
    return Dice(f"split-{number}").below(2) == 1


def _filled(templates: Sequence[tuple[Make, str]], times: int, held_out: bool) -> Iterator[Sample]:
    for number, (make, frame) in enumerate(templates):
        if _held_out(number) != held_out:
            continue
        for n in range(times):
            value = make(Dice(f"{frame}-{n}"))
            yield Sample(frame.format(value), value)


def context(*, held_out: bool) -> list[Sample]:
    """Secrets that only what stands around them gives away."""
    return list(_filled(CONTEXT, 4, held_out))


def chosen_by_people(*, held_out: bool) -> list[Sample]:
    return list(_filled(CHOSEN, 8, held_out))


def vendors(*, held_out: bool) -> list[Sample]:
    """One of every kind with a format of its own, one with a run of equal characters where the format has room."""
    found = []
    for number, kind in enumerate(k for k in SECRETS if k not in ("email", "prose_password")):
        if _held_out(number) == held_out:
            for n in range(3):
                before, value, after = secret(kind, 500 + n)
                found.append(Sample(f"see\n{before}{value}{after}\nend", value.strip()))
    return found


_VENDOR_TOKENS = (
    "github_token",
    "gitlab_token",
    "npm_token",
    "stripe_key",
    "sendgrid_key",
    "groq_key",
    "digitalocean_token",
)


def _concat(value: str, joint: str) -> str:
    half = len(value) // 2
    return f'"{value[:half]}"{joint}"{value[half:]}"'


def _every(value: str, char: str, step: int = 7) -> str:
    return char.join(value[n : n + step] for n in range(0, len(value), step))


def _wrapped_at(value: str, width: int, joint: str = "\n") -> str:
    return joint.join(value[n : n + width] for n in range(0, len(value), width))


_WAYS: Mapping[str, Callable[[str], str]] = {
    "soft": lambda v: _every(v, "\u00ad"), "zwsp": lambda v: _every(v, "\u200b"), "cgj": lambda v: _every(v, "\u034f"),
    "vs": lambda v: _every(v, "\ufe0f"), "colour": lambda v: v[:6] + "\x1b[1;31m" + v[6:20] + "\x1b[0m" + v[20:],
    "b64": lambda v: base64.b64encode(v.encode()).decode(), "b64url": lambda v: base64.urlsafe_b64encode(v.encode()).decode().rstrip("="),
    "b64b64": lambda v: base64.b64encode(base64.b64encode(v.encode())).decode(),
    "hex": lambda v: v.encode().hex(), "url": lambda v: quote(v, safe=""), "json": lambda v: json.dumps(json.dumps({"x": v})),
    "html": html.escape, "wrapped": lambda v: _wrapped_at(v, len(v) // 2 + 1), "continued": lambda v: _wrapped_at(v, len(v) // 2 + 1, "\\\n"),
    "concat": lambda v: _concat(v, " + "), "concat2": lambda v: _concat(v, "\n    "), "bold": lambda v: f"**{v}**",
    "u": lambda v: v.replace("=", "\\u003d").replace("'", "\\u0027"), "full": lambda v: "".join(chr(ord(c) + 0xFEE0) for c in v),
    "qp": lambda v: _wrapped_at(v.replace("=", "=3D"), len(v) // 2 + 2, "=\n"),
}  # fmt: skip


def wrapped(*, held_out: bool) -> list[Sample]:
    """Tokens and assignments with something between their characters, or in another encoding."""
    found = []
    for number, (what, frame) in enumerate(WRAPPED):
        if _held_out(number + 1000) != held_out:
            continue
        kind, _, way = what.partition("+")
        for n in range(8):
            dice = Dice(f"wrapped-{number}-{n}")
            value = (
                secret(_VENDOR_TOKENS[n % len(_VENDOR_TOKENS)], 900 + n)[1]
                if kind == "token"
                else random_password(dice)
            )
            inner = value if kind == "token" else f"password='{value}'"
            put = _WAYS[way](inner) if way else inner
            # Where the value itself is left as it is, the rest may stay.
            found.append(
                Sample(
                    frame.format(put),
                    value if value in put else put if kind == "token" or "b64" in way else _WAYS[way](value),
                )
            )
    return found


def look_alikes(*, held_out: bool) -> list[Sample]:
    """Config, code, logs and prose that speak of secrets and hold none."""
    found = []
    for number, frame in enumerate(LOOK_ALIKES):
        if _held_out(number + 2000) == held_out:
            d = Dice(f"look-{number}")
            sizes = {f"h{n}": d(HEX, n) for n in (7, 16, 24, 32, 40, 64)} | {f"b{n}": d(BASE64, n) for n in (6, 43, 86)}
            sizes |= {f"d{n}": d(DIGITS[1:], n) for n in (4, 5, 12)} | {"uuid": d.uuid(), "id": "{id}"}
            try:
                found.append(Sample(frame.format(**sizes)))
            except (KeyError, ValueError, IndexError):
                found.append(Sample(frame))
    return found


FAMILIES = {"vendors": vendors, "context": context, "chosen": chosen_by_people, "wrapped": wrapped}
