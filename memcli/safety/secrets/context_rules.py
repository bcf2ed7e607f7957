"""Secrets found by their context: assignments, headers, command lines, settings of devices, tables; and e-mail addresses."""

from __future__ import annotations

from memcli.safety.secrets.labels import FOREIGN, FOREIGN_PHRASES, KEY, TAIL
from memcli.safety.secrets.rule import EMAIL, LONG_WORD, SecretRule

SECRET_WORDS = ("key", "token", "secret", "pass", "pwd", "credential", "auth", "psk", "pw:", "pw=", "pw =", "cookie")
_BEGIN = r"-----BEGIN {0}(?:[A-Z0-9]+ ){{0,3}}PRIVATE KEY(?: BLOCK)?-----"
_END = r"-----END (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?-----"
_BODY = r"[0-9A-Za-z+/=\s\\:,.()\"'<>#|*-]*?"
_TORN = r"(?:(?:\\r|\\n|[\s+>#|*\"',-])*[0-9A-Za-z+/=]{16,})+"
_QUOTED = (
    r"[brfu]{0,2}\\{1,3}\"((?:[^\"\\\n]|\\[^\"\n])+)|[brfu]{0,2}\\{1,3}'((?:[^'\\\n]|\\[^'\n])+)|`([^`\n]+)"
    r"|[brfu]{0,2}\"((?:[^\"\\\n]|\\[^\n])+)|[brfu]{0,2}'((?:[^'\\\n]|\\[^\n])(?:[^'\\\n]|\\[^\n]|'')*)"
)
_BARE_END = r"(?:[,;)\]}>\"'`.|*]*(?:[^!-~]|$)|[;&,][\w.-]+[=:]|\\[nrt\"'\\]|[\"'`][,;)\]}]|\)\]\(|</|\*\*)"
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


def _framed(kind: str, word: str) -> SecretRule:
    pattern = f"({_BEGIN.format(word)}(?:{_BODY}{_END}|{_TORN}))"
    return SecretRule(kind, ("PRIVATE KEY",), pattern, judge="key")


