"""The names of backends that a policy may hold are those that there are."""

from memcli.model.recall import BACKENDS
from memcli.ranking import RANKERS


def test_a_policy_can_name_every_backend() -> None:
    assert tuple(sorted(RANKERS)) == BACKENDS
