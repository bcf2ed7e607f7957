"""Open the configured language model or embedder of a provider, if the store may use it, and list the providers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from memcli.errors import MemcliError, ProviderError, RefusedError, UsageError
from memcli.settings import OWN_JOURNAL, is_beside
from memcli.wiring import extra
from memcli.wiring.indexes import Remote

if TYPE_CHECKING:
    from memcli.app.workspace import Workspace
    from memcli.extras.providers.model import ProviderModel
    from memcli.model.conversation import ModelName
    from memcli.ports import LanguageModel

_EMBED_SECONDS = 60.0


def open_language_model(
    workspace: Workspace, environ: Mapping[str, str], spec: str | None, may_wait: bool
) -> LanguageModel:
    """See `Workspace.language_model`."""
    return _open(workspace, environ, chosen_model(workspace, spec), may_wait=may_wait)


def embeddings(workspace: Workspace, environ: Mapping[str, str]) -> Remote:
    """The functions by which the embedder of a workspace calls a provider: redacted and within the quota."""

    def where(name: ModelName) -> str:
        from memcli.extras.providers.table import PROVIDERS, address, shown

        return shown(address(PROVIDERS[name.provider], environ))

    def redact(text: str) -> str:
        return workspace.redactor.cleaner(workspace.store.policy(charged_space(workspace)))(text)

    def call(name: ModelName, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        return _open(workspace, environ, name).vectors(texts, _EMBED_SECONDS)

    return Remote(where, call, redact)


def _open(
    workspace: Workspace, environ: Mapping[str, str], chosen: ModelName, *, may_wait: bool = False
) -> ProviderModel:
    """A model that is called with redacted texts and within the quota. Raises RefusedError, ProviderError."""
    if workspace.is_offline:
        raise RefusedError("no language model is asked offline", "go without --offline and MEMCLI_OFFLINE")
    # What is in a clone is somebody else's choice: nothing of it is sent, or paid for, before the user has looked at
    # it.
    if not workspace.trust.is_accepted:
        raise RefusedError(
            "this store was cloned: nothing of it is sent to a language model until you trust it",
            "review it with `memcli trust --status`, accept it with `memcli trust`",
        )
    from memcli.extras.providers.meter import LedgerMeter, load_prices
    from memcli.extras.providers.model import ProviderModel
    from memcli.extras.providers.table import price_of

    space = charged_space(workspace)
    redact = workspace.redactor.cleaner(workspace.store.policy(space))
    price = price_of(chosen, load_prices(environ))
    traces = extra("telemetry.opening")
    meter = LedgerMeter(workspace, chosen, space, price, may_wait=may_wait, spent=traces.note_cost(environ))
    trace = partial(traces.asking, environ, chosen)
    return ProviderModel(chosen, environ, meter.reserve, redact, workspace.clock, trace)


def chosen_model(workspace: Workspace, spec: str | None = None) -> ModelName:
    """The model that `spec`, or else the settings, names. Raises UsageError if there is none, or it is invalid."""
    from memcli.model.conversation import model_name

    text = spec or workspace.model
    if not text:
        raise UsageError(
            "no language model is configured", "name one with --model or MEMCLI_SEMANTIC_MODEL, as provider:model"
        )
    return model_name(text)


def charged_space(workspace: Workspace) -> str:
    """The space whose quota a call uses: `main` for a space beside it, and for a journal that of its space."""
    owner = workspace.space.removeprefix(OWN_JOURNAL)
    return workspace.main if is_beside(owner) else owner


def list_providers(workspace: Workspace, environ: Mapping[str, str]) -> list[dict[str, str]]:
    """Each provider with its model in use, the name of the variable that has the key, never the key, its address, and the
    problem if it cannot be used here. Raises UsageError if the configured model is invalid."""
    from memcli.extras.providers.model import check
    from memcli.extras.providers.table import PROVIDERS, address, key_variable, shown

    chosen = chosen_model(workspace) if workspace.model else None
    found = []
    for name, provider in PROVIDERS.items():
        problem = where = ""
        try:
            where = shown(address(provider, environ))
            check(provider, environ)
        except ProviderError as error:
            problem = f"{error.message}: {error.hint}"
        model = chosen.model if chosen and chosen.provider == name else ""
        key = key_variable(provider, environ)
        found.append({"provider": name, "model": model, "key": key, "address": where, "problem": problem})
    return found


def health(workspace: Workspace, environ: Mapping[str, str]) -> tuple[bool, str, str]:
    """Whether the configured model is usable, as far as can be checked without calling it; a description, and a fix."""
    if not workspace.model:
        return True, "none configured (MEMCLI_SEMANTIC_MODEL=provider:model chooses one)", ""
    try:
        model = open_language_model(workspace, environ, None, may_wait=False)
    except RefusedError as error:
        # Offline mode and a store that is not trusted are choices of the user and no defects.
        return True, f"{workspace.model}; {error.message}", ""
    except MemcliError as error:
        return False, error.message, error.hint
    return True, f"{model.name} (`memcli provider check` asks it)", ""
