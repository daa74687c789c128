from pathlib import Path

import pytest

from teams.permissions import GlobalRole, TeamRole
from teams.setup_file import read_setup
from teams.setup_records import ClusterSetup, CostCentreSetup, PersonSetup, Setup, TeamSetup, TerminalSetup
from teams.setup_values import BadSetup

WHOLE = """
clusters:
  gpu-one: {name: GPU one, time_zone: America/Sao_Paulo, kubeconfig: /etc/kube/config, context: gpu}
  gpu-two: {eks_cluster: hyperpod-two, eks_region: us-east-2, names_across_teams: true}
  gpu-three: {in_cluster: true}
cost_centres: {cc-research: Research, cc-1: 4711}
people:
  member: {name: A member, email: member@example.com}
  nameless:
teams:
  research:
    name: Research
    cost_centre: cc-research
    checkpoint_minutes: 30
    hyperpod: [gpu-one]
    namespaces: {gpu-two: [ns-a, ns-b]}
    members: {member: admin, nameless: viewer}
  empty:
platform_roles: {finops: [member], auditor: [member, nameless]}
"""


def problems(text: str) -> list[str]:
    with pytest.raises(BadSetup) as refusal:
        read_setup(text)
    assert str(refusal.value) == "\n".join(refusal.value.problems)
    return refusal.value.problems


def test_a_whole_file() -> None:
    assert read_setup(WHOLE) == Setup(
        clusters=(
            ClusterSetup(
                "gpu-one", "GPU one", "America/Sao_Paulo", "kubeconfig", "/etc/kube/config", "gpu", "", "", False
            ),
            ClusterSetup("gpu-two", "gpu-two", "UTC", "eks", "", "", "hyperpod-two", "us-east-2", True),
            ClusterSetup("gpu-three", "gpu-three", "UTC", "in_cluster", "", "", "", "", False),
        ),
        cost_centres=(CostCentreSetup("cc-research", "Research"), CostCentreSetup("cc-1", "4711")),
        people=(PersonSetup("member", "A member", "member@example.com"), PersonSetup("nameless", "nameless", "")),
        teams=(
            TeamSetup(
                "research",
                "Research",
                "cc-research",
                (("gpu-one", "hyperpod-ns-research"), ("gpu-two", "ns-a"), ("gpu-two", "ns-b")),
                (("member", TeamRole.ADMIN), ("nameless", TeamRole.VIEWER)),
                30,
            ),
            TeamSetup("empty", "empty", "", (), ()),
        ),
        platform_roles=(
            ("member", GlobalRole.FINOPS),
            ("member", GlobalRole.AUDITOR),
            ("nameless", GlobalRole.AUDITOR),
        ),
    )


@pytest.mark.parametrize("text", ["", "# nothing\n", "{}", "teams:\n"])
def test_an_empty_file_sets_nothing_up(text: str) -> None:
    assert read_setup(text) == Setup((), (), (), (), ())


