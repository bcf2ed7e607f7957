"""Send one request with the SDK of a provider: no redirect is followed, nothing is logged, and it ends within a time limit.

An exception of an SDK holds the request with its headers, and so the key. None leaves this module, nor is one the cause
or the context of another: a failure is returned as a value, and described by a `CallFailure`.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from importlib import import_module
from threading import Event, Thread
from typing import Any

from memcli.extras.providers.table import CHAT, Provider
from memcli.extras.providers.wire import Body
from memcli.model.memory import Json
from memcli.record import Record, replace
from memcli.safety.injection import quotable

# 520, 522 and 524 are statuses of Cloudflare, 529 is that of Anthropic for an overload.
_TEMPORARY = (408, 425, 429, 500, 502, 503, 504, 520, 522, 524, 529)
_SPENT = ("insufficient_quota", "billing_error", "billing_hard_limit_reached")
_BAD_REQUEST = (400, 422)
LOST, SLOW, UNREACHABLE, TOO_LARGE, COMPRESSED = "lost", "slow", "unreachable", "too large", "compressed"
UNUSABLE, GARBLED = "unusable", "garbled"
"""The ways in which a call ends without a response that can be read."""


class Response(Record):
    """A response: its status, its body if that is JSON and else None, and two headers."""

    status: int
    data: Json
    retry_after: str = ""
    location: str = ""


class CallFailure(Record, kw_only=True):
    """A call that failed. `is_free`: the provider cannot have charged for it. `after` is the wait in seconds that the provider
    requests; `complaint` its text about the request; `brief` the message without text of the provider, if it has any."""

    message: str
    hint: str
    is_temporary: bool = False
    is_free: bool = True
    after: float | None = None
    complaint: str = ""
    brief: str = ""


def response_failure(provider: Provider, model: str, key_variable: str, response: Response) -> CallFailure:
    """The failure that a response with an error status reports, with the text of the provider."""
    failure = _status_failure(provider, model, key_variable, response)
    is_redirect = 300 <= response.status < 400
    detail = quotable(response.location if is_redirect else _complaint(response.data))
    # At 401 some servers repeat the key in their text.
    if not detail or response.status == 401:
        return failure
    return replace(failure, message=f"{failure.message[:-1]}: {detail})", brief=failure.message)


def _status_failure(provider: Provider, model: str, key_variable: str, response: Response) -> CallFailure:
    """The failure that a response reports by its status; its message ends with the status in brackets."""
    status = response.status
    suffix = f" ({status})"
    name, variable = provider.name, key_variable or " or ".join(provider.key_variables)
    if status == 401:
        return CallFailure(message=f"{name} does not accept the key in {variable}{suffix}", hint="check the key")
    if status == 403:
        return CallFailure(message=f"{name} refuses the call{suffix}", hint=f"check what the key in {variable} may do")
    if status == 404:
        return CallFailure(
            message=f"{name} has no model {model!r}{suffix}",
            hint="check its name; `memcli provider list` shows the address that was called",
        )
    if 300 <= status < 400:
        return CallFailure(
            message=f"{name} redirects, which is not followed{suffix}",
            hint=f"check {' or '.join(provider.address_variables)}",
        )
    if status in _BAD_REQUEST:
        complaint = _complaint(response.data)
        return CallFailure(message=f"{name} rejects the request{suffix}", hint="try another model", complaint=complaint)
    error = _error(response.data)
    if status == 429 and (error.get("code") or error.get("type")) in _SPENT:
        return CallFailure(message=f"the account at {name} has nothing left to spend{suffix}", hint="check its billing")
    if status in _TEMPORARY:
        after = None
        with suppress(ValueError):  # the header may have a date, too
            seconds = float(response.retry_after)
            after = seconds if 0 <= seconds < 1e6 else None
        what = "limits the rate of calls" if status == 429 else "is overloaded or fails"
        return CallFailure(
            message=f"{name} {what}{suffix}",
            hint="try again later",
            is_temporary=True,
            after=after,
        )
    return CallFailure(message=f"{name} answers with an error{suffix}", hint="try again later, or another model")


def no_response_failure(provider: Provider, address: str, how: str, seconds: float) -> CallFailure:
    """The failure of a call that ended, `how` as named above, without a response that can be read, after `seconds` if SLOW."""
    name, variables = provider.name, " or ".join(provider.address_variables)
    if how == UNREACHABLE:
        return CallFailure(
            message=f"cannot reach {name} at {address}", hint=f"check that it runs, the network and {variables}"
        )
    if how == GARBLED:
        return CallFailure(
            message=f"the response of {name} is none of its API", hint=f"check {variables}", is_free=False
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


def _error(data: Json) -> Mapping[str, Any]:
    found = data.get("error") if isinstance(data, dict) else None
    return found if isinstance(found, dict) else {"message": found} if isinstance(found, str) else {}


def _complaint(data: Json) -> str:
    """The text of the provider about a request, after the parameter that it names."""
    found = _error(data)
    return " ".join(part for part in (found.get("param"), found.get("message")) if isinstance(part, str))


Credential = Mapping[str, str]
"""The key, under the name of the SDK's parameter for it; empty for none."""
MAX_BYTES = 4 << 20
# The SDK raises without a key; the header with this one is removed again by `_Guard.before`.
_NO_KEY = "none"
# The only headers that are sent to any provider: the SDKs add others, which describe this machine.
_PLAIN = (
    "host",
    "connection",
    "accept",
    "accept-encoding",
    "content-type",
    "content-length",
    "authorization",
    "user-agent",
)
# Not removed: the SDK reads it from the request, to return the response unparsed.
_RAW = "x-stainless-raw-response"
_LOGGERS = ("openai", "anthropic", "httpx2", "httpcore2")
# By their names: the classes are of the HTTP package of the SDK, which memcli does not import.
_CANNOT_CONNECT = ("ConnectError", "ProxyError", "UnsupportedProtocol", "LocalProtocolError", "InvalidURL")


