import stat
from pathlib import Path

import pytest
import yaml

from emulator.kubeconfig import Tokens, new_tokens, tokens_of, write_kubeconfig

TOKENS = Tokens(admin="one", portal="two")


def test_it_leads_to_the_server_with_the_portals_rights(tmp_path: Path) -> None:
    path = tmp_path / "new" / "kubeconfig"
    write_kubeconfig(path, "http://127.0.0.1:1", TOKENS)
    written = yaml.safe_load(path.read_text())
    assert written["current-context"] == "portal"
    assert written["clusters"][0]["cluster"]["server"] == "http://127.0.0.1:1"
    assert {u["name"]: u["user"]["token"] for u in written["users"]} == {"admin": "one", "portal": "two"}
    assert {c["name"] for c in written["contexts"]} == {"admin", "portal"}


def test_only_its_owner_may_read_it(tmp_path: Path) -> None:
    path = tmp_path / "kubeconfig"
    path.write_text("old")
    path.chmod(0o644)
    write_kubeconfig(path, "http://127.0.0.1:1", TOKENS)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert list(tmp_path.iterdir()) == [path]


def test_tokens_stay_over_a_restart(tmp_path: Path) -> None:
    path = tmp_path / "kubeconfig"
    write_kubeconfig(path, "http://127.0.0.1:1", TOKENS)
    assert tokens_of(path) == TOKENS


@pytest.mark.parametrize("text", ["", "a: [", "users: []", "users: [{name: admin, user: {}}]"])
def test_a_file_that_tells_no_tokens_gets_new_ones(tmp_path: Path, text: str) -> None:
    path = tmp_path / "kubeconfig"
    path.write_text(text)
    assert len(tokens_of(path).admin) > 20


def test_tokens_are_never_the_same() -> None:
    first, second = new_tokens(), new_tokens()
    assert len({first.admin, first.portal, second.admin, second.portal}) == 4
