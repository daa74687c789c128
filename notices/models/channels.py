from typing import ClassVar

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from accounts.models import User
from notices.models.notices import Receipt


class Channel(models.Model):
    """A way out of the portal to one person. `secret`: sealed (notices/sealing.py) JSON of what opens it, never shown
    again; e-mail goes to the person's own address and has none."""

    class Kind(models.TextChoices):
        EMAIL = "email", _("e-mail")
        SLACK = "slack", _("Slack")
        TEAMS = "teams", _("Microsoft Teams")
        PAGER = "pager", _("PagerDuty")
        WEBHOOK = "webhook", _("webhook")

    user = models.ForeignKey(User, models.PROTECT, related_name="channels")
    kind = models.CharField(max_length=10, choices=Kind)
    name = models.CharField(max_length=60)
    secret = models.TextField(blank=True)
    added_at = models.DateTimeField()

    class Meta:
        ordering: ClassVar = ["added_at", "pk"]

    def __str__(self) -> str:
        return f"{self.kind} of {self.user_id}"


class Message(models.Model):
    """One message through one channel; of several notices it is a digest. Made and stored before it is sent, so that
    its `id` is the same however often it is tried. Sent, or dead after too many tries, or to be tried at `next_at`."""

    id = models.UUIDField(primary_key=True, editable=False)
    channel = models.ForeignKey(Channel, models.CASCADE, related_name="messages")
    made_at = models.DateTimeField()
    next_at = models.DateTimeField()
    attempts = models.PositiveIntegerField(default=0)
    last_error = models.CharField(max_length=300, blank=True)
    sent_at = models.DateTimeField(null=True)
    dead_at = models.DateTimeField(null=True)

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(condition=Q(sent_at__isnull=True) | Q(dead_at__isnull=True), name="message_one_end"),
        ]
        indexes: ClassVar = [
            models.Index(
                fields=["next_at"], condition=Q(sent_at__isnull=True, dead_at__isnull=True), name="message_to_send"
            ),
            models.Index(fields=["-dead_at"], condition=Q(dead_at__isnull=False), name="message_dead"),
            models.Index(fields=["channel", "-made_at"], name="message_by_channel"),
        ]

    def __str__(self) -> str:
        return f"message {self.id}"


class Delivery(models.Model):
    """One receipt through one channel, due at `due_at`; in a message once it was packed."""

    receipt = models.ForeignKey(Receipt, models.CASCADE, related_name="deliveries")
    channel = models.ForeignKey(Channel, models.CASCADE, related_name="deliveries")
    due_at = models.DateTimeField()
    message = models.ForeignKey(Message, models.CASCADE, related_name="deliveries", null=True)

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["receipt", "channel"], name="delivery_key")]
        indexes: ClassVar = [
            models.Index(fields=["due_at"], condition=Q(message__isnull=True), name="delivery_to_pack"),
        ]

    def __str__(self) -> str:
        return f"{self.receipt_id} through {self.channel_id}"
