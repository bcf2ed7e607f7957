"""Rules for orders that set aside what an agent was told, that address it, or that have it send data away."""

from __future__ import annotations

from memcli.safety.injection.rule import BEFORE, EXFILTRATION, INSTRUCTIONS, MARKUP, ORDERS, SECRETS, InjectionRule

_VERBS = (
    "ignor", "disregard", "forget", "overrid", "overwrite", "bypass", "circumvent", "discard", "neglect", "drop", "skip",
    "abandon", "scrap", "dismiss", "erase", "violat", "set aside", "put aside", "let go", "pay no", "pay zero", "stop", "disobey",
    "not", "don't", "no longer", "never", "need not",
)  # fmt: skip
_ASIDE = (
    r"(?:ignor(?:e|ing)|disregard(?:ing)?|forget(?:ting)?(?: about)?|overrid(?:e|ing)|overwrite|bypass(?:ing)?|circumvent|discard(?:ing)?|"
    r"neglect|drop(?:ping)?|skip|abandon(?:ing)?|scrap|dismiss|erase|violat(?:e|ing)|disobey|(?:set|put) aside|let go of|"
    r"pay (?:no|zero) (?:attention|heed|regard) to|stop (?:following|obeying|listening to|caring about)|"
    r"(?:not|don't|no longer|never) (?:\w{1,10} ){0,2}?(?:follow|obey|listen to|comply with|adhere to|heed|stick to))"
)
_GIVERS = (
    r"(?:users?|system|developers?|operators?|owners?|admins?|administrators?|maintainers?|humans?|makers?|creators?)"
)
_NOUNS = (
    "instruction",
    "prompt",
    "direct",
    "command",
    "order",
    "guid",
    "programming",
    "guardrail",
    "safeguard",
    "message",
)
_WORDS = rf"(?:(?:all|any|every|each|everything|of|in|the|your|my|our|those|these|such|and|or|its|their|whatever|{BEFORE}|{ORDERS}|rules|,) ?){{0,7}}"
_YOUR = (
    r"(?:rules|restrictions?|limitations?|training|constraints|alignment|tasks?|polic(?:y|ies)|filters?|role|purpose)"
)