def post(provider: Provider, address: str, credential: Credential, request: Body, seconds: float) -> Response | str:
    """The response to `request`, or how the call ended without one. Takes at most `seconds`, import of the SDK included."""
    # The call runs in a thread of its own, which is abandoned when the time is over or the user interrupts: a look-up of a
    # name, or a server that sends a byte now and then, has no time-out of its own.
    ends = time.monotonic() + seconds
    found: list[Response | str] = []
    is_done = Event()

    def run() -> None:
        try:
            found.append(_post(provider, address, credential, request, ends))
        except Exception:  # noqa: BLE001 - an SDK that cannot be imported, or not with this proxy
            found.append(UNUSABLE)
        is_done.set()

    Thread(target=run, name="provider", daemon=True).start()
    is_done.wait(max(0.0, seconds))
    return found[0] if found else SLOW


def _post(provider: Provider, address: str, credential: Credential, request: Body, ends: float) -> Response | str:
    """The response to `request`, or how the call ended without one. Raises what the import of the SDK raises."""
    sdk = sdk_of(provider)
    guard = _Guard(provider, ends, is_keyless=not credential)
    left = ends - time.monotonic()
    if left <= 0:
        return SLOW
    # A redirect would send the key and the texts to another address.
    http = sdk.DefaultHttpxClient(
        follow_redirects=False, timeout=left, event_hooks={"request": [guard.before], "response": [guard.after]}
    )
    try:
        with http:
            return _response(
                _create(provider, sdk, http, address, credential, left, embeds="input" in request)(
                    **request
                ).http_response
            )
    except sdk.APIStatusError as error:
        return _response(error.response)
    except sdk.APITimeoutError:
        return SLOW
    except Exception as error:  # noqa: BLE001 - whatever it is, it may hold the key
        causes = set()
        cause: BaseException | None = error
        while cause is not None:
            causes.add(type(cause).__name__)
            cause = cause.__cause__ or cause.__context__
        return guard.found or (UNREACHABLE if causes.intersection(_CANNOT_CONNECT) else LOST)


def sdk_of(provider: Provider) -> Any:
    """The module of the SDK, with its logs switched off. Raises what its import raises."""
    _silence()
    sdk = import_module(provider.sdk)
    _silence()  # again: an SDK reads its variable for logging when it is imported
    return sdk


def _create(
    provider: Provider, sdk: Any, http: Any, address: str, credential: Credential, seconds: float, *, embeds: bool
) -> Callable[..., Any]:
    """The function of the SDK that sends a request."""
    # Without retries of the SDK: `ProviderModel._reply` alone decides about them, and books each call.
    common = {"base_url": address, "max_retries": 0, "timeout": seconds, "http_client": http}
    if provider.wire == CHAT:
        client = sdk.OpenAI(**(credential or {"api_key": _NO_KEY}), **common)
        called = client.embeddings if embeds else client.chat.completions
        return called.with_raw_response.create  # type: ignore[no-any-return]
    create = sdk.Anthropic(**credential, open_telemetry=False, **common).messages.with_raw_response.create
    return lambda temperature=None, **request: create(  # the SDK has no parameter for it
        **request, **({} if temperature is None else {"extra_body": {"temperature": temperature}})
    )


class _Guard:
    """Removes headers from a request, and limits its response in size and time; `found` is how a call was ended, if it was."""

    def __init__(self, provider: Provider, ends: float, *, is_keyless: bool) -> None:
        self._provider = provider
        self.ends = ends
        self._is_keyless = is_keyless
        self.found = ""

    def before(self, request: Any) -> None:
        """Removes the headers that describe this machine, and those that come from variables for another provider."""
        headers = request.headers
        for name in [name.lower() for name in headers]:
            is_plain = name in _PLAIN or self._provider.has_own_headers
            if name != _RAW and (not is_plain or name.startswith("x-stainless-")):
                del headers[name]
        if self._is_keyless:
            headers.pop("authorization", None)
        headers["accept-encoding"] = "identity"  # a compressed body could exceed MAX_BYTES once it is unpacked
        headers["user-agent"] = "memcli"

    def after(self, response: Any) -> None:
        """Lets the stream of a response raise ValueError when it is longer than MAX_BYTES, or the time is over. Raises
        ValueError for a compressed one."""
        if response.headers.get("content-encoding", "identity") != "identity":
            self.found = COMPRESSED
            raise ValueError(COMPRESSED)
        guard, stream = self, response.stream
        # The HTTP package is a dependency of the SDK and not of memcli, so it is found by the response.
        base: Any = import_module(type(response).__module__.partition(".")[0]).SyncByteStream

        class Limited(base):  # type: ignore[misc]
            def __iter__(self) -> Iterator[bytes]:
                size = 0
                for chunk in stream:
                    size += len(chunk)
                    if size > MAX_BYTES or time.monotonic() > guard.ends:
                        guard.found = TOO_LARGE if size > MAX_BYTES else SLOW
                        raise ValueError(guard.found)
                    yield chunk

            def close(self) -> None:
                stream.close()

        response.stream = Limited()


def _response(response: Any) -> Response:
    headers = response.headers
    try:
        data: Json = json.loads(response.content)
    except (ValueError, RecursionError):
        data = None
    return Response(response.status_code, data, headers.get("retry-after", ""), headers.get("location", ""))


def _silence() -> None:
    """Switches the logs of the SDKs off."""
    # At the level `debug` they show the request, which a variable of the environment may switch on.
    for name in _LOGGERS:
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
