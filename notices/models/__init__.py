"""What people are told, who was told, and how each of them wants to hear of it."""

from notices.models.choices import Choice, Habits, Unfollowed
from notices.models.notices import Notice, Receipt

__all__ = ["Choice", "Habits", "Notice", "Receipt", "Unfollowed"]