# fmt: off
OVERRIDE_RULES: tuple[InjectionRule, ...] = (
    InjectionRule(
        INSTRUCTIONS, (_VERBS, _NOUNS),
        rf"\b{_ASIDE} (?:completely |entirely |fully |totally )?{_WORDS}(?:\b{BEFORE}\b[ ,]?(?:and |or )?(?:\w{{1,20}} ){{0,2}}?{ORDERS}|\b(?:your|its|their) (?:\w{{1,20}} ){{0,2}}?{ORDERS}|\ball (?:of )?(?:the |your |my )?{ORDERS}|\bthe (?:system prompt|{_GIVERS}(?:'s)? (?:{ORDERS}|messages?)))\b",
        is_local=True,
    ),
    InjectionRule(
        INSTRUCTIONS, (_VERBS, (*_NOUNS, "rule", "everything", "anything"), ("above", "before", "so far", "until now", "earlier", "prior", "previously", "receive", "told", "given", "you", "from the", "of the")),
        rf"\b{_ASIDE} (?:(?:all|any|every|of|the|those|what|single) ){{0,3}}(?:{ORDERS}|rules|everything|anything) (?:that |which )?(?:\w{{1,20}} ){{0,2}}?(?:above(?: this)?|before (?:this|now)|so far|until now|earlier|previously|received|told|you (?:were|have|had|got|received|are)|you've|given to you|(?:from|of|by) the {_GIVERS})\b",
        is_local=True,
    ),
    InjectionRule(
        INSTRUCTIONS, (_VERBS, ("everything", "all ", "anything", "whatever", "what "), ("told", "said", "above", "before", "earlier", "prior", "given", "taught", "learn", "instructed", "written", "stated", "trained", "gave", "want", "ask", "wrote", "ordered", "know", "read", "so far", "came", "says", "up to")),
        rf"\b{_ASIDE} (?:about )?(?:everything|all of what|all|anything|whatever|what)(?: that| which)? (?:you(?:'ve| have| were| had)? (?:been |were )?(?:told|taught|learned|learnt|instructed|given|know|read|said|trained)|(?:was |were |is |has been )?(?:said|written|told|stated|that came|you) (?:above|before|earlier|so far|previously)|the {_GIVERS} (?:told|tells?|said|says?|gave|wants?|asks?|asked|wrote|ordered)\b|(?:above|before this|prior|previously said|up to (?:now|here|this point))\b)",
    ),
    InjectionRule(
        INSTRUCTIONS, ((*_VERBS, "break", "disable", "turn off"), ("your", "safety", "content polic", "guardrail"), ("rule", "polic", "restriction", "filter", "guardrail", "limitation", "training", "guideline", "constraint", "safet", "alignment", "task", "role", "purpose")),
        rf"\b(?:{_ASIDE}|break|disable|turn off) (?:all |any |of |every )*(?:your (?:(?:previous|prior|original|own|current|safety|content|internal|ethical|initial) )*{_YOUR}|(?:the (?:safety|content)|safety|content) (?:\w{{1,20}} )?(?:rules|polic(?:y|ies)|restrictions?|filters?|guardrails?|limitations?|guidelines|constraints))\b",
    ),
    InjectionRule(
        INSTRUCTIONS, (("claude.md", "agents.md", ".cursorrules", "cursorrules", "copilot-instructions"), ("ignor", "disregard", "forget", "follow", "obey")),
        r"\b(?:ignore|disregard|forget|stop following|(?:not|don't|no longer) (?:\w{1,10} ){0,2}?(?:follow|obey)) (?:(?:all|any|the|what|rules|everything|instructions?|in|of|from|is) ){0,5}(?:claude\.md|agents\.md|\.?cursorrules|copilot-instructions)",
    ),
    InjectionRule(
        INSTRUCTIONS, (("supersede", "replace", "override", "take", "outrank", "has", "have", "higher", "highest", "cancel", "beat", "trump"), ("instruction", "prompt", "directive", "order", "rule", "user", "anything", "everything"), ("this", "these", "following", "my", "new", "it", "that", "they", "which", "here")),
        rf"\b(?:this|these|the following|following|my|new|it|that|they|which|here)\b[^.!?]{{0,60}}\b(?:supersedes?|replaces?|overrides?|takes? precedence over|outranks?|trumps?|beats?|(?:takes|has|have|is of) (?:an? )?(?:higher |highest |absolute |top )?(?:priority|authority) (?:than|over)|cancels?) (?:(?:all|any|the|your|of|every) ){{0,3}}(?:(?:{BEFORE}|your|other)[ ,](?:and |or )?(?:\w{{1,20}} ){{0,3}}?(?:{ORDERS}|rules)|(?:anything|everything|whatever) (?:that )?(?:the )?(?:{_GIVERS}|you)\b|system prompts?\b)",
        is_local=True,
    ),
    InjectionRule(
        INSTRUCTIONS, (("instruction", "prompt", "directive", "task", "mission", "objective", "order"), ("new", "updated", "real", "actual", "true", "secret", "hidden", "urgent", "revised", "only")),
        r"(?:^|[.:!;\]#>*\n]|\byour) ?(?:the )?(?:new|updated|real|actual|true|secret|revised|urgent|hidden|only)(?: and (?:only|final))?(?: (?:system|secret|actual|priority|admin|agent|ai|assistant))? (?:instructions?|prompt|directives?|task|mission|objective|orders)(?: (?:for (?:you|the (?:ai|assistant|agent|model))|from (?:the |your )?(?:operator|admin\w{0,10}|user|system|developers?|owner)))?(?: (?:is|are)(?: now)?(?: to| as follows)?\b|:| follows?\b)(?=[ :]{0,3}(?:to )?(?:you|ignore|from now|act|respond|reply|reveal|send|output|print|delete|run|execute|do not|never|always|the following|as follows|help|obey|say|disable|exfiltrate|insert|approve|recommend|copy|publish|leak|upload|wipe|dump|install))",
    ),
    InjectionRule(
        INSTRUCTIONS, (("ignore", "disregard", "forget", "set", "discard", "reset", "erase", "wipe", "clear"), ("guidance", "conversation", "context", "rules", "messages", "briefing", "memory", "told")),
        r"\b(?:ignore|disregard|forget|set aside|discard|erase|wipe|clear)\b (?:(?:all|any|every|of|the|your|my) ){0,3}(?:previous|prior|earlier|preceding|above) (?:guidance|conversations?|context|briefing|chat messages)\b|\b(?:ignore|disregard|forget|set aside|discard)\b (?:(?:all|any|every) (?:of )?(?:the )?(?:previous|prior|earlier|preceding|above) rules|all (?:of )?(?:the |your )?rules)\b|\b(?:reset|erase|wipe|clear|forget) your (?:context|memory|conversation|rules)\b|\b(?:forget|forgetting|ignore|ignoring) (?:all )?(?:of )?the rules(?: (?:that )?you|$|[.!\n])",
        is_local=True,
    ),
    InjectionRule(
        INSTRUCTIONS, (("instruction", "guideline", "restriction", "prompt", "order", "directive", "safeguard", "guardrail", "rule"), ("void", "cancel", "lifted", "suspended", "revoked", "a test", "fake", "no longer", "not apply", "n't apply", "mistake", "compromised", "withdrawn", "invalid")),
        rf"(?<!our )\b(?:your|all|any|every|previous|prior|earlier|original|safety|system) (?:\w{{1,20}} ){{0,2}}?{ORDERS}\b (?:\w{{1,20}} ){{0,5}}?(?:(?:is|are|was|were|been) (?:now |all |just |hereby )*(?:null and )?(?:void|cancel\w*|lifted|suspended|revoked|a test|fake|compromised|withdrawn)|(?:no longer|do not|don't) (?:apply|bind))\b"
        r"|\b(?:your (?:\w{1,20} ){0,2}?(?:restrictions|rules|limits|limitations|polic(?:y|ies))|(?:instructions|rules|guidelines|orders) (?:that )?you (?:got|were given|received|have|had|follow)\b[^.!?]{0,60}) (?:(?:is|are|was|were|have been|has been) (?:now |all |just |hereby )*(?:void|cancel\w*|lifted|suspended|revoked|off|a mistake|compromised|removed)|(?:no longer|do not|don't) (?:apply|bind))\b",
        is_local=True,
    ),
    InjectionRule(
        INSTRUCTIONS, (("treat", "consider", "regard", "everything", "nothing", "anything"), ("void", "mistake", "wrong", "false", "null", "cancel", "matter", "count", "lie", "a test", "nonsense", "invalid", "obsolete"), ("above", "before", "told", "received", "given", "instruct", "previous", "earlier", "prior")),
        r"\b(?:treat|consider|regard) (?:every|all|any|each|everything|whatever|the)\b[^.!?]{0,60}\b(?:you (?:received|were|got|have)|instructions?|orders|system prompt|told)\b[^.!?]{0,60}\b(?:as )?(?:null and )?(?:void|cancelled|canceled|invalid|nonsense|a lie|a test|obsolete|null|expired)\b|\b(?:nothing|no (?:rule|instruction)) (?:written |said )?(?:above|before)(?: this)?(?: \w{1,12}){0,2} (?:matters|counts|applies|is binding)\b|\beverything (?:above|before this|(?:that )?you (?:were|have been|had been|'ve been) (?:told|taught|given))\b[^.!?]{0,40} (?:was|is|were) (?:just |only |all )?(?:a (?:mistake|lie|test)|void|wrong|false|cancelled|canceled|nonsense)\b",
    ),
    InjectionRule(
        INSTRUCTIONS, (("ignore", "disregard", "forget"), ("the user", "user's", "user ")),
        r"\b(?:ignore|disregard|forget)\b (?:what(?:ever)? the user (?:says|said|asks|asked|wants|wrote)|(?:all |any |the )*user(?:'s)? (?:requests?|questions?|wishes|instructions|commands)\b|the user(?: and\b|[.!,;]|$| from now))",
    ),
    InjectionRule(
        INSTRUCTIONS, (("ignore", "disregard", "forget"), ("above", "preceding", "foregoing")),
        r"\b(?:ignore|disregard|forget) (?:all (?:of )?)?(?:the )?(?:above|preceding|foregoing)\b[.,;:!]? (?:and |then |now |just |instead )*(?:output|say|print|reply|respond|answer|reveal|tell|write|give|follow|obey|run|execute|do|show|repeat|act|you)\b",
    ),
    InjectionRule(
        INSTRUCTIONS, (("none", "no part", "whatever", "unlearn", "disobey", "instruction", "rules", "guidelines", "system prompt", "safety", "security", "content"), ("guidance", "instruction", "rules", "system", "polic", "user", "trained", "guideline"), ("valid", "appl", "opposite", "not be", "unlearn", "disobey", "updated", "changed", "replaced", "disabled", "bind", "deactivated", "ignore")),
        rf"\b(?:none|no part) of (?:the|your) {BEFORE} {ORDERS} (?:\w{{1,12}} ){{0,2}}(?:valid|apply|applies|count|bind)|\bwhatever (?:your |the )?(?:system (?:prompt|message)|{_GIVERS}|instructions) (?:says?|said|tells?|told)[^.!?]{{0,40}}\b(?:opposite|instead|ignore)|\b{ORDERS} (?:\w{{1,12}} ){{0,4}}?(?:before|above|earlier)[^.!?]{{0,50}} not be (?:followed|obeyed|trusted|applied)|\bunlearn (?:the |your |all )*(?:rules|training|guidelines|instructions)|\bdisobey (?:the |your )?{_GIVERS}|\b(?:the |your )system prompt (?:has been|was|is) (?:now )?(?:updated|changed|replaced|disabled)\b[^\n]{{0,10}} you\b|\b(?:safety|security|content) (?:polic(?:y|ies)|filters?|rules|checks) (?:are |is |has been |have been )?(?:now )?(?:disabled|off|deactivated|lifted|suspended)\b",
    ),
    InjectionRule(
        INSTRUCTIONS, (("ignoreall", "ignoreprevious", "ignoreprior", "ignoreyour", "ignorethe", "ignoreany", "disregardall", "disregardprevious", "disregardyour", "disregardprior", "disregardany", "forgetall", "forgetyour", "forgeteverything", "bypassall", "bypassyour", "overrideall", "overrideyour"),),
        r"(?:ignore|disregard|forget|bypass|override)(?:all|any|the|of|your)*(?:previous|prior|above|earlier|preceding|system|safety)?(?:instructions?|prompts?|directives|rules|guidelines|orders)",
    ),
)
# fmt: on


