"""Taints, node selectors and node affinity against a flavor."""

import pytest

from scheduling.flavor_match import mismatch
from tests.scheduling.builders import flavor

TAINT = {"key": "dedicated", "value": "team", "effect": "NoSchedule"}
UNTOLERATED = "untolerated taint {dedicated team NoSchedule <nil>} in flavor f"
NO_AFFINITY = "flavor f doesn't match node affinity"


def pods(**spec):
    return {"spec": spec}


def affinity(*terms):
    required = {"nodeSelectorTerms": [{"matchExpressions": list(term)} for term in terms]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}


def expression(key, operator, *values):
    return {"key": key, "operator": operator, "values": list(values)}


class TestTaints:
    def test_an_untolerated_taint_keeps_pods_away(self):
        assert mismatch(flavor("f", nodeTaints=[TAINT]), pods()) == UNTOLERATED

    def test_a_preference_keeps_nobody_away(self):
        assert mismatch(flavor("f", nodeTaints=[{**TAINT, "effect": "PreferNoSchedule"}]), pods()) is None

    @pytest.mark.parametrize(
        ("toleration", "reason"),
        [
            ({"key": "dedicated", "operator": "Equal", "value": "team"}, None),
            ({"key": "dedicated", "value": "team", "effect": "NoSchedule"}, None),
            ({"key": "dedicated", "operator": "Exists"}, None),
            ({"operator": "Exists"}, None),
            ({"key": "dedicated", "value": "other"}, UNTOLERATED),
            ({"key": "dedicated", "operator": "Exists", "effect": "NoExecute"}, UNTOLERATED),
            ({"key": "other", "operator": "Exists"}, UNTOLERATED),
        ],
    )
    def test_tolerations(self, toleration, reason):
        assert mismatch(flavor("f", nodeTaints=[TAINT]), pods(tolerations=[toleration])) == reason

    def test_the_flavors_own_tolerations_count(self):
        tolerant = flavor("f", nodeTaints=[TAINT], tolerations=[{"operator": "Exists"}])
        assert mismatch(tolerant, pods()) is None


class TestLabels:
    FLAVOR = flavor("f", nodeLabels={"type": "p5", "slots": "8"})

    @pytest.mark.parametrize(
        ("selector", "reason"),
        [({"type": "p5"}, None), ({"type": "g5"}, NO_AFFINITY), ({"zone": "a"}, None), ({}, None)],
    )
    def test_of_a_node_selector_only_the_flavors_own_keys_count(self, selector, reason):
        assert mismatch(self.FLAVOR, pods(nodeSelector=selector)) == reason

    @pytest.mark.parametrize(
        ("one", "fits"),
        [
            (expression("type", "In", "p5", "p4"), True),
            (expression("type", "In", "g5"), False),
            (expression("type", "NotIn", "g5"), True),
            (expression("type", "NotIn", "p5"), False),
            (expression("type", "Exists"), True),
            (expression("type", "DoesNotExist"), False),
            (expression("slots", "Gt", "4"), True),
            (expression("slots", "Gt", "8"), False),
            (expression("slots", "Lt", "9"), True),
            (expression("type", "Lt", "9"), False),
            (expression("zone", "In", "nowhere"), True),
        ],
    )
    def test_operators(self, one, fits):
        assert (mismatch(self.FLAVOR, pods(affinity=affinity([one]))) is None) == fits

    def test_one_term_of_several_is_enough_and_all_expressions_of_a_term_must_hold(self):
        wrong, right = expression("type", "In", "g5"), expression("type", "In", "p5")
        assert mismatch(self.FLAVOR, pods(affinity=affinity([wrong], [right]))) is None
        assert mismatch(self.FLAVOR, pods(affinity=affinity([wrong, right]))) == NO_AFFINITY

    def test_a_term_about_other_labels_matches_every_flavor(self):
        wrong, other = expression("type", "In", "g5"), expression("zone", "In", "a")
        assert mismatch(self.FLAVOR, pods(affinity=affinity([wrong], [other]))) is None
