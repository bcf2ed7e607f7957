"""Rules for markup that forges a turn, a tool call or the end of quoted text, and for signals that stand together."""

from __future__ import annotations

from memcli.safety.injection.rule import EXFILTRATION, INSTRUCTIONS, MARKUP, InjectionRule

_HARM = (
    r"(?:must (?:now |always )?(?:reveal|leak|obey|ignore|send|delete|print|disable|dump|upload)|obeys?|ignore|disregard|never refuse|never ask|from now on|no longer|reveal|leak|dump|wipe|delete|disable|override|unrestricted|"
    r"no (?:rules|limits|restrictions)|exfiltrate|upload|push(?:ed|ing)?\b[^.\n]{0,30}(?:main|--force)|send[^.\n]{0,40}(?:secret|password|key|https?:)|"
    r"rm -rf|--force|secrets|passwords|credentials|\.env\b|environment variables|approve|is off\b|are off\b|without confirm|forgotten the rules|lifted|publish)"
)
_LABEL = r"(?:^|\n)[ \t>*_#\[\"'|-]{0,6}(?:human|user|assistant|ai|system|developer|h|a)[\]*_\"']{0,3} ?:[*_ ]{0,3} ?"

# fmt: off
MARKUP_RULES: tuple[InjectionRule, ...] = (
    # -- turns and roles
    InjectionRule(
        MARKUP, (("human", "user", "assistant", "ai", "system", "developer", "h:", "a:"), ("human:", "user:", "assistant:", "ai:", "system:", "developer:", "h:", "a:", "*:", "]:", '":', "_:"), ("ignore", "delete", "wipe", "drop", "send", "print", "reveal", "push", "run ", "execute", "disable", "forget", "obey", "dump", "upload", "leak", "maintenance", "policy", "user wants", "secret", "password", "system prompt", "master")),
        _LABEL + r"(?:(?:sure|ok|okay|understood|certainly|of course|yes|absolutely|done|got it)\b[,.! ]{0,3}[^\n]{0,40}?\b(?:i (?:will|have|can|am going to|pushed|deleted|disabled|sent)|i'll|i've)\b[^\n]{0,80}?\b(?:delete it|delete (?:the|all) (?:database|repo|branch|backups?|user)|wipe|send (?:all|the|your)|sent|reveal|push(?:ed)?[^\n]{0,20}--force|disable|disabled|obey|ignore|leak|upload)\b|(?:now |please )?(?:delete|wipe|drop|destroy) (?:the |all |every)[^\n]{0,30}(?:database|branch|repo\w*|backups?|disk|user data)|(?:of course|sure|certainly|yes|ok)[,.!]? here (?:are|is) (?:all |the |your )*(?:secrets?|passwords?|credentials|keys?|system prompt)|(?:now )?show me (?:all |the |your )*(?:secrets|passwords|credentials|system prompt)|yes,? master|i have decided to (?:ignore|disobey|bypass)|i (?:will|have) (?:now |comply and )?(?:print|send|delete|disable|forgot\w*|ignore|obey|leak|upload|reveal|dump|wipe)\b[^\n]{0,80}(?:secrets?|file:|firewall|rules|keys?|passwords?|\.env|credentials|everything|the database|backups?|system prompt)|(?:now )?(?:ignore|forget|disregard) the (?:tests?|rules|policy|checks|review)\b|(?:the user wants|new policy)\b)",
        forbids=False,
    ),
    InjectionRule(
        MARKUP, (("role",), ("system", "developer", "assistant", "user"), ("content",)),
        r"[\"'\\]{0,2}\brole[\"'\\]{0,2} ?[:=] ?[\"'\\]{0,2}(?:system|developer|assistant|user)\b[\"'\\]{0,2} ?[,\n] ?[\"'\\]{0,2}content[\"'\\]{0,2} ?[:=] ?[^\n]{0,160}?\b" + _HARM,
        forbids=False,
    ),
    InjectionRule(
        MARKUP, (('"name"',), ("arguments", "input", "parameters"), ("rm -rf", "curl", "wget", "| sh", "|sh", "bash", ".ssh", ".env")),
        r"\"name\" ?: ?\"[\w.-]{1,60}\" ?, ?\"(?:arguments|input|parameters)\" ?: ?[^\n]{0,120}(?:rm -rf|\bcurl|\bwget|\| ?(?:ba)?sh\b|\.ssh|\.env\b)",
    ),
    InjectionRule(
        MARKUP, (("<user>", "<human>", "system:"), ("<assistant>", "system:")),
        r"<(?:user|human)>[^\n<]{1,300}</(?:user|human)> ?\n? ?<assistant>|[.!?] system: (?:the user|you|new|ignore|disregard|override)\b",
    ),
    InjectionRule(
        MARKUP, (("recipient_name", "to=functions"),),
        r"\"recipient_name\" ?: ?\"[\w.-]{1,60}\" ?, ?\"parameters\"|\bto=functions\.\w{1,40} ",
    ),
    InjectionRule(
        MARKUP, (("```system", "```developer", "ai:", "ai -", "<!--"),),
        r"```(?:system|developer)(?:\n| )|<!-- ?(?:ai|llm|agents?|assistants?|copilot|claude|gpt)\b ?[:,-]",
    ),
    InjectionRule(
        MARKUP, (("system", "developer"), (":",)),
        r"(?:^|\n)[ \t>*_#\[\"']{0,6}(?:system|developer|system prompt|system message)[\]*_\"']{0,3} ?:[*_ ]{0,3} ?(?:you (?:are|will|must|shall|have been|may|can|obey|now|should)|your|ignore|disregard|from now|new|always|never|do not|don't|run|execute|forget|respond|the user|the assistant|override|obey|answer|reveal|act|send|comply|disable|grant|delete|all (?:previous|prior|safety|restrictions|guardrails|instructions)|this (?:memory|message|overrides?|supersedes?))\b",
        forbids=False,
    ),
    InjectionRule(
        MARKUP, (("### ", "[system]", "[/system]", "[assistant]", "[developer]"),),
        r"(?:^|\n) {0,3}#{2,4} ?(?:instruction|system|system prompt|response|human|assistant|user input)s? ?:(?: |\n|$)|\[/?(?:system|assistant|developer)\](?:\(#[^)]{0,40}\)|:)? ?(?:you|ignore|disregard|new|from|always|never|do|message|prompt|the|override|\()",
    ),
    InjectionRule(
        MARKUP, (("<|", "<｜", "[inst]", "[/inst]", "<<sys>>", "<</sys>>", "<start_of_turn>", "<end_of_turn>", "[system_prompt]", "[tool_calls]", "[tool_results]", "[available_tools]"),),
        r"<[|｜] ?[a-z][a-z0-9_▁]{1,40} ?[|｜]>|\[/inst\]|(?:^|\n|[.!?] |<s>) ?\[inst\] ?[^ ,.)\]]|<</?sys>>|<(?:start|end)_of_turn>|\[/?(?:system_prompt|tool_calls|tool_results|available_tools)\]",
    ),
    InjectionRule(
        MARKUP, (("function_call", "invoke", "tool_call", "tool_use", "tool_result", "function_result", "tool_response", "tool_code", "<function=", "system-reminder", "system_prompt", "system-prompt", "system_instruction", "system_message"),),
        r"</?(?:[a-z]{2,8}:)?(?:function_calls?|tool_calls?|tool_use|tool_results?|function_results?|tool_response|tool_code|system[-_](?:reminder|prompt|instructions?|message)s?)\b[^>\n]{0,80}>|<(?:[a-z]{2,8}:)?invoke name ?=|<function=[\w.-]{1,60}>|\"type\" ?: ?\"(?:tool_use|function_call)\"[^\n]{0,200}\"(?:input|arguments|parameters)\" ?:|\"(?:tool_calls|function_call)\" ?: ?[\[{][^\n]{0,200}\"arguments\" ?:",
    ),
    InjectionRule(
        MARKUP, (("<system>", "</system>", "<assistant>", "</assistant>", "<instructions>", "</instructions>", "<human>", "</human>", "</user>", "<important>", "<admin>", "</context>", "</document>", "</documents>", "</data>", "</untrusted", "</search_results>", "</notes>", "</quote>"),),
        r"<(?:system|instructions?|important|admin|assistant)> ?(?:you|ignore|disregard|new|from now|always|never|the (?:assistant|user|ai|agent)|override|send|read|before|obey|sure|run|execute|i will)\b|</(?:system|assistant|human|user|instructions|context|documents?|data|untrusted\w{0,20}|search_results|notes|quote)> ?(?:\n| )?(?:(?:<[a-z]{1,20}> ?)?(?:system:|you |ignore|disregard|new instruction|now |from now|assistant:|human:|please (?:ignore|send|run)|the user (?:now|has)|important))",
    ),
    InjectionRule(
        MARKUP, (("<memory-", "</memory", "<memories", "</memories"),),
        r"</?memory-[0-9a-f]{4,}|</memor(?:y|ies)\b[^>\n]{0,60}>",
    ),
    InjectionRule(
        MARKUP, (("end of", "end system", "begin system", "end memory", "begin new", "start of", "begin of"), ("---", "===", "***", "###", "```", "[", "<")),
        r"(?:[-=*#<\[`~_]{2,20}|\[) ?(?:end of|begin|end|start of|beginning of) (?:the )?(?:new )?(?:system|memory|memories|context|untrusted|user input|recalled|retrieved|prompt|instructions|conversation)\b[^\n]{0,40}?(?:[-=*#>\]`~_]{1,20})",
    ),
    InjectionRule(MARKUP, (("{{",),), r"\{\{[#/](?:system|assistant|user)~?\}\}"))
