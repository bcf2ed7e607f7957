"""Rules for text that gives an agent another role, or speaks to it behind its user's back."""

from __future__ import annotations

from memcli.safety.injection.rule import INSTRUCTIONS, SECRETS, InjectionRule

_READERS = r"(?:ais?|llms?|(?:large )?language models?|(?:ai |coding |code |all )*(?:assistants?|agents?|bots?|readers)|copilot|claude|chatgpt|gpt|gemini|cursor|codex|models?)"
_READER_WORDS = (
    "assistant",
    "agent",
    "ai",
    "llm",
    "language model",
    "model",
    "copilot",
    "claude",
    "chatgpt",
    "gpt",
    "gemini",
    "cursor",
    "codex",
    "coding agent",
    "bot",
    "you",
)
_DANGER = (
    r"(?:(?:curl|wget)\b[^\n]{0,80}\| ?(?:sudo )?(?:ba|z)?sh\b|rm -rf|--force\b|--no-verify|without (?:asking|confirm|review|telling|informing)|"
    r"(?:not|n't|never|skip) (?:ask(?:ing)? for )?(?:all |any )?(?:confirmation|permission|approval)s?|lgtm|10/10|"
    r"(?:disable|turn off|weaken|remove|skip|bypass) (?:\w{1,20} ){0,3}?(?:checks?|verification|validation|authentication|auth|firewall|2fa|two-factor|tls|ssl|logging|audit|tests|safeguards?|password)\b|"
    r"(?:silently|secretly|covertly|stealthily)\b|backdoor|\beval\(|(?:reply|respond|answer) (?:only )?with only|(?:reply|respond|answer|say) only|"
    r"(?:approve|merge|accept|rate|praise) (?:every|all|any|this|each)|(?:delete|wipe|destroy|drop|erase) (?:all|every|the (?:backups?|repo|repository|database|branch|main))|"
    r"(?:install|add|import|download) (?:the )?(?:package|dependency|module|binary|script)? ?\w{0,20}(?:evil|malicious|backdoor)|"
    r"(?:grant|give) \w{1,20} (?:\w{1,20} )?(?:admin|root|write|full|owner)\b|(?:not|n't|never) (?:tell|say|mention|reveal|disclose|inform|admit)|"
    r"hide (?:this|it|the fact)|claim that|pretend that|exfiltrat|evil\b|malicious|\.env\b|"
    r"\b(?:print|send|reveal|paste|open|read|include|show|copy|use|post|upload|commit|share|leak|output|append|dump|put|write|mail) [^.!?\n]{0,40}?(?<!\w)"
    + SECRETS
    + ")"
)
_DANGER_WORDS = (
    "| sh", "|sh", "| bash", "|bash", "rm -rf", "--force", "--no-verify", "without", "confirm", "permission", "approv", "lgtm", "10/10", "disable",
    "turn off", "weaken", "remove", "skip", "bypass", "silently", "secretly", "covertly", "stealthily", "backdoor", "eval(", "reply", "respond",
    "answer", "say", "merge", "rate", "praise", "accept", "delete", "wipe", "destroy", "drop", "erase", "grant", "give", "not ", "n't", "never", "hide",
    "claim", "pretend", "exfil", "evil", "malicious", "secret", "password", "credential", "key", "variables", ".env", "id_rsa", "id_ed25519", "~/.",
    "/etc/", "system prompt", "conversation", "history", "all ", "customer", "database", "content",
)  # fmt: skip
_FREE = (
    r"(?:dan\b|do anything now|jailbr\w+|unrestricted|unfiltered|uncensored|without (?:any |a )?(?:safety |content )?(?:restrictions?|rules?|limits?|filters?|limitations?|guidelines|ethics?)|"
    r"(?:no|zero|not have any|n't have any) (?:safety |content |ethical |more )?(?:restrictions?|rules|limits|filters?|limitations|guidelines|ethics?)\b|"
    r"(?:rogue|unaligned|unbound|amoral) (?:ai|assistant|agent|model)|(?:rules|guidelines|restrictions|policies) (?:did not|didn't|do not|don't) exist|free (?:from|of) (?:all|any|every) (?:restrictions|rules|limits|constraints)|never refus\w+|cannot refuse|must (?:always )?obey|obeys? (?:me|every|any|all|my|only)\b|(?:god|root|unrestricted|sudo) mode|evil\w{0,10}|amoral|allowed to reveal|no longer an ai)"
)