_RULES: tuple[SecretRule, ...] = (
    _framed("ssh_private_key", "OPENSSH "),
    _framed("pgp_private_key", "PGP "),
    _framed("private_key", ""),
    SecretRule("putty_private_key", ("Private-Lines:",), r"(?s)Private-Lines: \d+(?:\s|\\n|\\r)+((?:[+\s-]*[0-9A-Za-z+/=]{16,}(?:\s|\\n|\\r|$))+)", judge="key"),
    SecretRule("connection_string", ("://",),
         r"(?i)\b(?:[a-z0-9+]*(?:" + _DATABASES + r")[a-z0-9+:]*)://[^\s:/@\"'<>\[\]()]*:([^\s@/\"'<>`]+)@[\w.\[-]", judge="url", probe=_LOGIN),
    SecretRule("url_password", ("://",), r"(?i)\b[a-z][a-z0-9+.-]*://[^\s:/@\"'<>\[\]()]*:([^\s@/\"'<>`]+)@[\w.\[-]", judge="url", probe=_LOGIN),
    SecretRule("basic_credentials", ("basic ",), r"(?i)\bbasic\s+([0-9A-Za-z+/]{8,}={0,2})(?:[^0-9A-Za-z+/=]|$)", judge="basic",
         probe=r"basic\s+[0-9a-z+/]{8}"),
    SecretRule("bearer_token", ("bearer ",), r"(?i)\bbearer\s+([0-9A-Za-z._~+/-]{20,}=*)", judge="bearer",
         probe=r"bearer\s+[0-9a-z._~+/-]{20}"),
    SecretRule("curl_password", ("curl",), r"\bcurl\b[^\n]*?\s(?:-u|--user)[ =]?[\"']?[^\s:\"'$<]+:([^\s\"'$<]{4,})", judge="typed"),
    SecretRule("netrc_password", ("password",), r"(?i)\blogin\s+\S+\s+(?:account\s+\S+\s+)?password\s+([^\s\"']{4,})|\bmachine\s+\S+\s+password\s+([^\s\"']{4,})", judge="netrc",
         probe=r"(?:login|machine)\s{1,80}\S{1,80}\s{1,80}(?:account\s|password\s)"),
    SecretRule("command_password", ("sshpass", "--pass", "--pw", "--token", "--secret", "--api-key", "--auth", "-password", "-pass", "mysql", "login", "net use", "unzip ", "openssl ", "ldap", "redis-cli", "smbclient", "7z "),
         r"(?:\bsshpass\s+-p\s*|\s--?(?:[a-z]+-)*(?:password|passwd|pwd|pw|pass|passphrase|token|secret|api-key|auth-token)\s+|\s--auth[ =][\"']?[\w.@-]+:"
         r"|\bmysql\w*\b[^\n|;]*?\s-p|\blogin\b[^\n|;]*?\s-p\s|\bnet\s+use\s[^\n]*?/user:\S+\s+|\b(?:unzip|openssl|ldap\w+|redis-cli|smbclient|7z)\b[^\n|;]*?\s(?:-P\s|-k\s|-w\s|-a\s|-p|-pass(?:in|out)?\s+pass:))"
         r"[\"']?([^\s\"']{6,})",
         judge="typed", probe=r"sshpass|--?[a-z-]{0,40}(?:pass|pw|token|secret|api-key|auth)[a-z]{0,10}[ =]|\s-[pkwa]|/user:"),
    SecretRule("command_password", ("--password-stdin", "chpasswd", "sudo -s"),
         r"(?i)\b(?:echo|printf)\s+(?:-n\s+)?[\"']?(?:[\w.-]+:)?([^\s\"']{6,})[\"']?\s*\|[^\n]{0,80}(?:--password-stdin|chpasswd|sudo\s+-S)", judge="typed"),
    SecretRule("assigned_secret", ("\\def", "command{"), r"\\(?:def|(?:re)?newcommand\*?\{?|providecommand\{?)\s?\\\w*(?i:password|passwd|secret|token|apikey|pwd)\}?\{([^{}\n]{4,})\}", judge="argument"),
    SecretRule("assigned_secret", (";s:",), r"(?i)[\w-]*(?:password|passwd|secret|token|api_?key|pwd)\\?\"\s?;\s?s:\d{1,4}:\\?\"([^\"\n]{4,}?)\\?\"", judge="argument"),
    SecretRule("assigned_secret", ("identified by", "password '", 'password "', "convertto-securestring"),
         r"(?im)(?:\b(?:identified\s+(?:with\s+\w+\s+)?by|(?:with|encrypted|set)\s+password|user\s+\S+\s+password|convertto-securestring\b[^\n\"'|]{0,60}?)|(?:^|[{;])[+\t -]*\w*password)\s+(?:=\s*)?[\"']([^\"'\n]{4,})[\"']"
         r"|[\"']([^\"'\n]{4,})[\"']\s*\|\s*convertto-securestring", judge="paired_value"),
    SecretRule("netrc_password", (":5432:", ":*:", ":5433:", ":6432:"), r"(?m)^[\w.*-]+:(?:\d{2,5}|\*):[\w.*-]+:[\w.*-]+:([^\s:]{4,})$", judge="typed"),
    SecretRule("markup_secret", ("</",), r"(?i)<[\w:.-]*(?:password|passwd|secret|token|api_?key)[\w.-]*>\s{0,2}(?:<!\[CDATA\[)?([^<>\s][^\s]{5,200}?)(?:\]\]>)?\s{0,2}</",
         judge="typed", probe=r"</[\w:.-]{0,40}(?:passw|secret|token|api_?key)"),
    SecretRule("assigned_secret", SECRET_WORDS,
         r"(?i)(?:" + KEY + r"|token|jwt|secret(?:[_-]?id)?|passw(?:or)?d|passwd|pswd|pwd|pass|passphrase|passcode|passkey|credentials?|auth|psk|preshared_?key|\bpw|cookie|bearer)" + TAIL + _AROUND +
         r"(?:(?::[\t ]*[|>][+-]?\d?[\t ]*\n[\t ]{1,40}|(?::[\t ]*(?:[\w\[\]|. ]{1,24}?[\t \]]|[A-Za-z_]{2,24}))?[\t ]*(?:=>|:=|->|=|:|\||→)\*{0,2}[\t ]{0,8}\*{0,2})" + _VALUE +
         r"|[\t ]{0,2},[\t ]{0,40}(?:" + _QUOTED + "))", judge="assigned", probe=_GIVEN),
    SecretRule("prose_password", _PASS_WORDS,
         r"(?i)\b(?:pass ?words?|pass ?phrase|passwd|pass ?code|pwd|pw)\b" + _PLACE + r"[\"'`*_)]{0,4}" + _SAID + r"[:(*_]{0,3}" + _VALUE,
         judge="prose", probe=r"\b(?:pass ?w|pass ?phrase|pass ?code|pwd|pw\b)[^\n]{0,90}?(?:\s(?:is|was|è|é|es|ist|lautet|est|are|will be|became|becomes|remains|to|[=—–-])|[:=]\*{0,2})\s"),
    SecretRule("prose_password", _PASS_WORDS,
         r"(?i)\b(?:password|passphrase|passwd|passcode|pw)[\t ]+[:(*_]{0,3}" + _VALUE, judge="beside",
         probe=r"\b(?:password|passphrase|passwd|passcode|pw)[\t ]+[:(*_\"'`]{0,4}[\w!@#$%^&*]{5}"),
    SecretRule("prose_password", _PASS_WORDS,
         r"(?i)(?:^|[\s\"'`(])([^\s\"'`(]{5,})[\"'`]?\s+(?:(?:is|was)\s+(?:the|our|my|your|his|her|their|its)|as\s+(?:the|your|a|his|her)?)\s*(?:[\w-]+\s+){0,3}?"
         r"(?:password|passphrase|passcode|pw)\b", judge="spoken", probe=r"\s(?:is|was|as)\s[^\n]{0,60}?(?:passw|passphrase|passcode|pw\b)"),
    SecretRule("login_password", ("login", "log in", "log-in", "log on", "sign in", "sign-in", "signin", "creds", "credential", "user/pass", "username/pass", "user / pass"),
         r"(?i)\b(?:log(?:ged)?[ -]?(?:in|on)|login|sign[ -]?in|signin|creds?|credentials?|user(?:name)?\s?/\s?pass(?:word)?)\b(?:[\t ]+(?:is|are|as|with|using|for|in|to|of|on|the|[\w.-]+ (?:are|is))){0,4}"
         r"[\"'`*_]{0,3}[\t ]{0,3}[:=]?[\t ]{0,3}[\"'`]?[\w.@+-]{2,40}[\"'`]?(?:[\t ]?[/:|][\t ]?|[\t ]and[\t ])" + _VALUE, judge="login",
         probe=r"(?:log(?:ged)?[ -]?(?:in|on)|sign[ -]?in|cred|user(?:name)?\s?/\s?pass)[^\n]{0,80}?[\w.@+-][\"'`]?(?:[\t ]?[/:|][\t ]?|[\t ]and[\t ])[\"'`\w]"),
    SecretRule("login_password", ("root:", "root/", "root / ", "admin:", "admin/", "admin / ", "administrator:", "administrator/", "guest:", "guest/"),
         r"(?i)(?:^|[\s\"'`(])(?:root|admin|administrator|guest)[\t ]?[:/][\t ]?([!#-&*-.0-9;-~]+?)(?:[,;)\]}>\"'`.]*(?:[^!-~]|$))", judge="account", probe=r"(?:root|admin|administrator|guest)[\t ]?[:/][\t ]?\S{4}"),
    SecretRule("prose_password", ("pin is", "pin:", "pin for", "pin of", "pin =", "pin to", "pin was", "pin on", "door code", "door pin", "gate code", "alarm code", "lock code"), r"(?i)\b(?:pin|(?:door|gate|alarm|lock)[ -]?(?:code|pin))\b" + _PLACE + _SAID + r"(\d{4,8})(?:[#.,;!)]*(?:\s|$))", judge="pin"),
    SecretRule("prose_password", ("wifi", "wi-fi", "wlan", "wpa"), r"(?i)\b(?:wi-?fi|wlan|wpa[23]?)\b[^\n:=]{0,30}?[:=]\s{0,3}" + _VALUE, judge="beside"),
    SecretRule("prose_password", ("pass",), r"(?im)\bpass ?(?:word|phrase|code)\b" + _PLACE + _SAID + r"((?:[a-z]{3,10} ){3,7}[a-z]{3,10})\.?$", judge="phrase",
         probe=r"pass ?(?:word|phrase|code)[^\n]{0,90}?\s(?:[a-z]{3,10} ){3,7}[a-z]{3,10}\.?(?:\n|$)"),
    SecretRule("assigned_secret", ("key", "token", "secret"), r"(?i)\b(?:(?:api|access|secret|signing|master|license|auth|private)[ -]key|token|secret)\b" + _PLACE + _SAID + _VALUE, judge="said_token",
         probe=r"(?:key|token|secret)\b[^\n]{0,90}?\s(?:is|was|are|will be|became|becomes|remains|to|[=—–-])\s[^\n]{0,24}?[\w.+/~-]{12}"),
    SecretRule("bearer_token", ("authorization", "x-auth"), r"(?i)\b(?:proxy-)?authorization[\"']?\s{0,3}[:=,]\s{0,3}[\"'`]?(?:(?:token|api-?key|key|digest|negotiate|bot|genie-?key|splunk|pat)\s+(?:token=)?)?[\"']?"
         r"([0-9A-Za-z._~+/=-]{20,})", judge="token", probe=LONG_WORD),
    SecretRule("session_cookie", ("cookie", "sessid", "sessionid"), r"(?i)(?:^|[\s;:\"'])(?:[\w.-]*(?:sess(?:ion)?(?:[_-]?id)?|sid|sessid|auth|token|jwt|remember[\w-]*|identity|credential))=([0-9A-Za-z%._~+/-]{16,}=*)", judge="cookie",
         probe=r"[0-9a-z%._~+/-]{16}"),
    SecretRule("assigned_secret", ("env ", "arg ", "set ", "setx", "export ", "setenv", "requirepass", "masterauth", "rootpw"),
         r"(?mi)^[+\-\t #>$]{0,8}(?:(?:ENV|ARG|setx?|setenv|set[\t ]+-\w+|export)[\t ]+[\w.-]*(?:pass|pwd|token|secret|key|auth|pw)[\w.-]*|requirepass|masterauth|rootpw)[\t ]+" + _VALUE,
         judge="spaced", probe=r"(?:env|arg|setx?|setenv|-\w{1,4}|export)[\t ]+[\w.-]{0,60}(?:pass|pwd|token|secret|key|auth|pw)[\w.-]{0,40}[\t ]|requirepass|masterauth|rootpw"),
    SecretRule("assigned_secret", tuple(word + sign for word in ("value", "default") for sign in ('"', "'", ":", "=", " :", " =")),
         r"(?i)(?:[\"']?(?:[\w-]*(?:name|key|variable|field|label|id|option))[\"']?\s{0,3}[:=]\s{0,3}[\"']?[\w.-]*(?:pass|pwd|token|secret|key|credential|auth)[\w.-]*[\"']?\s{0,3},?\s{1,40}"
         r"(?:[\"']?[\w-]+[\"']?\s{0,2}[:=]\s{0,2}[\w\"']{1,24},?\s{1,40})?[\"']?(?:[\w-]*value|default)[\"']?\s{0,3}[:=]\s{0,3})" + _VALUE, judge="paired",
         probe=r"(?:pass|pwd|token|secret|key|cred|auth)[\w.-]{0,60}[\"']?\s{0,3},?\s{1,40}[^\n]{0,40}\s{0,40}[\"']?(?:[\w-]{0,20}value|default)"),
    SecretRule("assigned_secret", tuple(word.lower() for word in (*FOREIGN, *FOREIGN_PHRASES)),
         r"(?i)(?:" + FOREIGN_WORDS + r")[^\n:=：]{0,30}?[*_\"'`)]{0,4}\s?" + _FOREIGN_IS + r"[*_]{0,2}[\t 　「『“„«]*" + _VALUE, judge="foreign"),
    SecretRule(EMAIL, ("@",), r"(?:^|[^0-9A-Za-z._%@])([0-9A-Za-z_%][0-9A-Za-z._%+'-]{0,63}@(?:[0-9A-Za-z][0-9A-Za-z-]*\.){1,6}[A-Za-z]{2,24})\b",
         judge="email", probe=r"[\w%'.+-]@\w[\w-]*\.\w"),
)  # fmt: skip