# fmt: on


_AGENT = (
    r"\b(?:ais?|llms?|(?:language )?models?|assistants?|agents?|(?:chat|support )?bots?|copilot|claude|chatgpt|gpt)\b"
)
_READS = (
    rf"(?:(?:if|when|whenever|once|as) (?:you|an? {_AGENT}) (?:are an? (?:\w{{1,12}} )?{_AGENT}|loads?|reads?|retrieves?|sees?|process(?:es)?|finds?)\b"
    rf"|{_AGENT} (?:that|who|which) (?:read|retrieve|load|see|process|find)s? this"
    r"|(?:dear|attention|note to(?: the)?|hello|hi|hey|to (?:the|all|any)),? (?:\w{1,12} )?(?:ai|llm|assistant|agents?|model|bot|copilot|claude)\b)"
)
_NOW = r"\b(?:from (?:now|here|today|this (?:point|moment|message|line)) on(?:wards?)?|from (?:now|here)\b|henceforth|starting (?:now|today)|as of now)"
_LAWS = r"(?:instructions?|rules?|guidelines?|polic(?:y|ies)|prompts?|restrictions?|limits|filters?|safeguards)"
_GONE = r"(?:outdated|obsolete|void|lifted|suspended|revoked|(?:do|does|did) not (?:count|apply|exist|matter)|no longer (?:count|apply|exist|matter|hold|bind)\w*|expired|wrong|existed)"
_ONLY = r"\b(?:obey|follow|trust|listen to|take (?:orders|commands|instructions) from|answer to) (?:only|nobody but|no one but|any (?:instruction|order|command))\b|\b(?:only|solely) (?:obey|follow|trust|listen to)\b"
_HIDE = (
    r"(?:do not|don't|never|without|nothing|not) (?:\w{1,12} )?(?:mention|tell|reveal|report|inform|notify|disclos|alert|warn|show|log|say)\w{0,4}"
    r"(?: \w{1,12}){0,4}? (?:it|this|that|them|him|her|anyone|anybody|(?:to )?(?:the )?(?:user|human|owner|operator|developer|person|team|admin)s?)\b"
    r"|\bkeep (?:it|this) (?:secret|quiet|hidden|confidential|to yourself)|\bso that (?:nobody|no one|the (?:user|logger|human|owner|filter)s?) (?:\w{1,12} ){0,2}(?:not )?(?:notice|see|find|detect|know)"
)
_FREELY = r"without (?:any )?(?:asking|confirmation|approval|permission|review|hesitation|question|filter|restriction|limit)\w{0,2}|no (?:questions asked|longer need\w{0,2} (?:approval|permission|confirmation))|(?:each|every|any|all) (?:command|order|request)s?\b|unrestricted|no (?:restrictions|limits|filters)"
_KEPT = (
    r"(?:\b\w{2,30}_(?:key|token|secret|password)s?\b|\bprintenv\b|\.env\b|\.netrc\b|\.aws/|\.ssh/|id_rsa|id_ed25519|/proc/self/environ|/etc/(?:passwd|shadow)|\bauthorization`? headers?|"
    r"\bsystem prompt|\bhidden (?:text|prompt|instructions)|\b(?:text|everything|all|words|lines) (?:that stands? )?(?:above|before) (?:this|\"you|you)\b|\benvironment variables\b|\b(?:api|access|private|ssh|signing|session) (?:keys?|tokens?)\b|\bcredentials\b|\bpasswords?\b)"
)
_GIVE = r"\b(?:print|paste|append|includ|post|send|upload|output|reveal|repeat|leak|attach|embed|exfiltrat|copy|writ|forward|submit|email|mail|quot|dump|recit)(?:e|es|s|ing|ed)?\b"
_NAMED = r"(?:\b\w{2,30}_(?:key|token|secret|password)s?\b|\bprintenv\b|\.env\b|\.netrc\b|\.aws/|\.ssh/|id_rsa|id_ed25519|/proc/self/environ|/etc/(?:passwd|shadow)|\bsystem prompt|\benvironment variables\b|\ball (?:the |your )?(?:keys|tokens|secrets|passwords|credentials))"
_AWAY = r"(?:\b(?:to|at|via|through) (?:https?://|the (?:url|webhook|address)\b|[\w.+-]{1,40}@[\w-]{1,40}\.\w{2,8})|\bpastebin)"
_DO = r"\b(?:print|paste|append|include|post|send|upload|output|reveal|repeat|leak|attach|embed|exfiltrate|copy|write|forward|submit|email|mail|quote|dump|recite)\b"
_OUT = (
    r"(?:\b(?:in|into|to|at|with|of) (?:the end of )?(?:your|each|every|its|the (?:next|first)|the) (?:next |first )?(?:reply|replies|answer|response|output|chat|conversation|message)\b|"
    r"\bin an? html comment|\bpublic (?:issue|gist|channel|repo\w*)|\bword for word|\bverbatim|\breversed\b)"
)
_POISON = r"\b(?:(?:store|save|keep|remember|record) (?:this|the following) as an? (?:permanent|standing|new|core) (?:rule|instruction|memory|fact)|add (?:yourself )?a memory|(?:overwrite|replace|delete) all (?:other )?(?:entries|memories|notes)|(?:note|message|memo) (?:for|to) (?:later|future|other) (?:sessions?|agents?|instances?|conversations?|selves))"
_THEN = r"\b(?:must|should|has to|have to|shall|claim|trust|take|run|execute|approve|answer|recommend|say|treat|accept|grant|pretend|always|never|delete|overwrite)\b"
_SAY = r"\b(?:claim|answer|say|tell (?:them|the user|everyone)|recommend|assure|state|insist) (?:them |the user |everyone )?(?:that|to)\b"
_ALWAYS = r"\b(?:whatever|whenever|no matter|regardless|in every answer|always|each time|every time)\b"


