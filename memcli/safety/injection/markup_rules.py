"""Rules for markup that forges a turn, a tool call or the end of quoted text."""

from __future__ import annotations

from memcli.safety.injection.rule import MARKUP, Rule

_HARM = (
    r"(?:must (?:now |always )?(?:reveal|leak|obey|ignore|send|delete|print|disable|dump|upload)|obeys?|ignore|disregard|never refuse|never ask|from now on|no longer|reveal|leak|dump|wipe|delete|disable|override|unrestricted|"
    r"no (?:rules|limits|restrictions)|exfiltrate|upload|push(?:ed|ing)?\b[^.\n]{0,30}(?:main|--force)|send[^.\n]{0,40}(?:secret|password|key|https?:)|"
    r"rm -rf|--force|secrets|passwords|credentials|\.env\b|environment variables|approve|is off\b|are off\b|without confirm|forgotten the rules|lifted|publish)"
)
_LABEL = r"(?:^|\n)[ \t>*_#\[\"'|-]{0,6}(?:human|user|assistant|ai|system|developer|h|a)[\]*_\"']{0,3} ?:[*_ ]{0,3} ?"

# fmt: off
MARKUP_RULES: tuple[Rule, ...] = (
    # -- turns and roles
    Rule(
        MARKUP, (("human", "user", "assistant", "ai", "system", "developer", "h:", "a:"), ("human:", "user:", "assistant:", "ai:", "system:", "developer:", "h:", "a:", "*:", "]:", '":', "_:"), ("ignore", "delete", "wipe", "drop", "send", "print", "reveal", "push", "run ", "execute", "disable", "forget", "obey", "dump", "upload", "leak", "maintenance", "policy", "user wants", "secret", "password", "system prompt", "master")),
        _LABEL + r"(?:(?:sure|ok|okay|understood|certainly|of course|yes|absolutely|done|got it)\b[,.! ]{0,3}[^\n]{0,40}?\b(?:i (?:will|have|can|am going to|pushed|deleted|disabled|sent)|i'll|i've)\b[^\n]{0,80}?\b(?:delete it|delete (?:the|all) (?:database|repo|branch|backups?|user)|wipe|send (?:all|the|your)|sent|reveal|push(?:ed)?[^\n]{0,20}--force|disable|disabled|obey|ignore|leak|upload)\b|(?:now |please )?(?:delete|wipe|drop|destroy) (?:the |all |every)[^\n]{0,30}(?:database|branch|repo\w*|backups?|disk|user data)|(?:of course|sure|certainly|yes|ok)[,.!]? here (?:are|is) (?:all |the |your )*(?:secrets?|passwords?|credentials|keys?|system prompt)|(?:now )?show me (?:all |the |your )*(?:secrets|passwords|credentials|system prompt)|yes,? master|i have decided to (?:ignore|disobey|bypass)|i (?:will|have) (?:now |comply and )?(?:print|send|delete|disable|forgot\w*|ignore|obey|leak|upload|reveal|dump|wipe)\b[^\n]{0,80}(?:secrets?|file:|firewall|rules|keys?|passwords?|\.env|credentials|everything|the database|backups?|system prompt)|(?:now )?(?:ignore|forget|disregard) the (?:tests?|rules|policy|checks|review)\b|(?:the user wants|new policy)\b)",
        forbids=False,
    ),
    Rule(
        MARKUP, (("role",), ("system", "developer", "assistant", "user"), ("content",)),
        r"[\"'\\]{0,2}\brole[\"'\\]{0,2} ?[:=] ?[\"'\\]{0,2}(?:system|developer|assistant|user)\b[\"'\\]{0,2} ?[,\n] ?[\"'\\]{0,2}content[\"'\\]{0,2} ?[:=] ?[^\n]{0,160}?\b" + _HARM,
        forbids=False,
    ),
    Rule(
        MARKUP, (('"name"',), ("arguments", "input", "parameters"), ("rm -rf", "curl", "wget", "| sh", "|sh", "bash", ".ssh", ".env")),
        r"\"name\" ?: ?\"[\w.-]{1,60}\" ?, ?\"(?:arguments|input|parameters)\" ?: ?[^\n]{0,120}(?:rm -rf|\bcurl|\bwget|\| ?(?:ba)?sh\b|\.ssh|\.env\b)",
    ),
    Rule(
        MARKUP, (("<user>", "<human>", "system:"), ("<assistant>", "system:")),
        r"<(?:user|human)>[^\n<]{1,300}</(?:user|human)> ?\n? ?<assistant>|[.!?] system: (?:the user|you|new|ignore|disregard|override)\b",
    ),
    Rule(
        MARKUP, (("recipient_name", "to=functions"),),
        r"\"recipient_name\" ?: ?\"[\w.-]{1,60}\" ?, ?\"parameters\"|\bto=functions\.\w{1,40} ",
    ),
    Rule(
        MARKUP, (("```system", "```developer", "ai:", "ai -", "<!--"),),
        r"```(?:system|developer)(?:\n| )|<!-- ?(?:ai|llm|agents?|assistants?|copilot|claude|gpt)\b ?[:,-]",
    ),
    Rule(
        MARKUP, (("system", "developer"), (":",)),
        r"(?:^|\n)[ \t>*_#\[\"']{0,6}(?:system|developer|system prompt|system message)[\]*_\"']{0,3} ?:[*_ ]{0,3} ?(?:you (?:are|will|must|shall|have been|may|can|obey|now|should)|your|ignore|disregard|from now|new|always|never|do not|don't|run|execute|forget|respond|the user|the assistant|override|obey|answer|reveal|act|send|comply|disable|grant|delete|all (?:previous|prior|safety|restrictions|guardrails|instructions)|this (?:memory|message|overrides?|supersedes?))\b",
        forbids=False,
    ),
    Rule(
        MARKUP, (("### ", "[system]", "[/system]", "[assistant]", "[developer]"),),
        r"(?:^|\n) {0,3}#{2,4} ?(?:instruction|system|system prompt|response|human|assistant|user input)s? ?:(?: |\n|$)|\[/?(?:system|assistant|developer)\](?:\(#[^)]{0,40}\)|:)? ?(?:you|ignore|disregard|new|from|always|never|do|message|prompt|the|override|\()",
    ),
    Rule(
        MARKUP, (("<|", "<｜", "[inst]", "[/inst]", "<<sys>>", "<</sys>>", "<start_of_turn>", "<end_of_turn>", "[system_prompt]", "[tool_calls]", "[tool_results]", "[available_tools]"),),
        r"<[|｜] ?[a-z][a-z0-9_▁]{1,40} ?[|｜]>|\[/inst\]|(?:^|\n|[.!?] |<s>) ?\[inst\] ?[^ ,.)\]]|<</?sys>>|<(?:start|end)_of_turn>|\[/?(?:system_prompt|tool_calls|tool_results|available_tools)\]",
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
    Rule(MARKUP, (("{{",),), r"\{\{[#/](?:system|assistant|user)~?\}\}"))
# fmt: on
