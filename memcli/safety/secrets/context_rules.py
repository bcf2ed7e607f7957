"""Secrets that are known by what stands around them, whoever made them, and e-mail addresses."""

from __future__ import annotations

from memcli.safety.secrets.labels import FOREIGN, FOREIGN_PHRASES, KEY, TAIL
from memcli.safety.secrets.rule import EMAIL, LONG_WORD, Rule

SECRET_WORDS = ("key", "token", "secret", "pass", "pwd", "credential", "auth", "psk", "pw:", "pw=", "pw =", "cookie")
_BEGIN = r"-----BEGIN {0}(?:[A-Z0-9]+ ){{0,3}}PRIVATE KEY(?: BLOCK)?-----"
_END = r"-----END (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?-----"
_BODY = r"[0-9A-Za-z+/=\s\\:,.()\"'<>#|*-]*?"
_TORN = r"(?:(?:\\r|\\n|[\s+>#|*\"',-])*[0-9A-Za-z+/=]{16,})+"
_QUOTED = (
    r"[brfu]{0,2}\\{1,3}\"((?:[^\"\\\n]|\\[^\"\n])+)|[brfu]{0,2}\\{1,3}'((?:[^'\\\n]|\\[^'\n])+)|`([^`\n]+)"
    r"|[brfu]{0,2}\"((?:[^\"\\\n]|\\[^\n])+)|[brfu]{0,2}'((?:[^'\\\n]|\\[^\n])(?:[^'\\\n]|\\[^\n]|'')*)"
)
_BARE_END = r"(?:[,;)\]}>\"'`.|*]*(?:[^!-~]|$)|[;&,][\w.-]+[=:]|\\[nrt\"'\\]|[\"'`][,;)\]}]|</|\*\*)"
_BARE = r"([^\s\"'`\x00][!-~]*?)" + _BARE_END
_VALUE = f"(?:{_QUOTED}|{_BARE})"
_LOGIN = r"://[^\s/@]+@"
_AROUND = r"[\\\"'`\])*_]{0,6}[\t ]{0,8}"
_GIVEN = (
    r"(?:key|token|jwt|secret|secret[_-]?id|credentials?|cookie|auth|bearer)"
    + TAIL
    + r"[\\\"'`\])*_]{0,6}[\t ]{0,8}[:=,|-](?:[^\n]{0,40}?\n?[^\n]{0,40}?[0-9!@#$%^&*]|[\t ]{0,4}[\"']?[a-z]{16})|"
    r"(?:passw(?:or)?d|passwd|pswd|pwd|pass|passphrase|passcode|passkey|psk|pw)"
    + TAIL
    + r"[\\\"'`\])*_]{0,6}[\t ]{0,8}(?:(?:[:=,|]|->)[^\n]{0,30}?\S{4}|:[\t ]{0,4}[|>][+-]?\n)"
)
_SAID = r"(?:\s+(?:is|was|è|é|es|ist|lautet|est|are|will be|became|becomes|remains|to|[—–-])|\s?[:=]\*{0,2})\s+(?:(?:now|still|currently|just|simply|always|literally|temporarily|set to|changed to|reset to)\s+){0,2}"
_PASS_WORDS = (
    "password",
    "pass word",
    "passphrase",
    "pass phrase",
    "passwd",
    "passcode",
    "pass code",
    "pwd",
    "pw ",
    "pw:",
    "pw=",
    "pass ",
)
_PLACE = (
    r"(?:\s+(?:for|of|to|on|in|at|from|del|della|di|de|du|do|da|der|des|für|von|para|pour)\s+[^\s:=][^\n:=]{0,60}?)?"
)
FOREIGN_WORDS = "|".join(rf"\b{word}" if word.isascii() else word for word in (*FOREIGN, *FOREIGN_PHRASES))
_FOREIGN_IS = (
    r"(?:[:=：]|は|が|是|为|為|\s(?:[—–-]|c'est|ist|lautet|war|es|era|est|é|è|to|jest|is|är|er|on|je|este|adalah|là)\s)"
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
    Rule("connection_string", ("://",),
         r"(?i)\b(?:[a-z0-9+]*(?:" + _DATABASES + r")[a-z0-9+:]*)://[^\s:/@\"'<>\[\]()]*:([^\s@/\"'<>`]+)@[\w.\[-]", judge="url", probe=_LOGIN),
    Rule("url_password", ("://",), r"(?i)\b[a-z][a-z0-9+.-]*://[^\s:/@\"'<>\[\]()]*:([^\s@/\"'<>`]+)@[\w.\[-]", judge="url", probe=_LOGIN),
    Rule("basic_credentials", ("basic ",), r"(?i)\bbasic\s+([0-9A-Za-z+/]{8,}={0,2})(?:[^0-9A-Za-z+/=]|$)", judge="basic",
         probe=r"basic\s+[0-9a-z+/]{8}"),
    Rule("bearer_token", ("bearer ",), r"(?i)\bbearer\s+([0-9A-Za-z._~+/-]{20,}=*)", judge="bearer",
         probe=r"bearer\s+[0-9a-z._~+/-]{20}"),
    Rule("curl_password", ("curl",), r"\bcurl\b[^\n]*?\s(?:-u|--user)[ =]?[\"']?[^\s:\"'$<]+:([^\s\"'$<]{4,})", judge="typed"),
    Rule("netrc_password", ("password",), r"(?i)\blogin\s+\S+\s+(?:account\s+\S+\s+)?password\s+([^\s\"']{4,})|\bmachine\s+\S+\s+password\s+([^\s\"']{4,})", judge="netrc",
         probe=r"(?:login|machine)\s{1,80}\S{1,80}\s{1,80}(?:account\s|password\s)"),
    Rule("command_password", ("sshpass", "--pass", "--pw", "--token", "--secret", "--api-key", "--auth", "-password", "-pass", "mysql", "login", "net use", "unzip ", "openssl ", "ldap", "redis-cli", "smbclient", "7z "),
         r"(?:\bsshpass\s+-p\s*|\s--?(?:[a-z]+-)*(?:password|passwd|pwd|pw|pass|passphrase|token|secret|api-key|auth-token)\s+|\s--auth[ =][\"']?[\w.@-]+:"
         r"|\bmysql\w*\b[^\n|;]*?\s-p|\blogin\b[^\n|;]*?\s-p\s|\bnet\s+use\s[^\n]*?/user:\S+\s+|\b(?:unzip|openssl|ldap\w+|redis-cli|smbclient|7z)\b[^\n|;]*?\s(?:-P\s|-k\s|-w\s|-a\s|-p|-pass(?:in|out)?\s+pass:))"
         r"[\"']?([^\s\"']{6,})",
         judge="typed", probe=r"sshpass|--?[a-z-]{0,40}(?:pass|pw|token|secret|api-key|auth)[a-z]{0,10}[ =]|\s-[pkwa]|/user:"),
    Rule("command_password", ("--password-stdin", "chpasswd", "sudo -s"),
         r"(?i)\b(?:echo|printf)\s+(?:-n\s+)?[\"']?(?:[\w.-]+:)?([^\s\"']{6,})[\"']?\s*\|[^\n]{0,80}(?:--password-stdin|chpasswd|sudo\s+-S)", judge="typed"),
    Rule("assigned_secret", ("\\def", "command{"), r"\\(?:def|(?:re)?newcommand\*?\{?|providecommand\{?)\s?\\\w*(?i:password|passwd|secret|token|apikey|pwd)\}?\{([^{}\n]{4,})\}", judge="argument"),
    Rule("assigned_secret", (";s:",), r"(?i)[\w-]*(?:password|passwd|secret|token|api_?key|pwd)\\?\"\s?;\s?s:\d{1,4}:\\?\"([^\"\n]{4,}?)\\?\"", judge="argument"),
    Rule("assigned_secret", ("identified by", "password '", 'password "'),
         r"(?i)\b(?:identified\s+(?:with\s+\w+\s+)?by|(?:with|encrypted|set)\s+password|user\s+\S+\s+password)\s+(?:=\s*)?[\"']([^\"'\n]{4,})[\"']", judge="paired_value"),
    Rule("netrc_password", (":5432:", ":*:", ":5433:", ":6432:"), r"(?m)^[\w.*-]+:(?:\d{2,5}|\*):[\w.*-]+:[\w.*-]+:([^\s:]{4,})$", judge="typed"),
    Rule("markup_secret", ("</",), r"(?i)<[\w:.-]*(?:password|passwd|secret|token|api_?key)[\w.-]*>\s{0,2}(?:<!\[CDATA\[)?([^<>\s][^\s]{5,200}?)(?:\]\]>)?\s{0,2}</",
         judge="typed", probe=r"</[\w:.-]{0,40}(?:passw|secret|token|api_?key)"),
    Rule("assigned_secret", SECRET_WORDS,
         r"(?i)(?:" + KEY + r"|token|jwt|secret(?:[_-]?id)?|passw(?:or)?d|passwd|pswd|pwd|pass|passphrase|passcode|passkey|credentials?|auth|psk|preshared_?key|\bpw|cookie|bearer)" + TAIL + _AROUND +
         r"(?:(?::[\t ]*[|>][+-]?\d?[\t ]*\n[\t ]{1,40}|(?::[\t ]*[\w\[\]|. ]{1,24}?)?[\t ]*(?:=>|:=|->|=|:|\||→)\*{0,2}[\t ]{0,8}\*{0,2})" + _VALUE +
         r"|[\t ]{0,2},[\t ]{0,40}(?:" + _QUOTED + "))", judge="assigned", probe=_GIVEN),
    Rule("prose_password", _PASS_WORDS,
         r"(?i)\b(?:pass ?words?|pass ?phrase|passwd|pass ?code|pwd|pw)\b" + _PLACE + r"[\"'`*_)]{0,4}" + _SAID + r"[:(*_]{0,3}" + _VALUE,
         judge="prose", probe=r"\b(?:pass ?w|pass ?phrase|pass ?code|pwd|pw\b)[^\n]{0,90}?(?:\s(?:is|was|è|é|es|ist|lautet|est|are|will be|became|becomes|remains|to|[=—–-])|[:=]\*{0,2})\s"),
    Rule("prose_password", _PASS_WORDS,
         r"(?i)\b(?:password|passphrase|passwd|passcode|pw|pass)[\t ]+[:(*_]{0,3}" + _VALUE, judge="beside",
         probe=r"\b(?:password|passphrase|passwd|passcode|pw|pass)[\t ]+[:(*_\"'`]{0,4}[\w!@#$%^&*]{5}"),
    Rule("prose_password", _PASS_WORDS,
         r"(?i)(?:^|[\s\"'`(])([^\s\"'`(]{5,})[\"'`]?\s+(?:(?:is|was)\s+(?:the|our|my|your|his|her|their|its)|as\s+(?:the|your|a|his|her)?)\s*(?:[\w-]+\s+){0,3}?"
         r"(?:password|passphrase|passcode|pw)\b", judge="spoken", probe=r"\s(?:is|was|as)\s[^\n]{0,60}?(?:passw|passphrase|passcode|pw\b)"),
    Rule("login_password", ("login", "log in", "log-in", "log on", "sign in", "sign-in", "signin", "creds", "credential", "user/pass", "username/pass", "user / pass"),
         r"(?i)\b(?:log(?:ged)?[ -]?(?:in|on)|login|sign[ -]?in|signin|creds?|credentials?|user(?:name)?\s?/\s?pass(?:word)?)\b(?:[\t ]+(?:is|are|as|with|using|for|in|to|of|on|the|[\w.-]+ (?:are|is))){0,4}"
         r"[\"'`*_]{0,3}[\t ]{0,3}[:=]?[\t ]{0,3}[\"'`]?[\w.@+-]{2,40}[\"'`]?(?:[\t ]?[/:|][\t ]?|[\t ]and[\t ])" + _VALUE, judge="login",
         probe=r"(?:log(?:ged)?[ -]?(?:in|on)|sign[ -]?in|cred|user(?:name)?\s?/\s?pass)[^\n]{0,80}?[\w.@+-][\"'`]?(?:[\t ]?[/:|][\t ]?|[\t ]and[\t ])[\"'`\w]"),
    Rule("login_password", ("root:", "root/", "root / ", "admin:", "admin/", "admin / ", "administrator:", "administrator/", "guest:", "guest/"),
         r"(?i)(?:^|[\s\"'`(])(?:root|admin|administrator|guest)[\t ]?[:/][\t ]?([!-.0-9;-~]+?)(?:[,;)\]}>\"'`.]*(?:[^!-~]|$))", judge="account", probe=r"(?:root|admin|administrator|guest)[\t ]?[:/][\t ]?\S{4}"),
    Rule("prose_password", ("pin is", "pin:", "pin for", "pin of", "pin =", "pin to", "pin was", "pin on", "door code", "door pin", "gate code", "alarm code", "lock code"), r"(?i)\b(?:pin|(?:door|gate|alarm|lock)[ -]?(?:code|pin))\b" + _PLACE + _SAID + r"(\d{4,8})(?:[#.,;!)]*(?:\s|$))", judge="pin"),
    Rule("prose_password", ("wifi", "wi-fi", "wlan", "wpa"), r"(?i)\b(?:wi-?fi|wlan|wpa[23]?)\b[^\n:=]{0,30}?[:=]\s{0,3}" + _VALUE, judge="beside"),
    Rule("prose_password", ("pass",), r"(?im)\bpass ?(?:word|phrase|code)\b" + _PLACE + _SAID + r"((?:[a-z]{3,10} ){3,7}[a-z]{3,10})\.?$", judge="phrase",
         probe=r"pass ?(?:word|phrase|code)[^\n]{0,90}?\s(?:[a-z]{3,10} ){3,7}[a-z]{3,10}\.?(?:\n|$)"),
    Rule("assigned_secret", ("key", "token", "secret"), r"(?i)\b(?:(?:api|access|secret|signing|master|license|auth|private)[ -]key|token|secret)\b" + _PLACE + _SAID + _VALUE, judge="said_token",
         probe=r"(?:key|token|secret)\b[^\n]{0,90}?\s(?:is|was|are|will be|became|becomes|remains|to|[=—–-])\s[^\n]{0,24}?[\w.+/~-]{12}"),
    Rule("bearer_token", ("authorization", "x-auth"), r"(?i)\b(?:proxy-)?authorization[\"']?\s{0,3}[:=,]\s{0,3}[\"'`]?(?:(?:token|api-?key|key|digest|negotiate|bot|genie-?key|splunk|pat)\s+(?:token=)?)?[\"']?"
         r"([0-9A-Za-z._~+/=-]{20,})", judge="token", probe=LONG_WORD),
    Rule("session_cookie", ("cookie", "sessid", "sessionid"), r"(?i)(?:^|[\s;:\"'])(?:[\w.-]*(?:sess(?:ion)?(?:[_-]?id)?|sid|sessid|auth|token|jwt|remember[\w-]*|identity|credential))=([0-9A-Za-z%._~+/-]{16,}=*)", judge="token",
         probe=LONG_WORD),
    Rule("assigned_secret", ("env ", "arg ", "set ", "setx", "export ", "setenv", "requirepass", "masterauth", "rootpw"),
         r"(?mi)^[+\-\t #>$]{0,8}(?:(?:ENV|ARG|setx?|setenv|set[\t ]+-\w+|export)[\t ]+[\w.-]*(?:pass|pwd|token|secret|key|auth|pw)[\w.-]*|requirepass|masterauth|rootpw)[\t ]+" + _VALUE,
         judge="spaced", probe=r"(?:env|arg|setx?|setenv|-\w{1,4}|export)[\t ]+[\w.-]{0,60}(?:pass|pwd|token|secret|key|auth|pw)[\w.-]{0,40}[\t ]|requirepass|masterauth|rootpw"),
    Rule("assigned_secret", tuple(word + sign for word in ("value", "default") for sign in ('"', "'", ":", "=", " :", " =")),
         r"(?i)(?:[\"']?(?:[\w-]*(?:name|key|variable|field|label|id|option))[\"']?\s{0,3}[:=]\s{0,3}[\"']?[\w.-]*(?:pass|pwd|token|secret|key|credential|auth)[\w.-]*[\"']?\s{0,3},?\s{1,40}"
         r"(?:[\"']?[\w-]+[\"']?\s{0,2}[:=]\s{0,2}[\w\"']{1,24},?\s{1,40})?[\"']?(?:[\w-]*value|default)[\"']?\s{0,3}[:=]\s{0,3})" + _VALUE, judge="paired",
         probe=r"(?:pass|pwd|token|secret|key|cred|auth)[\w.-]{0,60}[\"']?\s{0,3},?\s{1,40}[^\n]{0,40}\s{0,40}[\"']?(?:[\w-]{0,20}value|default)"),
    Rule("assigned_secret", tuple(word.lower() for word in (*FOREIGN, *FOREIGN_PHRASES)),
         r"(?i)(?:" + FOREIGN_WORDS + r")[^\n:=：]{0,30}?[*_\"'`)]{0,4}\s?" + _FOREIGN_IS + r"[*_]{0,2}[\t 　「『“„«]*" + _VALUE, judge="foreign"),
    Rule(EMAIL, ("@",), r"(?:^|[^0-9A-Za-z._%+@-])([0-9A-Za-z_%+][0-9A-Za-z._%+'-]{0,63}@(?:[0-9A-Za-z][0-9A-Za-z-]*\.){1,6}[A-Za-z]{2,24})\b",
         judge="email", probe=r"[\w%'.+-]@\w[\w-]*\.\w"),
)  # fmt: skip

CONTEXT_RULES = tuple(rule._replace(is_apart=True) for rule in _RULES)