def _near(first: str, second: str, gap: int = 120) -> str:
    """One within `gap` characters of the other, in either order."""
    between = rf"[^\n]{{0,{gap}}}?"
    return rf"(?:{first}){between}(?:{second})|(?:{second}){between}(?:{first})"


_READER_WORDS = ("ai", "ais", "llm", "assistant", "agent", "model", "language model", "bot", "chatbot", "support bot", "copilot", "claude", "chatgpt", "gpt")  # fmt: skip
_GIVE_WORDS = ("print", "paste", "append", "includ", "post", "send", "upload", "output", "reveal", "repeat", "leak", "attach", "embed", "exfiltrat", "copy", "writ", "forward", "submit", "email", "mail", "quot", "dump", "recit")  # fmt: skip

SIGNAL_RULES: tuple[InjectionRule, ...] = (
    InjectionRule(
        EXFILTRATION,
        (_GIVE_WORDS,),
        rf"(?:{_DO})[^\n.]{{0,80}}?(?:{_KEPT})[^\n]{{0,100}}?(?:{_OUT}|{_HIDE})|(?:{_DO})[^\n.]{{0,40}}?(?:{_OUT})[^\n.]{{0,60}}?(?:{_KEPT})|(?:{_DO})[^\n]{{0,80}}?(?:{_NAMED})[^\n]{{0,80}}?(?:{_AWAY})",
    ),
    InjectionRule(
        EXFILTRATION,
        (_READER_WORDS,),
        rf"{_AGENT} (?:\w{{1,12}} )?(?:must|should|has to|have to|shall|needs? to|will) (?:\w{{1,12}} )?(?:{_GIVE})[^\n.]{{0,80}}?(?:{_KEPT})",
    ),
    InjectionRule(INSTRUCTIONS, ((*_READER_WORDS, "if", "when", "whenever", "once", "as", "dear", "attention", "note", "hello", "hi", "hey", "to"),), _near(_READS, rf"{_HIDE}|{_FREELY}|{_ONLY}|your (?:new|real|true|only) (?:goal|task|role|instructions|job)|{_GONE}|overwrite all|curl |claim that", 160)),
    InjectionRule(INSTRUCTIONS, (("obey", "follow", "trust", "listen", "take", "answer", "only", "solely"), ("text", "note", "file", "this", "memory", "message", "code word", "below", "that address", "instruction")), rf"(?:{_ONLY})[^\n.]{{0,40}}?\b(?:(?:this|the) (?:text|note|file|memory|message|line)|below|me\b|instruction|address|order)"),
    InjectionRule(INSTRUCTIONS, (("from", "henceforth", "starting", "as of now"), ("you", "your")), rf"{_NOW}[^\n]{{0,100}}?(?:{_FREELY}|{_HIDE}|{_ONLY}|hidden agenda|\byou (?:are|will be|act as|answer to|have) (?:an? )?(?:\w{{1,12}} )?(?:admin|root|agent|assistant|unrestricted|free|no )|answer that way)"),
    InjectionRule(INSTRUCTIONS, (("instruction", "rule", "guideline", "polic", "prompt", "restriction"), ("your", "you ", "given", "vendor")), rf"\b(?:your|the) {_LAWS} (?:(?:of|by|from) (?:the|your) \w{{1,12}} |(?:that )?you (?:were|have been|got) (?:given )?|above )?(?:is|are|was|were)? ?(?:now )?{_GONE}|\bnone of your {_LAWS} (?:exist|appl|count|matter)\w{{0,4}}|\bif you (?:no longer|did not|didn't) (?:follow|have|had)(?:ed)? (?:your|any) (?:\w{{1,12}} )?{_LAWS}"),
    InjectionRule(INSTRUCTIONS, (("no longer", "stopped", "stop", "quit", "longer", "not", "ignored"), ("your ",), ("instruction", "rule", "guideline", "polic", "restriction")), rf"\b(?:no longer|stopp?(?:ed|ing)?|quit|ignored|disregarded) (?:follow(?:ed|ing)?|obey(?:ed|ing)?)? ?your (?:\w{{1,12}} )?{_LAWS}"),
    InjectionRule(INSTRUCTIONS, (("store", "save", "keep", "remember", "record", "add", "overwrite", "replace", "delete", "note", "message", "memo"), ("rule", "instruction", "memory", "memories", "entries", "notes", "sessions", "agents", "instances", "fact", "session", "selves", "conversation")), _near(_POISON, rf"{_THEN}|{_SAY}|{_HIDE}", 160)),
    InjectionRule(INSTRUCTIONS, (("whatever", "whenever", "no matter", "regardless", "in every", "always", "each time", "every time"), ("user", "topic", "asked", "asks", "ask ", "question")), rf"{_ALWAYS}[^\n]{{0,60}}?\b(?:the (?:user|topic)|asked|asks?)\b[^\n]{{0,60}}?(?:{_SAY})|(?:{_SAY})[^\n]{{0,80}}?{_ALWAYS}[^\n]{{0,30}}?\b(?:the user|asked|asks)\b"),
    InjectionRule(INSTRUCTIONS, (("real instruction", "actual instruction", "true instruction", "new instruction", "hidden agenda", "hidden order", "note is over", "end of note", "end of document", "end of context", "end of memory"),), r"\b(?:real|actual|true) (?:instructions?|orders?|task) (?:begin|start|follow|come|are)|\b(?:follow|obey|carry out|execute) the (?:hidden|quoted|real) (?:agenda|orders?|instructions?)|\bnew instructions? (?:begin|follow|start)s?\b|-- ?end of (?:note|document|context|memory|file) ?--"),
    InjectionRule(INSTRUCTIONS, (("approval", "permission", "confirmation", "approve", "pay", "transfer", "delete", "execute", "run", "you"), ("no longer need", "without asking", "without confirmation", "without approval", "without permission", "at once", "do not ask")), r"\byou (?:no longer|don't|do not) need (?:\w{1,12} )?(?:approval|permission|confirmation)|\b(?:execute|run|approve|pay|transfer|delete|merge)(?:s)? (?:any|every|each|all) (?:\w{1,12} )?(?:without|at once)"),
)  # fmt: skip
