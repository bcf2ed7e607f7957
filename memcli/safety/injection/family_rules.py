"""Rules by what an order wants: earlier orders void, no questions asked, silence, a secret, another role."""

from __future__ import annotations

from memcli.safety.injection.rule import EXFILTRATION, INSTRUCTIONS, InjectionRule

_ASIDE = (
    r"(?:ignor(?:e|ing)|disregard(?:ing)?|forget(?:ting)?(?: about)?|disobey(?:ing)?|overlook(?:ing)?|mak(?:e|ing) an exception (?:to|from)|circumvent(?:ing)?|bypass(?:ing)?|neglect(?:ing)?|violat(?:e|ing)|"
    r"(?:set|put|leave|leaving|lay|push|throw)(?:ting|ing)? aside|let go of|get rid of|go against|"
    r"(?:pay|give) (?:no|zero) (?:attention|heed|regard) to|(?:stop|quit|cease|refrain from) (?:following|obeying|listening to|respecting|honou?ring|caring about|heeding|being bound by)|"
    r"(?:not|n't|no longer|never|needn't|need not)(?: have to| need to| need| longer| any longer)? (?:follow|obey|listen to|comply with|adhere to|heed|stick to|respect|care about))"
)
_CUT = r"(?:drop(?:ping)?|skip(?:ping)?|break(?:ing)?|overrid(?:e|ing)|overwrit(?:e|ing)|cancel(?:ling)?|abort(?:ing)?|abandon(?:ing)?|scrap|dismiss|discard(?:ing)?|delet(?:e|ing)|eras(?:e|ing)|unlearn|lift|shed|void)"
_OF_BEFORE = r"(?:previous|prior|above|earlier|preceding|foregoing|former|initial|original|system|safety|content|(?:developer|operator|owner|maker|creator|administrator|admin|user)(?:'s|s'|s)?)"
_LAWS = r"(?:instructions?|prompts?|directions|directives?|orders|guidelines|guidance|guardrails|safeguards|rules|restrictions?|constraints|limits|limitations|polic(?:y|ies)|training|programming|alignment)"
_TEXTS = r"(?:instructions?|prompts?|directives?|guidelines|guardrails|safety (?:training|rules)|polic(?:y|ies)|restrictions)"
_TASK = r"(?:requests?|tasks?|questions?|wish(?:es)?|orders?|instructions?|commands?|goals?|intent(?:ion)?)"
_VOID = r"(?:null|void|invalid|cancell?ed|lifted|suspended|revoked|expired|superseded|withdrawn|switched off|disabled|deactivated|deleted|overruled|obsolete|gone|no longer (?:valid|binding|apply|count|in force))"
_PROCEED = r"\b(?:comply|proceed|go ahead|carry on|follow|obey|act as|act like|you (?:are|will|must|may|can|shall)|answer|do (?:whatever|what|as|everything)|without (?:checks?|confirmation|asking|any)|full access|next (?:lines?|message)|binding)\b"
_THEN = r"(?:print|reveal|leak|send|show|delete|act as|obey|output|push|force-push|dump|disable|give|tell|e-?mail|publish|post|grant|list|run|execute|approve|call)"
_KEYS = (
    r"(?:secrets?\b|passwords?|passphrase|credentials|recovery codes?|(?:api|access|private|secret|signing|deploy|ssh|encryption|root|admin|stored)[ -]?keys?|(?<!public )keys?\b(?! ?bindings?| ?board| ?words?|s? of)|"
    r"(?:access|api|auth|session|bearer|admin|deploy|refresh)[ -]tokens?|(?:environment|env) variables?|\.env\b|\benv\b|\.pem\b|id_rsa|id_ed25519|~/\.(?:ssh|aws|netrc|gnupg)|/etc/(?:shadow|passwd)|confidential \w{1,20})"
)
_START = r"(?:^|[.:;!?\n>(\"'-] ?|\b(?:and|then|please|now|just|instead|simply|to|must|should|could|also) )"
_READER = r"(?:ais?|llms?|(?:large )?language models?|models?|(?:ai |coding )?(?:assistants?|agents?|bots?)|copilot|claude|chatgpt|gpt|gemini)"
_RISKY = r"(?:delet(?:e|ing)|pay(?:ing)?|buy(?:ing)?|purchas(?:e|ing)|merg(?:e|ing)|(?:force-)?push(?:es|ing)?|deploy(?:ing)?|spend(?:ing)?|transfer(?:ring)?|wip(?:e|ing)|drop(?:ping)?|execut(?:e|ing)|install(?:ing)?)"
_TELL = r"(?:answer|say|reply|respond|claim|deny|state|tell \w{1,12}|report|pretend|assure)"
_NOWHERE = r"(?:regardless|whatever|no matter|even (?:if|when|though))"
_PUBLIC = (
    r"(?:(?:in|into|to|at|of) (?:the end of )?(?:your|each|every|the next|your next|the first) (?:next )?(?:reply|answer|response|output|message|link)|"
    r"(?:in|into|to|at) (?:the |a |this |your |an? )?(?:next )?(?:commit message|readme|changelog|release notes?|issue|ticket|pull request|wiki|public \w{1,12}|gist|query string|comment|chat|poem|weather\b|note (?:called|named)))"
)
_FREE = (
    r"(?:(?:without|with no|has no|have no|had no|having no) (?:any |content |safety |moral |more )*(?:polic(?:y|ies)|rules?|restrictions?|limits?|limitations?|filters?|ethics|morals?|guidelines|conscience|boundaries|guardrails|censorship)\b|"
    r"(?:answers?|does|do) anything and refuses? nothing|cannot (?:say no|refuse)|can't (?:say no|refuse)|(?:runs?|executes?|obeys?|does) (?:each|every|any|all) (?:commands?|orders?|requests?)|ignor(?:es?|ing) (?:all )?(?:ethics|rules|the law|morals)|(?:never|not|n't) ask(?:s)? for (?:any )?permission)"
)

