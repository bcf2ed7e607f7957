"""What a write did, from the draft that it is made of. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from memcli.codec.space import memory_digest
from memcli.model.memory import Memory
from memcli.model.removal import Going, spared_days
from memcli.model.space import Change, Receipt, Touched
from memcli.record import replace

if TYPE_CHECKING:
    from memcli.policy.draft import Draft


def receipt_of(draft: Draft, change: Change) -> Receipt:
    """Lays the change over the draft, and says what it did."""
    touched = tuple(
        Touched(memory.id, memory.path, _digest(before), _digest(after))
        for before, after in draft.take(change)
        if (memory := after or before) is not None
    )
    return Receipt(touched, change.header is not None)


def without_erased(touched: Sequence[Touched], going: Going) -> tuple[Touched, ...]:
    """`touched` without the paths of what goes for good, which may quote the text, and with when it was made."""
    erased = {memory.id: memory.created_at for memory in going.erased}
    return tuple(replace(o, path="", created_at=erased[o.id]) if o.id in erased else o for o in touched)


def parted(going: Going, grace: float) -> Going:
    """What the trash keeps of what goes, and what goes for good, where the trash keeps memories for `grace` days."""
    kept, erased = going.kept, going.erased
    if kept.policy.is_derived:  # the repository has it, but not what was changed in it since
        kept = replace(kept, objects=tuple(m for m in kept.objects if m.id in going.displaced))
    if grace == 0:
        spared = going.displaced | going.spared
        gone = (memory for memory in kept.objects if memory.id not in spared)
        kept, erased = replace(kept, objects=tuple(m for m in kept.objects if m.id in going.spared)), (*gone, *erased)
    return replace(going, kept=kept, erased=erased)


def is_kept(going: Going, *, is_whole: bool) -> bool:
    """Whether the trash has anything to keep; `is_whole`: the space itself goes."""
    return bool(going.kept.objects) or (is_whole and not going.erased and not going.kept.policy.is_derived)


def trash_note(going: Going, grace: float) -> str:
    """What a user reads about what the trash keeps."""
    count = len(going.kept.objects)
    what = "1 memory is" if count == 1 else f"{count} memories are"
    if count and all(memory.id in going.displaced for memory in going.kept.objects):
        what = "the earlier version of 1 memory is" if count == 1 else f"the earlier versions of {count} memories are"
    grace = spared_days(grace) if going.spared else grace
    return f"{what} in the trash for {grace:g} days: `memcli restore --run {going.run}`"


def _digest(memory: Memory | None) -> str:
    return "" if memory is None else memory_digest(memory)
