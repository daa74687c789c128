import configparser
import shlex

import yaml

from teams.terminal_text import Place, aws_config, configure_command, first_commands, kubeconfig, sign_in_commands

PLACE = Place(
    session="gpu-sso",
    profile="research-gpu",
    account="012345678901",
    permission_set="Research+Training",
    sso_start_url="https://example.awsapps.com/start",
    sso_region="us-east-1",
    eks_cluster="hyperpod",
    region="us-east-2",
    namespaces=("hyperpod-ns-research", "notebooks"),
)


def test_the_aws_command_line_reads_session_and_profile() -> None:
    read = configparser.ConfigParser()
    read.read_string(aws_config(PLACE))
    assert dict(read["sso-session gpu-sso"]) == {
        "sso_start_url": "https://example.awsapps.com/start",
        "sso_region": "us-east-1",
        "sso_registration_scopes": "sso:account:access",
    }
    assert dict(read["profile research-gpu"]) == {
        "sso_session": "gpu-sso",
        "sso_account_id": "012345678901",
        "sso_role_name": "Research+Training",
        "region": "us-east-2",
    }


def test_commands_name_the_profile_and_the_cluster() -> None:
    sign_in, update = sign_in_commands(PLACE)
    assert sign_in == "aws sso login --profile research-gpu"
    assert update == (
        "aws eks update-kubeconfig --name hyperpod --region us-east-2 --profile research-gpu --alias research-gpu"
    )
    assert configure_command(PLACE) == "aws configure sso --profile research-gpu"


def test_first_commands_ask_for_the_teams_own_namespaces() -> None:
    asked = [shlex.split(line) for line in first_commands(PLACE)]
    assert {line[-1] for line in asked} == {"hyperpod-ns-research", "notebooks"}
    assert all(line[line.index("--context") + 1] == "research-gpu" for line in asked)


def test_a_kubeconfig_holds_no_secret_and_asks_aws_for_tokens() -> None:
    read = yaml.safe_load(kubeconfig(PLACE, "https://one.example.com", "Q0E="))
    assert read["clusters"][0]["cluster"] == {
        "server": "https://one.example.com",
        "certificate-authority-data": "Q0E=",
    }
    (user,) = read["users"]
    assert set(user["user"]) == {"exec"}
    assert user["user"]["exec"]["env"] == [{"name": "AWS_PROFILE", "value": "research-gpu"}]
    assert user["user"]["exec"]["args"][-4:] == ["--cluster-name", "hyperpod", "--output", "json"]
    (context,) = read["contexts"]
    assert context["context"]["namespace"] == "hyperpod-ns-research"
    assert read["current-context"] == context["name"]


def test_the_official_client_takes_the_kubeconfig() -> None:
    from kubernetes.config.kube_config import KubeConfigLoader

    loader = KubeConfigLoader(yaml.safe_load(kubeconfig(PLACE, "https://one.example.com", "Q0E=")))
    assert loader.current_context["name"] == "research-gpu"