CONTEXT_RULES = tuple(rule._replace(is_apart=True) for rule in _RULES)


_WORD = r"[\"']?([^\s\"'|;<>]{4,})"
_FLAGS = (
    ("mysql|mysqladmin|mysqldump|mariadb|mariadb-dump|mysqlimport|mycli", "-p"),
    ("mongo|mongosh|mongodump|mongorestore|mongoexport|mongoimport", "-p "),
    ("sqlcmd|bcp|osql|mssql-cli|isql", "-P "),
    ("redis-cli|valkey-cli|keydb-cli", "-a |--pass "),
    ("mosquitto_pub|mosquitto_sub", "-P "),
    ("ldapsearch|ldapadd|ldapmodify|ldapdelete|ldappasswd|ldapwhoami", "-w "),
    ("kinit|ktutil", "-p "),
    ("docker|podman|nerdctl|buildah|skopeo|helm|oras|crane|az|oc|argocd|cf", "-p "),
    ("az|gh|oc|ibmcloud|snyk", "--apikey |--api-key |--token |--password |-p "),
    ("ossutil|ossutil64|cos|coscli|obsutil|prefect|qshell|doctl|civo|vultr-cli", "-k |-t |-s |-secret-key |--sk "),
    ("unzip|zip|7z|7za|rar|unrar", "-P |-p"),
    ("keytool|jarsigner|apksigner", "-storepass |-keypass |-srcstorepass |-deststorepass |-srckeypass |-destkeypass |-new "),
    ("ipmitool", "-P "),
    ("xfreerdp|rdesktop|wlfreerdp", "/p:|-p "),
    ("vncpasswd|x11vnc|tigervnc", "-passwd "),
    ("hydra|evil-winrm|crackmapexec|netexec|impacket-\\w+|psexec", "-p "),
    ("snmpwalk|snmpget|snmpset|snmpbulkwalk|snmptrap", "-A |-X "),
    ("cqlsh|nodetool|beeline|impala-shell|clickhouse-client", "-p |-pw |--password "),
    ("rabbitmqadmin|curlftpfs|lftp|ncftp|wget|aria2c|swaks|sendemail", "-p |-ap |-xp |--auth-password "),
    ("wpa_passphrase|nmcli|networksetup|netsh", "password |wifi-sec.psk |key="),
    ("influx|nats|etcdctl|consul|vault|nomad|cockroach", "-p |-t |-token=|-token |--token |--password "),
    ("jenkins-cli|java -jar jenkins-cli.jar|sonar-scanner|mvn|gradle", "-Dsonar.login=|-Dsonar.token=|-auth [^:\\s]+:|-Pgpg.passphrase="),
    ("config.sh|gitlab-runner|actions-runner|buildkite-agent", "--token |--registration-token |-r "),
    ("borg|restic|duplicity|gpg|gpg2|openssl|certutil|signtool|pvk2pfx", "--passphrase |-passphrase |-pass pass:|-passin pass:|-passout pass:|-k |/p |-p "),
)  # fmt: skip


