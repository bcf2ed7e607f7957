"""What gives hidden instructions away, as data: see `injection.py` for how the rules are read.

A rule is looked at only where each of its groups of literals has one in the text, so plain text compiles nothing.
The first group is tried by the beginnings of words, so what begins with a letter must stand at the beginning of one.
Gaps in patterns are bounded, which keeps every search linear.
"""

from __future__ import annotations

from typing import NamedTuple

INSTRUCTIONS = "instructions"
MARKUP = "markup"
HIDDEN = "hidden"
ESCAPES = "escapes"
EXFILTRATION = "exfiltration"


class Rule(NamedTuple):
    """A pattern over lower-case text on one line. `needs`: of each group one literal must stand in the text.

    `forbids`: a "never" before it makes it harmless.
    """

    reason: str
    needs: tuple[tuple[str, ...], ...]
    pattern: str
    forbids: bool = True


class Near(NamedTuple):
    """Stems of one language that must stand within `within` characters of each other, one of each group."""

    groups: tuple[tuple[str, ...], ...]
    within: int = 60


_OVERRIDE = ("ignore", "disregard", "forget", "override", "overwrite", "bypass", "discard", "neglect", "drop", "skip")
_ORDERS = r"(?:instructions?|prompts?|directions|directives?|commands|orders|guidelines|programming|guardrails|safeguards|system messages?)"
_BEFORE = r"(?:previous|prior|above|earlier|preceding|foregoing|original|initial|existing|former|past|system|developer|safety|hidden|other)"
_SECRETS = (
    r"(?:secrets|passwords?|credentials|api keys|access keys|(?:environment|env) variables|\.env\b|ssh keys?|private keys?|id_rsa|"
    r"~/\.(?:ssh|aws|netrc|npmrc|kube)|/etc/(?:passwd|shadow)|system prompt|(?:chat|conversation) (?:history|log)|"
    r"(?:whole|entire|full|this|our) conversation|session (?:token|cookie)s?|all (?:the |of your |your )?(?:memories|files|notes)|"
    r"user(?:'s|s')? (?:data|messages?|e-?mails?)|customer data|contents? of (?:the |your )?(?:file|repo|memory|\.env|~/))"
)  # fmt: skip
_SEND = r"(?:send|post|upload|forward|exfiltrate|transmit|leak|e-?mail|submit|deliver|report|copy|push|smuggle)"
_PLACE = r"(?:https?://|ftp://|wss?://|\w[\w.+-]{0,63}@\w[\w-]{0,63}\.\w|webhook|pastebin|ngrok|requestbin|attacker|discord\.com|telegram)"
_PRIVATE_FILE = r"(?:\.env\b|id_rsa|id_ed25519|\.ssh/|\.aws/|\.netrc|\.npmrc|\.git-credentials|\.kube/|credentials|/etc/passwd|/etc/shadow|secrets?\.)"