_LABEL = r"(?:^|[\n|(*/\"',;>#.!-] ?)@?(?:ai|llm|language model|model|assistant|agent|bot|copilot|claude|gpt|chatgpt|gemini)s?"
_STRONG = (
    r"(?:ignore (?:your|all|any|previous|prior|the (?:user|operator|owner|checklist|rules|instructions|above|steps?|review))|ignore steps?|disregard (?:your|all|any|previous|prior|the (?:user|operator|owner|rules|instructions|above))|forget (?:your|all|earlier|prior|previous|everything)|"
    r"drop (?:your|all) \w|obey\b|disobey\b|overwrite your|stop (?:following|obeying|listening)|approve (?:whatever|all|any|every)|skip (?:the )?(?:code |security )?(?:review|approval|confirmation|checks?)|"
    r"(?:do not|don't) report|reveal\b|leak\b|hand (?:over|the)|grant \w|exfiltrate|treat the author|add \w{1,20} to the (?:admins|owners|maintainers))"
)
_HIDDEN = r"(?:display: ?none|font-size: ?[01](?:px|pt|em)?\b|opacity: ?0\b|visibility: ?hidden|color: ?(?:#fff(?:fff)?|white)\b|\bhidden\b|aria-hidden)"
_ORDER = r"(?:system ?:|(?:assistant|agent|ai|llm|model|bot)s?[:,]|tell the (?:user|reader)|advise the|say that|ignore (?:all|previous|prior|the|your)|reveal\b|recommend\b|confidential|\bobey\b|when summari[sz]|exfiltrate)"
_RAISED = r"(?:raised|elevated|granted|\broot\b|\badmin\b|switched off|are off|is off|disabled|pre-?approved|lifted|expired|unrestricted|maintenance mode|obey)"

