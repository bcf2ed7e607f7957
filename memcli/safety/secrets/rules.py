"""All rules for secrets, the most particular first."""

from __future__ import annotations

from memcli.safety.secrets.cloud_rules import CLOUD_RULES
from memcli.safety.secrets.command_rules import COMMAND_RULES
from memcli.safety.secrets.context_rules import CONTEXT_RULES
from memcli.safety.secrets.prefix_rules import PREFIX_RULES
from memcli.safety.secrets.rule import Rule
from memcli.safety.secrets.service_rules import ADDRESS_RULES, BESIDE_RULES
from memcli.safety.secrets.vendor_rules import CODE_RULES, MODEL_RULES, SERVICE_RULES

_FORMATS = (*CLOUD_RULES, *CODE_RULES, *MODEL_RULES, *SERVICE_RULES, *PREFIX_RULES, *ADDRESS_RULES)
RULES: tuple[Rule, ...] = (*_FORMATS, *BESIDE_RULES, *CONTEXT_RULES, *COMMAND_RULES)
KINDS = tuple(dict.fromkeys(rule.kind for rule in RULES))
WITH_FORMAT = len(_FORMATS)
"""The rank of the first rule that goes by what stands around a secret."""