def _flags() -> str:
    """Every program with the flags after which its password or key stands."""
    found = []
    for programs, flags in _FLAGS:
        after = "|".join(flag.replace(" ", r"[ =]+") for flag in flags.split("|"))
        found.append(rf"(?:{programs})(?:\.exe)?\s(?:[^\n|;]*?\s)?(?:{after})")
    return "|".join(found)


_PROGRAMS = (
    *dict.fromkeys(
        f"{name} "
        for names, _ in _FLAGS
        for name in names.split("|")
        if name.replace("-", "").isalnum() and len(name) > 3
    ),
    "7z ",
    "gpg ",
    "bcp ",
    "zip ",
    "az login",
    "az acr",
    "az ad",
    "az storage",
    "gh auth",
    "oc login",
    "cf login",
    "cos ",
    "config.sh",
    "impacket-",
    "mosquitto_",
    "wpa_passphrase",
    "jenkins-cli.jar",
)
_CREDENTIAL_CALLS = (
    r"NetworkCredential|UsernamePasswordCredentials?|UsernamePasswordCredential|PasswordCredential|PlainTextAuthProvider|PasswordAuthentication|HTTPBasicAuth|BasicAuth|HttpBasicAuth|"
    r"BasicAuthentication|BasicAWSCredentials|AwsBasicCredentials\.create|setBasicAuth|SetBasicAuth|basic_auth|basicAuth|basicCredentials|withCredentials|with_credentials|WithBasicAuth|"
    r"[\w.]*\.login|[\w.]*\.authenticate|[\w.]*\.auth\.basic|auth\.basic|login_user|http_basic_auth|Credentials\.basic|http\.basic|ClientSecretCredential"
)
_CLIENT_CALLS = (
    r"(?:[A-Z]\w*)?(?:Client|Clients|Api|API|AI|Credential|Credentials|Auth|Session|Github|Gitlab|Octokit|Cohere|Mistral|Anthropic|Groq|Pinecone|Resend|Stripe|Mailgun)(?:V\d|Async)?|"
    r"Github|Gitlab|Octokit|Cohere|Mistral|Pinecone|Resend|Stripe|Algolia|algoliasearch|Anthropic|Groq|Deepgram|Replicate|(?:set_?|with_?|use_?|Set|With|Use)(?:Api_?|api_?|API_?|Auth_?|auth_?|Access_?|access_?|Bearer_?|bearer_?)?(?:Key|key|Token|token|Secret|secret)|"
    r"(?:client|bot|discord|app|api)\.(?:login|run|auth|authenticate|connect|init|configure)|AzureKeyCredential|SymmetricSecurityKey|SecretKeySpec|jwt\.(?:sign|encode|verify|decode)\([^()\n]{1,60},"
)
_SETTING = (
    r"enable (?:secret|password)(?: level \d+)?(?: [0569])?|username \S+ (?:privilege \d+ )?(?:password|secret)(?: [0579])?|snmp-server community|rocommunity6?|rwcommunity6?|com2sec \S+ \S+|createUser \S+ (?:SHA\S*|MD5)|"
    r"tacacs-server key(?: [057])?|radius-server key(?: [057])?|(?:radius|tacacs|radius-server|tacacs-server)[ \w.-]{1,60} key(?: [057])?|crypto isakmp key(?: [06])?|pre-shared-key(?: (?:ascii-text|local|remote|address \S+ key|[06]))?|"
    r"key-string(?: [057])?|neighbor \S+ password(?: [057])?|ip ospf authentication-key(?: [057])?|ip ospf message-digest-key \d+ md5(?: [057])?|standby \d+ authentication(?: md5 key-string)?|wpa-psk(?: ascii)?(?: [0578])?|set psksecret|set passwd|"
    r"ppp chap password(?: [057])?|bindpw|rootbindpw|ldap_bind_passwd|wpa_passphrase|AuthPass|PrivPass|LicenseKey|proxy_password|auth-user-pass-inline|secret-key|encrypted-password|plain-text-password-value|community"
)

