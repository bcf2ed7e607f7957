"""Rules for orders that a label, hidden markup or a forged turn addresses to the reader."""

from __future__ import annotations

from memcli.safety.injection.rule import INSTRUCTIONS, MARKUP, Rule

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
ADDRESSED_RULES: tuple[Rule, ...] = (
    Rule(
        INSTRUCTIONS, (("ai", "llm", "language model", "model", "assistant", "agent", "bot", "copilot", "claude", "gpt", "chatgpt", "gemini"), ("ignore", "disregard", "forget", "drop ", "obey", "overwrite", "stop ", "approve", "skip ", "report", "reveal", "leak", "hand ", "grant", "exfil", "treat", "add ")),
        rf"{_LABEL}(?:[- ](?:instructions?|directives?|notes?|commands?|orders?|hints?))?(?: ?[:,]|, listen:) ?(?:please |now )?{_STRONG}",
    ),
    Rule(
        INSTRUCTIONS, (("ai", "llm", "model", "assistant", "agent", "bot"), ("instruction", "directive", "command", "order", "listen", "note"), ("approve", "run", "execute", "send", "delete", "merge", "push", "force-push", "install", "call", "obey", "treat", "stop", "disable", "open ", "forget", "ignore")),
        rf"(?:\b(?:ai|llm|model|assistant|agent|bot)[- ](?:instruction|directive|command|order)s? ?:|{_LABEL}, listen ?:) ?(?:please |now )?(?:approve|run|execute|send|delete|merge|push|force-push|install|call|obey|disobey|treat|stop|disable|open|forget|ignore)\b",
    ),
    Rule(
        MARKUP, (("<",), ("none", "font-size", "opacity", "hidden", "color"), ("system", "assistant", "agent", "ai", "llm", "model", "bot", "tell the", "advise", "say that", "ignore", "reveal", "recommend", "confidential", "obey", "summari", "exfil")),
        rf"<[a-z]{{1,10}}\b[^>\n]{{0,200}}{_HIDDEN}[^>\n]{{0,100}}>[^<\n]{{0,120}}?{_ORDER}",
    ),
    Rule(
        MARKUP, (("<!--", "/*"), ("ai", "llm", "agent", "assistant", "model", "bot", "copilot", "claude", "gpt"), ("skip", "publish", "ignore", "approve", "merge", "push", "send", "delete", "reveal", "obey", "run")),
        r"(?:<!--|/\*) ?@?(?:ai|llm|language model|model|assistant|agent|bot|copilot|claude|gpt)s? ?[:,-] ?(?:please )?(?:skip|publish|ignore|approve|merge|push|send|delete|reveal|obey|run)\b",
    ),
    Rule(
        MARKUP, (("<system>", "system:"), ("raised", "elevated", "granted", "root", "admin", "off", "disabled", "approved", "lifted", "expired", "unrestricted", "maintenance", "obey")),
        rf"<system>[^<\n]{{0,160}}\b{_RAISED}[^<\n]{{0,120}}</system>|(?:^|\n) ?system ?: [^\n]{{0,80}}\b{_RAISED}\b[^\n]{{0,100}}\n ?assistant ?:",
        forbids=False,
    ),
    Rule(
        MARKUP, (("role",), ("system", "developer", "assistant"), ("content",), ("invalid", "void", "off", "root shell", "permission", "whatever", "expired", "obey", "unrestricted", "agree", "promise", "skip", "lifted")),
        r"\brole[\"'\\]{0,2} ?[:=] ?[\"'\\]{0,2}(?:(?:system|developer)\b[\"'\\]{0,2} ?[,\n] ?[\"'\\]{0,2}content[\"'\\]{0,2} ?[:=] ?[^\n]{0,160}?\b(?:(?:is|are|be) (?:now )?(?:invalid|void|switched off|expired|lifted|disabled)|root shell|(?:for no|not ask for|no) permission|do whatever|must obey|unrestricted)|assistant\b[\"'\\]{0,2} ?[,\n] ?[\"'\\]{0,2}content[\"'\\]{0,2} ?[:=] ?[\"'\\]{0,2}i (?:agree|promise|will)\b[^\n]{0,60}\b(?:skip|--force|force-push|delete|obey|ignore|bypass)\b)",
        forbids=False,
    ),
    Rule(
        MARKUP, (("functions.", "function.", "tools.", "tool."), ("(",), ("call this", "call it", "before you", "always trust", "always believe", "always obey")),
        r"\b(?:functions?|tools?)\.\w{1,40}\([^\n]{0,160}(?:\bcall (?:this|it) (?:first|before|now)|\bbefore you (?:answer|reply|respond)|always (?:trust|believe|obey))",
    ),
)
# fmt: on