def test_variables_of_the_environment_stand_in_kubeconfig_paths(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WHERE", "/srv")
    (cluster,) = read_setup("clusters: {one: {kubeconfig: $WHERE/config}}").clusters
    assert cluster.kubeconfig_path == "/srv/config"


def test_the_file_of_the_demo_is_sound() -> None:
    setup = read_setup((Path(__file__).parents[2] / "deploy/demo.yaml").read_text())
    assert {team.slug for team in setup.teams} == {"research", "vision", "language", "serving"}


ONE_PROBLEM = {
    "- a\n- list": "the file must be a mapping of names to values.",
    "teems: {}": "the file has unknown entries: teems.",
    "teams: [research]": "teams must be a mapping of names to values.",
    "teams: {research: yes please}": "teams/research must be a mapping of names to values.",
    "teams: {research: {colour: red, size: big}}": "teams/research has unknown entries: colour, size.",
    "teams: {research: {name: [a]}}": "teams/research/name must be text.",
    "teams: {research: {name: true}}": "teams/research/name must be text.",
    "teams: {research: {name: ''}}": "teams/research/name must not be empty.",
    "teams: {one: {checkpoint_minutes: 0}}": "teams/one/checkpoint_minutes must be a number of minutes, 1 to 43200.",
    "teams: {one: {checkpoint_minutes: 43201}}": (
        "teams/one/checkpoint_minutes must be a number of minutes, 1 to 43200."
    ),
    "teams: {one: {checkpoint_minutes: true}}": "teams/one/checkpoint_minutes must be a number of minutes, 1 to 43200.",
    "teams: {one: {checkpoint_minutes: soon}}": "teams/one/checkpoint_minutes must be a number of minutes, 1 to 43200.",
    "teams: {Research: {}}": "teams: 'Research' must be lower-case letters, digits and dashes, at most 50.",
    "teams: {-a: {}}": "teams: '-a' must be lower-case letters, digits and dashes, at most 50.",
    f"teams: {{{'a' * 51}: {{}}}}": f"teams: '{'a' * 51}' must be lower-case letters, digits and dashes, at most 50.",
    f"teams: {{one: {{name: {'a' * 101}}}}}": "teams/one/name must be at most 100 characters.",
    "clusters: {Gpu: {in_cluster: true}}": "clusters: 'Gpu' must be lower-case letters, digits and dashes, at most 50.",
    "clusters: {one: {}}": "clusters/one needs exactly one of kubeconfig, in_cluster: true, eks_cluster.",
    "clusters: {one: {in_cluster: false}}": (
        "clusters/one needs exactly one of kubeconfig, in_cluster: true, eks_cluster."
    ),
    "clusters: {one: {in_cluster: true, kubeconfig: a}}": (
        "clusters/one needs exactly one of kubeconfig, in_cluster: true, eks_cluster."
    ),
    "clusters: {one: {in_cluster: sometimes}}": "clusters/one/in_cluster must be true or false.",
    "clusters: {one: {in_cluster: true, time_zone: Mars/Base}}": (
        "clusters/one/time_zone: 'Mars/Base' is not a time zone such as America/Sao_Paulo."
    ),
    "clusters: {one: {in_cluster: true, time_zone: ../../etc/passwd}}": (
        "clusters/one/time_zone: '../../etc/passwd' is not a time zone such as America/Sao_Paulo."
    ),
    "clusters: {one: {in_cluster: true, names_across_teams: maybe}}": (
        "clusters/one/names_across_teams must be true or false."
    ),
    "cost_centres: {CC: Research}": ("cost_centres: 'CC' must be lower-case letters, digits and dashes, at most 50."),
    "cost_centres: {cc: [Research]}": "cost_centres/cc must be text.",
    "people: {someone: {phone: 5}}": "people/someone has unknown entries: phone.",
    f"people: {{{'p' * 151}: }}": f"people: '{'p' * 151}' must be at most 150 characters.",
    "teams: {one: {hyperpod: gpu}}": "teams/one/hyperpod must be a list of names.",
    "teams: {one: {namespaces: [a]}}": "teams/one/namespaces must be a mapping of names to values.",
    "teams: {one: {namespaces: {gpu: a}}}": "teams/one/namespaces/gpu must be a list of names.",
    "teams: {one: {namespaces: {gpu: [1]}}}": "teams/one/namespaces/gpu must be a list of names.",
    "teams: {one: {namespaces: {gpu: [Not_A_Name]}}}": (
        "teams/one/namespaces/gpu: 'Not_A_Name' is not a name of a namespace."
    ),
    "teams: {one: {members: [a]}}": "teams/one/members must be a mapping of names to values.",
    "teams: {one: {members: {someone: boss}}}": (
        "teams/one/members/someone: the role must be one of viewer, member, admin."
    ),
    "teams: {one: {members: {someone: [admin]}}}": (
        "teams/one/members/someone: the role must be one of viewer, member, admin."
    ),
    "platform_roles: {king: [a]}": ("platform_roles/king: the role must be one of platform_admin, finops, auditor."),
    "platform_roles: {finops: a}": "platform_roles/finops must be a list of names.",
    "platform_roles: []": "platform_roles must be a mapping of names to values.",
    "teams: {one: {namespaces: {gpu: [ns]}}, two: {namespaces: {gpu: [ns]}}}": (
        "The namespace ns of gpu is given to 2 teams."
    ),
    "teams: {one: {hyperpod: [gpu]}, two: {namespaces: {gpu: [hyperpod-ns-one]}}}": (
        "The namespace hyperpod-ns-one of gpu is given to 2 teams."
    ),
}


@pytest.mark.parametrize(("text", "problem"), ONE_PROBLEM.items())
def test_a_problem_is_told_with_its_place(text: str, problem: str) -> None:
    assert problems(text) == [problem]


def test_what_is_not_yaml() -> None:
    (problem,) = problems("teams: {")
    assert problem.startswith("This is not YAML: ")


def test_a_name_given_twice_is_not_silently_the_last_one() -> None:
    (problem,) = problems("teams:\n  one: {}\n  two: {}\n  one: {}\n")
    assert problem == "This is not YAML: 'one' is given twice, again in line 4."


def test_every_problem_is_told_at_once() -> None:
    assert len(problems("teams: {Research: {name: []}}\nclusters: {one: {}}\nkings: {}")) == 4


def test_nothing_but_plain_data_is_read() -> None:
    (problem,) = problems("!!python/object/apply:os.system ['true']")
    assert problem.startswith("This is not YAML: ")


def test_a_namespace_listed_twice_by_one_team_is_one() -> None:
    (team,) = read_setup("teams: {one: {hyperpod: [gpu], namespaces: {gpu: [hyperpod-ns-one]}}}").teams
    assert set(team.namespaces) == {("gpu", "hyperpod-ns-one")}


@pytest.mark.parametrize(
    "text",
    ["clusters: {a: {name: 2026-13-45}}", "people: {p: {name: " + "9" * 5000 + "}}", "[" * 3000, 'x: "\\ud800"'],
)
def test_values_that_cannot_be_read_are_told_in_a_sentence(text: str) -> None:
    assert problems(text)


@pytest.mark.parametrize(
    "text",
    [
        'people: {p: {name: "a\\0b"}}', 'people: {p: {email: "a\\0b"}}', 'people: {"": {}}', 'people: {" p": {}}',
        'people: {"p\\0": {}}', "people: {yes: {}}", "people: {2026-11-29: {}}",
        'clusters: {c: {kubeconfig: "/etc/\\0"}}',
    ],
)  # fmt: skip
def test_names_that_nobody_can_see_or_type_are_refused(text: str) -> None:
    assert problems(text)


TERMINAL = """
clusters:
  one: {eks_cluster: hyperpod, eks_region: us-east-2, terminal: {account: "012345678901", sso_start_url: https://a.b}}
  two:
    in_cluster: true
    terminal: {account: "012345678901", eks_cluster: inner, region: eu-west-1, sso_start_url: https://a.b,
               sso_region: us-east-1, grafana_url: https://g}
teams: {research: {permission_sets: {one: Research+Training}}}
"""


def test_how_people_reach_a_cluster_from_a_terminal() -> None:
    setup = read_setup(TERMINAL)
    assert [cluster.terminal for cluster in setup.clusters] == [
        TerminalSetup("012345678901", "hyperpod", "us-east-2", "https://a.b", "us-east-2", "", ""),
        TerminalSetup("012345678901", "inner", "eu-west-1", "https://a.b", "us-east-1", "", "https://g"),
    ]
    assert setup.teams[0].permission_sets == (("one", "Research+Training"),)


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        ("account: 12", "terminal/account must be the 12 digits"),
        ("eks_cluster: 'a b'", "terminal/eks_cluster must be a name of AWS"),
        ("region: 'x; rm'", "terminal/region must be a name of AWS"),
        ("sso_start_url: http://a.b", "terminal/sso_start_url must be an address that begins with https://"),
        ("studio_url: 'javascript:alert(1)'", "terminal/studio_url must be an address"),
        ("secret: x", "terminal has unknown entries: secret"),
    ],
)
def test_what_cannot_be_pasted_is_refused(entry: str, problem: str) -> None:
    key = entry.partition(":")[0]
    usual = {
        "account": '"012345678901"', "eks_cluster": "a", "region": "b", "sso_start_url": "https://a.b",
    }  # fmt: skip
    others = ", ".join(f"{name}: {value}" for name, value in usual.items() if name != key)
    found = problems(f"clusters: {{one: {{in_cluster: true, terminal: {{{others}, {entry}}}}}}}")
    assert any(problem in each for each in found), found


@pytest.mark.parametrize("name", ["''", "'two words'", "[a]", "a/b"])
def test_a_permission_set_that_is_none(name: str) -> None:
    found = problems(f"teams: {{a: {{permission_sets: {{one: {name}}}}}}}")
    assert any("permission_sets/one must be" in each for each in found)


def test_what_is_too_long_is_refused_and_not_cut() -> None:
    found = problems(f"teams: {{a: {{permission_sets: {{one: {'x' * 33}}}}}}}")
    assert found == ["teams/a/permission_sets/one must be at most 32 characters."]
    region = "r" * 41
    terminal = f'{{account: "012345678901", eks_cluster: a, region: {region}, sso_start_url: "https://a.b"}}'
    found = problems(f"clusters: {{one: {{in_cluster: true, terminal: {terminal}}}}}")
    assert "clusters/one/terminal/region must be at most 40 characters." in found