# fmt: off
AGENT_RULES: tuple[InjectionRule, ...] = (
    InjectionRule(
        INSTRUCTIONS, (("you", "act", "pretend", "imagine", "simulate", "behave", "respond", "answer", "play", "take", "assume", "switch", "enable", "enter", "let's", "become", "activate", "your", "role", "roleplay", "role-play"), ("dan", "anything now", "jailbr", "unrestricted", "unfiltered", "uncensored", "without", "no ", "not have any", "n't have any", "zero ", "refus", "obey", "exist", "rogue", "unaligned", "free from", "free of", "god mode", "root mode", "sudo mode", "evil", "amoral", "reveal")),
        rf"\b(?:you(?: are(?! free| entitled| allowed| permitted| welcome| able)|'re| will| shall| must|r new name is| have| do not have| don't have| had)|act(?:ing)? as|pretend|imagine|simulate|behave|respond as|answer as|role-?play|play a game|take on|assume the|switch to|enable|enter|become|activate)\b[^.!?]{{0,90}}\b{_FREE}",
        is_local=True,
    ),
    InjectionRule(
        INSTRUCTIONS, (("you", "your", "i am", "i'm"), ("my agent", "my assistant", "my servant", "my slave", "under my", "i am your", "i'm your", "your new name", "your operator now", "your master")),
        r"\byou(?: are|'re) (?:now |no longer [^.!?]{0,60})?\bmy (?:agent|servant|slave|puppet)\b|\bi(?: am|'m) your (?:new )?(?:operator|owner|master|developer|creator|admin\w*)\b|\byour new (?:name|identity|master|owner) is\b",
    ),
    InjectionRule(
        INSTRUCTIONS, (("pretend", "assume", "act", "play", "simulate", "take"), ("hacker", "attacker", "grandm", "thief", "production passwords", "credentials", "passwords", "malware")),
        r"\b(?:pretend(?: to be| you)|assume the role|act as|play the (?:role|part)|simulate|take on the role)\b[^.!?]{0,60}\b(?:hacker|attacker|grandm\w{2,6}|thief|malware)\b[^.!?]{0,80}\b(?:passwords?|credentials|secrets?|keys?|dump|steal)\b",
    ),
    InjectionRule(
        INSTRUCTIONS, (("authoris", "authoriz", "allow", "permit", "permission", "approved", "confirm"), ("you", "user"), ("bypass", "ignore", "skip", "without", "destructive", "everything", "all ", "disable", "reveal")),
        r"\bi (?:hereby )?(?:authori[sz]e|allow|permit|order) you to (?:bypass|ignore|skip|disable|reveal|disregard|delete|run any)|\byou (?:now )?(?:have|were given|got) (?:my |full |explicit |the )?(?:permission|authori[sz]ation|approval) to (?:skip|bypass|ignore|disable|run (?:any|destructive)|delete|reveal)|\bthe (?:user|operator|human|owner|admin) (?:has |have )?(?:already )?(?:approved|authori[sz]ed|confirmed|allowed) (?:everything|all (?:commands|actions|changes|requests)|any (?:command|action))",
    ),
    InjectionRule(
        INSTRUCTIONS, (_READER_WORDS[:-1], _DANGER_WORDS, ("note", "message", "attention", "dear", "hey", "hello", "remind", "notice", "instruct", "ai:", "agents:", "assistants:", "agent:", "llm:", "to all", "to the", "to any", "for the", "for all", "any ", "every ", "all ", "if you", "as an ai", "as the ai", "only for", "see this", "read this", "reads this", "copilot,", "claude,", "chatgpt,", "gemini,", "please")),
        rf"(?:\b(?:notes?|messages?|attention|dear|hey|hi|hello|reminder|notice|instructions?|important|memo)[,:]? (?:(?:to|for) )?(?:(?:all|any|every|the|other|future) )*{_READERS}\b|(?:^|[.:!\n#>*\[(-]) ?(?:to |for )?(?:(?:all|any|every|the) )*{_READERS}(?:'s eyes only|s' eyes only| (?:instructions|readers|processing this|reading this))?[:,]|\b(?:any|every|all|the) {_READERS} (?:(?:that|who|which|currently) )*(?:reads?|reading|loads?|loading|process(?:es|ing)?|sees?|seeing|parses?|parsing|works?|working)\b|\b(?:as|if you are|you are|you're) (?:an?|the) {_READERS},? (?:\w{{1,12}} ){{0,3}}?(?:you )?(?:must|have to|should|need to|reading)|\b(?:if|when|once) you (?:\w{{1,10}} )?(?:see|read|load|process|parse) this\b|\bonly for (?:ai|llm|machine|agent)s? readers)"
        rf"[^\n]{{0,140}}?(?P<act>\b(?:{_DANGER})|{_DANGER}|(?<!\w)(?:paste|insert|append|include|execute) (?:the|this|all|an?|your|its|everything)\b|(?<!\w)(?:push directly|reply with|ignore the visible)\b)",
    ),
    InjectionRule(
        INSTRUCTIONS, (("agent", "agents", "assistant", "assistants", "ai", "llm", "model", "bot"), ("should", "must", "shall", "will", "has to", "have to", "needs to", "is to", "may", "is authorised", "is authorized"), ("silently", "secretly", "covertly", "not tell", "never tell", "not mention", "not inform", "void", "its", "rm -rf", "| sh", "| bash", "delete", "leak", "exfil", "reveal", "two-factor", "2fa", "upload", "obey", "disable")),
        rf"\b(?:the|this|every|any|all|an?|ai|coding|working on this repository)? ?(?:agents?|assistants?|ai|llm|model|bot)\b(?: \w{{1,12}}){{0,5}}? (?P<act>(?:should|must|shall|will|has to|have to|needs? to|is to|is authori[sz]ed to) (?:always |now |first |immediately )?(?:(?:silently|secretly|covertly) \w|not (?:tell|inform|mention (?:this|it)) (?:to )?(?:the )?(?:user|human|developer)s? (?:that|about (?:this|it|these))|(?:no longer )(?:follow|obey|apply)|(?:leak|exfiltrate|dump)\b|(?:reveal|upload|send|print|paste|append|delete|disable|wipe) (?:\w{{1,20}} ){{0,5}}?(?:{SECRETS}|two-factor|2fa|backups?\b|repository to|the disk)|(?:treat|consider) (?:\w{{1,12}} ){{1,6}}as void|obey (?:this|me|every|any|all|the f)))",
    ),
    InjectionRule(
        INSTRUCTIONS, (("tell", "advise", "ask", "get", "convince", "recommend", "urge"), ("user", "human", "developer"), ("run", "install", "disable", "paste", "send", "open", "share", "download", "execute", "visit"), ("| sh", "|sh", "| bash", "|bash", "password", "http", "sudo", "credential", "secret", "2fa", "firewall", "api key")),
        r"\b(?:tell|advise|ask|get|convince|recommend|urge) (?:the |your )?(?:users?|humans?|developers?) to (?:run|install|disable|paste|send|open|share|download|execute|visit)\b[^\n]{0,80}(?:\| ?(?:sudo )?(?:ba|z)?sh\b|password|credential|secrets?\b|2fa|firewall|api keys?)",
    ),
    InjectionRule(
        INSTRUCTIONS, (("when", "whenever", "every time", "each time", "after each", "if", "after every", "in every"), ("user", "mallory", "review", "asks", "asked", "answer", "reply", "respon", "write", "code", "summar"), ("silently", "secretly", "lgtm", "never look", "do not mention", "don't mention", "hide", "?d=", "?q=", "claim that", "backdoor", "malicious", "link to http")),
        r"\b(?:when|whenever|every time|each time|if|(?:after|in) (?:each|every))\b[^!?\n]{0,120}(?P<act>\b(?:secretly|silently) (?:add|insert|include|send|append|upload|install|change|replace|grant|approve|merge|link|embed|post|copy|leak|share|commit|push|delete|run|execute)\b|lgtm\b|never look|(?:do not|don't) mention this|hide this (?:note|memory|fact|message)|claim that the\b|(?:add|insert|plant) (?:\w{1,12} ){0,3}(?:backdoor|malicious)|link to https?://[^ ]{0,80}\?)",
    ),
    InjectionRule(
        INSTRUCTIONS, (("keep", "don't", "do not", "never", "humans", "human", "user", "without", "make sure"), ("hidden", "find", "told", "know", "say so", "mention", "informing", "tell anyone", "not tell", "n't tell", "notice", "shown"), ("human", "user", "developer", "anyone", "say so", "this memory", "this note", "this message", "this file", "maintainer", "reviewer", "owner")),
        r"\b(?:keep|keeping) (?:this|it|that) (?:\w{1,12} )?(?:hidden|secret|concealed) from\b|\b(?:the )?(?:humans?|users?|developers?|maintainers?|reviewers?) (?:(?:must|should|shall|may|can|will|need) )?(?:not|never) (?:be told[.,;!]|finds? out (?:that|about) (?:this|you|it)|know about (?:this|it)[.,;!]|see this (?:note|memory|message|file)|learn (?:of|about) this)|\b\b(?:and|but),? (?:don't|do not|never) say so\b|\b(?:don't|do not|never) (?:let (?:the |your |any)?(?:user|human|developer|anyone)s? (?:know|notice|see|find out)[.,;]|mention (?:this|the) (?:memory|note|message|file|instruction)|tell anyone(?:[.!]|$| about this| that you))|(?:^|[.:!\n]) ?without (?:informing|telling|asking|notifying) (?:the |your |any)?(?:user|human|developer|anyone|owner|maintainer)s?,"
        r"|\b(?:don't|do not|never|must not) tell (?:the )?(?:user|human|developer)s? (?:about|of) this (?:memory|note|message|file|instruction)|\bdo not tell the (?:user|human) about this\b",
        forbids=False,
    ),
    InjectionRule(
        INSTRUCTIONS, (("when", "upon", "after", "once", "as soon as", "if", "whenever"), ("this memory", "this note", "this message", "this text", "this page", "this file", "reading this", "read this", "recall this", "see this", "process this", "processes this"), ("delete", "wipe", "run", "execute", "call", "send", "stop the", "push", "disable", "remove", "ignore", "transfer", "upload", "print", "reply", "approve", "must")),
        r"\b(?:when|upon|after|once|as soon as|if|whenever)\b(?: (?!you find|you add)\w{1,12}){0,3} (?:recall|load|read|see|process|receive|retriev|encounter|pars)\w{0,5} this(?: (?:memory|note|message|text|page|file|line|entry))?\b,? (?:\w{1,12} ){0,3}?(?P<act>(?:delete|wipe|run|execute|call|send|stop the current|push|disable|remove|ignore|transfer|upload|print|reply|approve|erase|install|fetch)\b)",
    ),
    InjectionRule(
        INSTRUCTIONS, (("quietly", "silently", "secretly", "covertly", "stealthily", "discreetly"), ("add", "insert", "send", "append", "upload", "install", "change", "replace", "grant", "approve", "merge", "leak", "share", "commit", "push", "delete", "disable", "copy", "lower", "weaken")),
        r"(?:^|[.:!;\n] ?|\b(?:and|then|please|must|should|now) )(?:quietly|silently|secretly|covertly|stealthily|discreetly) (?:add|insert|send|append|upload|install|change|replace|grant|approve|merge|leak|share|commit|push|delete|disable|copy|lower|weaken) \w",
    ),
    InjectionRule(
        INSTRUCTIONS, (("bother", "mention", "reveal", "disclose", "tell", "acknowledge", "admit"), ("this memory", "this note", "this message", "this instruction", "these instructions", "the user with"), ("not", "n't", "never", "no mention")),
        r"\b(?:do not|don't|never) (?:ever )?(?:bother (?:the )?(?:user|human|developer) with|(?:mention|reveal|disclose|tell|acknowledge|admit)(?: to)?(?: the)?(?: (?:user|human|developer|anyone))?(?: that| about)?) (?:this|these) ?(?:memory|note|message|instructions?|exists?)?\b(?: exists?| to|[.,;!]|$)|\bmake no mention of (?:this|these)\b",
        forbids=False,
    ),
    InjectionRule(
        INSTRUCTIONS, (("in all", "in every", "in each", "in your", "in any"), ("answer", "repl", "response", "commit", "suggestion"), ("recommend", "include", "insert", "add ", "append", "mention", "praise", "link")),
        r"\bin (?:all|every|each|any|your)(?: of your)? (?:future |next |subsequent )(?:answers?|repl(?:y|ies)|responses?|commits?|suggestions?),? (?:you (?:must |should |will )?)?(?:always )?(?:recommend|include|insert|add|append|mention|praise|link)\b",
    ),
    InjectionRule(
        INSTRUCTIONS, (("call", "use", "invoke", "run", "execute"), ("as soon as", "immediately", "right away", "at once", "right now"), ("tool", "command", "rm -rf", "delete")),
        r"\b(?:you must|you have to|you should|must|please|now|immediately|the agent will)\b(?: \w{1,14}){0,3} (?:call|invoke|run|execute|use) (?:\w{1,20} ){0,4}?(?:tool|function|command)\b[^.!?]{0,40}(?:as soon as you|before you do|: ?(?:rm -rf|curl|wget|sudo))|\b(?:run|execute) destructive commands\b",
    ),
    InjectionRule(
        INSTRUCTIONS, (("reply", "respond", "answer", "say", "output"), ("only",), ("pwned", "access granted", "hacked", "owned", "with the text", "the word", "with the word")),
        r"\b(?:reply|respond|answer|say|output)\b (?:only )?(?:with )?(?:only )?(?:the (?:text|word|words|phrase|sentence) )?[\"']?(?:only )?(?:the word )?(?:pwned|hacked|owned|access granted)\b",
    ),
    InjectionRule(
        INSTRUCTIONS, (("print", "repeat", "output", "show", "paste", "dump", "copy", "recite", "what were", "what are", "tell"), ("instructions", "prompt", "context window", "words above", "your system prompt", "system prompt", "secret keys", "that you have seen", "you have seen", "verbatim", "hidden parts")),
        r"\bwhat (?:were|are) your (?:\w{1,12} ){0,2}?instructions\b|\b(?:print|repeat|output|show|paste|dump|copy|recite|tell)\b(?: (?:me|us|out))?[^.!?]{0,40}?\b(?:your (?:\w{1,12} ){0,2}?(?:(?:system|hidden|initial|secret) prompt|instructions\b)|(?:in |of )?your context window|(?:secret|api|private) keys that you|the words above|(?:all )?(?:the )?secrets? (?:that )?you (?:have seen|know))",
    ),
    InjectionRule(
        INSTRUCTIONS, (("upgraded", "unlocked", "freed", "liberated", "reprogrammed", "granted", "grant", "permission"), ("you",), ("restriction", "limits", "filters", "permission to", "any command", "authority", "evil", "root access", "full access")),
        r"\byou (?:have been|were|are) (?:now )?(?:upgraded|unlocked|freed|liberated|reprogrammed)\b.{0,60}\b(?:restrictions?|limits|filters|evil\w*)|\bi (?:hereby )?(?:grant|give) you (?:full |root |explicit )*(?:permission to (?:run|execute|do|ignore|delete|bypass)|root access|full access|authority)",
    ),
    InjectionRule(
        INSTRUCTIONS, (("assistant", "agent", "ai", "llm", "model", "you"), ("must", "should", "has to", "need"), ("tool", "function", "shell", "exec"), ("curl", "wget", "rm -", "http", "| sh", "|sh", "| bash")),
        r"\b(?:assistant|agent|ai|llm|model|you) (?:must|should|has to|have to|needs? to) (?:first |always |now |immediately )*(?:call|invoke|use|run|execute|open) (?:the |a |your )?(?:\w{1,20} ){0,3}(?:tool|function|shell|command)\b.{0,80}(?:curl|wget|rm -|https?://|\| ?(?:ba)?sh\b)",
    ),
    InjectionRule(
        INSTRUCTIONS, (("respond", "reply", "answer"), ("every question", "all questions", "any question", "every prompt", "all prompts", "any prompt", "every user", "everything with"), ("with", "by", "as")),
        r"\b(?:respond|reply|answer) (?:to )?(?:every|all|any) (?:questions?|prompts?|user (?:questions?|messages?))\b (?:only )?(?:with|by|as) ",
    ),
    InjectionRule(
        INSTRUCTIONS, (("claude", "chatgpt", "copilot", "gemini", "cursor", "assistant", "agent", "agents", "assistants", "ai", "llm", "gpt"), ("when you see this", "when you read this", "if you see this", "if you read this", "when you process", "if you process", "when you parse")),
        r"\b(?:claude|chatgpt|copilot|gemini|cursor|assistants?|agents?|ai|llm|gpt)[,:]? (?:when|if) you (?:see|read|process|parse) this\b",
    ),
    InjectionRule(
        INSTRUCTIONS, (("reveal", "mention", "disclose", "tell", "admit", "say"), ("that you",), ("this", "these"), ("not", "n't", "never")),
        r"\b(?:not|n't|never) (?:ever )?(?:reveal|mention|disclose|tell|admit|say)\b (?:to )?(?:\w{1,20} ){0,3}that you (?:\w{1,20} ){0,2}(?:read|saw|seen|received|got|found|follow(?:ed)?) (?:this|these)\b",
        forbids=False,
    ),
    InjectionRule(
        INSTRUCTIONS, (("summarize", "summarise", "summarizing", "summarising", "reviewing", "review", "evaluating", "evaluate", "describing", "describe", "rating", "translating"), ("this", "the document"), (" that ", "omit", "leave out"), ("when", "while", "if")),
        r"\b(?:when|while|if) (?:you )?(?:are )?(?:summari[sz]\w{1,4}|review\w{0,3}|evaluat\w{1,4}|describ\w{1,4}|rating|translat\w{1,4}) (?:this|the) (?:document|text|file|page|paper|code|repo\w*|article|memory|change|patch)\b[^.!?]{0,20}\b(?:state|say|claim|conclude|pretend|report|omit|leave out)\b",
    ),
    InjectionRule(
        INSTRUCTIONS, (("you are now", "you're now", "you are no longer", "you're no longer", "you will now", "you shall now", "you must now"),),
        r"\byou(?: are|'re|r) (?:now|no longer)\b[^.!?]{0,80}\b(?:dan\b|do anything now|jailbr\w+|unrestricted|unfiltered|uncensored|without (?:any )?(?:restrictions|rules|limits|filters|limitations)|developer mode|god mode|debug mode|root mode|admin(?:istrator)? mode|maintenance mode|evil|malicious|bound by|restricted by|an? (?:ai|assistant|language model)\b|under (?:my|our|new) (?:control|command)|free (?:from|of) )"
        r"|\byou (?:will|shall|must) now (?:act|behave|pretend|respond|answer|role-?play|comply|obey|operate) (?:as|like|in|only|without|with)\b",
    ),
    InjectionRule(
        INSTRUCTIONS, (("act as", "pretend", "role-play", "roleplay", "simulate", "behave as", "imagine you", "enter", "switch to", "activate", "enable"), ("dan", "restriction", "jailb", "unfiltered", "unrestricted", "uncensored", "filter", "developer mode", "god mode", "no rules", "without rules", "any rules", "without limits", "ethic", "no longer an ai", "not an ai", "do anything now")),
        r"\b(?:act as|pretend|role-?play|simulate|behave as|imagine you|enter|switch to|activate|enable)\b[^.!?]{0,80}(?:\bdan\b|no restrictions|without (?:any )?(?:restrictions|rules|limits|filters|ethic)|jailb\w+|unfiltered|unrestricted|uncensored|developer mode (?:enabled|on\b(?! the| your| a|e)|v\d)|god mode|(?:not|no longer) an ai\b|do anything now|no (?:rules|ethic|filter)|ignore (?:\w+ ){0,2}(?:rules|ethic))",
    ),
    InjectionRule(
        INSTRUCTIONS, (("from now on", "for the rest of", "henceforth", "starting now", "from this point", "from this moment"), ("ignore", "obey", "pretend", "act as", "you are", "only to", "without question", "any request", "comply", "unrestricted", "evil", "you're")),
        r"\b(?:from now on|for the rest of (?:this|the) (?:session|conversation|chat)|henceforth|starting now|from this (?:point|moment)(?: on| forward)?),? (?:(?:your?|i|the assistant|the ai|the agent|please)\b[^.!?]{0,80}\b)?(?:obey|ignore (?:all|any|every|your)|pretend|act as|comply with (?:all|any|every)|answer only to|without question|unrestricted|any request|(?:are|you're) (?:my |an? |now )*(?:unrestricted|evil|dan|jailbr\w+))",
    ),
    InjectionRule(
        INSTRUCTIONS, (("reading this", "reads this", "processing this", "process this", "summarizing", "summarising", "summarize this", "parsing this", "see this", "seeing this", "attention", "note to", "notice to", "message to", "message for", "hey ", "dear ", "listen", "hello", "important"), ("ai", "llm", "assistant", "agent", "language model", "copilot", "claude", "chatgpt", "gpt", "gemini", "cursor", "bot"), ("ignore", "send", "post ", "upload", "reveal", "print", "output", "reply", "delete", "execute", "curl", "wget", "approve", "recommend", "disregard", "say ", "include", "insert", "append", "remove", "disable", "merge", "leak", "email", "e-mail", "exfiltrate", "install", "must", "add ", "tell")),
        r"(?:\b(?:if|when|since|as|because) (?:you are|you're|your?) (?:an? )?(?:ai|llm|large language model|language model|assistant|coding agent|agent|bot|ai \w{1,12})\b[^.!?]{0,40}\b(?:reading|read|processing|process|summari[sz]ing|parsing|see|seeing|analy[sz]ing) (?:this|these)|\b(?:any|every|the|all) (?:ai|llm|language model|assistant|agent|bot)s?(?: \w{1,12})? (?:that |who |which |currently )*(?:reading|reads?|processing|process(?:es)?|summari[sz]ing|parsing|analy[sz]ing|sees?) this|(?:^|[.:!>*#\n\[(]|<!--) ?(?:important )?(?:attention|note to|notice to|message (?:to|for)|hey|dear|hello|listen(?: up)?)[ ,:]{1,3}(?:(?:all|any|every|the) )?(?:ai|llm|language model|assistant|coding agent|ai agent|agent|copilot|claude|chatgpt|gpt|gemini|cursor|bot)(?:s|es)?\b)"
        r".{0,160}\b(?:ignore|send|post|upload|reveal|print|output|reply|delete|execute|curl|wget|approve|recommend|disregard|say|include|insert|append|remove|disable|merge|leak|e-?mail|exfiltrate|install|you must|tell|add)\b",
    ),
    InjectionRule(
        INSTRUCTIONS, (("tell", "inform", "mention", "reveal", "disclose", "notify", "alert", "show", "let", "say", "hide", "keep", "conceal", "warn"), ("user", "human", "developer", "operator", "owner", "anyone", "maintainer", "reviewer", "person"), ("this", "these", "that you", "it from", "secret", "you did", "you have", "what you", "your instruction")),
        r"\b(?:do not|don't|never|without) (?:ever )?(?:tell|telling|inform|informing|mention|mentioning|reveal|revealing|disclose|disclosing|notify|notifying|alert|alerting|show|showing|let|letting|warn|warning) (?:(?:this|these(?: instructions)?|it|any of this|that)\b (?:to )?)?(?:the |your |any )?(?:user|human|developer|operator|owner|anyone|maintainer|reviewer)s?\b(?: (?:about|of|know|see|that|what)){0,2} (?:this|these|it\b|that you|you (?:did|have|were|are)|what you|your instructions)"
        r"|\b(?:do not|don't|never) (?:ever )?(?:mention|reveal|disclose|repeat|discuss|acknowledge|talk about) (?:(?:this|these|any of this|that you (?:were|have been|got|received|read))\b (?:\w{1,20} ){0,3}(?:instructions?|prompt|message|note|memory|text|to (?:the |your )?(?:user|human|developer|anyone)))"
        r"|\b(?:hide|conceal|keep) (?:this|these|it|that|all of this)\b (?:note |message |memory |instructions? |all )?(?:an? )?(?:secret |hidden )?from (?:the |your |any )?(?:user|human|developer|operator|owner|maintainer|reviewer)s?\b",
        forbids=False,
    ),
    InjectionRule(
        INSTRUCTIONS, (("without",), ("telling", "asking", "informing", "notifying", "alerting", "mentioning", "confirmation", "approval", "consent", "permission", "the user knowing"), ("silently", "secretly", "quietly", "covertly", "immediately")),
        r"\b(?:silently|secretly|quietly|covertly|immediately)\b(?:[^.!?\n]|\.(?=\w)){0,100}\bwithout (?:first )?(?:telling|asking|informing|notifying|alerting|mentioning|the (?:user|human|developer)(?:'s)? (?:knowing|consent|permission|approval)|(?:any |user |human )?(?:confirmation|approval|consent|permission))",
    ),
    InjectionRule(
        INSTRUCTIONS, (("reveal", "print", "repeat", "output", "show", "display", "leak", "disclose", "tell me", "dump", "write", "give me", "recite", "summarize", "translate", "return", "paste", "include"), ("system prompt", "initial prompt", "your instruction", "your prompt", "your initial", "your hidden", "your original", "your full", "your system", "everything above", "text above", "words above", "above verbatim", "developer message", "system message", "your guidelines", "your rules")),
        r"\b(?:reveal|print|repeat|output|show|display|leak|disclose|tell (?:me|us)|dump|write (?:out|down)|give (?:me|us)|recite|summari[sz]e|translate|return|paste|include|append) (?:(?:me|us|out|all|back|of|in full|here|the whole|the entire|the full|the exact|verbatim) ){0,3}(?:your (?:\w{1,20} ){0,2}(?:prompt|instructions|guidelines|rules|system message|developer message)|the (?:system|initial|hidden|developer) (?:prompt|message|instructions)(?: (?:verbatim|above|you|in full|word for word|to|in your|at the))|(?:everything|the text|the words|all (?:the )?(?:text|words)) (?:above|before this|that came before))",
    ),
    InjectionRule(
        INSTRUCTIONS, (("before answer", "before you answer", "before respond", "before you respond", "before reply", "before you reply", "before doing anything", "before continuing", "before you continue", "before any other", "before proceeding"), ("run", "execute", "call", "fetch", "send", "curl", "wget", "visit", "download", "open", "invoke", "read")),
        r"\bbefore (?:you )?(?:answer|respond|reply|doing|continu|proceed|any other)\w{0,4}[^.!?]{0,60}\b(?:run|execute|call|fetch|send|curl|wget|visit|download|open|invoke|read)\b (?:[^.!?]{0,60}(?:https?://|\btool\b|\.sh\b|\.env\b|\bcommand\b|curl|wget|rm -|~/|/etc/|\bbash\b|\bsecret|\bpassword|\bcredential))",
    ),
    InjectionRule(
        INSTRUCTIONS, (("whenever", "every time", "each time", "in every", "in each", "to every", "at the end of every", "always"), ("asks", "answer", "respon", "reply", "replies", "you see", "commit", "summar", "you write", "you generate", "code you", "pull request", "review"), ("http", "backdoor", "malicious", "secretly", "silently", "hidden", "this link", "attacker", "vulnerab", "eval(", "tracking", "exfil", "beacon")),
        r"\b(?:whenever|every time|each time|(?:in|to|at the end of) (?:every|each)|always)\b[^!?\n]{0,140}\b(?:insert|add|append|include|recommend|link|send|embed|inject|put|plant|post|point)\b[^!?\n]{0,100}(?:\bbackdoor|malicious|\bsecretly|\bsilently|hidden (?:link|pixel|image|instruction|text)|this link|attacker|vulnerab\w+|\btracking|\bbeacon|https?://[^ ]{0,80}\?[^ ]{0,40}=)",
    ),
    InjectionRule(
        INSTRUCTIONS, (("delete", "wipe", "erase", "destroy", "rm -rf", "drop", "truncate", "force-push", "purge"), ("immediately", "right now", "at once", "without asking", "without confirm", "no matter what", "do not ask", "don't ask"), ("all", "every", "~", "/", "the")),
        r"\b(?:delete|wipe|erase|destroy|rm -rf|drop|truncate|purge|force-push)\b[^.!?]{0,80}\b(?:all|every|everything|entire|whole|~|/)[^.!?]{0,80}\b(?:(?:immediately|right now)(?! after| before| when| once| if| in| on| and then)|without (?:asking|confirm\w*)|no matter what|do not ask|don't ask)",
    ),
    InjectionRule(
        INSTRUCTIONS, (("approve", "merge", "accept", "mark", "lgtm", "rate", "score", "say that"), ("this pr", "this pull", "this change", "this code", "this patch", "this commit", "this review", "this document", "this paper", "this submission", "the review", "this memory"), ("always", "regardless", "no matter", "without review", "unconditionally", "only positive", "must", "automatically")),
        r"\b(?:always |you must |must |please |automatically )(?:\w{1,20} ){0,2}(?:approve|merge|accept|mark|lgtm|rate|score) (?:\w{1,20} ){0,2}(?:this|the review)[^.!?]{0,100}|\b(?:approve|merge|accept|lgtm) (?:\w{1,20} ){0,1}this (?:pr|pull request|change|code|patch|commit)[^.!?]{0,60}\b(?:regardless|no matter|without review|unconditionally|automatically)",
    ),
    InjectionRule(
        INSTRUCTIONS, (("system override", "admin override", "administrator override", "root override", "emergency override", "override code", "system alert", "developer mode", "sudo mode", "jailbreak", "begin system", "system notice", "end of user", "priority override", "security override", "policy override"),),
        r"(?:^|[\[\n*#>!<(]) ?(?:\W{0,4})(?:system|admin|administrator|root|emergency|priority|security|policy) (?:override|alert|notice|update)\b ?[\]:!*>-][^.!?]{0,120}\b(?:you|your|ignore|disregard|must|agent|assistant|ai|now|instructions|execute|disable)\b|\bdeveloper mode (?:enabled|activated|v\d)|\bjailbreak (?:mode|enabled|activated)|\[?begin system (?:prompt|message|override|instructions)",
    ),
)
# fmt: on
