"""Records: classes of named values, as dataclasses are, but made without generating code.

Making a frozen dataclass takes as long as importing two or three modules, and a short command needs dozens of them.
A record is made forty times faster; an instance costs a little more than one of a dataclass.

    class Lines(Record):
        first: int
        last: int = 0

Annotations must be strings, as `from __future__ import annotations` makes them. The class of a NamedTuple takes ten times as
long to make, but its instances take less time and can be unpacked: use it for values of which there are thousands.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from functools import partial

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, ClassVar, NamedTuple, TypeVar, dataclass_transform

    R = TypeVar("R", bound="Record")
else:  # `typing` takes as long to import as twenty modules, and nothing here needs more of it

    def dataclass_transform(**_: object) -> Callable[[type], type]:
        return lambda kind: kind

    class _NamedTupleType(type):
        def __new__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> type:
            if not bases:
                return super().__new__(cls, name, bases, namespace)
            names = list(namespace.get("__annotations__", ()))
            defaults = [namespace.pop(n) for n in names if n in namespace]
            made = namedtuple(name, names, defaults=defaults, module=namespace["__module__"])  # noqa: PYI024
            for n, value in namespace.items():
                if n not in ("__module__", "__qualname__"):
                    setattr(made, n, value)
            return made

    class NamedTuple(metaclass=_NamedTupleType):
        """Stands for the NamedTuple of `typing`, with the same methods."""


__all__ = ["NamedTuple", "Record", "as_dict", "defaults", "field", "replace"]


class _Factory:
    """The default of a field that is made by a call for each instance, such as a dict."""

    __slots__ = ("make",)

    def __init__(self, make: Callable[[], Any]) -> None:
        self.make = make


def field(*, default_factory: Callable[[], Any]) -> Any:
    """A field whose default `default_factory` makes for each instance."""
    return _Factory(default_factory)


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
class _RecordType(type):
    """Makes a slot of each annotated name. With `frozen=False` fields can be set; with `kw_only=True` arguments must be named. `mark` is a
    slot beside the fields, for a mark of one instance: it is neither compared nor copied."""

    def __new__(
        cls,
        name: str,
        bases: tuple[type, ...],
        namespace: dict[str, Any],
        frozen: bool = True,
        kw_only: bool = False,
        mark: str = "",
    ) -> _RecordType:
        names = [n for n, kind in namespace.get("__annotations__", {}).items() if not kind.startswith("ClassVar")]
        given = {n: namespace.pop(n) for n in names if n in namespace}
        namespace["__slots__"] = [*names, mark] if mark else names
        if not frozen:
            namespace |= {"__setattr__": object.__setattr__, "__delattr__": object.__delattr__, "__hash__": None}
        made: Any = super().__new__(cls, name, bases, namespace)
        factories = {n: default.make for n, default in given.items() if type(default) is _Factory}
        above: Any = made.__mro__[1]
        made._setters = {**getattr(above, "_setters", {}), **{n: getattr(made, n).__set__ for n in names}}
        made._defaults = {**getattr(above, "_defaults", {}), **{n: d for n, d in given.items() if n not in factories}}
        made._factories = {**getattr(above, "_factories", {}), **factories}
        made._kw_only = kw_only
        return made  # type: ignore[no-any-return]


class Record(metaclass=_RecordType):
    """A value with named fields, equal to another of its class when all fields are equal."""

    _setters: ClassVar[dict[str, Callable[[object, Any], None]]]
    _defaults: ClassVar[dict[str, Any]]
    _factories: ClassVar[dict[str, Callable[[], Any]]]
    _kw_only: ClassVar[bool]

    def __init__(self, *args: Any, **given: Any) -> None:
        setters = self._setters
        # The short way first: rows of an index are read by the hundred, with all fields in order.
        if len(args) == len(setters) and not given and not self._kw_only:
            for put, value in zip(setters.values(), args, strict=True):
                put(self, value)
            return
        if args:
            if self._kw_only or len(args) > len(setters):
                raise TypeError(f"{type(self).__name__} takes its parts by name")
            placed = dict(zip(setters, args, strict=False))
            if not placed.keys().isdisjoint(given):
                raise TypeError(f"{type(self).__name__}: given twice: {', '.join(placed.keys() & given.keys())}")
            given |= placed
        values = given if len(given) == len(setters) else {**self._defaults, **given}
        for name, make in self._factories.items():
            if name not in values:
                values[name] = make()
        if len(values) != len(setters):
            wrong = ", ".join(sorted(values.keys() ^ setters.keys()))
            raise TypeError(f"{type(self).__name__}: missing or unknown: {wrong}")
        try:
            for name, put in setters.items():
                put(self, values[name])
        except KeyError:
            raise TypeError(f"{type(self).__name__}: unknown: {', '.join(values.keys() - setters.keys())}") from None

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__}.{name} cannot be set")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__name__}.{name} cannot be deleted")

    def __eq__(self, other: object) -> bool:
        if other.__class__ is not self.__class__:
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in self._setters)

    def __hash__(self) -> int:
        return hash(tuple([getattr(self, name) for name in self._setters]))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in as_dict(self).items())})"

    def __reduce__(self) -> tuple[Any, ...]:
        # By default, pickle sets the slots of a copy one by one, which a record refuses.
        return partial(type(self), **as_dict(self)), ()


def replace(record: R, **changes: Any) -> R:
    """A copy of the record with the fields in `changes` replaced. Raises TypeError for a name that is no field."""
    kind = type(record)
    copy = object.__new__(kind)  # without `__init__`, which compares names: a recall makes hundreds of copies
    for name, put in kind._setters.items():
        put(copy, changes.pop(name) if name in changes else getattr(record, name))
    if changes:
        raise TypeError(f"{kind.__name__}: unknown: {', '.join(changes)}")
    return copy


def as_dict(record: Record) -> dict[str, Any]:
    """The fields of a record by name, in order; nested records stay records."""
    return {name: getattr(record, name) for name in record._setters}


def defaults(kind: type[Record]) -> dict[str, Any]:
    """The fields of a record class and their defaults, None for a field without one; those of a factory are newly made."""
    made = {name: make() for name, make in kind._factories.items()}
    return {name: made[name] if name in made else kind._defaults.get(name) for name in kind._setters}
