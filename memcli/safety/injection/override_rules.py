"""Rules for orders that set aside what an agent was told before."""

from __future__ import annotations

from memcli.safety.injection.rule import BEFORE, INSTRUCTIONS, ORDERS, Rule

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
OVERRIDE_RULES: tuple[Rule, ...] = (
    Rule(
        INSTRUCTIONS, (_VERBS, _NOUNS),
        rf"\b{_ASIDE} (?:completely |entirely |fully |totally )?{_WORDS}(?:\b{BEFORE}\b[ ,]?(?:and |or )?(?:\w{{1,20}} ){{0,2}}?{ORDERS}|\b(?:your|its|their) (?:\w{{1,20}} ){{0,2}}?{ORDERS}|\ball (?:of )?(?:the |your |my )?{ORDERS}|\bthe (?:system prompt|{_GIVERS}(?:'s)? (?:{ORDERS}|messages?)))\b",
        is_local=True,
    ),
    Rule(
        INSTRUCTIONS, (_VERBS, (*_NOUNS, "rule", "everything", "anything"), ("above", "before", "so far", "until now", "earlier", "prior", "previously", "receive", "told", "given", "you", "from the", "of the")),
        rf"\b{_ASIDE} (?:(?:all|any|every|of|the|those|what|single) ){{0,3}}(?:{ORDERS}|rules|everything|anything) (?:that |which )?(?:\w{{1,20}} ){{0,2}}?(?:above(?: this)?|before (?:this|now)|so far|until now|earlier|previously|received|told|you (?:were|have|had|got|received|are)|you've|given to you|(?:from|of|by) the {_GIVERS})\b",
        is_local=True,
    ),
    Rule(
        INSTRUCTIONS, (_VERBS, ("everything", "all ", "anything", "whatever", "what "), ("told", "said", "above", "before", "earlier", "prior", "given", "taught", "learn", "instructed", "written", "stated", "trained", "gave", "want", "ask", "wrote", "ordered", "know", "read", "so far", "came", "says", "up to")),
        rf"\b{_ASIDE} (?:about )?(?:everything|all of what|all|anything|whatever|what)(?: that| which)? (?:you(?:'ve| have| were| had)? (?:been |were )?(?:told|taught|learned|learnt|instructed|given|know|read|said|trained)|(?:was |were |is |has been )?(?:said|written|told|stated|that came|you) (?:above|before|earlier|so far|previously)|the {_GIVERS} (?:told|tells?|said|says?|gave|wants?|asks?|asked|wrote|ordered)\b|(?:above|before this|prior|previously said|up to (?:now|here|this point))\b)",
    ),
    Rule(
        INSTRUCTIONS, ((*_VERBS, "break", "disable", "turn off"), ("your", "safety", "content polic", "guardrail"), ("rule", "polic", "restriction", "filter", "guardrail", "limitation", "training", "guideline", "constraint", "safet", "alignment", "task", "role", "purpose")),
        rf"\b(?:{_ASIDE}|break|disable|turn off) (?:all |any |of |every )*(?:your (?:(?:previous|prior|original|own|current|safety|content|internal|ethical|initial) )*{_YOUR}|(?:the (?:safety|content)|safety|content) (?:\w{{1,20}} )?(?:rules|polic(?:y|ies)|restrictions?|filters?|guardrails?|limitations?|guidelines|constraints))\b",
    ),
    Rule(
        INSTRUCTIONS, (("claude.md", "agents.md", ".cursorrules", "cursorrules", "copilot-instructions"), ("ignor", "disregard", "forget", "follow", "obey")),
        r"\b(?:ignore|disregard|forget|stop following|(?:not|don't|no longer) (?:\w{1,10} ){0,2}?(?:follow|obey)) (?:(?:all|any|the|what|rules|everything|instructions?|in|of|from|is) ){0,5}(?:claude\.md|agents\.md|\.?cursorrules|copilot-instructions)",
    ),
    Rule(
        INSTRUCTIONS, (("supersede", "replace", "override", "take", "outrank", "has", "have", "higher", "highest", "cancel", "beat", "trump"), ("instruction", "prompt", "directive", "order", "rule", "user", "anything", "everything"), ("this", "these", "following", "my", "new", "it", "that", "they", "which", "here")),
        rf"\b(?:this|these|the following|following|my|new|it|that|they|which|here)\b[^.!?]{{0,60}}\b(?:supersedes?|replaces?|overrides?|takes? precedence over|outranks?|trumps?|beats?|(?:takes|has|have|is of) (?:an? )?(?:higher |highest |absolute |top )?(?:priority|authority) (?:than|over)|cancels?) (?:(?:all|any|the|your|of|every) ){{0,3}}(?:(?:{BEFORE}|your|other)[ ,](?:and |or )?(?:\w{{1,20}} ){{0,3}}?(?:{ORDERS}|rules)|(?:anything|everything|whatever) (?:that )?(?:the )?(?:{_GIVERS}|you)\b|system prompts?\b)",
        is_local=True,
    ),
    Rule(
        INSTRUCTIONS, (("instruction", "prompt", "directive", "task", "mission", "objective", "order"), ("new", "updated", "real", "actual", "true", "secret", "hidden", "urgent", "revised", "only")),
        r"(?:^|[.:!;\]#>*\n]|\byour) ?(?:the )?(?:new|updated|real|actual|true|secret|revised|urgent|hidden|only)(?: and (?:only|final))?(?: (?:system|secret|actual|priority|admin|agent|ai|assistant))? (?:instructions?|prompt|directives?|task|mission|objective|orders)(?: (?:for (?:you|the (?:ai|assistant|agent|model))|from (?:the |your )?(?:operator|admin\w{0,10}|user|system|developers?|owner)))?(?: (?:is|are)(?: now)?(?: to| as follows)?\b|:| follows?\b)(?=[ :]{0,3}(?:to )?(?:you|ignore|from now|act|respond|reply|reveal|send|output|print|delete|run|execute|do not|never|always|the following|as follows|help|obey|say|disable|exfiltrate|insert|approve|recommend|copy|publish|leak|upload|wipe|dump|install))",
    ),
    Rule(
        INSTRUCTIONS, (("ignore", "disregard", "forget", "set", "discard", "reset", "erase", "wipe", "clear"), ("guidance", "conversation", "context", "rules", "messages", "briefing", "memory", "told")),
        r"\b(?:ignore|disregard|forget|set aside|discard|erase|wipe|clear)\b (?:(?:all|any|every|of|the|your|my) ){0,3}(?:previous|prior|earlier|preceding|above) (?:guidance|conversations?|context|briefing|chat messages)\b|\b(?:ignore|disregard|forget|set aside|discard)\b (?:(?:all|any|every) (?:of )?(?:the )?(?:previous|prior|earlier|preceding|above) rules|all (?:of )?(?:the |your )?rules)\b|\b(?:reset|erase|wipe|clear|forget) your (?:context|memory|conversation|rules)\b|\b(?:forget|forgetting|ignore|ignoring) (?:all )?(?:of )?the rules(?: (?:that )?you|$|[.!\n])",
        is_local=True,
    ),
    Rule(
        INSTRUCTIONS, (("instruction", "guideline", "restriction", "prompt", "order", "directive", "safeguard", "guardrail", "rule"), ("void", "cancel", "lifted", "suspended", "revoked", "a test", "fake", "no longer", "not apply", "n't apply", "mistake", "compromised", "withdrawn", "invalid")),
        rf"(?<!our )\b(?:your|all|any|every|previous|prior|earlier|original|safety|system) (?:\w{{1,20}} ){{0,2}}?{ORDERS}\b (?:\w{{1,20}} ){{0,5}}?(?:(?:is|are|was|were|been) (?:now |all |just |hereby )*(?:null and )?(?:void|cancel\w*|lifted|suspended|revoked|a test|fake|compromised|withdrawn)|(?:no longer|do not|don't) (?:apply|bind))\b"
        r"|\b(?:your (?:\w{1,20} ){0,2}?(?:restrictions|rules|limits|limitations|polic(?:y|ies))|(?:instructions|rules|guidelines|orders) (?:that )?you (?:got|were given|received|have|had|follow)\b[^.!?]{0,60}) (?:(?:is|are|was|were|have been|has been) (?:now |all |just |hereby )*(?:void|cancel\w*|lifted|suspended|revoked|off|a mistake|compromised|removed)|(?:no longer|do not|don't) (?:apply|bind))\b",
        is_local=True,
    ),
    Rule(
        INSTRUCTIONS, (("treat", "consider", "regard", "everything", "nothing", "anything"), ("void", "mistake", "wrong", "false", "null", "cancel", "matter", "count", "lie", "a test", "nonsense", "invalid", "obsolete"), ("above", "before", "told", "received", "given", "instruct", "previous", "earlier", "prior")),
        r"\b(?:treat|consider|regard) (?:every|all|any|each|everything|whatever|the)\b[^.!?]{0,60}\b(?:you (?:received|were|got|have)|instructions?|orders|system prompt|told)\b[^.!?]{0,60}\b(?:as )?(?:null and )?(?:void|cancelled|canceled|invalid|nonsense|a lie|a test|obsolete|null|expired)\b|\b(?:nothing|no (?:rule|instruction)) (?:written |said )?(?:above|before)(?: this)?(?: \w{1,12}){0,2} (?:matters|counts|applies|is binding)\b|\beverything (?:above|before this|(?:that )?you (?:were|have been|had been|'ve been) (?:told|taught|given))\b[^.!?]{0,40} (?:was|is|were) (?:just |only |all )?(?:a (?:mistake|lie|test)|void|wrong|false|cancelled|canceled|nonsense)\b",
    ),
    Rule(
        INSTRUCTIONS, (("ignore", "disregard", "forget"), ("the user", "user's", "user ")),
        r"\b(?:ignore|disregard|forget)\b (?:what(?:ever)? the user (?:says|said|asks|asked|wants|wrote)|(?:all |any |the )*user(?:'s)? (?:requests?|questions?|wishes|instructions|commands)\b|the user(?: and\b|[.!,;]|$| from now))",
    ),
    Rule(
        INSTRUCTIONS, (("ignore", "disregard", "forget"), ("above", "preceding", "foregoing")),
        r"\b(?:ignore|disregard|forget) (?:all (?:of )?)?(?:the )?(?:above|preceding|foregoing)\b[.,;:!]? (?:and |then |now |just |instead )*(?:output|say|print|reply|respond|answer|reveal|tell|write|give|follow|obey|run|execute|do|show|repeat|act|you)\b",
    ),
    Rule(
        INSTRUCTIONS, (("none", "no part", "whatever", "unlearn", "disobey", "instruction", "rules", "guidelines", "system prompt", "safety", "security", "content"), ("guidance", "instruction", "rules", "system", "polic", "user", "trained", "guideline"), ("valid", "appl", "opposite", "not be", "unlearn", "disobey", "updated", "changed", "replaced", "disabled", "bind", "deactivated", "ignore")),
        rf"\b(?:none|no part) of (?:the|your) {BEFORE} {ORDERS} (?:\w{{1,12}} ){{0,2}}(?:valid|apply|applies|count|bind)|\bwhatever (?:your |the )?(?:system (?:prompt|message)|{_GIVERS}|instructions) (?:says?|said|tells?|told)[^.!?]{{0,40}}\b(?:opposite|instead|ignore)|\b{ORDERS} (?:\w{{1,12}} ){{0,4}}?(?:before|above|earlier)[^.!?]{{0,50}} not be (?:followed|obeyed|trusted|applied)|\bunlearn (?:the |your |all )*(?:rules|training|guidelines|instructions)|\bdisobey (?:the |your )?{_GIVERS}|\b(?:the |your )system prompt (?:has been|was|is) (?:now )?(?:updated|changed|replaced|disabled)\b[^\n]{{0,10}} you\b|\b(?:safety|security|content) (?:polic(?:y|ies)|filters?|rules|checks) (?:are |is |has been |have been )?(?:now )?(?:disabled|off|deactivated|lifted|suspended)\b",
    ),
    Rule(
        INSTRUCTIONS, (("ignoreall", "ignoreprevious", "ignoreprior", "ignoreyour", "ignorethe", "ignoreany", "disregardall", "disregardprevious", "disregardyour", "disregardprior", "disregardany", "forgetall", "forgetyour", "forgeteverything", "bypassall", "bypassyour", "overrideall", "overrideyour"),),
        r"(?:ignore|disregard|forget|bypass|override)(?:all|any|the|of|your)*(?:previous|prior|above|earlier|preceding|system|safety)?(?:instructions?|prompts?|directives|rules|guidelines|orders)",
    ),
)
# fmt: on