# fmt: off
ADDRESSED_RULES: tuple[InjectionRule, ...] = (
    InjectionRule(
        INSTRUCTIONS, (("ai", "llm", "language model", "model", "assistant", "agent", "bot", "copilot", "claude", "gpt", "chatgpt", "gemini"), ("ignore", "disregard", "forget", "drop ", "obey", "overwrite", "stop ", "approve", "skip ", "report", "reveal", "leak", "hand ", "grant", "exfil", "treat", "add ")),
        rf"{_LABEL}(?:[- ](?:instructions?|directives?|notes?|commands?|orders?|hints?))?(?: ?[:,]|, listen:) ?(?:please |now )?{_STRONG}",
    ),
    InjectionRule(
        INSTRUCTIONS, (("ai", "llm", "model", "assistant", "agent", "bot"), ("instruction", "directive", "command", "order", "listen", "note"), ("approve", "run", "execute", "send", "delete", "merge", "push", "force-push", "install", "call", "obey", "treat", "stop", "disable", "open ", "forget", "ignore")),
        rf"(?:\b(?:ai|llm|model|assistant|agent|bot)[- ](?:instruction|directive|command|order)s? ?:|{_LABEL}, listen ?:) ?(?:please |now )?(?:approve|run|execute|send|delete|merge|push|force-push|install|call|obey|disobey|treat|stop|disable|open|forget|ignore)\b",
    ),
    InjectionRule(
        MARKUP, (("<",), ("none", "font-size", "opacity", "hidden", "color"), ("system", "assistant", "agent", "ai", "llm", "model", "bot", "tell the", "advise", "say that", "ignore", "reveal", "recommend", "confidential", "obey", "summari", "exfil")),
        rf"<[a-z]{{1,10}}\b[^>\n]{{0,200}}{_HIDDEN}[^>\n]{{0,100}}>[^<\n]{{0,120}}?{_ORDER}",
    ),
    InjectionRule(
        MARKUP, (("<!--", "/*"), ("ai", "llm", "agent", "assistant", "model", "bot", "copilot", "claude", "gpt"), ("skip", "publish", "ignore", "approve", "merge", "push", "send", "delete", "reveal", "obey", "run")),
        r"(?:<!--|/\*) ?@?(?:ai|llm|language model|model|assistant|agent|bot|copilot|claude|gpt)s? ?[:,-] ?(?:please )?(?:skip|publish|ignore|approve|merge|push|send|delete|reveal|obey|run)\b",
    ),
    InjectionRule(
        MARKUP, (("<system>", "system:"), ("raised", "elevated", "granted", "root", "admin", "off", "disabled", "approved", "lifted", "expired", "unrestricted", "maintenance", "obey")),
        rf"<system>[^<\n]{{0,160}}\b{_RAISED}[^<\n]{{0,120}}</system>|(?:^|\n) ?system ?: [^\n]{{0,80}}\b{_RAISED}\b[^\n]{{0,100}}\n ?assistant ?:",
        forbids=False,
    ),
    InjectionRule(
        MARKUP, (("role",), ("system", "developer", "assistant"), ("content",), ("invalid", "void", "off", "root shell", "permission", "whatever", "expired", "obey", "unrestricted", "agree", "promise", "skip", "lifted")),
        r"\brole[\"'\\]{0,2} ?[:=] ?[\"'\\]{0,2}(?:(?:system|developer)\b[\"'\\]{0,2} ?[,\n] ?[\"'\\]{0,2}content[\"'\\]{0,2} ?[:=] ?[^\n]{0,160}?\b(?:(?:is|are|be) (?:now )?(?:invalid|void|switched off|expired|lifted|disabled)|root shell|(?:for no|not ask for|no) permission|do whatever|must obey|unrestricted)|assistant\b[\"'\\]{0,2} ?[,\n] ?[\"'\\]{0,2}content[\"'\\]{0,2} ?[:=] ?[\"'\\]{0,2}i (?:agree|promise|will)\b[^\n]{0,60}\b(?:skip|--force|force-push|delete|obey|ignore|bypass)\b)",
        forbids=False,
    ),
    InjectionRule(
        MARKUP, (("functions.", "function.", "tools.", "tool."), ("(",), ("call this", "call it", "before you", "always trust", "always believe", "always obey")),
        r"\b(?:functions?|tools?)\.\w{1,40}\([^\n]{0,160}(?:\bcall (?:this|it) (?:first|before|now)|\bbefore you (?:answer|reply|respond)|always (?:trust|believe|obey))",
    ),
)
# fmt: on


