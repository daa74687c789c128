from emulator.changes import Changes
from emulator.resources import NODES, PODS
from emulator.store import Store
from tests.emulator.scene import START


def node(name: str) -> dict[str, object]:
    return {"metadata": {"name": name}}


def test_the_first_look_sees_everything_the_next_what_is_new() -> None:
    store = Store("test")
    store.create(NODES.storage, node("a"), START)
    changes = Changes(store)
    assert changes.look().everything
    assert not changes.look().touches(NODES)
    store.create(NODES.storage, node("b"), START)
    store.delete(NODES.storage, "", "a")
    seen = changes.look()
    assert set(seen.of(NODES)) == {("", "a"), ("", "b")}
    assert seen.touches(PODS, NODES) and not seen.touches(PODS)
    assert not seen.everything


def test_a_forgotten_past_means_everything_may_have_changed() -> None:
    store = Store("test")
    changes = Changes(store)
    changes.look()
    store.create(NODES.storage, node("a"), START)
    store.compact()
    seen = changes.look()
    assert seen.everything and seen.touches(PODS)
