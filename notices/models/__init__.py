"""What people are told, who was told, and how each of them wants to hear of it."""

from notices.models.channels import Channel, Delivery, Message
from notices.models.choices import Choice, Habits, Unfollowed
from notices.models.notices import Notice, Receipt

__all__ = ["Channel", "Choice", "Delivery", "Habits", "Message", "Notice", "Receipt", "Unfollowed"]
