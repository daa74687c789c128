"""What shows the same in a terminal. Names are quoted as a shell needs it."""

from shlex import quote


def list_command(namespace: str) -> str:
    return f"kubectl get workloads -n {quote(namespace)}"


def describe_command(namespace: str, name: str) -> str:
    return f"kubectl describe workload {quote(name)} -n {quote(namespace)}"
