"""Records do what frozen dataclasses do: one table of cases is held against both."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from typing import ClassVar

import pytest

from memcli.record import Record, as_dict, defaults, field, replace


class Point(Record):
    x: int
    y: int = 2
    names: list[str] = field(default_factory=list)
    unit: ClassVar[str] = "cm"

    @property
    def sum(self) -> int:
        return self.x + self.y


class Point3(Point):
    z: int = 3


class Counted(Record, frozen=False):
    n: int = 0


class Named(Record, kw_only=True):
    first: str
    second: str = ""


@dataclasses.dataclass(frozen=True, slots=True)
class Same:
    x: int
    y: int = 2
    names: list[str] = dataclasses.field(default_factory=list)


def test_values_are_those_of_a_dataclass() -> None:
    for args, given in [
        ((1,), {}),
        ((1, 5), {}),
        ((), {"x": 1}),
        ((1,), {"y": 7}),
        ((1, 2, ["a"]), {}),
        ((1,), {"names": ["b"]}),
    ]:
        assert as_dict(Point(*args, **given)) == dataclasses.asdict(Same(*args, **given))


def test_what_a_dataclass_refuses_is_refused() -> None:
    for args, given in [((), {}), ((1, 2, [], 4), {}), ((1,), {"x": 2}), ((1,), {"gone": 2}), ((), {"y": 1})]:
        for kind in (Same, Point):
            with pytest.raises(TypeError):
                kind(*args, **given)  # type: ignore[arg-type]


def test_a_default_is_made_for_each() -> None:
    one, other = Point(1), Point(1)
    one.names.append("a")
    assert other.names == []


def test_equal_by_value_and_class() -> None:
    assert Point(1) == Point(1, 2)
    assert Point(1) != Point(2)
    assert Point(1) != Point3(1)
    assert Point(1) != (1, 2)
    assert len({Named(first="a"), Named(first="a"), Named(first="b")}) == 2
    with pytest.raises(TypeError):
        hash(Counted(1))


def test_what_is_frozen_cannot_be_set() -> None:
    point, counted = Point(1), Counted()
    for act in (lambda: setattr(point, "x", 2), lambda: setattr(point, "new", 2), lambda: delattr(point, "x")):
        with pytest.raises(AttributeError):
            act()
    counted.n += 1
    assert counted == Counted(1)
    with pytest.raises(AttributeError):
        counted.new = 1  # type: ignore[attr-defined]


def test_inherited_parts_come_first() -> None:
    assert Point3(1, z=5) == Point3(1, 2, [], 5)
    assert (Point3(1).sum, Point3.unit) == (3, "cm")
    assert defaults(Point3) == {"x": None, "y": 2, "names": [], "z": 3}


def test_named_parts_are_named() -> None:
    assert Named(first="a").second == ""
    with pytest.raises(TypeError):
        Named("a")  # type: ignore[misc]


def test_replace() -> None:
    assert replace(Point(1), y=5) == Point(1, 5)
    with pytest.raises(TypeError, match="gone"):
        replace(Point(1), gone=5)


def test_copies() -> None:
    for point in (Point(1, names=["a"]), Point3(1)):
        assert pickle.loads(pickle.dumps(point)) == copy.deepcopy(point) == copy.copy(point) == point
    assert repr(Point(1)) == "Point(x=1, y=2, names=[])"
