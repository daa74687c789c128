"""The portal's sync against a real control plane."""

import pytest

pytest.register_assert_rewrite("tests.cluster.sync.ledgers")
