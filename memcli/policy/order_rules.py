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