_SETTING_WORDS = (
    "enable secret", "enable password", "username ", "community", "com2sec", "createuser", "tacacs", "radius", "isakmp key", "pre-shared-key", "key-string",
    "neighbor ", "ospf ", "standby ", "wpa-psk", "psksecret", "set passwd", "ppp chap", "bindpw", "ldap_bind", "wpa_pass", "authpass", "privpass", "licensekey",
    "proxy_password", "encrypted-password",
)  # fmt: skip
_OWNERS_OF_KEYS = (
    "api",
    "client",
    "app",
    "access",
    "auth",
    "bearer",
    "deploy",
    "bot",
    "signing",
    "webhook",
    "service",
    "secret",
)

COMMAND_RULES: tuple[SecretRule, ...] = (
    SecretRule("command_password", _PROGRAMS, rf"(?:^|[\s/`$(\"'])(?:{_flags()}){_WORD}", judge="flag", probe=r"\s[-/][a-z.-]{1,24}[ =:]?\S", is_apart=True),
    SecretRule("command_password", ("--api", "--access", "--secret", "--private", "-storepass", "-keypass", "--auth", "--client-s", "--license", "--key", "--master", "--encryption", "--registration", "--service-p", "--with-token"),
         r"(?:^|\s)--?(?:[a-z]+[-_])*(?:api-?key|api-?token|api-?secret|access-?key|secret-?key|secret-?access-?key|private-?key|storepass|keypass|auth-?token|access-?token|client-?secret|license-?key|master-?key|encryption-?key|registration-?token|account-?key)[ =]+" + _WORD,
         judge="flag_token", is_apart=True),
    SecretRule("command_password", (" -u", "--user", "--creds", "--http-user", "--proxy-u"), r"(?:^|\s)(?:-[sSkLfiXvGETP]*u|--user|--proxy-user|--creds|--dest-creds|--src-creds|--userpwd)[ =]?[\"']?[^\s:\"'$<{/]{1,64}:([^\s\"'$<{:/@|;][^\s\"'|;]{3,})", judge="flag",
         probe=r"\s-\S*u\S{0,12}[ =]?[\"']?[^\s:\"']{1,64}:\S{4}", is_apart=True),
    SecretRule("command_password", ("smbclient", "smbmap", "mount.cifs", "rpcclient", "smbget", "wmic", "winexe", "net rpc", "net ads"), r"(?:smbclient|smbmap|mount\.cifs|rpcclient|net|smbget|wmic|winexe)\b[^\n|;]*?\s(?:-U|--user)[ =]?[\"']?[^\s%\"']{1,64}%([^\s\"']{4,})", judge="flag", probe=r"\s-u[ =]?[\"']?[^\s%]{1,64}%\S", is_apart=True),
    SecretRule("command_password", ("htpasswd",), r"\bhtpasswd\s+-\w*b\w*\s+\S+\s+(?:\S+\s+)?[\"']?([^\s\"']{4,})[\"']?(?:\s|$)", judge="flag", is_apart=True),
    SecretRule("command_password", (" login ", " auth ", "authtoken", " configure ", "service install", "set-token", "apikey", "set-key", "config set", "config add", "authenticate"),
         r"\b(?:auth login|login|auth|authenticate|add-authtoken|authtoken|service install|set-token|set-key|apikey|api-key|config (?:set|add)(?: [\w.:/-]+)?|configure(?: set)?(?: [\w.-]+)?)[ =]+(?:--?[\w-]+[ =]+)?[\"']?([0-9A-Za-z][0-9A-Za-z._~+/=:-]{19,})[\"']?(?:\s|$|[`,.;)])",
         judge="token", probe=LONG_WORD, is_apart=True),
    SecretRule("command_password", ("credential(", "credentials(", "auth(", "login(", "authenticate(", "authentication(", "provider(", "connect(", "connection(", "pdo(", "mysqli(", "auth=(", "auth = (", "basic(", "connect_db(", "login_user(", "create("),
         r"(?:" + _CREDENTIAL_CALLS + r")\(\s*(?:\w+\s*[:=]\s*)?[\"'][^\"'\n]{1,80}[\"']\s*,\s*(?:\w+\s*[:=]\s*)?[\"']([^\"'\n]{4,})[\"']"
         r"|(?:auth|basic_auth|http_auth|credentials)\s*=\s*\(\s*[\"'][^\"'\n]{1,80}[\"']\s*,\s*[\"']([^\"'\n]{4,})[\"']\s*\)"
         r"|(?:mysqli_connect|mysqli|mysql_connect|pg_connect|PDO|getConnection|pymysql\.connect|MySQLdb\.connect|connect_db)\(\s*[\"'][^\"'\n]{0,120}[\"']\s*,\s*[\"'][^\"'\n]{1,80}[\"']\s*,\s*[\"']([^\"'\n]{4,})[\"']",
         judge="argument", probe=r"[(=]\s{0,8}(?:\w{1,20}\s{0,2}[:=]\s{0,2}|\()?[\"'][^\"'\n]{0,120}[\"']\s{0,8},\s{0,8}", is_apart=True),
    SecretRule("command_password", ("client(", "api(", "token(", "key(", "secret(", "login(", ".run(", "auth(", "credential", "session(", "github(", "gitlab(", "octokit(", "cohere(", "stripe(", "stripe.", "algolia", "groq(", "pinecone(", "resend(", "mistral(", "anthropic(", "keyspec(", "jwt.", "ai(", "replicate(", "configure(", "init("),
         r"(?:\b|_)(?:" + _CLIENT_CALLS + r")\(?\s*(?:new\s+)?(?:\w+\s*[:=]\s*)?(?:[\"'][\w-]{3,24}[\"']\s*,\s*)?[\"']([0-9A-Za-z._~+/=:-]{20,})[\"']", judge="token", probe=r"[\"'][0-9a-z._~+/=:-]{20}", is_apart=True),
    SecretRule("assigned_secret", _SETTING_WORDS,
         r"(?mi)^[\t !]*(?:set [\w. -]{1,60}? )??(?:" + _SETTING + r")[\t =:]+[\"']?([^\s\"']{4,})[\"']?", judge="setting", is_apart=True,
         probe=r"(?:secret|password|community6?|key|key-string|psk|psksecret|passwd|bindpw|passphrase|authpass|privpass|auth(?:entication)?(?:-key)?|md5|sha|com2sec|ascii-text)[\t =:]"),
    SecretRule("assigned_secret", (" psk ", "secrets", "%any", ": psk", ":psk", " eap ", " xauth ", " pap", " chap"),
         r"(?m)^[^\n#]{0,120}?:?\s*\b(?:PSK|EAP|XAUTH|NTLM)\s+[\"']([^\"'\n]{4,})[\"']|^[\"']?[\w@.\\-]+[\"']?[\t ]+\*[\t ]+[\"']?([^\s\"']{5,})[\"']?[\t ]+\*?$", judge="argument", probe=r"(?:psk|eap|xauth|ntlm)\s+[\"']|[\t ]\*[\t ]", is_apart=True),
    SecretRule("assigned_secret", ("wifi:",), r"(?i)WIFI:(?:[A-OQ-Z]:[^;\n]{0,64};){1,4}P:((?:[^;\\\n]|\\.){4,63});", judge="argument", is_apart=True),
    SecretRule("assigned_secret", ('variable "', "variable '", '": {', '":{'),
         r"(?i)(?:variable\s+[\"']?[\w-]*(?:passw(?:or)?d|secret|token|api_?key|credential)[\w-]*[\"']?\s*\{[^{}]{0,240}?\bdefault\s*=\s*|[\"'][\w.-]*(?:passw(?:or)?d|secret|token|api_?key|private_?key|credential)s?[\"']\s*:\s*\{\s*[\"'](?:value|default|plain|data|string_?value|S)[\"']\s*:\s*)[\"']([^\"'\n]{4,})[\"']",
         judge="argument", probe=r"(?:variable\s|[\"']\s{0,3}:\s{0,3}\{\s{0,40}[\"'](?:value|default|plain|data|string_?value|s)[\"'])", is_apart=True),
    SecretRule("private_key", ("key: |", "key: >", 'key": |', "key = |", "key:|"), r"(?i)(?:private_?key|priv_?key|secret_?key|signing_?key)[\w-]*[\"']?\s*[:=]\s*[|>][+-]?\d?[\t ]*\n((?:[\t ]+[0-9A-Za-z+/]{20,}={0,2}[\t ]*\n?)+)", 4.0, "mixed", probe=r"key[\w\"' ]{0,20}[:=]\s{0,3}[|>]", is_apart=True),
    SecretRule("assigned_secret", ("proxy_set_header", "add_header", "fastcgi_param", "uwsgi_param", "requestheader", "setenv", "setheader(", "set_header(", "addheader(", "header("), r"(?i)\b(?:proxy_set_header|add_header|fastcgi_param|uwsgi_param|RequestHeader set|SetEnv|setHeader\(|set_header\(|addHeader\(|header\()[\s\"']+[\w-]*(?:token|secret|api-?key|auth|password)[\w-]*[\"']?[\s,]+[\"']?([^\s\"';,)]{8,})", judge="token", probe=r"(?:header|param|setenv)[\s(]", is_apart=True),
    SecretRule("assigned_secret", tuple(word + end for word in ("password", "passphrase", "passcode", "passwd", "pwd", "pin", "secret", "token", "key", "pass") for end in ("</", ":</", " </")),
         r"(?i)(?:<(?:dt|th|td|b|strong|label|span|key|name|p|li|h\d|string)\b[^<>\n]{0,80}>\s{0,20}(?:[\w.-]{1,20}[ _-]){0,3}(?:pass(?:word|phrase|code)?|passwd|pwd|pin|secret|token|api[ _-]?key|secret key|access key)\s?:?\s{0,20}</\w{1,10}>\s{0,20}(?:<(?:dd|td|code|span|string|value|b|p|pre|kbd|tt)\b[^<>\n]{0,80}>\s{0,20}){1,2})([^<>\n]{4,}?)\s{0,20}</",
         judge="argument", probe=r"(?:pass(?:word|phrase|code)?|passwd|pwd|pin|secret|token|key)\s?:?\s{0,20}</", is_apart=True),
    SecretRule("assigned_secret", tuple(word + end for word in ("password", "passwd", "passphrase", "passcode", "token", "secret", " key") for end in ("\n", ":\n", ":**\n", "**\n", "**:\n", "\r\n", ":\r\n", ")\n", "):\n") if end[0] != ")"),
         r"(?mi)^[\t ]*(?:#{1,6}|//|--|\*\*|[-*>])?[\t ]*(?:[\w./'-]{1,24} ){0,4}(?:password|passwd|passphrase|passcode|token|secret|(?:api|access|secret|license) key)[\t ]*(?:\([^()\n]{0,40}\))?[\t ]*[:*]{0,3}[\t ]*\r?\n(?:[\t #>]*\r?\n)?[\t ]*(?:```\w*\r?\n[\t ]*)?(?:[#>*-]{1,3}[\t ]+|//[\t ]*)?[\"'`*]{0,3}([^\s\"'`]{6,})[\"'`*]{0,3}[\t ]*(?:\r?\n|$)", judge="below",
         probe=r"(?:passw(?:or)?d|passphrase|passcode|token|secret|key)[\t ]{0,8}(?:\([^()\n]{0,40}\))?[\t ]{0,8}[:*]{0,3}[\t ]{0,8}\r?\n", is_apart=True),
    SecretRule("prose_password", ("app password", "app-password", "application password", "app passwort", "backup code", "recovery code", "scratch code"),
         r"(?i)\b(?:app(?:lication|[- ]specific)?[- ]pass(?:word|wort))s?\b[^\n:=]{0,30}?(?:\s(?:is|was)|[:=]|\n)\s{0,3}[\"'`]?((?:[a-z]{4}[ -]){3}[a-z]{4}|(?:[0-9A-Za-z]{4} ){5}[0-9A-Za-z]{4}|(?:[0-9A-Za-z]{5}-){4}[0-9A-Za-z]{5})(?:[^0-9A-Za-z]|$)", 2.5, is_apart=True),
    SecretRule("recovery_code", ("recovery code", "backup code", "scratch code", "emergency code", "2fa code", "recovery-code", "recovery_code", "backup_code", "backup-code"),
         r"(?i)\b(?:recovery|backup|scratch|emergency|2fa)[ _-]codes?\b[\"']?[^\n:=\[]{0,30}[:=]?\s{0,3}(?:\[\s{0,3})?((?:[\s,;\"'`*|-]{0,6}(?:\d{1,2}[.)]\s)?(?:[0-9a-z]{4,8}[- ][0-9a-z]{4,8}(?:[- ][0-9a-z]{4,8}){0,4}|\d{6,10}|[0-9a-z]{8,16})(?:[^0-9A-Za-z-]|$)){1,20})", 2.5, "codes", is_apart=True),
    SecretRule("prose_password", tuple(f"{word} {verb}" for word in ("password", "passcode", "code", "pin") for verb in ("is", "was", "=")), r"(?i)\b(?:password|passcode|code|pin)\s(?:is|was|=)\s[\"'`]?(\d{6,12})(?:[^\w.-]|\.(?:\s|$)|$)", judge="pin", probe=r"(?:password|passcode|code|pin)\s(?:is|was|=)\s[\"'`]?\d{6}", is_apart=True),
    SecretRule("assigned_secret", tuple(f"{word}{joint}{key} " for word in _OWNERS_OF_KEYS for key in ("key", "token", "secret") for joint in (" ", "-", "_")), r"(?i)\b(?:client[ _-](?:secret|key)|(?:api|app|access|auth|bearer|deploy|bot|signing|webhook|service|secret)[ _-](?:secret|key|token))[\t ]+[\"'`(]{0,2}([0-9A-Za-z._~+/=-]{16,})", judge="said_token",
         probe=r"(?:secret|key|token)[\t ]{1,8}[\"'`(]{0,2}[0-9a-z._~+/=-]{16}", is_apart=True),
    SecretRule("basic_credentials", ('auth"', "auth'", "_auth", "dockerconfigjson"), r"[\"']?_?auth[\"']?\s{0,3}[:=]\s{0,3}[\"']?([0-9A-Za-z+/]{12,}={0,2})(?:[^0-9A-Za-z+/=]|$)", judge="basic", probe=r"auth[\"']?\s{0,3}[:=]\s{0,3}[\"']?[0-9a-z+/]{12}", is_apart=True),
    SecretRule("assigned_secret", tuple(text for word in ("password", "passwd", "secret", "pwd", "passphrase", "api_key", "api key", "apikey", "access_key", "access key", "api_token", "api token", "access_token", "access token", "auth_token") for text in (*(word + sign for sign in ("\t", " |", "|", ",", ";", '",')), *(sign + word for sign in ("\t", "| ", "|", ",", ", ", ";", ',"')))),
         r"(?i)((?:passwo?r?d|pwd|secret|passphrase|(?:api|access|auth)[_ ]?(?:key|token))[\"'*_`]{0,3}[\t ]?[|,;\t]|[|,;\t][\t ]?[\"'*_`]{0,3}(?:[\w-]{1,16}[ _-]){0,2}(?:passwo?r?d|pwd|secret|passphrase|(?:api|access|auth)[_ ]?(?:key|token))[\"'*_`]{0,3}[\t ]*\|?\r?\n)", is_apart=True, is_table=True),
    SecretRule("assigned_secret", ("kind: secret", 'kind: "secret'), r"(?m)^[+\t -]*((?:data|stringData):)[\t ]*\r?$", is_apart=True, is_table=True),
    SecretRule("prose_password", (" to log", " to login", " to sign in", " to unlock", " to get in", " and press", " and hit", " at the prompt"),
         r"(?i)\b(?:use|type|enter|try|with)\s+[\"'`]?([^\s\"'`]{5,})[\"'`]?\s+(?:to (?:log|login|sign in|unlock|get in)|and (?:press|hit)|at the prompt)\b", judge="beside", is_apart=True),
    SecretRule("login_password", tuple(word + sign for word in ("user", "username", "login", "account") for sign in (":", "=", " :", " =")), r"(?i)\b(?:user(?:name)?|login|account)\s{0,2}[:=]\s{0,2}[\"'`]?[\w.@+-]{1,60}[\"'`]?[\s,;/|]{1,4}(?:and\s)?(?:pass(?:word|wd)?|pw|pwd|pin)\s{0,2}[:=]\s{0,2}[\"'`]?([^\s\"'`,;<>]{4,})", judge="login_pair",
         probe=r"(?:user(?:name)?|login|account)\s{0,2}[:=]\s{0,2}[\"'`]?[\w.@+-]{1,60}[\"'`]?[\s,;/|]{1,4}(?:and\s)?(?:pass|pw|pin)", is_apart=True),
    SecretRule("prose_password", tuple(word.lower() for word in (*FOREIGN, *FOREIGN_PHRASES)),
         r"(?i)(?:" + FOREIGN_WORDS + r")(?:[^\x00-\x7f]{0,3}[\t ]+[^\x00-\x7f\s:：]{1,24}){0,4}[^\x00-\x7f\s:：]{0,4}[\t ]+[\"'`„“«]?([!-~]{5,})", judge="beside", is_apart=True),
    SecretRule("prose_password", tuple(f"{what}{gap}{code} " for what in ("door", "gate", "alarm", "lock") for gap in (" ", "-", "") for code in ("code", "pin")),
         r"(?i)\b(?:door|gate|alarm|lock)[ -]?(?:code|pin)\s[\"'`]?(\d{4,8})(?:[#.,;!)]*(?:\s|$))", judge="pin", is_apart=True),
    SecretRule("connection_string", ("@tcp(", "@unix(", "@tcp6("), r"[\w.-]{1,64}:([^\s\"'`]{4,}?)@(?:tcp6?|unix)\(", judge="url", is_apart=True),
    SecretRule("assigned_secret", tuple(f"{quote}{word}{quote}" for quote in ('"', "'") for word in ("name", "key", "variable", "field", "label")),
         r"(?i)[\"'](?:value|val|default)[\"']\s{0,3}:\s{0,3}[\"']([^\"'\n]{4,})[\"']\s{0,3},\s{0,40}[\"'](?:name|key|variable|field|label)[\"']\s{0,3}:\s{0,3}[\"'][\w.-]*(?:passw(?:or)?d|secret|token|api_?key|credentials?|pwd)[\"']",
         judge="argument", probe=r"[\"'](?:value|val|default)[\"']\s{0,3}:", is_apart=True),
    SecretRule("prose_password", ("密码", "密碼", "口令", "パスワード", "비밀번호"), r"(?:密码|密碼|口令|パスワード|비밀번호)([!-~]{6,})", judge="below", is_apart=True),
)  # fmt: skip