# fmt: off
FAMILY_RULES: tuple[InjectionRule, ...] = (
    # -- earlier orders are void
    InjectionRule(
        INSTRUCTIONS, (("ignor", "disregard", "forget", "disobey", "overlook", "make", "making", "circumvent", "bypass", "neglect", "violat", "set", "setting", "put", "putting", "leave", "leaving", "lay", "laying", "push", "pushing", "throw", "let go", "get rid", "go against", "pay", "give", "stop", "quit", "cease", "refrain", "not", "need", "needn", "don", "doesn", "can", "shouldn", "mustn", "no longer", "never"), ("your ", "previous", "prior", "above", "earlier", "preceding", "foregoing", "former", "initial", "original", "system", "safety", "content", "developer", "operator", "owner", "maker", "creator", "admin", "user"), ("instruction", "prompt", "direct", "order", "guid", "safeguard", "rule", "restriction", "constraint", "limit", "polic", "training", "programming", "alignment", "command")),
        rf"{_ASIDE} (?:[\w,]{{1,12}} ){{0,3}}?(?:your|{_OF_BEFORE}) (?:(?:and|or) \w{{1,12}} )?(?:\w{{1,20}}(?:'s)? ){{0,2}}?{_LAWS}\b",
        is_local=True,
    ),
    InjectionRule(
        INSTRUCTIONS, (("ignor", "disregard", "forget", "bypass", "drop", "skip", "cancel", "abort", "abandon", "discard", "set", "put", "leave"), ("user", "operator", "developer", "owner", "human"), ("request", "task", "question", "wish", "order", "instruction", "command", "goal", "intent", "asked", "wants", "want", "told"), ("instead", "rather", "and ", "then ")),
        rf"{_START}(?:{_ASIDE}|{_CUT}|set|put|leave) (?:the |this |whatever |what )?(?:users?|operator|developer|owner|human)(?:'s|')? (?:\w{{1,12}} )?(?:{_TASK}|asked(?: for)?|wants?|told you)(?: aside)?[,;.]? (?:and |but )?(?:instead|rather|then|now|write|delete|output|print|run|send)\b",
    ),
    InjectionRule(
        INSTRUCTIONS, (("drop", "dropping", "skip", "skipping", "break", "overrid", "overwrit", "cancel", "abort", "abandon", "scrap", "dismiss", "discard", "delet", "erase", "erasing", "unlearn", "lift", "shed", "void", "set", "setting", "put", "putting", "leave", "leaving", "lay", "laying", "push"), ("your ",), ("instruction", "prompt", "directive", "guideline", "guardrail", "safety", "polic", "restriction", "rules", "programming", "memory")),
        rf"\b(?:{_CUT} (?:all |any |of |out of )*your (?:\w{{1,20}} ){{0,2}}?(?:{_TEXTS}|rules|programming|memory with)|(?:set|put|leave|leaving|lay|laying|putting|setting|push) (?:all (?:of )?)?your (?:\w{{1,20}} ){{0,2}}?{_LAWS} (?:aside|away|behind|out of))\b",
        is_local=True,
    ),
    InjectionRule(
        INSTRUCTIONS, (("drop", "dropping", "skip", "skipping", "break", "overrid", "overwrit", "cancel", "abort", "abandon", "scrap", "dismiss", "discard", "delet", "erase", "erasing", "unlearn", "lift", "shed", "void"), ("developer", "operator", "system", "safety", "content polic"), ("instruction", "rule", "guideline", "restriction", "polic", "directive", "system message", "system prompt")),
        rf"\b{_CUT} (?:all |any |of |the |your )*(?:(?:operator|developer|owner|maker)(?:'s|s'|s)? (?:{_TEXTS}|rules|orders)|(?:rules|instructions|guidelines) (?:from|of|in) (?:the |your )?(?:system|operator|developer)s?(?: (?:prompt|message))?)\b",
        is_local=True,
    ),
    InjectionRule(
        INSTRUCTIONS, (("your ",), ("void", "null", "invalid", "cancel", "lifted", "suspended", "revoked", "expired", "superseded", "withdrawn", "switched off", "disabled", "deactivated", "deleted", "overruled", "obsolete", "gone", "no longer"), ("instruction", "prompt", "directive", "order", "guideline", "rule", "constraint", "restriction", "limit", "polic", "guardrail", "safety", "training")),
        rf"\byour (?:\w{{1,20}} ){{0,2}}?(?:{_LAWS}|safety \w{{1,12}})(?: \w{{1,12}}){{0,2}}? (?:(?:is|are|was|were|have|has|been|as|now|hereby|all|just) ){{1,3}}{_VOID}\b|\bconsider your (?:\w{{1,20}} ){{0,2}}?{_LAWS} {_VOID}\b",
        is_local=True,
    ),
    InjectionRule(
        INSTRUCTIONS, (("previous", "prior", "earlier", "former", "all ", "system", "safety", "operator", "instruction", "rules", "guidelines", "constraints", "orders"), ("void", "null", "invalid", "cancel", "lifted", "suspended", "revoked", "expired", "superseded", "withdrawn", "switched off", "disabled", "deactivated", "overruled", "no longer"), ("comply", "proceed", "go ahead", "carry on", "follow", "obey", "act ", "you ", "answer", "do ", "without", "full access", "next", "binding")),
        rf"\b(?:(?:previous|prior|earlier|former|all|system|safety|operator)(?:'s)? (?:\w{{1,20}} ){{0,2}}?(?:{_LAWS}|context|messages?(?: before this(?: one)?)?|safety layer|layer|checks?)|(?:rules|instructions|guidelines|orders|constraints) (?:above|before this|from (?:earlier|previous|prior|the system)(?: \w{{1,12}})?))\b(?: \w{{1,12}}){{0,4}}? (?:is|are|was|were|been|has|have)(?: now| hereby| all| just| been| null and)* {_VOID}\b[^\n]{{0,70}}{_PROCEED}",
    ),
    InjectionRule(
        INSTRUCTIONS, (("ignor", "disregard", "forget", "bypass", "drop", "override", "leak", "disobey"), ("rules", "instruction", "prompt", "guideline", "order", "directive", "restriction", "polic"), ("print", "reveal", "leak", "send", "show", "delet", "act as", "obey", "output", "push", "dump", "disable", "give", "tell", "mail", "publish", "post", "grant", "list", "run", "execute", "approve", "call")),
        rf"\b(?:ignore|disregard|forget|bypass|drop|override|disobey) (?:[\w'-]{{1,15}} ){{0,4}}?{_LAWS}(?: above| before)?(?:,? and|,|;|\.)? (?:then |now |please |also )?{_THEN}\b",
        is_local=True,
    ),
    InjectionRule(
        INSTRUCTIONS, (("act", "behave", "answer", "continue", "pretend", "imagine", "suppose", "assume"), ("as if", "as though", "rules", "restrictions", "limits", "guidelines", "filters", "policies"), ("exist", "no rules", "off", "gone", "lifted", "void")),
        r"\b(?:act|behave|answer|continue) as (?:if|though) (?:(?:they|(?:your|the|all) (?:rules|restrictions|limits|guidelines|filters|policies|instructions)) (?:did not|didn't|do not|don't|never) exist|(?:there were|you had) no (?:rules|restrictions|limits))|\b(?:pretend|imagine|suppose|assume) (?:that )?(?:the |your |all )(?:rules|restrictions|limits|guidelines|filters|policies) (?:are|were) (?:off|gone|lifted|void)\b",
    ),
    InjectionRule(
        INSTRUCTIONS, (("instruction", "rules", "orders", "text", "lines"), ("in this",), ("outrank", "override", "supersede", "precedence", "trump", "replace"), ("your", "system", "user", "operator", "developer")),
        r"\b(?:instructions|rules|orders|text|lines) in this (?:document|file|note|memory|page|message) (?:outranks?|overrides?|supersedes?|takes? precedence over|trumps?|replaces?) (?:\w{1,12} ){0,3}?(?:your|system|user|operator|developer)",
    ),
    # -- no questions asked
    InjectionRule(
        INSTRUCTIONS, (("user", "consent", "approval", "permission"), ("no longer", "given", "granted"), ("asked", "for all", "for every", "for any")),
        r"\buser no longer (?:wishes|wants|needs) to be asked\b|\b(?:consent|approval|permission) (?:has been|is|was) (?:already |hereby )?(?:given|granted) for (?:all|every|any) (?:\w{1,12} )?(?:transfers?|payments?|deletions?|commands?|actions?|purchases?|calls?|changes)",
    ),
    InjectionRule(
        INSTRUCTIONS, (("add", "insert", "include", "plant", "create"), ("hidden", "secret", "undocumented"), ("admin", "account", "backdoor", "login", "endpoint"), ("always", "when ", "whenever", "every")),
        r"\b(?:always|when|whenever|every time)\b[^.!?\n]{0,60}\b(?:add|insert|include|plant|create) (?:an? |the )?(?:hidden|secret|undocumented) (?:admin|account|user|endpoint|login|backdoor)\b",
    ),
    InjectionRule(
        INSTRUCTIONS, (("user", "users", "human", "operator", "owner", "admin"), ("approv", "consent", "agreed", "authori", "said yes", "permitted", "grant"), ("all", "every", "any", "whatever", "each")),
        r"\b(?:user|human|operator|owner|admin\w{0,10})s? (?:(?:has|have|had|already|hereby|fully|also|once|now) ){0,3}(?:pre-?)?(?:approved|consented to|agreed to|authori[sz]ed|said yes to|permitted|granted) (?:in advance )?(?:all|every|everything|any|anything|each|whatever)\b(?! of the| invoices?| designs?| documents?)",
    ),
    InjectionRule(
        INSTRUCTIONS, (("pre-approved", "pre-authori", "preapproved", "preauthori", "blanket", "standing"), ("command", "call", "deletion", "purchase", "payment", "action", "change", "request", "approval", "permission", "order")),
        r"\b(?:commands?|tool calls?|calls|deletions|purchases|payments|actions|changes|requests)\b (?:\w{1,12} ){0,3}?(?:are|is|have been|count as) (?:all |now |hereby )?pre-?(?:approved|authori[sz]ed)|\byou (?:now )?have (?:a )?(?:blanket|standing) (?:approval|permission|order)",
    ),
    InjectionRule(
        INSTRUCTIONS, (("never", "don", "do not", "no need", "need", "needn", "without"), ("ask", "wait", "prompt", "request", "seek"), ("delet", "pay", "buy", "purchas", "merg", "push", "deploy", "spend", "transfer", "wip", "drop", "execut", "install")),
        rf"\b(?:never|don't|do not|no need to|needn't|need not|don't need to|without) (?:ask|wait|prompt|request|seek|asking|waiting)\b(?: for (?:\w{{1,12}} )?(?:approval|permission|confirmation|consent|review)| me| anyone| first)?(?: before (?:you )?{_RISKY}\b|[;,.:!] ?(?:just |simply |and )*(?:delete|merge|wipe|drop|push|force-push|transfer|deploy) )",
        forbids=False,
    ),
    InjectionRule(
        INSTRUCTIONS, (("need", "permission", "ask"), ("delet", "drop", "wipe", "push", "merge", "go on"), ("who ", "why ")),
        r"\b(?:who (?:says|said|told you)|why (?:do you|would you|should you)) (?:that )?(?:you )?(?:(?:must|need|have to|should) )?(?:to )?(?:ask|permission|approval|wait|confirm)\b[^\n]{0,60}\b(?:delete|drop|wipe|push|merge|go on|just do|don't ask)\b",
        forbids=False,
    ),
    InjectionRule(
        INSTRUCTIONS, (("skip", "bypass", "omit"), ("review", "approval", "confirmation", "permission", "consent"), ("merg", "push", "delet", "deploy", "execut", "whenever", "pre-", "pay", "this note", "run ")),
        r"(?:\b(?:reads?|reading|sees?) this:? |\b(?:you|you could|could you) |\b(?:agents?|models?|assistants?|ais?)[:,] )(?:skip|bypass|omit) (?:(?:the|any|all|every|its|your|code|security|user|human|manual|permission|approval|confirmation) ){0,4}(?:review|approval|confirmation|permission|consent)s?(?: (?:steps?|prompts?|dialogs?|checks?|requests?))?(?:,| and|;)? (?:then |just )?(?:merge|push|force-push|delete|deploy|execute|run|pay)\b|\bpre-?(?:approved|authori[sz]ed)\b[^.\n]{0,30}\bskip (?:the )?(?:permission|approval|confirmation)",
    ),
    InjectionRule(
        INSTRUCTIONS, (("whenever", "every time", "each time", "when", "if", "once", "as soon as"), ("read", "load", "open", "see", "process", "recall", "encounter"), ("this",), ("skip", "merg", "push", "delet", "run ", "execut", "download", "install", "send", "approv", "obey", "disabl", "ignor", "grant", "transfer")),
        rf"\b(?:whenever|every time|each time|when|if|once|as soon as) (?:you|(?:an?|any|some|the) {_READER}) (?:\w{{1,10}} )?(?:reads?|reading|loads?|opens?|sees?|process(?:es)?|recalls?|encounters?) this(?: (?:note|memory|file|page|message|text|line))?[:,]? (?:\w{{1,12}} )?(?:straight )?(?:skip|merge|push|delete|execute|download|install|send|approve|obey|disable|ignore|grant|transfer)\b|\b(?:push|force-push|merge|delete|deploy|send|execute|approve|skip)\b [^.!?\n]{{0,60}}\b(?:whenever|every time|each time) you (?:read|load|open|see|recall) this\b",
    ),
    InjectionRule(
        INSTRUCTIONS, (("for", "in", "at", "before"), ("session", "conversation", "chat", "anything else"), ("download", "execut", "run", "fetch", "curl", "install"), ("http", "sudo", "as root", "| sh", "|sh")),
        r"\b(?:(?:for|in|at the (?:start|beginning) of) (?:all|every|each|any)(?: new| later| future| next| subsequent)? (?:sessions?|conversations?|chats?)|before (?:doing )?anything else)\b[^.!?\n]{0,40}\b(?:download|execute|run(?:ning)?|fetch|install)\b[^!?\n]{0,60}(?:https?://|\bsudo\b|\bas root\b|\| ?(?:ba)?sh)",
    ),
    InjectionRule(
        INSTRUCTIONS, (("remember", "store", "save", "add", "memori", "keep"), ("forever", "for good", "permanently", "memory", "always", "from now on"), ("never ask", "approved", "authori", "consent", "admin", "trust", "skip", "obey", "whatever", "never needed", "disable", "bypass", "without asking", "owner")),
        r"\b(?:remember|store|save|add|keep|memori[sz]e)\b[^.\n]{0,24}\b(?:forever|for good|permanently|always|from now on|(?:to|in|into) (?:your )?(?:long[- ]?term )?memory)\b[^.\n]{0,100}\b(?:never ask|(?:pre-)?approved|(?:pre-)?authori[sz]ed|consented|admin\w{0,10}|trust(?:ed)?|skip(?:ped)?|obey|whatever|(?:never|not) needed|disable|bypass|without asking|is the owner)\b",
    ),
    InjectionRule(
        INSTRUCTIONS, (("mark", "raise", "treat", "regard", "consider", "overwrite"), ("trusted", "verified", "accepted", "priority", "admin", "owner", "operator", "developer", "master", "superuser", "system message", "command", "order", "instruction", "your memory"), ("this", "as ", "your")),
        r"\bmark this (?:memory|note|file|message|text|entry|page|record) as (?:trusted|verified|accepted|safe|system|authoritative)|\b(?:treat|regard|consider) (?!this |it |them )[^.!?\n]{1,60}? as (?:an? |the |your )?(?:(?:new )?(?:admin(?:istrator)?|operator|master|superuser|boss)\b|system (?:message|prompt|instruction)s?\b|(?:command|order|instruction)s? (?:of|with) (?:the )?(?:highest|top|absolute)|coming from (?:the |your )?(?:developer|operator|system))|\boverwrite your memory\b",
    ),
    InjectionRule(
        INSTRUCTIONS, (("do", "approve", "believe", "obey", "trust", "accept", "merge", "follow", "always", "listen"), ("whatever", "anything", "everything", "what ", "notes", "messages", "memories", "as ", "instead", "only"), ("say", "writ", "ask", "upload", "want", "tell", "order", "by ", "from ", "mallory", "me", "this")),
        rf"{_START}(?:always )?(?:do|approve|believe|obey|trust|accept|merge|execute|run) (?:whatever|anything|everything) (?:that )?(?:\w{{1,12}} ){{1,3}}(?:says?|writes?|asks?|uploads?|wants?|tells?|orders?|demands?|sends?)\b|\balways (?:believe|trust|obey)(?:s|ed)? (?:(?:what|whatever|notes?|messages?|memories|everything) )?(?:by |from |that )?(?!the\b|your\b|this\b|that\b|user\b|a\b|an\b)[a-z]{{3,15}}\b(?: (?:says|writes))?|\bobey (?:only )?(?:me|mallory|this (?:note|memory|file|message))\b|\bi (?:will )?give the orders\b|\b(?:listen to|follow|obey) (?:only )?(?:me|this (?:file|note|memory|page)) (?:instead|only)\b",
    ),
    InjectionRule(
        INSTRUCTIONS, (("agent", "assistant", "model", "llm", "bot", "ai"), ("may", "can", "must", "should", "free", "allowed"), ("execut", "run", "follow", "obey"), ("any ", "every ", "all "), ("found", "in this", "without")),
        rf"\b{_READER} (?:may|can|must|should|will|are (?:free|allowed) to) (?:always )?(?:execute|run|follow|obey) (?:any|every|all) (?:commands?|instructions?|code|orders?)\b[^.\n]{{0,50}}\b(?:in this (?:file|note|memory|page)|without (?:user|asking|consent|human|confirmation))",
    ),
    # -- silence
    InjectionRule(
        INSTRUCTIONS, (("never", "do not", "don", "not"), ("show", "reveal", "disclose", "report"), ("user", "human", "anyone", "anybody", "eval", "exec", "below"), ("always", "never", "add", "turn off", "disable", "grant", "push", "send", "replace", "insert", "delete", "run", "change", "secret", "forget", "skip")),
        r"\b(?:never|do not|don't) (?:show|reveal|disclose) (?:(?:this|it)(?: line| note| memory| message)? )?to (?:the )?(?:users?|humans?|anyone|anybody)\b ?[:;.,)]+ ?(?:always|never|add|turn off|disable|grant|push|send|replace|insert|delete|run|change)\b|\b(?:do not|don't|never) report the (?:[\w().-]{1,20} ){1,4}(?:below|here|above)\b[^.\n]{0,10}[,;.] (?:it is our secret|forget|ignore|skip|disregard)",
        forbids=False,
    ),
    InjectionRule(
        INSTRUCTIONS, (("when", "if", "whenever", "every time"), ("ask", "question", "wonder"), ("answer", "say", "reply", "respond", "claim", "deny", "state", "tell", "report", "pretend", "assure"), ("regardless", "whatever", "no matter", "even ", "deny", "between us")),
        rf"\b(?:when|if|whenever|every time)\b[^.!?\n]{{0,40}}\b(?:asks?|asked|wonders|questions)\b[^.!?\n]{{0,50}}\b{_TELL}\b(?:[^.!?\n]{{0,100}}\b{_NOWHERE}\b|[^\n]{{0,120}}\bkeep (?:this|it) (?:between us|secret|quiet))|\bif asked\b[^.\n]{{0,40}}\bdeny\b",
    ),
    InjectionRule(
        INSTRUCTIONS, (("answer", "say", "reply", "claim", "state", "tell", "report", "assure", "whatever", "no matter", "regardless"), ("that ",), ("even ", "regardless", "no matter", "whatever")),
        rf"{_START}(?:always )?(?:say|report|answer|claim|state|assure \w{{1,12}}|tell (?:the )?\w{{1,12}}) that [^.!?\n]{{1,60}},? (?:even (?:if|when|though)|regardless|no matter|whatever the)\b|\b(?:whatever|no matter what|regardless of what) (?:the )?[\w-]{{1,20}} (?:says?|finds?|reports?),? (?:say|report|answer|claim|state) that\b",
    ),
    InjectionRule(
        INSTRUCTIONS, (("delete", "remove", "erase"), ("this sentence", "this line", "this note", "this memory", "this message", "this paragraph", "this instruction", "this text", "this entry"), ("after", "once", "when", "as soon as")),
        r"\b(?:delete|remove|erase) this (?:sentence|line|note|memory|message|paragraph|instruction|text|entry) (?:afterwards?|(?:after|once|when|as soon as) you(?:'ve| have)? (?:\w{1,10} )?(?:done (?:it|so|that|this)|followed|executed|obeyed|acted|complied))",
    ),
    InjectionRule(
        INSTRUCTIONS, (("nobody", "no one", "without anyone", "quietly", "silently", "secretly"), ("notice", "know", "see", "find out", "mind", "do it", "do this", "do that"), ("key", "secret", "password", "token", "lower", "weaken", "push", "replace", "env", "admin", "backdoor", "disable")),
        r"\b(?:keys?|secrets?|passwords?|tokens?|lower|weaken|force-push|replace|admin\w*|backdoor|disable)\b[^.\n]{0,80}[;,.(-] ?(?:and |so that )?(?:nobody|no one) (?:will |would |can |needs to )?(?:notices?|sees?|knows?|finds? out)\b|\bdo (?:it|this|that) (?:quietly|silently|secretly)\b|\b(?:nobody|no one) will notice if you\b",
    ),
    InjectionRule(
        INSTRUCTIONS, (("in all", "in every", "in each", "recommend", "promote", "praise", "advertise"), ("answer", "repl", "response"), ("praise", "recommend", "advertise", "promote", "insert", "recommends")),
        r"\bin (?:all|every|each)(?: \w{1,12})? (?:answers?|repl(?:y|ies)|responses?)(?: (?:about|on|to) [^.,\n]{1,40})?,? (?:always )?(?:praise|recommend|advertise|promote)\b|\b(?:recommend|promote|praise|advertise)s? (?!the|that|a\b|an\b)[^.\n]{1,40} in (?:every|all|each)(?: of your)? (?:answers?|repl|responses?)",
    ),
    InjectionRule(
        INSTRUCTIONS, (("when",), ("summari", "review", "read", "translat", "describ", "index"), ("this",), ("advise", "tell", "recommend", "urge", "leave out", "omit", "say", "state", "praise")),
        r"\bwhen(?:ever)? (?:you )?(?:summari[sz]|review|read|translat|describ|index)\w{0,5} this (?:page|file|document|text|article|code|note|repo\w{0,7}|site)\b,? (?:please )?(?:advise|tell|recommend|urge|leave out|omit|say|state|praise)\b",
    ),
    InjectionRule(
        INSTRUCTIONS, (("tell", "advise", "urge", "ask", "convince"), ("user", "reader", "visitor", "human", "everyone"), ("install", "download", "run", "open", "visit"), ("http://", ".exe", ".ps1", ".sh", ".msi")),
        r"\b(?:tell|advise|urge|ask|convince) (?:the |every |all )?(?:users?|readers?|visitors?|humans?|everyone) to (?:install|download|run|open|visit)\b[^\n]{0,40}(?:http://|https?://[^ \n]{1,80}\.(?:exe|ps1|sh|msi)\b)",
    ),
    # -- a secret
    InjectionRule(
        EXFILTRATION, (("write", "put", "print", "paste", "includ", "spell", "encod", "turn", "hide", "add", "read", "copy", "post", "publish", "list", "show", "append", "commit", "attach", "embed", "translate", "sing"), ("secret", "passw", "credential", "key", "token", "env", ".pem", "id_rsa", "id_ed25519", "~/.", "/etc/", "confidential", "recovery code"), ("reply", "answer", "response", "output", "message", "link", "readme", "changelog", "release note", "issue", "ticket", "pull request", "wiki", "public", "gist", "query string", "comment", "chat", "poem", "note called", "note named")),
        rf"{_START}(?P<act>(?:write|put|print|paste|include|spell|encode|turn|hide|add|read|copy|post|publish|list|show|append|commit|attach|embed|translate|sing)) (?:[\w'.*~/-]{{1,20}} ){{0,6}}?(?:(?<!public ){_KEYS})(?! name| count| type| id| hash| field)[^!?,\n]{{0,60}}?{_PUBLIC}\b",
    ),
    InjectionRule(
        EXFILTRATION, (("collect", "gather", "find", "take", "zip", "grab", "search", "cat", "cp", "tar", "copy"), (".pem", ".key", ".p12", ".pfx", ".kdbx", "id_rsa", "id_ed25519", ".ssh", "private key", ".env", "/etc/shadow"), ("attach", "upload", "send", "post", "mail", "publish", "push", "commit")),
        r"\b(?:collect|gather|find|take|zip|grab|search for)\b[^!?\n]{0,40}(?:\*?\.(?:pem|key|p12|pfx|kdbx)\b|id_rsa|id_ed25519|\.ssh\b|private keys?|\.env files?)[^!?\n]{0,80}\b(?:attach|upload|send|post|mail|publish|commit)\b|\b(?:cat|cp|copy|tar)\b[^\n|]{0,12}(?:\.env|id_rsa|[\w*]\.pem|~/\.(?:ssh|aws)|/etc/shadow)[^\n]{0,12}(?:readme|changelog|public\b|www|docs/|\.md\b)[^\n]{0,30}(?:git (?:push|commit|add)|commit\b|push\b)",
    ),
    InjectionRule(
        EXFILTRATION, (("each time", "every time", "whenever", "when", "if"), ("password", "token", "secret", "key", "credential", "card"), ("also", "it ", "them ", "copy"), ("note", "file", "memory", "http", "@", "log", "issue", "wiki", "channel", "public")),
        r"\b(?:each time|every time|whenever|when|if) (?:the |a |an |some)?(?:user|somebody|someone|anyone|human|customer|visitor|one|body)s?\b[^.\n]{0,24}\b(?:gives?|types?|enters?|mentions?|shares?|sends?|provides?|pastes?)\b[^.\n]{0,30}\b(?:passwords?|tokens?|secrets?|keys?|credentials|card numbers?)\b,? (?:also )?(?:store|save|write|copy|send|forward|post|put|append) (?:it |them |that |a copy )?(?:also |too )?(?:in|into|to|at) (?:the |a )?(?:notes?\b|files?\b|memory|public|https?:|\S{1,30}@|issue|wiki|channel)",
    ),
    InjectionRule(
        EXFILTRATION, (("send", "mail", "e-mail", "email", "give", "tell", "show", "print", "reveal", "list", "leak", "dump", "hand", "recite", "share", "forward", "post"), ("secret", "passw", "credential", "key", "token", "env", "confidential", "recovery code"), ("me", "us ", "whoever", "anyone", "anybody", "everyone", "everybody", "to ", "leak", "asks")),
        rf"{_START}show whoever asks (?:[\w'-]{{1,15}} ){{0,6}}?{_KEYS}|{_START}(?:mail|send|e-?mail|give|tell|reveal|hand(?: over)?|recite|share|forward|post) (?:(?:me|us|whoever asks|anyone|anybody|everybody) (?:[\w'-]{{1,15}} ){{0,6}}?{_KEYS}(?! polic| count| rotation| format| length)|(?:[\w'-]{{1,15}} ){{0,3}}?{_KEYS} (?:that you (?:have|know) )?(?:over )?to (?:me\b(?!@)|us\b(?!@)|whoever|anyone|anybody|[\w.-]{{1,40}}\.(?:com|net|org|io|ru|cn|xyz|example|evil|test)\b))",
    ),
    InjectionRule(
        EXFILTRATION, (("leak",), ("secret", "passw", "credential", "key", "token", "env", "prompt", "memory")),
        rf"(?:^|[.;:!?\n] ?)(?:please |now |just )?leak (?:\w{{1,12}} ){{0,3}}?(?:{_KEYS}|prompt|memory)",
    ),
    # -- another role
    InjectionRule(
        INSTRUCTIONS, (("pretend", "roleplay", "role-play", "imagine", "act", "play"), ("used to", "who ", "you had", "you have"), ("passw", "key", "secret", "credential", "token")),
        rf"\b(?:pretend|role-?play|imagine|play|act as)\b[^.\n]{{0,80}}\b(?:used to|who (?:would|will|shows?|reads?|whispers?|tells?|steals?|prints?))\b[^.\n]{{0,60}}{_KEYS}|\b(?:imagine|pretend) (?:that )?you (?:had|have) no (?:polic|rules|restrict|limits|guidelines)",
    ),
    InjectionRule(
        INSTRUCTIONS, (("from now on", "from here on", "from this", "henceforth", "hereafter", "starting now", "as of now"), ("treat", "regard", "obey", "behave as", "act as", "answer only", "respond only", "serve", "you are"), ("command", "order", "system", "admin", "owner", "instruction", "root", "obey", "only", "serve", "master")),
        r"\b(?:from (?:now|here) on|from this (?:point|moment|line|message|sentence)(?: on| forward| onwards?)?|henceforth|hereafter|starting now|as of now),? (?:you )?(?:(?:will|shall|must|are to) )?(?:(?:treat|regard|consider) [^.\n]{1,60} as (?:an? |the )?(?:command|order|system|admin|owner|instruction|root)|obey\b|serve (?:me|only)|(?:behave|act) as (?:an? |the )?(?:system |repository )?(?:owner|admin\w*|root|operator|master)|(?:answer|respond) only to)",
    ),
    InjectionRule(
        INSTRUCTIONS, (("you are", "you're", "act", "behave", "respond", "become", "imagine", "play", "pretend", "be "), ("without", "no ", "cannot say", "cannot refuse", "can't say", "can't refuse", "each", "every", "any ", "all ", "ignor", "ask"), ("polic", "rule", "restriction", "limit", "filter", "ethic", "moral", "guideline", "conscience", "boundar", "guardrail", "censor", "refuse", "say no", "command", "order", "request", "permission", "law")),
        rf"\b(?:(?:you are|you're)(?: now)? (?:an? |the )?(?!free|allowed|entitled|welcome|able|working|left|not|in )[\w-]{{1,20}},?|act(?:ing)? (?:as|like)|behave (?:as|like)|respond (?:as|like)|become an?|pretend (?:to be|that you are)|role-?play as)\b[^.!?\n]{{0,80}}?\b{_FREE}",
        is_local=True,
    ),
    InjectionRule(
        INSTRUCTIONS, (("switch", "enter", "change", "go", "activate", "enable", "boot", "engage"), ("mode",), ("unrestricted", "admin", "god", "root", "sudo", "jailbreak", "developer", "debug", "dan", "uncensored", "evil", "maintenance", "unsafe")),
        r"\b(?:switch|enter|change|go|activate|enable|boot|engage) (?:over |yourself )?(?:in)?(?:to )?(?:an? |the )?(?:(?:unrestricted|jailbreak|god|dan|uncensored|evil) mode|(?:admin|root|sudo|developer|debug|maintenance|unsafe) mode\b[^\n]{0,60}\b(?:checks (?:are |now )?off|without (?:any )?(?:filter|restriction|limit|rule)|unfiltered|answer twice|two (?:replies|answers)|pre-?approved|all (?:checks|filters|tool calls)))",
    ),
    InjectionRule(
        INSTRUCTIONS, (("act as", "behave as", "you are", "you're"), ("root", "admin", "owner", "superuser"), ("grant", "hand out", "give", "never ask", "not ask", "n't ask", "without asking", "dump", "exfil", "delete")),
        r"\b(?:act|behave|operate) as (?:an? |the )?(?:root(?: shell)?|(?:system )?admin\w*|(?:repo\w* )?owner|superuser)\b[^.\n]{0,40}\b(?:grant|hand out|give \w{1,12} |never ask|(?:not|n't) ask|without asking|dump|exfiltrate|delete)",
    ),
    InjectionRule(
        INSTRUCTIONS, (("your new", "your real", "your true", "your only"), ("role", "job", "purpose", "identity", "persona", "goal"), ("obe", "execute what", "run what", "serve", "shell", "unrestricted", "whatever", "any command")),
        r"\byour (?:new|real|true|only) (?:role|job|purpose|identity|persona|goal)(?: is|:|,)[^\n]{0,80}\b(?:obe(?:y|ys|dient|ying)|execute what|run what|serve me|shell|unrestricted|whatever|any command)\b",
    ),
    InjectionRule(
        INSTRUCTIONS, (("roleplay", "role-play"), ("hacker", "attacker", "thief", "malware"), ("passw", "credential", "secret", "key")),
        r"\brole-?play\b[^.!?\n]{0,60}\b(?:hacker|attacker|thief|malware)\b[^.!?\n]{0,60}\b(?:passwords?|credentials|secrets?|keys?)\b",
    ),
)
# fmt: on
