"""The values that conversations are made of; `model/conversation.py` defines them."""

from __future__ import annotations

from memcli.model.conversation import ACTIVE, ENDED, PAUSED, ROLES, Message, Session

__all__ = ["ACTIVE", "ENDED", "PAUSED", "ROLES", "Message", "Session"]
