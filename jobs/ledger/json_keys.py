"""Values within JSON columns."""

from functools import reduce

from django.db.models.fields.json import KeyTransform


def in_json(column: str, *keys: str) -> KeyTransform:
    """The same as the lookup `column__key__…`, whose resolution keeps an exception and with it every caller's frame:
    a whole batch of looks would live until the next search for reference cycles."""
    first, *deeper = keys
    return reduce(lambda inner, key: KeyTransform(key, inner), deeper, KeyTransform(first, column))
