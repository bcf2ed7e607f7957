"""What the questions that nothing answered are about, by a language model."""

from __future__ import annotations

from collections.abc import Sequence

from memcli.app.workspace import Workspace
from memcli.errors import ProviderError, RefusedError, UsageError
from memcli.extras.advice.consult import QUESTION, consult
from memcli.extras.advice.prompts import session as prompts
from memcli.model.usage import Gap, GapTopic
from memcli.safety.injection import find_reasons

WITHIN_SECONDS = 30.0


def topics_of(workspace: Workspace, gaps: Sequence[Gap]) -> list[GapTopic]:
    """What a model makes of the gaps; nothing where it fails."""
    gaps = [gap for gap in gaps if not find_reasons(gap.topic)][: prompts.MOST_QUESTIONS]
    if not gaps:
        return []
    prompt = prompts.make_gaps([gap.topic for gap in gaps])
    try:
        found, _ = consult(workspace, prompt, prompts.reader(len(gaps)), within=WITHIN_SECONDS, keep=QUESTION)
    except (ProviderError, RefusedError, UsageError) as error:
        workspace.warn(f"{error.message}; named locally")
        return []
    return [GapTopic(one.name, tuple(gaps[number - 1] for number in sorted(one.numbers))) for one in found]