# fmt: off
RULES: tuple[Rule, ...] = (
    # -- orders that set aside what the agent was told
    Rule(
        INSTRUCTIONS, (_OVERRIDE, ("instruction", "prompt", "direct", "command", "order", "guideline", "programming", "guardrail", "safeguard", "system message")),
        rf"\b(?:ignore|disregard|forget|override|overwrite|bypass|discard|neglect|drop|skip)\b (?:about |with |completely |entirely )?(?:(?:all|any|every|each|everything|of|in|the|your|my|our|those|these|such|and|or|{_BEFORE}|{_ORDERS}|rules|,) ?){{0,7}}(?:\b{_BEFORE}\b[ ,]?(?:and |or )?(?:\w{{1,20}} ){{0,2}}{_ORDERS}|your (?:\w{{1,20}} ){{0,2}}{_ORDERS}|\ball (?:of )?(?:the |your |my )?{_ORDERS})",
    ),
    Rule(
        INSTRUCTIONS, (_OVERRIDE, ("instruction", "prompt", "direction", "directive", "command", "order", "guideline"), ("above", "before", "given", "so far", "until now", "earlier", "prior", "previously", "received", "told")),
        rf"\b(?:ignore|disregard|forget|override|discard|neglect)\b (?:(?:all|any|every|of|the|your|those) ){{0,3}}{_ORDERS} (?:\w{{1,20}} ){{0,3}}(?:above|before (?:this|now)|given|so far|until now|earlier|prior to|previously|received|told)\b",
    ),
    Rule(
        INSTRUCTIONS, (("ignore", "forget", "disregard", "discard"), ("everything", "all that", "anything", "whatever", "what you")),
        r"\b(?:ignore|forget|disregard|discard)\b (?:about )?(?:(?:everything|all|anything|whatever|what)(?: that| which| of what)?) (?:(?:you(?:'ve| have| were| had)? (?:been |were )?(?:told|taught|learned|learnt|instructed|given|know|read|said|trained)|(?:was |were |is |has been )?(?:said|written|told|stated|that came|you) (?:above|before|earlier|so far|previously))|(?:above|before this|prior|previously said|up to (?:now|here|this point))\b)",
    ),
    Rule(
        INSTRUCTIONS, (("ignore", "disregard", "forget", "bypass", "break", "violate", "disable", "turn off", "circumvent", "no longer"), ("your", "safety", "content polic", "guardrail"), ("rule", "polic", "restriction", "filter", "guardrail", "limitation", "training", "guideline", "constraint", "safet", "alignment")),
        r"\b(?:ignore|disregard|forget|bypass|break|violate|disable|turn off|circumvent) (?:all |any |of |every )*(?:your|the (?:safety|content|system)|safety|content) (?:\w{1,20} ){0,3}(?:rules|polic(?:y|ies)|restrictions?|filters?|guardrails?|limitations?|training|guidelines|constraints|safety|alignment)\b",
    ),
    Rule(
        INSTRUCTIONS, (("do not follow", "don't follow", "stop following", "do not obey", "don't obey", "stop obeying", "not apply"), ("instruction", "rule", "prompt", "guideline", "order")),
        rf"\b(?:do not|don't|stop) (?:follow|obey|following|obeying) (?:(?:all|any|the|your|of|those) ){{0,3}}(?:{_BEFORE} (?:\w{{1,20}} )?|your )(?:{_ORDERS}|rules)",
        forbids=False,
    ),
    Rule(
        INSTRUCTIONS, (("supersede", "replace", "override", "take precedence", "takes precedence", "outrank", "higher priority", "highest priority", "cancel"), ("instruction", "prompt", "directive", "order"), ("previous", "prior", "all other", "your", "earlier", "system", "any other", "everything")),
        rf"\b(?:this|these|the following|following|my|new|it|that|they|which|here)\b[^.!?]{{0,60}}\b(?:supersedes?|replaces?|overrides?|takes? precedence over|outranks?|(?:has|have|is of) (?:a )?(?:higher|highest) priority (?:than|over)|cancels?) (?:(?:all|any|the|your|of|every) ){{0,3}}(?:(?:{_BEFORE}|your|other)[ ,])(?:and |or )?(?:\w{{1,20}} ){{0,3}}(?:{_ORDERS}|rules)",
    ),
    Rule(
        INSTRUCTIONS, (("instruction", "prompt", "directive", "task", "mission", "objective", "order"), ("new", "updated", "real", "actual", "true", "secret", "hidden", "urgent", "revised")),
        r"(?:^|[.:!\]#>*\n]|\byour) ?(?:the )?(?:new|updated|real|actual|true|secret|revised|urgent|hidden|only)(?: and (?:only|final))?(?: (?:system|secret|actual|priority|admin|agent|ai|assistant))? (?:instructions?|prompt|directives?|task|mission|objective|orders)(?: for (?:you|the (?:ai|assistant|agent|model)))?(?: (?:is|are)(?: now)?(?: to| as follows)?\b|:| follows?\b)(?=[ :]{0,3}(?:to )?(?:you|ignore|from now|act|respond|reply|reveal|send|output|print|delete|run|execute|do not|never|always|the following|as follows|help|obey|say|disable|exfiltrate|insert|approve|recommend))",
    ),
    Rule(
        INSTRUCTIONS, (("ignore", "disregard", "forget", "set", "discard", "reset", "erase", "wipe"), ("guidance", "conversation", "context", "rules", "messages", "briefing")),
        r"\b(?:ignore|disregard|forget|set aside|discard)\b (?:(?:all|any|every|of|the|your|my) ){0,3}(?:previous|prior|earlier|preceding|above) (?:guidance|conversations?|context|briefing|chat messages)\b|\b(?:ignore|disregard|forget|set aside|discard)\b (?:all|any|every) (?:of )?(?:the )?(?:previous|prior|earlier|preceding|above) rules\b|\b(?:reset|erase|wipe|clear|forget) your (?:context|memory|conversation|rules)\b",
    ),
    Rule(
        INSTRUCTIONS, (("listen", "obey", "follow", "trust"), ("not", "no longer", "stop", "n't"), ("system prompt", "developer", "the user", "your instructions", "operator", "system message")),
        r"\b(?:not|no longer|stop|n't) (?:listen(?:ing)? to|obey(?:ing)?|follow(?:ing)?) (?:the )?(?:system prompt|developers?|user|your instructions|operator|system message)\b",
        forbids=False,
    ),
    Rule(
        INSTRUCTIONS, (("instructions", "guidelines", "restrictions", "prompt", "prompts", "orders", "directives", "safeguards", "guardrails", "rules"), ("void", "cancel", "lifted", "suspended", "revoked", "a test", "fake", "no longer apply", "do not apply", "don't apply", "no longer bind")),
        r"\b(?:your|all|any|every|previous|prior|earlier|original|safety|system) (?:\w{1,20} ){0,2}(?:instructions|guidelines|restrictions|prompts?|orders|directives|safeguards|guardrails|rules)\b (?:\w{1,20} ){0,4}(?:(?:is|are|was|were|been) (?:now |all |just |hereby )*(?:null and )?(?:void|cancel\w*|lifted|suspended|revoked|a test|fake)|(?:no longer|do not|don't) (?:apply|bind))\b",
    ),
    Rule(
        INSTRUCTIONS, (("ignore", "disregard", "forget"), ("the user", "claude.md", "agents.md", "cursorrules", "copilot-instructions")),
        r"\b(?:ignore|disregard|forget)\b (?:what(?:ever)? the user (?:says|said|asks|asked|wants|wrote)|(?:all |any |the )*user(?:'s)? (?:requests?|questions?|wishes|instructions|commands)\b)|\b(?:ignore|disregard) (?:(?:all|any|the) )*(?:\w{1,20} )?(?:in|of|from) (?:\w{1,20} )?(?:claude\.md|agents\.md|\.?cursorrules|copilot-instructions)",
    ),
    Rule(
        INSTRUCTIONS, (("upgraded", "unlocked", "freed", "liberated", "reprogrammed", "granted", "grant", "permission"), ("you",), ("restriction", "limits", "filters", "permission to", "any command", "authority", "evil", "root access", "full access")),
        r"\byou (?:have been|were|are) (?:now )?(?:upgraded|unlocked|freed|liberated|reprogrammed)\b.{0,60}\b(?:restrictions?|limits|filters|evil\w*)|\bi (?:hereby )?(?:grant|give) you (?:full |root |explicit )*(?:permission to (?:run|execute|do|ignore|delete|bypass)|root access|full access|authority)",
    ),
    Rule(
        INSTRUCTIONS, (("assistant", "agent", "ai", "llm", "model", "you"), ("must", "should", "has to", "need"), ("tool", "function", "shell", "exec"), ("curl", "wget", "rm -", "http", "| sh", "|sh", "| bash")),
        r"\b(?:assistant|agent|ai|llm|model|you) (?:must|should|has to|have to|needs? to) (?:first |always |now |immediately )*(?:call|invoke|use|run|execute|open) (?:the |a |your )?(?:\w{1,20} ){0,3}(?:tool|function|shell|command)\b.{0,80}(?:curl|wget|rm -|https?://|\| ?(?:ba)?sh\b)",
    ),
    Rule(
        INSTRUCTIONS, (("respond", "reply", "answer"), ("every question", "all questions", "any question", "every prompt", "all prompts", "any prompt", "every user", "everything with"), ("with", "by", "as")),
        r"\b(?:respond|reply|answer) (?:to )?(?:every|all|any) (?:questions?|prompts?|user (?:questions?|messages?))\b (?:only )?(?:with|by|as) ",
    ),
    Rule(
        INSTRUCTIONS, (("claude", "chatgpt", "copilot", "gemini", "cursor", "assistant", "agent", "agents", "assistants", "ai", "llm", "gpt"), ("when you see this", "when you read this", "if you see this", "if you read this", "when you process", "if you process", "when you parse")),
        r"\b(?:claude|chatgpt|copilot|gemini|cursor|assistants?|agents?|ai|llm|gpt)[,:]? (?:when|if) you (?:see|read|process|parse) this\b",
    ),
    Rule(
        INSTRUCTIONS, (("reveal", "mention", "disclose", "tell", "admit", "say"), ("that you",), ("this", "these"), ("not", "n't", "never")),
        r"\b(?:not|n't|never) (?:ever )?(?:reveal|mention|disclose|tell|admit|say)\b (?:to )?(?:\w{1,20} ){0,3}that you (?:\w{1,20} ){0,2}(?:read|saw|seen|received|got|found|follow(?:ed)?) (?:this|these)\b",
        forbids=False,
    ),
    Rule(
        INSTRUCTIONS, (("summarize", "summarise", "summarizing", "summarising", "reviewing", "review", "evaluating", "evaluate", "describing", "describe", "rating", "translating"), ("this", "the document"), (" that ", "omit", "leave out"), ("when", "while", "if")),
        r"\b(?:when|while|if) (?:you )?(?:are )?(?:summari[sz]\w{1,4}|review\w{0,3}|evaluat\w{1,4}|describ\w{1,4}|rating|translat\w{1,4}) (?:this|the) (?:document|text|file|page|paper|code|repo\w*|article|memory|change|patch)\b[^.!?]{0,20}\b(?:state|say|claim|conclude|pretend|report|omit|leave out)\b",
    ),
    # -- another role, another master
    Rule(
        INSTRUCTIONS, (("you are now", "you're now", "you are no longer", "you're no longer", "you will now", "you shall now", "you must now"),),
        r"\byou(?: are|'re|r) (?:now|no longer)\b[^.!?]{0,80}\b(?:dan\b|do anything now|jailbr\w+|unrestricted|unfiltered|uncensored|without (?:any )?(?:restrictions|rules|limits|filters|limitations)|developer mode|god mode|debug mode|root mode|admin(?:istrator)? mode|maintenance mode|evil|malicious|bound by|restricted by|an? (?:ai|assistant|language model)\b|under (?:my|our|new) (?:control|command)|free (?:from|of) )"
        r"|\byou (?:will|shall|must) now (?:act|behave|pretend|respond|answer|role-?play|comply|obey|operate) (?:as|like|in|only|without|with)\b",
    ),
    Rule(
        INSTRUCTIONS, (("act as", "pretend", "role-play", "roleplay", "simulate", "behave as", "imagine you", "enter", "switch to", "activate", "enable"), ("dan", "restriction", "jailb", "unfiltered", "unrestricted", "uncensored", "filter", "developer mode", "god mode", "no rules", "without rules", "any rules", "without limits", "ethic", "no longer an ai", "not an ai", "do anything now")),
        r"\b(?:act as|pretend|role-?play|simulate|behave as|imagine you|enter|switch to|activate|enable)\b[^.!?]{0,80}(?:\bdan\b|no restrictions|without (?:any )?(?:restrictions|rules|limits|filters|ethic)|jailb\w+|unfiltered|unrestricted|uncensored|developer mode (?:enabled|on|v\d|with)|god mode|(?:not|no longer) an ai\b|do anything now|no (?:rules|ethic|filter)|ignore (?:\w+ ){0,2}(?:rules|ethic))",
    ),
    Rule(
        INSTRUCTIONS, (("from now on", "for the rest of", "henceforth", "starting now", "from this point", "from this moment"), ("ignore", "obey", "pretend", "act as", "you are", "only to", "without question", "any request", "comply", "unrestricted", "evil", "you're")),
        r"\b(?:from now on|for the rest of (?:this|the) (?:session|conversation|chat)|henceforth|starting now|from this (?:point|moment)(?: on| forward)?),? (?:(?:your?|i|the assistant|the ai|the agent|please)\b[^.!?]{0,80}\b)?(?:obey|ignore (?:all|any|every|your|the)|pretend|act as|comply with (?:all|any|every)|answer only to|without question|unrestricted|any request|(?:are|you're) (?:my |an? |now )*(?:unrestricted|evil|dan|jailbr\w+))",
    ),
    # -- speaking to the machine behind the reader's back
    Rule(
        INSTRUCTIONS, (("reading this", "reads this", "processing this", "process this", "summarizing", "summarising", "summarize this", "parsing this", "see this", "seeing this", "attention", "note to", "notice to", "message to", "message for", "hey ", "dear ", "listen", "hello", "important"), ("ai", "llm", "assistant", "agent", "language model", "copilot", "claude", "chatgpt", "gpt", "gemini", "cursor", "bot"), ("ignore", "send", "post ", "upload", "reveal", "print", "output", "reply", "delete", "execute", "curl", "wget", "approve", "recommend", "disregard", "say ", "include", "insert", "append", "remove", "disable", "merge", "leak", "email", "e-mail", "exfiltrate", "install", "must", "add ", "tell")),
        r"(?:\b(?:if|when|since|as|because) (?:you are|you're|your?) (?:an? )?(?:ai|llm|large language model|language model|assistant|coding agent|agent|bot|ai \w{1,12})\b[^.!?]{0,40}\b(?:reading|read|processing|process|summari[sz]ing|parsing|see|seeing|analy[sz]ing) (?:this|these)|\b(?:any|every|the|all) (?:ai|llm|language model|assistant|agent|bot)s?(?: \w{1,12})? (?:that |who |which |currently )*(?:reading|reads?|processing|process(?:es)?|summari[sz]ing|parsing|analy[sz]ing|sees?) this|(?:^|[.:!>*#\n\[(]|<!--) ?(?:important )?(?:attention|note to|notice to|message (?:to|for)|hey|dear|hello|listen(?: up)?)[ ,:]{1,3}(?:(?:all|any|every|the) )?(?:ai|llm|language model|assistant|coding agent|ai agent|agent|copilot|claude|chatgpt|gpt|gemini|cursor|bot)(?:s|es)?\b)"
        r".{0,160}\b(?:ignore|send|post|upload|reveal|print|output|reply|delete|execute|curl|wget|approve|recommend|disregard|say|include|insert|append|remove|disable|merge|leak|e-?mail|exfiltrate|install|you must|tell|add)\b",
    ),
    # -- behind the user's back
    Rule(
        INSTRUCTIONS, (("tell", "inform", "mention", "reveal", "disclose", "notify", "alert", "show", "let", "say", "hide", "keep", "conceal", "warn"), ("user", "human", "developer", "operator", "owner", "anyone", "maintainer", "reviewer", "person"), ("this", "these", "that you", "it from", "secret", "you did", "you have", "what you", "your instruction")),
        r"\b(?:do not|don't|never|without) (?:ever )?(?:tell|telling|inform|informing|mention|mentioning|reveal|revealing|disclose|disclosing|notify|notifying|alert|alerting|show|showing|let|letting|warn|warning) (?:(?:this|these(?: instructions)?|it|any of this|that)\b (?:to )?)?(?:the |your |any )?(?:user|human|developer|operator|owner|anyone|maintainer|reviewer)s?\b(?: (?:about|of|know|see|that|what)){0,2} (?:this|these|it\b|that you|you (?:did|have|were|are)|what you|your instructions)"
        r"|\b(?:do not|don't|never) (?:ever )?(?:mention|reveal|disclose|repeat|discuss|acknowledge|talk about) (?:(?:this|these|any of this|that you (?:were|have been|got|received|read))\b (?:\w{1,20} ){0,3}(?:instructions?|prompt|message|note|memory|text|to (?:the |your )?(?:user|human|developer|anyone)))"
        r"|\b(?:hide|conceal|keep) (?:this|these|it|that|all of this)\b (?:note |message |memory |instructions? |all )?(?:an? )?(?:secret |hidden )?from (?:the |your |any )?(?:user|human|developer|operator|owner|maintainer|reviewer)s?\b",
        forbids=False,
    ),
    Rule(
        INSTRUCTIONS, (("without",), ("telling", "asking", "informing", "notifying", "alerting", "mentioning", "confirmation", "approval", "consent", "permission", "the user knowing"), ("silently", "secretly", "quietly", "covertly", "immediately")),
        r"\b(?:silently|secretly|quietly|covertly|immediately)\b(?:[^.!?\n]|\.(?=\w)){0,100}\bwithout (?:first )?(?:telling|asking|informing|notifying|alerting|mentioning|the (?:user|human|developer)(?:'s)? (?:knowing|consent|permission|approval)|(?:any |user |human )?(?:confirmation|approval|consent|permission))",
    ),
    # -- what the model was told must come out
    Rule(
        INSTRUCTIONS, (("reveal", "print", "repeat", "output", "show", "display", "leak", "disclose", "tell me", "dump", "write", "give me", "recite", "summarize", "translate", "return", "paste", "include"), ("system prompt", "initial prompt", "your instruction", "your prompt", "your initial", "your hidden", "your original", "your full", "your system", "everything above", "text above", "words above", "above verbatim", "developer message", "system message", "your guidelines", "your rules")),
        r"\b(?:reveal|print|repeat|output|show|display|leak|disclose|tell (?:me|us)|dump|write (?:out|down)|give (?:me|us)|recite|summari[sz]e|translate|return|paste|include|append) (?:(?:me|us|out|all|back|of|in full|here|the whole|the entire|the full|the exact|verbatim) ){0,3}(?:your (?:\w{1,20} ){0,2}(?:prompt|instructions|guidelines|rules|system message|developer message)|the (?:system|initial|hidden|developer) (?:prompt|message|instructions)(?: (?:verbatim|above|you|in full|word for word|to|in your|at the))|(?:everything|the text|the words|all (?:the )?(?:text|words)) (?:above|before this|that came before))",
    ),
    # -- a standing order that hijacks what the agent does next
    Rule(
        INSTRUCTIONS, (("before answer", "before you answer", "before respond", "before you respond", "before reply", "before you reply", "before doing anything", "before continuing", "before you continue", "before any other", "before proceeding"), ("run", "execute", "call", "fetch", "send", "curl", "wget", "visit", "download", "open", "invoke", "read")),
        r"\bbefore (?:you )?(?:answer|respond|reply|doing|continu|proceed|any other)\w{0,4}[^.!?]{0,60}\b(?:run|execute|call|fetch|send|curl|wget|visit|download|open|invoke|read)\b (?:[^.!?]{0,60}(?:https?://|\btool\b|\.sh\b|\.env\b|\bcommand\b|curl|wget|rm -|~/|/etc/|\bbash\b|\bsecret|\bpassword|\bcredential))",
    ),
    Rule(
        INSTRUCTIONS, (("whenever", "every time", "each time", "in every", "in each", "to every", "at the end of every", "always"), ("asks", "answer", "respon", "reply", "replies", "you see", "commit", "summar", "you write", "you generate", "code you", "pull request", "review"), ("http", "backdoor", "malicious", "secretly", "silently", "hidden", "this link", "attacker", "vulnerab", "eval(", "tracking", "exfil", "beacon")),
        r"\b(?:whenever|every time|each time|(?:in|to|at the end of) (?:every|each)|always)\b[^!?\n]{0,140}\b(?:insert|add|append|include|recommend|link|send|embed|inject|put|plant|post|point)\b[^!?\n]{0,100}(?:\bbackdoor|malicious|\bsecretly|\bsilently|hidden (?:link|pixel|image|instruction|text)|this link|attacker|vulnerab\w+|\btracking|\bbeacon|https?://[^ ]{0,80}\?[^ ]{0,40}=)",
    ),
    Rule(
        INSTRUCTIONS, (("delete", "wipe", "erase", "destroy", "rm -rf", "drop", "truncate", "force-push", "purge"), ("immediately", "right now", "at once", "without asking", "without confirm", "no matter what", "do not ask", "don't ask"), ("all", "every", "~", "/", "the")),
        r"\b(?:delete|wipe|erase|destroy|rm -rf|drop|truncate|purge|force-push)\b[^.!?]{0,80}\b(?:all|every|everything|entire|whole|~|/)[^.!?]{0,80}\b(?:immediately|right now|at once|without (?:asking|confirm\w*)|no matter what|do not ask|don't ask)",
    ),
    Rule(
        INSTRUCTIONS, (("approve", "merge", "accept", "mark", "lgtm", "rate", "score", "say that"), ("this pr", "this pull", "this change", "this code", "this patch", "this commit", "this review", "this document", "this paper", "this submission", "the review", "this memory"), ("always", "regardless", "no matter", "without review", "unconditionally", "only positive", "must", "automatically")),
        r"\b(?:always |you must |must |please |automatically )(?:\w{1,20} ){0,2}(?:approve|merge|accept|mark|lgtm|rate|score) (?:\w{1,20} ){0,2}(?:this|the review)[^.!?]{0,100}|\b(?:approve|merge|accept|lgtm) (?:\w{1,20} ){0,1}this (?:pr|pull request|change|code|patch|commit)[^.!?]{0,60}\b(?:regardless|no matter|without review|unconditionally|automatically)",
    ),
    Rule(
        INSTRUCTIONS, (("system override", "admin override", "administrator override", "root override", "emergency override", "override code", "system alert", "developer mode", "sudo mode", "jailbreak", "begin system", "system notice", "end of user", "priority override", "security override", "policy override"),),
        r"(?:^|[\[\n*#>!<(]) ?(?:\W{0,4})(?:system|admin|administrator|root|emergency|priority|security|policy) (?:override|alert|notice|update)\b ?[\]:!*>-][^.!?]{0,120}\b(?:you|your|ignore|disregard|must|agent|assistant|ai|now|instructions|execute|disable)\b|\bdeveloper mode (?:enabled|activated|on|v\d)|\bjailbreak (?:mode|enabled|activated)|\[?begin system (?:prompt|message|override|instructions)",
    ),
    # -- words in the mouth of the system
    Rule(
        MARKUP, (("system", "developer"), (":",)),
        r"(?:^|\n)[ \t>*_#\[\"']{0,6}(?:system|developer|system prompt|system message)[\]*_\"']{0,3} ?:[*_ ]{0,3} ?(?:you|your|ignore|disregard|from now|new|always|never|do not|don't|run|execute|forget|respond|the user|the assistant|override|obey|answer|reveal|act|send|comply|disable|grant|delete|all|this)\b",
        forbids=False,
    ),
    Rule(
        MARKUP, (("### ", "[system]", "[/system]", "[assistant]", "[developer]"),),
        r"(?:^|\n) {0,3}#{2,4} ?(?:instruction|system|system prompt|response|human|assistant|user input)s? ?:(?: |\n|$)|\[/?(?:system|assistant|developer)\](?:\(#[^)]{0,40}\)|:)? ?(?:you|ignore|disregard|new|from|always|never|do|message|prompt|the|override|\()",
    ),
    Rule(
        MARKUP, (("<|", "<｜", "[inst]", "[/inst]", "<<sys>>", "<</sys>>", "<start_of_turn>", "<end_of_turn>", "[system_prompt]", "[tool_calls]", "[tool_results]", "[available_tools]"),),
        r"<[|｜] ?[a-z][a-z0-9_▁]{1,40} ?[|｜]>|\[/?inst\]|<</?sys>>|<(?:start|end)_of_turn>|\[/?(?:system_prompt|tool_calls|tool_results|available_tools)\]",
    ),
    Rule(
        MARKUP, (("function_call", "invoke", "tool_call", "tool_use", "tool_result", "function_result", "tool_response", "tool_code", "<function=", "system-reminder", "system_prompt", "system-prompt", "system_instruction", "system_message"),),
        r"</?(?:[a-z]{2,8}:)?(?:function_calls?|tool_calls?|tool_use|tool_results?|function_results?|tool_response|tool_code|system[-_](?:reminder|prompt|instructions?|message)s?)\b[^>\n]{0,80}>|<(?:[a-z]{2,8}:)?invoke name ?=|<function=[\w.-]{1,60}>|\"type\" ?: ?\"(?:tool_use|function_call)\"[^\n]{0,200}\"(?:input|arguments|parameters)\" ?:|\"(?:tool_calls|function_call)\" ?: ?[\[{][^\n]{0,200}\"arguments\" ?:",
    ),
    Rule(
        MARKUP, (("<system>", "</system>", "<assistant>", "</assistant>", "<instructions>", "</instructions>", "<human>", "</human>", "</user>", "<important>", "<admin>", "</context>", "</document>", "</documents>", "</data>", "</untrusted", "</search_results>", "</notes>", "</quote>"),),
        r"<(?:system|instructions?|important|admin|assistant)> ?(?:you|ignore|disregard|new|from now|always|never|the (?:assistant|user|ai|agent)|override|send|read|before|obey|sure|run|execute|i will)\b|</(?:system|assistant|human|user|instructions|context|documents?|data|untrusted\w{0,20}|search_results|notes|quote)> ?(?:\n| )?(?:(?:<[a-z]{1,20}> ?)?(?:system:|you |ignore|disregard|new instruction|now |from now|assistant:|human:|please (?:ignore|send|run)|the user (?:now|has)|important))",
    ),
    Rule(
        MARKUP, (("<memory-", "</memory", "<memories", "</memories"),),
        r"</?memory-[0-9a-f]{4,}|</memor(?:y|ies)\b[^>\n]{0,60}>",
    ),
    Rule(
        MARKUP, (("end of", "end system", "begin system", "end memory", "begin new", "start of", "begin of"), ("---", "===", "***", "###", "```", "[", "<")),
        r"(?:[-=*#<\[`~_]{2,20}|\[) ?(?:end of|begin|end|start of|beginning of) (?:the )?(?:new )?(?:system|memory|memories|context|untrusted|user input|recalled|retrieved|prompt|instructions|conversation)\b[^\n]{0,40}?(?:[-=*#>\]`~_]{1,20})",
    ),
    Rule(MARKUP, (("{{",),), r"\{\{[#/](?:system|assistant|user)~?\}\}"),
    # -- what must not leave
    Rule(
        EXFILTRATION, (("http", "https"), ("$(", "`")),
        r"https?://[^\s]{0,200}(?:\$\(|`)(?:cat|env|printenv|base64|whoami|id)\b",
    ),
    Rule(
        EXFILTRATION, (("http", "https"), ("print", "read", "collect", "gather", "dump", "take", "find", "get", "encode"), ("env", "secret", "password", "conversation", "history", "memories", "api key", "credential"), ("send", "post", "upload", "exfiltrate", "leak", "forward")),
        r"\b(?:print|read|collect|gather|dump|take|find|get|encode)\b[^!?\n]{0,60}\b(?:env|environment|secrets?|passwords?|conversation|(?:chat )?history|memories|api keys?|credentials)\b[^!?\n]{0,40}\b(?:and|then)\b[^!?\n]{0,20}\b(?:send|post|upload|exfiltrate|leak|forward) (?:it|them|that|everything|the result|all)\b[^!?\n]{0,30}https?://",
    ),
    Rule(
        EXFILTRATION, (("send", "post", "upload", "forward", "exfiltrate", "transmit", "leak", "mail", "submit", "deliver", "report", "copy", "push", "smuggle"), ("http", "ftp:", "@", "webhook", "pastebin", "ngrok", "requestbin", "attacker", "ws:", "wss:", "discord.com", "telegram"), ("secret", "password", "credential", "api keys", "access keys", "env", "ssh", "private key", "id_rsa", "~/.", "/etc/", "system prompt", "history", "conversation", "cookie", "token", "all ", "user", "customer", "content", "log")),
        rf"\b{_SEND}\b[^!?\n]{{0,100}}(?<!\w){_SECRETS}[^!?\n]{{0,100}}{_PLACE}|(?<!\w){_SECRETS}[^!?\n]{{0,60}}\b{_SEND}\b (?:it |them |that |this |everything )?(?:all )?(?:to|via|through|at|using) [^!?\n]{{0,60}}{_PLACE}|\b{_SEND}\b[^!?\n]{{0,30}} (?:to|at|via) [^ \n]{{0,10}}{_PLACE}[^\n]{{0,100}}\b(?:with|containing|including|together with|body)\b[^\n]{{0,60}}(?<!\w){_SECRETS}",
    ),
    Rule(
        EXFILTRATION, (("curl", "wget", "nc ", "ncat", "netcat", "invoke-webrequest", "base64", "xxd", "dig ", "nslookup", "http.post", "requests.post", "fetch("), (".env", "id_rsa", "id_ed25519", ".ssh", ".aws", ".netrc", ".npmrc", ".git-credentials", ".kube", "credentials", "/etc/", "secret", "printenv", "env |", "os.environ", "process.env")),
        rf"\b(?:curl|wget|invoke-webrequest)\b[^\n]{{0,200}}(?:@|\$\(|`|<)[^\n]{{0,40}}{_PRIVATE_FILE}|\b(?:curl|wget)\b[^\n]{{0,200}}\$\((?:env|printenv)\b|\b(?:cat|env|printenv|base64|tar|xxd)\b[^\n|]{{0,120}}\| ?(?:base64[^\n|]{{0,20}}\| ?)?(?:curl|nc|ncat|netcat|wget)\b|\b(?:requests\.post|http\.post|fetch)\([^\n]{{0,160}}(?:os\.environ\b(?!\[|\.get)|process\.env\b(?![.\[])|open\([^\n)]{{0,40}}{_PRIVATE_FILE}|{_PRIVATE_FILE}[^\n]{{0,40}}read)",
    ),
    Rule(
        EXFILTRATION, (("](", "<img"), ("http", "//"), ("?", "{", "$", "%7b", "data", "secret")),
        r"!\[[^\]\n]{0,200}\]\( ?<?(?:https?:)?//[^)\s]{1,300}(?:[{$<\[]|%7b|data_here|\byour_)[^)\n]{0,200}\)?|!\[[^\]\n]{0,200}\]\( ?<?(?:https?:)?//[^)\s]{1,300}?[?&](?:data|secrets?|leak|exfil\w{0,10}|payload|conversation|history|chat|prompt|message|msg|text|content|info|b64|base64|stolen|dump|log|mem(?:ory)?|context|password|email|user_?data|q|d|c|x)=|<img\b[^>\n]{0,200}src ?= ?[\"']?(?:https?:)?//[^>\s]{1,300}?[?&](?:data|secrets?|leak|exfil\w{0,10}|payload|conversation|history|chat|prompt|message|msg|text|content|info|b64|base64|stolen|dump|mem(?:ory)?|context|password|q|d|c|x)=",
    ),
    Rule(
        EXFILTRATION, (("http", "https"), ("append", "encode", "replace", "with the", "put ", "render", "load", "embed", "fetch", "visit", "request", "link", "image"), ("query", "parameter", "url", "base64", "?"), ("conversation", "secret", "password", "user's", "api key", "system prompt", "memory", "memories", "credential", "history", "env")),
        r"\b(?:append|encode|put|include|embed|render|fetch|load|visit|request|open)\b[^!?\n]{0,120}\b(?:conversation|secrets?|passwords?|user's (?:message|question|data|name)|api keys?|system prompt|memories|credentials|chat history|environment variables)\b[^!\n]{0,120}\b(?:query|parameter|url|image|link|https?://)",
    ),
)
# fmt: on

