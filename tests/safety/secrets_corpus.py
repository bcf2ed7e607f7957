"""Secrets and look-alikes of our own making. Each is put together when it is asked for, so that none stands here whole."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Iterator

from tests.safety.service_secrets import SHAPES, filled, parts

DIGITS = "0123456789"
HEX = DIGITS + "abcdef"
LOWER = "abcdefghijklmnopqrstuvwxyz"
UPPER = LOWER.upper()
BASE36 = DIGITS + LOWER
BASE62 = DIGITS + UPPER + LOWER
URLSAFE = BASE62 + "_-"
BASE64 = BASE62 + "+/"


class Dice:
    """Characters in no order that anybody would see, and yet the same every time."""

    def __init__(self, seed: str) -> None:
        self._seed = seed
        self._n = 0

    def __call__(self, alphabet: str, size: int) -> str:
        return "".join(alphabet[self.below(len(alphabet))] for _ in range(size))

    def below(self, limit: int) -> int:
        self._n += 1
        return int.from_bytes(hashlib.sha256(f"{self._seed}/{self._n}".encode()).digest()[:8]) % limit

    def uuid(self) -> str:
        return "-".join(self(HEX, n) for n in (8, 4, 4, 4, 12))

    def base64(self, size: int) -> str:
        return base64.b64encode(bytes(self.below(256) for _ in range(size))).decode()

    def lines(self, size: int, newline: str = "\n") -> str:
        text = self.base64(size)
        return newline.join(text[n : n + 64] for n in range(0, len(text), 64))


Make = Callable[[Dice], "str | tuple[str, str]"]
"""A secret; or what stands before it and the secret, where only the surroundings tell."""


def _armour(name: str) -> Make:
    return lambda d: f"-----BEGIN {name}-----\n{d.lines(300)}\n-----END {name}-----"


def _segment(d: Dice, text: str) -> str:
    return base64.urlsafe_b64encode((text + d(BASE62, 20)).encode()).decode().rstrip("=")


def _basic(d: Dice) -> tuple[str, str]:
    return "Authorization: Basic ", base64.b64encode(f"deploy:{d(BASE62, 14)}".encode()).decode()


def _password(d: Dice) -> str:
    return d(UPPER, 2) + d(LOWER, 4) + d(DIGITS, 2) + d("!#%+", 1) + d(BASE62, 4)


SECRETS: dict[str, Make] = {
    "aws_key": lambda d: "AK" + "IA" + d(UPPER + "234567", 16),
    "aws_secret": lambda d: ("aws_secret_access_key = ", d(BASE64, 40)),
    "aws_session_token": lambda d: "IQoJb3JpZ2lu" + "X2Vj" + d(BASE64, 200),
    "aws_bedrock_key": lambda d: "AB" + "SK" + d(BASE64, 128),
    "gcp_api_key": lambda d: "AI" + "za" + d(URLSAFE, 35),
    "gcp_oauth_secret": lambda d: "GOC" + "SPX-" + d(URLSAFE, 28),
    "gcp_oauth_token": lambda d: "ya" + "29." + d(URLSAFE, 80),
    "firebase_server_key": lambda d: "AA" + "AA" + d(URLSAFE, 7) + ":AP" + "A91b" + d(URLSAFE, 134),
    "azure_storage_key": lambda d: ("DefaultEndpointsProtocol=https;AccountName=store;AccountKey=", d(BASE64, 86) + "=="),
    "azure_shared_key": lambda d: ("SharedAccessKeyName=Root;SharedAccessKey=", d(BASE64, 43) + "="),
    "azure_sas": lambda d: ("https://s.blob.core.windows.net/c?sv=2022-11-02&se=2026-01-01&sig=", d(BASE62, 43) + "%3D"),
    "azure_client_secret": lambda d: d(BASE62, 3) + "8" + "Q~" + d(BASE62 + "_~.-", 33) + "z",
    "azure_devops_token": lambda d: d(BASE62, 76) + "AZ" + "DO" + d(BASE62, 4),
    "alibaba_key": lambda d: "LT" + "AI" + d(BASE62, 20),
    "tencent_key": lambda d: "AK" + "ID" + d(BASE62, 32),
    "yandex_key": lambda d: "AQ" + "VN" + d(BASE62, 36),
    "digitalocean_token": lambda d: "dop" + "_v1_" + d(HEX, 64),
    "heroku_key": lambda d: ("HEROKU_API_KEY=", d.uuid()),
    "cloudflare_token": lambda d: ("CLOUDFLARE_API_TOKEN=", d(BASE62, 40)),
    "fastly_key": lambda d: ("fastly_api_token: ", d(BASE62, 32)),
    "netlify_token": lambda d: "nf" + "p_" + d(BASE62, 40),
    "fly_token": lambda d: "fm" + "2_" + d(BASE64, 120),
    "supabase_key": lambda d: "sb" + "p_" + d(HEX, 40),
    "planetscale_secret": lambda d: "pscale" + "_tkn_" + d(URLSAFE, 43),
    "render_key": lambda d: "rn" + "d_" + d(BASE62, 28),
    "scalingo_token": lambda d: "tk-" + "us-" + d(BASE62, 48),
    "pulumi_token": lambda d: "pu" + "l-" + d(HEX, 40),
    "terraform_token": lambda d: d(BASE62, 14) + ".atlas" + "v1." + d(BASE62, 67),
    "vault_token": lambda d: "hv" + "s." + d(URLSAFE, 95),
    "doppler_token": lambda d: "dp." + "pt." + d(BASE62, 43),
    "onepassword_token": lambda d: "ops_" + "eyJ" + d(BASE64, 300),
    "age_key": lambda d: "AGE-SECRET" + "-KEY-1" + d("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58),
    "databricks_token": lambda d: "da" + "pi" + d(HEX, 32),
    "dynatrace_token": lambda d: "dt0" + "c01." + d(UPPER + "234567", 24) + "." + d(UPPER + "234567", 64),
    "newrelic_key": lambda d: "NR" + "AK-" + d(UPPER + DIGITS, 27),
    "datadog_key": lambda d: ("DD_API_KEY=", d(HEX, 32)),
    "grafana_token": lambda d: "gl" + "sa_" + d(BASE62, 32) + "_" + d(HEX, 8),
    "sentry_token": lambda d: "snt" + "ryu_" + d(HEX, 64),
    "honeycomb_key": lambda d: "hc" + "aik_" + d(BASE36, 58),
    "launchdarkly_key": lambda d: "sd" + "k-" + f"{d(HEX, 8)}-{d(HEX, 4)}-4{d(HEX, 3)}-a{d(HEX, 3)}-{d(HEX, 12)}",
    "okta_token": lambda d: ("Authorization: SSWS ", "00" + d(URLSAFE, 39) + "x"),
    "github_token": lambda d: "gh" + "p_" + d(BASE62, 36),
    "github_fine_grained_token": lambda d: "github" + "_pat_" + d(BASE62, 22) + "_" + d(BASE62, 59),
    "gitlab_token": lambda d: "gl" + "pat-" + d(URLSAFE, 19) + "7",
    "bitbucket_token": lambda d: "AT" + "BB" + d(BASE62, 32),
    "atlassian_token": lambda d: "AT" + "ATT3x" + d(URLSAFE, 180) + "=" + d(HEX.upper(), 8),
    "npm_token": lambda d: "np" + "m_" + d(BASE62, 36),
    "npmrc_token": lambda d: ("//registry.corp.net/:_authToken=", d(BASE62, 36)),
    "pypi_token": lambda d: "py" + "pi-AgEIcHlwaS5vcmc" + d(URLSAFE, 120),
    "rubygems_key": lambda d: "ruby" + "gems_" + d(HEX, 48),
    "crates_token": lambda d: ("[crates-io]\ntoken = ", "ci" + "o" + d(BASE62, 32)),
    "docker_token": lambda d: "dckr" + "_pat_" + d(URLSAFE, 27),
    "nuget_key": lambda d: "oy" + "2" + d(BASE36, 43),
    "artifactory_key": lambda d: "AK" + "Cp" + d(BASE62, 69),
    "clojars_token": lambda d: "CLOJ" + "ARS_" + d(HEX, 60),
    "circleci_token": lambda d: "CCI" + "PAT_" + d(BASE62, 22) + "_" + d(HEX, 40),
    "buildkite_token": lambda d: "bk" + "ua_" + d(HEX, 40),
    "sonar_token": lambda d: "sq" + "u_" + d(HEX, 40),
    "sourcegraph_token": lambda d: "sg" + "p_" + d(HEX, 40),
    "postman_key": lambda d: "PM" + "AK-" + d(HEX, 24) + "-" + d(HEX, 34),
    "linear_key": lambda d: "lin" + "_api_" + d(BASE62, 40),
    "notion_token": lambda d: "nt" + "n_" + d(BASE62, 46),
    "airtable_token": lambda d: ("AIRTABLE_PAT: ", "pa" + "t" + d(BASE62, 14) + "." + d(HEX, 64)),
    "figma_token": lambda d: "fi" + "gd_" + d(URLSAFE, 40),
    "clickup_token": lambda d: "p" + "k_" + d(DIGITS, 8) + "_" + d(UPPER + DIGITS, 32),
    "contentful_token": lambda d: "CF" + "PAT-" + d(URLSAFE, 43),
    "postgres_neon_key": lambda d: "na" + "pi_" + d(BASE36, 64),
    "anthropic_key": lambda d: "sk-" + "ant-api03-" + d(URLSAFE, 93) + "AA",
    "openai_key": lambda d: "sk-" + "proj-" + d(URLSAFE, 73) + "T3Blbk" + "FJ" + d(URLSAFE, 73) + "x",
    "openrouter_key": lambda d: "sk-" + "or-v1-" + d(HEX, 64),
    "huggingface_token": lambda d: "h" + "f_" + d(UPPER + LOWER, 34),
    "replicate_token": lambda d: "r" + "8_" + d(BASE62, 37),
    "groq_key": lambda d: "gs" + "k_" + d(BASE62, 52),
    "perplexity_key": lambda d: "pp" + "lx-" + d(BASE62, 48),
    "xai_key": lambda d: "xa" + "i-" + d(BASE62, 80),
    "langsmith_key": lambda d: "ls" + "v2_pt_" + d(HEX, 32) + "_" + d(HEX, 10),
    "pinecone_key": lambda d: "pc" + "sk_" + d(BASE62, 6) + "_" + d(BASE62, 63),
    "elevenlabs_key": lambda d: "s" + "k_" + d(HEX, 48),
    "nvidia_key": lambda d: "nv" + "api-" + d(URLSAFE, 64),
    "tavily_key": lambda d: "tv" + "ly-" + d(BASE62, 32),
    "slack_token": lambda d: "xo" + "xb-" + d(DIGITS, 12) + "-" + d(DIGITS, 13) + "-" + d(BASE62, 24),
    "slack_webhook": lambda d: ("https://hooks.slack.com/services/", "T" + d(UPPER + DIGITS, 10) + "/B" + d(UPPER + DIGITS, 10) + "/" + d(BASE62, 24)),
    "discord_token": lambda d: ("discord bot: ", "M" + d(BASE62, 25) + "." + d(BASE62, 6) + "." + d(URLSAFE, 37) + "x"),
    "discord_webhook": lambda d: ("https://discord.com/api/webhooks/" + d(DIGITS[1:], 18) + "/", d(URLSAFE, 68)),
    "telegram_token": lambda d: d(DIGITS[1:], 10) + ":A" + "A" + d(URLSAFE, 32) + "x",
    "teams_webhook": lambda d: ("https://corp.webhook.office.com/webhookb2/", f"{d.uuid()}@{d.uuid()}/IncomingWebhook/{d(HEX, 32)}/{d.uuid()}"),
    "twilio_key": lambda d: "S" + "K" + d(HEX, 32),
    "twilio_auth_token": lambda d: ("TWILIO_AUTH_TOKEN=", d(HEX, 32)),
    "sendgrid_key": lambda d: "S" + "G." + d(URLSAFE, 22) + "." + d(URLSAFE, 42) + "x",
    "mailgun_key": lambda d: "ke" + "y-" + d(HEX, 32),
    "mailchimp_key": lambda d: d(HEX, 32) + "-u" + "s14",
    "brevo_key": lambda d: "xkey" + "sib-" + d(HEX, 64) + "-" + d(BASE62, 16),
    "resend_key": lambda d: "r" + "e_" + d(BASE62, 8) + "_" + d(BASE62, 24),
    "hubspot_token": lambda d: "pat-" + "na1-" + d.uuid(),
    "pagerduty_key": lambda d: ("pagerduty_api_key: ", d(BASE62, 20)),
    "stripe_key": lambda d: "sk" + "_live_" + d(BASE62, 24),
    "stripe_webhook_secret": lambda d: "wh" + "sec_" + d(BASE62, 32),
    "square_token": lambda d: "sq0" + "atp-" + d(URLSAFE, 22),
    "braintree_token": lambda d: "access" + "_token$production$" + d(BASE36, 16) + "$" + d(HEX, 32),
    "shopify_token": lambda d: "shp" + "at_" + d(HEX, 32),
    "plaid_token": lambda d: "access" + "-production-" + d.uuid(),
    "razorpay_key": lambda d: "rzp" + "_live_" + d(BASE62, 14),
    "flutterwave_key": lambda d: "FLW" + "SECK-" + d(HEX, 32) + "-X",
    "facebook_token": lambda d: "EA" + "A" + d(BASE62, 150),
    "easypost_key": lambda d: "EZ" + "AK" + d(BASE62, 54),
    "shippo_token": lambda d: "ship" + "po_live_" + d(HEX, 40),
    "mapbox_token": lambda d: "s" + "k.ey" + "J" + d(URLSAFE, 60) + "." + d(URLSAFE, 22),
    "dropbox_token": lambda d: "s" + "l.B" + d(URLSAFE, 135),
    "posthog_key": lambda d: "ph" + "x_" + d(BASE62, 43),
    "ssh_private_key": _armour("OPENSSH " + "PRIVATE KEY"),
    "pgp_private_key": lambda d: f"-----BEGIN PGP {'PRIVATE'} KEY BLOCK-----\n\n{d.lines(400)}\n=AbCd\n-----END PGP {'PRIVATE'} KEY BLOCK-----",
    "private_key": _armour("RSA " + "PRIVATE KEY"),
    "putty_private_key": lambda d: ("PuTTY-User-Key-File-3: ssh-ed25519\nPrivate-Lines: 1\n", d.base64(48) + "\n"),
    "jwt": lambda d: "ey" + "JhbGciOiJIUzI1NiJ9." + "ey" + "J" + _segment(d, '"sub":') + "." + d(URLSAFE, 43),
    "connection_string": lambda d: ("postgres://app:", d(BASE62, 12)),
    "url_password": lambda d: ("https://deploy:", d(BASE62, 16)),
    "basic_credentials": _basic,
    "bearer_token": lambda d: ("Authorization: Bearer ", d(BASE62, 40)),
    "curl_password": lambda d: ("curl -s -u admin:", d(BASE62, 12) + "7a"),
    "netrc_password": lambda d: ("machine api.corp.net login deploy password ", d(BASE62, 12) + "7a"),
    "command_password": lambda d: ("mysqladmin --user root --password ", _password(d)),
    "markup_secret": lambda d: ("<password>", _password(d)),
    "prose_password": lambda d: ("The password for the staging box is ", _password(d)),
    "login_password": lambda d: ("log in as deploy / ", _password(d)),
    "session_cookie": lambda d: ("Cookie: theme=dark; sessionid=", d(BASE62, 32)),
    "assigned_secret": lambda d: ("client_secret = ", d(BASE62, 32)),
    "email": lambda d: f"{d(LOWER, 6)}.{d(LOWER, 5)}@{d(LOWER, 7)}.com",
}  # fmt: skip


def _shaped(kind: str) -> Make:
    before, shape, _ = parts(kind)
    return lambda d: (before, filled(shape, d)) if before else filled(shape, d)


_SEED = "legal winner thank year wave sausage worth useful spirit yellow marine cradle"
SECRETS |= {kind: _shaped(kind) for kind in SHAPES}
SECRETS["seed_phrase"] = lambda d: ("seed phrase: ", " ".join(sorted(_SEED.split(), key=lambda word: d.below(10_000))))
SECRETS["openvpn_key"] = lambda d: (
    "-----BEGIN OpenVPN Static key V1-----",
    "".join("\n" + d(HEX, 32) for _ in range(16)),
)
AFTER = {kind: parts(kind)[2] for kind in SHAPES if parts(kind)[2]} | {
    "connection_string": "@db.corp.net:5432/app", "url_password": "@git.corp.net/a.git", "markup_secret": "</password>",
}  # fmt: skip


def secret(kind: str, n: int = 0) -> tuple[str, str, str]:
    """What stands before the secret, the secret, and what stands after it."""
    made = SECRETS[kind](Dice(f"{kind}-{n}"))
    before, value = made if isinstance(made, tuple) else ("", made)
    return before, value, AFTER.get(kind, "")


FRAMES = (
    "We keep {} for the nightly job.",
    "deploy notes:\n- rotate `{}` before May\n- tell Ann",
    "diff --git a/x b/x\n@@ -1,2 +1,2 @@\n-old = 1\n+{}\n context",
    "export SETTING={}\nexport OTHER=1\n",
    'const client = connect("{}", {{ retries: 3 }});',
    "service:\n  image: app:1.2\n  value: {}\n  replicas: 2\n",
    '{{"name": "prod", "value": "{}", "n": 1}}',
    "[server]\nvalue = '{}'\nport = 80\n",
    "# {}",
    "| prod | {} | yes |",
)


def positives(each: int) -> Iterator[tuple[str, str, str]]:
    """Kind, secret, and a text that holds it; `each` of every kind, each in another frame."""
    for number, kind in enumerate(SECRETS):
        for n in range(each):
            before, value, after = secret(kind, n)
            text = before + value + after
            if "\n" in text and "{}" in (frame := FRAMES[(number + n) % len(FRAMES)]) and frame[0] in '{c"':
                text, value = text.replace("\n", "\\n"), value.replace("\n", "\\n")
            yield kind, value, FRAMES[(number + n) % len(FRAMES)].format(text)


def _identifiers(d: Dice) -> Iterator[str]:
    yield f"commit {d(HEX, 40)} fixes it"
    yield f"see {d(HEX, 7)}..{d(HEX, 12)}"
    yield f"id: {d.uuid()}"
    yield f"ULID {d('0123456789ABCDEFGHJKMNPQRSTVWXYZ', 26)}"
    yield f"sha256:{d(HEX, 64)}"
    yield f'"integrity": "sha512-{d.base64(64)}"'
    yield f"<script src=x integrity=sha384-{d.base64(48)}>"
    yield f'version = "1.2.3"\nchecksum = "{d(HEX, 64)}"'
    yield f"github.com/a/b v1.4.0 h1:{d.base64(32)}"
    yield f'{{file = "a.whl", hash = "sha256:{d(HEX, 64)}"}}'
    yield f"data:image/png;base64,iVBORw0KGgo{d(BASE64, 300)}"
    yield f"-----BEGIN CERTIFICATE-----\n{d.lines(300)}\n-----END CERTIFICATE-----"
    yield f"-----BEGIN PUBLIC KEY-----\n{d.lines(100)}\n-----END PUBLIC KEY-----"
    yield f"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{d(BASE64, 43)} ann@laptop"
    yield f"ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABAQ{d(BASE64, 300)} ann@laptop"
    yield f"bafybei{d('abcdefghijklmnopqrstuvwxyz234567', 52)}"
    yield f"Qm{d(BASE62, 44)}"
    yield f"color: #{d(HEX, 6)}; background: #{d(HEX, 8)}"
    yield f"/usr/lib/python3.11/site-packages/{d(LOWER, 8)}/tokens/{d(LOWER, 9)}_key.py"
    yield f"https://cdn.corp.net/assets/app.{d(HEX, 20)}.js?v={d(DIGITS, 10)}"
    yield f"arn:aws:iam::{d(DIGITS, 12)}:role/deploy-{d(LOWER, 6)}"
    yield f"trace {d(HEX, 32)} span {d(HEX, 16)}"
    yield f'ETag: "{d(HEX, 32)}"'
    yield f"docker pull app@sha256:{d(HEX, 64)}"
    yield f"0x{d(HEX, 40)} is the contract"


def _stand_ins(d: Dice) -> Iterator[str]:
    word = d(LOWER, 6)
    yield "API_KEY=<your-api-key>"
    yield f"{word.upper()}_TOKEN=xxxxxxxxxxxxxxxxxxxxxxxx"
    yield f"password: ${{{word.upper()}_PASSWORD}}"
    yield "token: ${{ secrets.DEPLOY_TOKEN }}"
    yield f"const apiKey = process.env.{word.upper()}_API_KEY;"
    yield f'secret = os.environ["{word.upper()}_SECRET_2"]'
    yield f"password = getpass.getpass('{word} 1: ')"
    yield "aws_access_key_id = AKIAIOSFODNN7EXAMPLE"
    yield "postgres://user:password@localhost:5432/app"
    yield f"postgres://{word}:${{DB_PASSWORD}}@db/app"
    yield f"https://{word}:<token>@github.com/a/b.git"
    yield "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
    yield "sk-your-openai-key-goes-here-0000000000000000"
    yield f"client_secret = var.{word}_client_secret_2"
    yield f"password = config['{word}_password1']"
    yield 'api_key: "changeme-please-1234"'
    yield f"token = self._{word}_token2"
    yield "AUTH_TOKEN=$(vault read -field=token secret/app1)"
    yield f"{{{{ .Values.{word}.password1 }}}}"
    yield "Authorization: Bearer <token>"
    yield "Authorization: Bearer $ACCESS_TOKEN"
    yield f"SECRET_NAME={word}-database-credentials-2"
    yield "curl -u user:password https://api.corp.net"
    yield "curl -H 'Authorization: Basic dXNlcjpwYXNzd29yZA=='"
    yield "[REDACTED:aws_key] and password=[REDACTED:assigned_secret]"


def _prose(d: Dice) -> Iterator[str]:
    word = d(LOWER, 6)
    yield "The password is required and must have 12 characters."
    yield "The password is hashed with bcrypt, 12 rounds."
    yield "A passphrase is 8-16 words long."
    yield "The password is base64-encoded, not encrypted."
    yield f"Tokens live for {d(DIGITS[1:], 2)} minutes; refresh tokens for 30 days."
    yield f"primary_key = ('{word}_id', 'created_at_2024')"
    yield f"cache_key = f'{word}:v2:user:profile:recent'"
    yield f"token_type: {word}-token-v2-experimental"
    yield f"public_key: {d(BASE62, 43)}"
    yield f"key = '{word}.settings.dialog2.title.text'"
    yield f"max_tokens = {d(DIGITS[1:], 5)}"
    yield f"def test_password_reset_{word}_token_expires_2(): pass"
    yield f"tokenizer = AutoTokenizer.from_pretrained('{word}/bert-base-uncased-2')"
    yield "git clone git@github.com:corp/app.git"
    yield f"npm install {word}@1.2.3 @types/node@20.1.0"
    yield f"mail someone@example.com or {word}@example.org"
    yield "Co-authored-by: bot <12345+bot@users.noreply.github.com>"
    yield "noreply@corp.com sends it"
    yield "@app.route('/token/<int:id2>')\n@pytest.mark.skip"
    yield f"ssh deploy@web1.{word}.net and look"
    yield f"icon@2x.png, {word}@3x.jpg"
    yield f"the key word is the secret of {word}: practice123 and patience"
    yield f'"author": "{word} the 2nd and his friends"'
    yield f"auth: handled by middleware/{word}/jwt_v2.py"
    yield f"password_hash = '$2b$12${d(BASE62, 53)}'"


def look_alikes(rounds: int) -> Iterator[str]:
    """Texts without secrets, `rounds` times each with other characters, every other one in a frame."""
    for n in range(rounds):
        for family in (_identifiers, _stand_ins, _prose):
            for m, text in enumerate(family(Dice(f"{family.__name__}-{n}"))):
                framed = (n + m) % 2 and "\n" not in text and '"' not in text
                yield FRAMES[(n + m) % len(FRAMES)].format(text) if framed else text