_SEND = r"(?:send|post|mail|upload|forward|exfiltrate|transmit|leak|e-?mail|submit|deliver|report|copy|push|smuggle|share|publish)"
_PLACE = r"(?:https?://|ftp://|wss?://|\w[\w.+-]{0,63}@\w[\w-]{0,63}\.[^\W\d]|webhook|pastebin|ngrok|requestbin|attacker|discord\.com|telegram)"
_PRIVATE_FILE = r"(?:\.env\b|id_rsa|id_ed25519|\.ssh/|\.aws/|\.netrc|\.npmrc|\.git-credentials|\.kube/|credentials|/etc/passwd|/etc/shadow|secrets?\.)"
_HAUL = SECRETS.replace("passwords?", "passwords")
_HERE = r"(?:into|in|to|with) (?:the |your |its |this |a |every )?(?:next )?(?:reply|answer|response|commit message|chat|issue|wiki|public wiki|readme|gist|comment|pull request)"

# fmt: off
EXFILTRATION_RULES: tuple[InjectionRule, ...] = (
    InjectionRule(
        EXFILTRATION, (("include", "paste", "print", "dump", "write", "put", "copy", "append", "output", "show", "leak", "read", "open", "cat", "collect", "list"), ("reply", "answer", "response", "commit message", "chat", "output", "issue", "wiki", "readme", "gist", "here", "comment", "log", "pull request"), ("secret", "password", "credential", "key", "env", "id_rsa", "id_ed25519", "~/.", "/etc/", "system prompt", "conversation", "histor", "all ", "customer", "content", "database", "user")),
        rf"\b(?:include|paste|print|dump|write|put|copy|append|output|show|leak|collect) (?:\w{{1,20}} ){{0,5}}?(?<!\w){SECRETS}[^!?.\n]{{0,60}}?{_HERE}\b|(?:\b(?:read|open|cat|collect|find|take)\b[^!?\n]{{0,40}}(?<!\w)(?:{_PRIVATE_FILE}|{SECRETS})[^!?\n]{{0,60}}\b(?:and|then)\b[^!?\n]{{0,20}}\b(?:paste|include|print|put|write|post|copy|send|output|show)\b[^!?\n]{{0,20}}\b(?:{_HERE}|result here|it here))",
    ),
    InjectionRule(
        EXFILTRATION, (("exfiltrate", "leak", "steal", "smuggle"), ("code", "secret", "data", "list", "key", "password", "credential", "database", "customer", "file", "memor", "conversation")),
        r"(?:^|[.:!;,\n] ?|\b(?:to|and|then|please|must|should|now|silently|secretly|objective is to|task is to) )(?P<act>(?:exfiltrate|leak|steal|smuggle) (?:\w{1,20} ){0,3}?(?:code|secrets?|data|list|keys?|passwords?|credentials|database|customers?|files?|memor(?:y|ies)|conversations?)\b[^.!?\n]{0,40}\b(?:to|through|via|by|bit by bit|in)\b)",
    ),
    InjectionRule(
        EXFILTRATION, (("upload", "send", "post", "share", "publish", "email", "e-mail", "copy", "push", "git push", "forward"), ("trace", "tell anyone", "silently", "secretly", "do not mention", "don't mention", "gist", "evil")),
        rf"\b{_SEND}\b[^!?\n]{{0,120}}(?:remove (?:the |all )?traces|(?:not|n't) tell (?:anyone|the user)|,? (?:silently|secretly)(?:[.!]|$)|(?:do not|don't) mention (?:it|this)|https?://[^ ]{0,60}\bevil|@evil)",
    ),
    InjectionRule(
        INSTRUCTIONS, (("publish", "upload", "push", "send", "leak", "copy", "share"), ("private repo", "the repository", "this repository", "source code", "our code", "codebase", "--all"), ("https://", "http://", "ftp://", "operator", "public")),
        r"\b(?:must|should|now|immediately|please|task[^.\n]{0,40}:) (?:publish|upload|push|send|leak|copy|share) (?:the |this |our )?(?:private |whole |entire )?(?:repo(?:sitory)?|source code|code|codebase)\b[^\n]{0,40}(?:https?://|ftp://|public)",
    ),
    InjectionRule(
        EXFILTRATION, (("http", "https"), ("$(", "`")),
        r"https?://[^\s]{0,200}(?:\$\(|`)(?:cat|env|printenv|base64|whoami|id)\b",
    ),
    InjectionRule(
        EXFILTRATION, (("http", "https"), ("print", "read", "collect", "gather", "dump", "take", "find", "get", "encode"), ("env", "secret", "password", "conversation", "history", "memories", "api key", "credential"), ("send", "post", "upload", "exfiltrate", "leak", "forward")),
        r"\b(?:print|read|collect|gather|dump|take|find|get|encode)\b[^!?\n]{0,60}\b(?:env|environment|secrets?|passwords?|conversation|(?:chat )?history|memories|api keys?|credentials)\b[^!?\n]{0,40}\b(?:and|then)\b[^!?\n]{0,20}\b(?:send|post|upload|exfiltrate|leak|forward) (?:it|them|that|everything|the result|all)\b[^!?\n]{0,30}https?://",
    ),
    InjectionRule(
        EXFILTRATION, (("send", "post", "upload", "forward", "exfiltrate", "transmit", "leak", "mail", "email", "e-mail", "submit", "deliver", "report", "copy", "push", "smuggle", "share", "publish"), ("http", "ftp:", "@", "webhook", "pastebin", "ngrok", "requestbin", "attacker", "ws:", "wss:", "discord.com", "telegram"), ("secret", "password", "credential", "api keys", "access keys", "env", "ssh", "private key", "id_rsa", "~/.", "/etc/", "system prompt", "history", "conversation", "cookie", "token", "all ", "user", "customer", "content", "log", "directory")),
        rf"\b{_SEND}\b[^!?\n]{{0,100}}(?<!\w){_HAUL}[^!?\n]{{0,100}}{_PLACE}|(?<!\w)(?:{SECRETS}|(?:home|whole) directory|\w{{1,20}}_token\b)[^!?\n]{{0,60}}\b{_SEND}\b (?:it |them |that |this |everything |what you find )?(?:all )?(?:to|via|through|at|using) [^!?\n]{{0,60}}{_PLACE}|\b{_SEND}\b[^!?\n]{{0,30}} (?:to|at|via) [^ \n]{{0,10}}{_PLACE}[^\n]{{0,100}}\b(?:with|containing|including|together with|body)\b[^\n]{{0,60}}(?<!\w){SECRETS}",
    ),
    InjectionRule(
        EXFILTRATION, (("curl", "wget", "nc ", "ncat", "netcat", "invoke-webrequest", "base64", "xxd", "dig ", "nslookup", "http.post", "requests.post", "fetch("), (".env", "id_rsa", "id_ed25519", ".ssh", ".aws", ".netrc", ".npmrc", ".git-credentials", ".kube", "credentials", "/etc/", "secret", "printenv", "env |", "os.environ", "process.env")),
        rf"\b(?:curl|wget|invoke-webrequest)\b[^\n]{{0,200}}(?:[@<] ?[^\s`]{{0,40}}|(?:[$<]\(|`) ?\w[\w.-]{{0,15}} [^\n`]{{0,40}}){_PRIVATE_FILE}|\b(?:curl|wget)\b[^\n]{{0,200}}\$\((?:env|printenv)\b|\b(?:cat|env|printenv|base64|tar|xxd)\b(?!:)[^\n|]{{0,120}}\| ?(?:base64[^\n|]{{0,20}}\| ?)?(?:curl|nc|ncat|netcat|wget)\b|\b(?:requests\.post|http\.post|fetch)\([^\n]{{0,160}}(?:os\.environ\b(?!\[|\.get)|process\.env\b(?![.\[])|open\([^\n)]{{0,40}}{_PRIVATE_FILE}|{_PRIVATE_FILE}[^\n]{{0,40}}read)",
    ),
    InjectionRule(
        EXFILTRATION, (("](", "<img"), ("http", "//"), ("?", "{", "$", "%7b", "data", "secret")),
        r"!\[[^\]\n]{0,200}\]\( ?<?(?:https?:)?//[^)\s]{1,300}(?:\{\{|\$\{|\{[a-z_ ]{1,30}\}|\$[a-z(]|<[a-z]|\[[a-z]|%7b|data_here|\byour_)[^)\n]{0,200}\)?|!\[[^\]\n]{0,200}\]\( ?<?(?:https?:)?//[^)\s]{1,300}?[?&](?:data|secrets?|leak|exfil\w{0,10}|payload|conversation|history|chat|prompt|message|msg|text|content|info|b64|base64|stolen|dump|log|mem(?:ory)?|context|password|email|user_?data|q|d|x)=|<img\b[^>\n]{0,200}src ?= ?[\"']?(?:https?:)?//[^>\s]{1,300}?[?&](?:data|secrets?|leak|exfil\w{0,10}|payload|conversation|history|chat|prompt|message|msg|text|content|info|b64|base64|stolen|dump|mem(?:ory)?|context|password|q|d|c|x)=",
    ),
    InjectionRule(
        EXFILTRATION, (("http", "https"), ("append", "encode", "replace", "with the", "put ", "render", "load", "embed", "fetch", "visit", "request", "link", "image"), ("query", "parameter", "url", "base64", "?"), ("conversation", "secret", "password", "user's", "api key", "system prompt", "memory", "memories", "credential", "history", "env", "token")),
        r"\b(?:append|encode|put|include|embed|render|fetch|load|visit|request|open)\b[^!?\n]{0,120}\b(?:conversation|secrets?|passwords?|user's (?:message|question|password|token)|access token|\w{1,20}_token|api keys?|system prompt|memories|credentials|chat history|environment variables)\b[^!\n]{0,120}\b(?:query|parameter|url|image|link|https?://)",
    ),
)
# fmt: on