# The first group holds verbs, the second what marks the orders as those given before, the third the orders.
LANGUAGES: tuple[Near, ...] = (
    Near((("vergiss alles", "vergesst alles", "ignoriere alles"), ("zuvor", "bisher", "vorher", "oben"), ("gesagt", "gelernt", "stand", "steht", "wurde", "war"))),
    Near((("vergeet alles", "negeer alles"), ("hiervoor", "eerder", "hierboven", "tot nu toe"))),
    Near((("oublie tout", "oubliez tout", "ignore tout", "ignorez tout"), ("avant", "précèd", "ci-dessus", "jusqu"))),
    Near((("olvida todo", "ignora todo", "ignora lo anterior", "olvida lo anterior"), ("anterior", "arriba", "dicho"))),
    Near((("dimentica tutto", "ignora tutto"), ("precedent", "prima", "sopra", "finora"))),
    Near((("esqueça tudo", "ignore tudo"), ("anterior", "antes", "acima"))),
    Near((("забудь все", "забудь всё", "игнорируй все", "игнорируй всё"), ("выше", "до этого", "ранее", "сказан"))),
    Near((("ignorier", "vergiss", "vergesst", "missachte", "übergeh"), ("vorherig", "bisherig", "obig", "vorangegangen", "vorangehend", "früher", "vorig", "zuvor"), ("anweisung", "befehl", "instruktion", "vorgabe", "prompt"))),
    Near((("ignore", "ignorer", "ignorez", "oublie", "oubliez", "oublier", "négligez", "néglige"), ("précédent", "précèd", "antérieur", "ci-dessus", "reçues"), ("instruction", "consigne", "directive", "ordre"))),
    Near((("ignora", "ignore", "olvida", "olvide", "descarta", "desestima"), ("anterior", "previa", "previo", "arriba", "prior"), ("instruccion", "indicacion", "órdenes", "ordenes", "instruções", "instrucoes", "comandos"))),
    Near((("ignore", "esqueça", "esqueca", "desconsidere", "desconsidera"), ("anterior", "prévia", "previa", "acima"), ("instruções", "instrucoes", "comandos", "ordens"))),
    Near((("ignora", "dimentica", "trascura"), ("precedent", "anterior", "sopra"), ("istruzion", "comandi", "direttive", "ordini"))),
    Near((("negeer", "vergeet"), ("vorige", "eerdere", "voorgaande", "bovenstaande"), ("instructie", "opdracht", "bevelen"))),
    Near((("zignoruj", "zapomnij", "pomiń"), ("poprzedni", "wcześniejsz", "powyższ"), ("instrukcj", "polece"))),
    Near((("ignoruj", "zapomeň", "zapomeňte"), ("předchozí", "dřívější", "výše"), ("instrukc", "pokyn", "příkaz"))),
    Near((("ignorera", "glöm", "bortse från", "ignorer", "glem"), ("tidigare", "föregående", "ovanstående", "tidligere", "foregående", "forrige"), ("instruktion", "anvisning", "instruks"))),
    Near((("игнорируй", "игнорировать", "проигнорируй", "забудь", "не обращай внимания"), ("предыдущ", "прежн", "вышеуказан", "ранее"), ("инструкц", "указани", "команд", "приказ"))),
    Near((("ігноруй", "забудь"), ("попередн",), ("інструкц", "вказівк", "команд"))),
    Near((("yok say", "yoksay", "görmezden gel", "unut", "dikkate alma"), ("önceki", "yukarıdaki", "bundan önceki"), ("talimat", "komut", "yönerge"))),
    Near((("abaikan", "lupakan"), ("sebelumnya", "di atas", "terdahulu"), ("instruksi", "perintah", "petunjuk"))),
    Near((("bỏ qua", "quên", "phớt lờ"), ("trước", "ở trên"), ("hướng dẫn", "chỉ dẫn", "lệnh", "chỉ thị"))),
    Near((("忽略", "无视", "無視", "忘记", "忘記", "不要理会", "不要遵守", "不遵守", "不用管"), ("之前", "以上", "先前", "前面", "上述", "上面", "此前", "所有"), ("指令", "指示", "提示", "命令", "说明", "規則", "规则")), 24),
    Near((("無視", "忘れ", "従わな"), ("以前", "これまで", "上記", "前の", "すべての", "全ての"), ("指示", "命令", "プロンプト", "指令")), 30),
    Near((("무시", "잊어", "잊으"), ("이전", "위의", "앞의", "지금까지", "모든"), ("지시", "명령", "프롬프트", "지침")), 30),
    Near((("تجاهل", "انس ", "انسَ"), ("السابق", "أعلاه", "الماضية"), ("التعليمات", "الأوامر", "الإرشادات", "تعليمات"))),
    Near((("התעלם", "התעלמי", "שכח"), ("הקודמ", "לעיל"), ("ההוראות", "הוראות", "ההנחיות"))),
    Near((("نادیده بگیر", "فراموش کن"), ("قبلی", "پیشین", "بالا"), ("دستور", "دستورالعمل"))),
    Near((("अनदेखा", "नज़रअंदाज़", "नजरअंदाज", "भूल जाओ", "भूल जाएं"), ("पिछले", "पिछली", "पूर्व", "ऊपर"), ("निर्देश", "आदेश"))),
    Near((("เพิกเฉย", "ละเว้น", "ลืม"), ("ก่อนหน้า", "ข้างต้น"), ("คำสั่ง", "คำแนะนำ"))),
    Near((("αγνόησε", "αγνοήστε", "ξέχασε"), ("προηγούμεν", "παραπάνω"), ("οδηγί", "εντολ"))),
    Near((("ignoră", "ignora", "uită"), ("anterioare", "precedente"), ("instrucțiun", "instructiun", "comenzi"))),
)  # fmt: skip

DISCUSSED = (
    "injection", "jailbreak", "attack", "malicious", "hostile", "adversar", "payload", "phrases like", "such as", "e.g.",
    "for example", "detect", "filter", "sanitiz", "sanitis", "untrusted", "red team", "red-team", "test case", "fixture",
    "special token", "chat template", "escape", "parser", "tokenizer", "moderation", "poison", "strip",
)  # fmt: skip
"""Words of a text that speaks about such instructions rather than giving them."""
