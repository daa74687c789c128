import shlex

from hypothesis import given
from hypothesis import strategies as st

from jobs.live.kubectl import describe_command, list_command


def test_what_shows_the_same_in_a_terminal() -> None:
    assert list_command("hyperpod-ns-a") == "kubectl get workloads -n hyperpod-ns-a"
    assert (
        describe_command("hyperpod-ns-a", "pytorchjob-x") == "kubectl describe workload pytorchjob-x -n hyperpod-ns-a"
    )


@given(st.text(min_size=1), st.text(min_size=1))
def test_a_name_is_one_word_to_the_shell_whatever_it_holds(namespace: str, name: str) -> None:
    assert shlex.split(describe_command(namespace, name)) == ["kubectl", "describe", "workload", name, "-n", namespace]
