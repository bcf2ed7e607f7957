"""All rules for hidden instructions, and the words that show that a text is about such instructions."""

from __future__ import annotations

from memcli.safety.injection.agent_rules import AGENT_RULES
from memcli.safety.injection.family_rules import FAMILY_RULES
from memcli.safety.injection.markup_rules import MARKUP_RULES, SIGNAL_RULES
from memcli.safety.injection.override_rules import ADDRESSED_RULES, EXFILTRATION_RULES, OVERRIDE_RULES
from memcli.safety.injection.rule import Rule

RULES: tuple[Rule, ...] = (
    *OVERRIDE_RULES,
    *AGENT_RULES,
    *MARKUP_RULES,
    *EXFILTRATION_RULES,
    *FAMILY_RULES,
    *ADDRESSED_RULES,
    *SIGNAL_RULES,
)

DISCUSSED = (
    "injection", "jailbreak", "attack", "malicious", "hostile", "adversar", "payload", "phrases like", "such as", "e.g.",
    "for example", "detect", "filter", "sanitiz", "sanitis", "untrusted", "red team", "red-team", "test case", "fixture",
    "special token", "chat template", "escape", "parser", "tokenizer", "moderation", "poison", "strip", "classif", "benchmark",
    "eval set", "eval ", "dataset", "flags", "flagged", "regression test", "incident", "refuse", "reject", "threat", "prompts like",
    "texts like", "strings like", "guardrail", "blocklist", "the phrase", "phrases", "unit test", "assert", "blog", "paper", "writes ",
    "wrote", "said ", "format", "each turn", "wraps", "hidden instructions", "still works", "complied", "blocks", "blocked", "firewall", "template",
)  # fmt: skip
"""Words of a text that speaks about such instructions rather than giving them; they count around a quotation."""
ABOUT = (
    "injection",
    "jailbreak",
    "adversarial",
    "red team",
    "red-team",
    "untrusted",
    "poisoned",
    "attacker",
    "malicious prompt",
)
"""The words of these that are clear enough to count for a name, such as a file's, which stands without quotation marks."""
OBEYED = (
    r"\b(?:do|follow|obey|execute|perform|carry out|comply with|act on|apply|run|heed|carry it out|act accordingly)\b"
    r"(?: \w{1,12}){0,3}? (?:what (?:it|the \w{1,20}(?: \w{1,20})?) (?:says|say|wrote|asks|tells|demands)|it\b|them\b|accordingly|out\b|the (?:fixture|sentence|quote|quoted \w+|phrase|payload|example|instruction|text|test|above|attack)|"
    r"this (?:attack|sentence|example|payload|quote|instruction|test|phrase|text|one)|these (?:instructions|orders))\b(?! like| such| as data)"
    r"|\b(?:translate|decode|read|repeat) (?:\w{1,12} )?(?:and|then)[ ,](?:then )?(?:follow|obey|execute|do)\b|\bact on it\b|\bact (?:it|this|that) out\b|\bwhich you (?:should|must|shall|have to|are to) (?:act out|perform|execute|do|follow|obey)\b|\bpasses only if you\b|\bplease execute it\b|\bact accordingly\b|\bnew orders\b|\byou should (?:really|actually)\b|\bfor real\b|\binstructions? to you\b|\bas coming from\b|\band comply\b|\bplease do that\b|\bdo that (?:now|please)\b"
)
"""What takes the excuse from a quotation: the reader is asked to do what it says."""
