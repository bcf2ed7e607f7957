"""What went wrong with a call, and what to do about it. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from memcli.errors import ProviderError
from memcli.model.memory import Json
from memcli.providers.table import Provider
from memcli.record import Record, replace
from memcli.safety.injection.reasons import quotable

_TEMPORARY = (408, 425, 429, 500, 502, 503, 504, 520, 522, 524, 529)
_SPENT = ("insufficient_quota", "billing_error", "billing_hard_limit_reached")
_BAD_REQUEST = (400, 422)
LOST, SLOW, UNREACHABLE, TOO_LARGE, COMPRESSED = "lost", "slow", "unreachable", "too large", "compressed"
UNUSABLE = "unusable"
"""How a call ends without a response."""


class Response(Record):
    """A response: its status, the body when that is JSON, and the headers that count."""

    status: int
    data: Json
    retry_after: str = ""
    location: str = ""


class CallFailure(Record, kw_only=True):
    """A call that failed. `is_free`: the provider cannot have charged for it. `after` is the wait in seconds that it asks
    for; `complaint` is what it says about the request; `brief` is the message without its words, where it has any."""

    message: str
    hint: str
    is_temporary: bool = False
    is_free: bool = True
    after: float | None = None
    complaint: str = ""
    brief: str = ""

    def error(self) -> ProviderError:
        return ProviderError(self.message, self.hint, self.brief)


def of_response(provider: Provider, model: str, key_variable: str, response: Response) -> CallFailure:
    """The failure that a response with an error status reports."""
    failure = _of_status(provider, model, key_variable, response)
    if not (detail := _detail(response)) or response.status == 401:  # some servers repeat the key in it
        return failure
    return replace(failure, message=f"{failure.message[:-1]}: {detail})", brief=failure.message)


def _of_status(provider: Provider, model: str, key_variable: str, response: Response) -> CallFailure:
    """Without what the provider says of it: its message ends with the status in brackets."""
    status = response.status
    told = f" ({status})"
    name, variable = provider.name, key_variable or " or ".join(provider.key_variables)
    if status == 401:
        return CallFailure(message=f"{name} does not accept the key in {variable}{told}", hint="check the key")
    if status == 403:
        return CallFailure(message=f"{name} refuses the call{told}", hint=f"check what the key in {variable} may do")
    if status == 404:
        return CallFailure(
            message=f"{name} has no model {model!r}{told}",
            hint="check its name; `memcli provider list` shows the address that was called",
        )
    if 300 <= status < 400:
        return CallFailure(
            message=f"{name} redirects, which is not followed{told}",
            hint=f"check {' or '.join(provider.address_variables)}",
        )
    if status in _BAD_REQUEST:
        complaint = _complaint(response.data)
        return CallFailure(message=f"{name} rejects the request{told}", hint="try another model", complaint=complaint)
    if status == 429 and _code(response.data) in _SPENT:
        return CallFailure(message=f"the account at {name} has nothing left to spend{told}", hint="check its billing")
    if status in _TEMPORARY:
        what = "limits the rate of calls" if status == 429 else "is overloaded or fails"
        return CallFailure(
            message=f"{name} {what}{told}",
            hint="try again later",
            is_temporary=True,
            after=_seconds(response.retry_after),
        )
    return CallFailure(message=f"{name} answers with an error{told}", hint="try again later, or another model")


def of_nothing(provider: Provider, address: str, how: str, seconds: float) -> CallFailure:
    """The failure of a call without a response."""
    name = provider.name
    if how == UNREACHABLE:
        variables = " or ".join(provider.address_variables)
        return CallFailure(
            message=f"cannot reach {name} at {address}", hint=f"check that it runs, the network and {variables}"
        )
    if how == UNUSABLE:
        hint = "check the proxy variables, or install the extra `llm` again"
        return CallFailure(message=f"the package {provider.sdk} cannot be used here", hint=hint)
    if how == SLOW:
        return CallFailure(
            message=f"{name} did not answer within {round(seconds, 1):g} s", hint="try again later", is_free=False
        )
    if how == TOO_LARGE:
        return CallFailure(message=f"the answer of {name} is too large", hint="try another model", is_free=False)
    if how == COMPRESSED:
        return CallFailure(
            message=f"the answer of {name} is compressed, unasked", hint="check its proxy", is_free=False
        )
    return CallFailure(
        message=f"the connection to {name} broke", hint="try again later", is_temporary=True, is_free=False
    )


def of_garbage(provider: Provider) -> CallFailure:
    """The failure of a call whose response holds no reply."""
    return CallFailure(
        message=f"the response of {provider.name} is none of its API",
        hint=f"check {' or '.join(provider.address_variables)}",
        is_free=False,
    )


def _error(data: Json) -> Mapping[str, Any]:
    found = data.get("error") if isinstance(data, dict) else None
    return found if isinstance(found, dict) else {"message": found} if isinstance(found, str) else {}


def _detail(response: Response) -> str:
    is_redirect = 300 <= response.status < 400
    return quotable(response.location if is_redirect else _complaint(response.data))


def _complaint(data: Json) -> str:
    found = _error(data)
    told = found.get("message")
    where = found.get("param")
    return " ".join(part for part in (where, told) if isinstance(part, str))


def _code(data: Json) -> Any:
    found = _error(data)
    return found.get("code") or found.get("type")


def _seconds(text: str) -> float | None:
    """`Retry-After` in seconds; None for a date or nonsense."""
    try:
        seconds = float(text)
    except ValueError:
        return None
    return seconds if 0 <= seconds < 1e6 else None
