"""Secrets that are known by what stands around them, whoever made them, and e-mail addresses."""

from __future__ import annotations

from memcli.policy.rule import EMAIL, Rule

SECRET_WORDS = ("key", "token", "secret", "passw", "pwd", "_pass", "passphrase", "credential", "auth")
_BEGIN = r"-----BEGIN {0}(?:[A-Z0-9]+ ){{0,3}}PRIVATE KEY(?: BLOCK)?-----"
_END = r"-----END (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?-----"
_BODY = r"[0-9A-Za-z+/=\s\\:,.()\"'<>#|*-]*?"
_TORN = r"(?:(?:\\r|\\n|[\s+>#|*\"',-])*[0-9A-Za-z+/=]{16,})+"
_VALUE = r"(?:[brfu]{0,2}\\?\"((?:[^\"\\\n]|\\[^\"\n])+)|[brfu]{0,2}\\?'((?:[^'\\\n]|\\[^'\n])+)|`([^`\n]+)|([^\s\"'`,;\\]+))"
_LOGIN = r"://[^\s/@]+@"
# `author: ` and `authors = ` stand in every other file, and name no secret.
_AUTH = r"auth(?:(?:[^\Wo]|o[^\Wr]|or[^\Ws]|ors\w|[.-])[\w.-]{0,40})?"
_GIVEN = (
    r"(?:(?:key|token|secret|passw|pwd|_pass|passphrase|credential)[\w.-]{0,40}|"
    + _AUTH
    + r")[\\\"'`\])]{0,4}[\t ]{0,8}[:=,][^\n]{0,40}?"
    r"[0-9!@#$%^&*]"
)
_DATABASES = "postgres|mysql|mariadb|mongodb|redis|amqp|mssql|sqlserver|oracle|cockroach|clickhouse|kafka|nats|ldap|jdbc|snowflake|cassandra"


def _framed(kind: str, word: str) -> Rule:
    pattern = f"({_BEGIN.format(word)}(?:{_BODY}{_END}|{_TORN}))"
    return Rule(kind, ("PRIVATE KEY",), pattern, judge="key")


_RULES: tuple[Rule, ...] = (
    _framed("ssh_private_key", "OPENSSH "),
    _framed("pgp_private_key", "PGP "),
    _framed("private_key", ""),
    Rule("putty_private_key", ("Private-Lines:",), r"(?s)Private-Lines: \d+(?:\s|\\n|\\r)+((?:[+\s-]*[0-9A-Za-z+/=]{16,}(?:\s|\\n|\\r|$))+)", judge="key"),
    Rule("jwt", ("eyJ",), r"\b(eyJ[0-9A-Za-z_-]{10,}\.eyJ[0-9A-Za-z_-]{10,}\.[0-9A-Za-z_-]{16,})", 3.5),
    Rule("connection_string", ("://",),
         r"(?i)\b(?:[a-z0-9+]*(?:" + _DATABASES + r")[a-z0-9+:]*)://[^\s:/@\"'<>\[\]()]*:([^\s@/\"'<>`]+)@[\w.\[-]", judge="url", probe=_LOGIN),
    Rule("url_password", ("://",), r"(?i)\b[a-z][a-z0-9+.-]*://[^\s:/@\"'<>\[\]()]*:([^\s@/\"'<>`]+)@[\w.\[-]", judge="url", probe=_LOGIN),
    Rule("basic_credentials", ("basic ",), r"(?i)\bbasic\s+([0-9A-Za-z+/]{8,}={0,2})(?:[^0-9A-Za-z+/=]|$)", judge="basic",
         probe=r"basic\s+[0-9a-z+/]{8}"),
    Rule("bearer_token", ("bearer ",), r"(?i)\bbearer\s+([0-9A-Za-z._~+/-]{20,}=*)", judge="bearer",
         probe=r"bearer\s+[0-9a-z._~+/-]{20}"),
    Rule("curl_password", ("curl",), r"\bcurl\b[^\n]*?\s(?:-u|--user)[ =]?[\"']?[^\s:\"'$<]+:([^\s\"'$<]{4,})", judge="typed"),
    Rule("netrc_password", (" password ",), r"(?i)\blogin\s+\S+\s+password\s+([^\s\"']{4,})", judge="typed"),
    Rule("command_password", ("sshpass", "--pass", "--pw", "--token", "--secret", "--api-key", "--auth"),
         r"(?:\bsshpass\s+-p\s*|\s--(?:[a-z]+-)*(?:password|passwd|pwd|pw|pass|passphrase|token|secret|api-key|auth-token)(?:\s+))[\"']?([^\s\"']{6,})",
         judge="typed"),
    Rule("markup_secret", ("</",), r"(?i)<[\w:.-]*(?:password|passwd|secret|token|api_?key)[\w.-]*>\s{0,2}([^<>\s]{8,})\s{0,2}</",
         judge="typed", probe=r"</[\w:.-]{0,40}(?:passw|secret|token|api_?key)"),
    Rule("prose_password", ("passw", "passphrase", "passcode"),
         r"(?i)\b(?:password|passphrase|passwd|passcode)(?:\s+(?:for|of|to|on)\s+[\w./@-]+(?:\s+[\w./@-]+){0,4}?)?\s+(?:is|was|=)\s+(?:now\s+|still\s+|set to\s+)?[:\"'`(]*([^\s\"'`]{6,})",
         judge="prose", probe=r"pass(?:w|phrase|code)[^\n]{0,80}?\s(?:is|was|=)\s"),
    Rule("assigned_secret", SECRET_WORDS,
         r"(?i)(?:key|token|secret|passw(?:or)?d|passwd|pwd|_pass|passphrase|credentials?|auth)[\w.-]*\\?[\"'`\])]*[\t ]{0,8}"
         r"(?:(?::[\t ]*[\w\[\]|. ]{1,24}?)?[\t ]*(?:=>|:=|=|:)|,)[\t ]{0,8}" + _VALUE, judge="assigned", probe=_GIVEN),
    Rule(EMAIL, ("@",), r"(?:^|[^0-9A-Za-z._%+@-])([0-9A-Za-z_%+][0-9A-Za-z._%+'-]{0,63}@(?:[0-9A-Za-z](?:[0-9A-Za-z-]{0,62})\.){1,6}[A-Za-z]{2,24})\b",
         judge="email", probe=r"[\w%'-]@\w[\w-]*\.[a-z]"),
)  # fmt: skip

CONTEXT_RULES = tuple(rule._replace(is_apart=True) for rule in _RULES)
