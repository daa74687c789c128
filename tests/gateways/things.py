"""Records of no kind in particular, and what lists and watches tell of them."""

from dataclasses import dataclass

from gateways.records import Change, Page


@dataclass(frozen=True)
class Thing:
    uid: str
    version: int = 0


def change(uid: str, version: int, deleted: bool = False) -> Change[Thing]:
    return Change(Thing(uid, version), deleted, version)


def page(version: int, *uids: str, is_last: bool = True) -> Page[Thing]:
    return Page(tuple(Thing(uid) for uid in uids), (), version, False, is_last)


def alive(version: int) -> Change[Thing]:
    """A sign of life: a bookmark, or a watch that ended well."""
    return Change(None, False, version)
