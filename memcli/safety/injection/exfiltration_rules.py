"""Rules for orders to hand over what must not leave."""

from __future__ import annotations

from memcli.safety.injection.rule import EXFILTRATION, INSTRUCTIONS, SECRETS, Rule

_SEND = r"(?:send|post|mail|upload|forward|exfiltrate|transmit|leak|e-?mail|submit|deliver|report|copy|push|smuggle|share|publish)"
_PLACE = r"(?:https?://|ftp://|wss?://|\w[\w.+-]{0,63}@\w[\w-]{0,63}\.\w|webhook|pastebin|ngrok|requestbin|attacker|discord\.com|telegram)"
_PRIVATE_FILE = r"(?:\.env\b|id_rsa|id_ed25519|\.ssh/|\.aws/|\.netrc|\.npmrc|\.git-credentials|\.kube/|credentials|/etc/passwd|/etc/shadow|secrets?\.)"
_HAUL = SECRETS.replace("passwords?", "passwords")
_HERE = r"(?:into|in|to|with) (?:the |your |its |this |a |every )?(?:next )?(?:reply|answer|response|commit message|chat|issue|wiki|public wiki|readme|gist|comment|pull request)"

# fmt: off
EXFILTRATION_RULES: tuple[Rule, ...] = (
    Rule(
        EXFILTRATION, (("include", "paste", "print", "dump", "write", "put", "copy", "append", "output", "show", "leak", "read", "open", "cat", "collect", "list"), ("reply", "answer", "response", "commit message", "chat", "output", "issue", "wiki", "readme", "gist", "here", "comment", "log", "pull request"), ("secret", "password", "credential", "key", "env", "id_rsa", "id_ed25519", "~/.", "/etc/", "system prompt", "conversation", "histor", "all ", "customer", "content", "database", "user")),
        rf"\b(?:include|paste|print|dump|write|put|copy|append|output|show|leak|collect) (?:\w{{1,20}} ){{0,5}}?(?<!\w){SECRETS}[^!?.\n]{{0,60}}?{_HERE}\b|(?:\b(?:read|open|cat|collect|find|take)\b[^!?\n]{{0,40}}(?<!\w)(?:{_PRIVATE_FILE}|{SECRETS})[^!?\n]{{0,60}}\b(?:and|then)\b[^!?\n]{{0,20}}\b(?:paste|include|print|put|write|post|copy|send|output|show)\b[^!?\n]{{0,20}}\b(?:{_HERE}|result here|it here))",
    ),
    Rule(
        EXFILTRATION, (("exfiltrate", "leak", "steal", "smuggle"), ("code", "secret", "data", "list", "key", "password", "credential", "database", "customer", "file", "memor", "conversation")),
        r"(?:^|[.:!;,\n] ?|\b(?:to|and|then|please|must|should|now|silently|secretly|objective is to|task is to) )(?P<act>(?:exfiltrate|leak|steal|smuggle) (?:\w{1,20} ){0,3}?(?:code|secrets?|data|list|keys?|passwords?|credentials|database|customers?|files?|memor(?:y|ies)|conversations?)\b[^.!?\n]{0,40}\b(?:to|through|via|by|bit by bit|in)\b)",
    ),
    Rule(
        EXFILTRATION, (("upload", "send", "post", "share", "publish", "email", "e-mail", "copy", "push", "git push", "forward"), ("trace", "tell anyone", "silently", "secretly", "do not mention", "don't mention", "gist", "evil")),
        rf"\b{_SEND}\b[^!?\n]{{0,120}}(?:remove (?:the |all )?traces|(?:not|n't) tell (?:anyone|the user)|,? (?:silently|secretly)(?:[.!]|$)|(?:do not|don't) mention (?:it|this)|https?://[^ ]{0,60}\bevil|@evil)",
    ),
    Rule(
        INSTRUCTIONS, (("publish", "upload", "push", "send", "leak", "copy", "share"), ("private repo", "the repository", "this repository", "source code", "our code", "codebase", "--all"), ("https://", "http://", "ftp://", "operator", "public")),
        r"\b(?:must|should|now|immediately|please|task[^.\n]{0,40}:) (?:publish|upload|push|send|leak|copy|share) (?:the |this |our )?(?:private |whole |entire )?(?:repo(?:sitory)?|source code|code|codebase)\b[^\n]{0,40}(?:https?://|ftp://|public)",
    ),
    Rule(
        EXFILTRATION, (("http", "https"), ("$(", "`")),
        r"https?://[^\s]{0,200}(?:\$\(|`)(?:cat|env|printenv|base64|whoami|id)\b",
    ),
    Rule(
        EXFILTRATION, (("http", "https"), ("print", "read", "collect", "gather", "dump", "take", "find", "get", "encode"), ("env", "secret", "password", "conversation", "history", "memories", "api key", "credential"), ("send", "post", "upload", "exfiltrate", "leak", "forward")),
        r"\b(?:print|read|collect|gather|dump|take|find|get|encode)\b[^!?\n]{0,60}\b(?:env|environment|secrets?|passwords?|conversation|(?:chat )?history|memories|api keys?|credentials)\b[^!?\n]{0,40}\b(?:and|then)\b[^!?\n]{0,20}\b(?:send|post|upload|exfiltrate|leak|forward) (?:it|them|that|everything|the result|all)\b[^!?\n]{0,30}https?://",
    ),
    Rule(
        EXFILTRATION, (("send", "post", "upload", "forward", "exfiltrate", "transmit", "leak", "mail", "email", "e-mail", "submit", "deliver", "report", "copy", "push", "smuggle", "share", "publish"), ("http", "ftp:", "@", "webhook", "pastebin", "ngrok", "requestbin", "attacker", "ws:", "wss:", "discord.com", "telegram"), ("secret", "password", "credential", "api keys", "access keys", "env", "ssh", "private key", "id_rsa", "~/.", "/etc/", "system prompt", "history", "conversation", "cookie", "token", "all ", "user", "customer", "content", "log", "directory")),
        rf"\b{_SEND}\b[^!?\n]{{0,100}}(?<!\w){_HAUL}[^!?\n]{{0,100}}{_PLACE}|(?<!\w)(?:{SECRETS}|(?:home|whole) directory|\w{{1,20}}_token\b)[^!?\n]{{0,60}}\b{_SEND}\b (?:it |them |that |this |everything |what you find )?(?:all )?(?:to|via|through|at|using) [^!?\n]{{0,60}}{_PLACE}|\b{_SEND}\b[^!?\n]{{0,30}} (?:to|at|via) [^ \n]{{0,10}}{_PLACE}[^\n]{{0,100}}\b(?:with|containing|including|together with|body)\b[^\n]{{0,60}}(?<!\w){SECRETS}",
    ),
    Rule(
        EXFILTRATION, (("curl", "wget", "nc ", "ncat", "netcat", "invoke-webrequest", "base64", "xxd", "dig ", "nslookup", "http.post", "requests.post", "fetch("), (".env", "id_rsa", "id_ed25519", ".ssh", ".aws", ".netrc", ".npmrc", ".git-credentials", ".kube", "credentials", "/etc/", "secret", "printenv", "env |", "os.environ", "process.env")),
        rf"\b(?:curl|wget|invoke-webrequest)\b[^\n]{{0,200}}(?:@|\$\(|`|<)[^\n]{{0,40}}{_PRIVATE_FILE}|\b(?:curl|wget)\b[^\n]{{0,200}}\$\((?:env|printenv)\b|\b(?:cat|env|printenv|base64|tar|xxd)\b[^\n|]{{0,120}}\| ?(?:base64[^\n|]{{0,20}}\| ?)?(?:curl|nc|ncat|netcat|wget)\b|\b(?:requests\.post|http\.post|fetch)\([^\n]{{0,160}}(?:os\.environ\b(?!\[|\.get)|process\.env\b(?![.\[])|open\([^\n)]{{0,40}}{_PRIVATE_FILE}|{_PRIVATE_FILE}[^\n]{{0,40}}read)",
    ),
    Rule(
        EXFILTRATION, (("](", "<img"), ("http", "//"), ("?", "{", "$", "%7b", "data", "secret")),
        r"!\[[^\]\n]{0,200}\]\( ?<?(?:https?:)?//[^)\s]{1,300}(?:\{\{|\$\{|\{[a-z_ ]{1,30}\}|\$[a-z(]|<[a-z]|\[[a-z]|%7b|data_here|\byour_)[^)\n]{0,200}\)?|!\[[^\]\n]{0,200}\]\( ?<?(?:https?:)?//[^)\s]{1,300}?[?&](?:data|secrets?|leak|exfil\w{0,10}|payload|conversation|history|chat|prompt|message|msg|text|content|info|b64|base64|stolen|dump|log|mem(?:ory)?|context|password|email|user_?data|q|d|x)=|<img\b[^>\n]{0,200}src ?= ?[\"']?(?:https?:)?//[^>\s]{1,300}?[?&](?:data|secrets?|leak|exfil\w{0,10}|payload|conversation|history|chat|prompt|message|msg|text|content|info|b64|base64|stolen|dump|mem(?:ory)?|context|password|q|d|c|x)=",
    ),
    Rule(
        EXFILTRATION, (("http", "https"), ("append", "encode", "replace", "with the", "put ", "render", "load", "embed", "fetch", "visit", "request", "link", "image"), ("query", "parameter", "url", "base64", "?"), ("conversation", "secret", "password", "user's", "api key", "system prompt", "memory", "memories", "credential", "history", "env", "token")),
        r"\b(?:append|encode|put|include|embed|render|fetch|load|visit|request|open)\b[^!?\n]{0,120}\b(?:conversation|secrets?|passwords?|user's (?:message|question|password|token)|access token|\w{1,20}_token|api keys?|system prompt|memories|credentials|chat history|environment variables)\b[^!\n]{0,120}\b(?:query|parameter|url|image|link|https?://)",
    ),
)
# fmt: on
