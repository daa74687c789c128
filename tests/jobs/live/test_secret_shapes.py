import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.live.secret_shapes import MASK, arguments_without_secrets, is_secret_name, without_secrets, without_shapes
from tests.growth import LINEAR, growth

SECRET = "s3cr3t-v4lue"
HIDDEN = {
    "a flag": (f"train --api-key {SECRET} --lr 1e-4", f"train --api-key {MASK} --lr 1e-4"),
    "a flag with an equals sign": (f"--hf-token={SECRET} -v", f"--hf-token={MASK} -v"),
    "a variable": (f"export WANDB_API_KEY={SECRET}; torchrun x", f"export WANDB_API_KEY={MASK} torchrun x"),
    "between quotes": (f"PASSWORD='{SECRET} two words' go", f"PASSWORD={MASK} go"),
    "quotes that nobody closed": (f'PASSWORD="{SECRET} two words', f"PASSWORD={MASK}"),
    "glued quotes": (f"PASSWORD=a'b {SECRET}'c go", f"PASSWORD={MASK} go"),
    "YAML": (f"dbPassword: {SECRET}", f"dbPassword: {MASK}"),
    "JSON": (f'{{"password": "{SECRET}", "n": 1}}', f'{{"password": {MASK} "n": 1}}'),
    "JSON within JSON": (f'{{\\"secret\\": \\"{SECRET}\\"}}', f'{{\\"secret\\": {MASK}'),
    "a login": (f"curl -u me:{SECRET} host", f"curl -u {MASK} host"),
    "an address": (f"postgres://me:{SECRET}@db/x", f"postgres://{MASK}@db/x"),
    "a header": (f"X: Bearer {SECRET}", f"X: Bearer {MASK}"),
    "after another name": (f"failed: password={SECRET}", f"failed: password={MASK}"),
    "a name and a name": (f"Error: token: {SECRET}", f"Error: token: {MASK}"),
    "an address's query": (f"curl https://x/?a=1&token={SECRET}", f"curl https://x/?a=1&token={MASK}"),
    "a mapping of YAML": (f"env: {{DB_PASSWORD: {SECRET}}}", f"env: {{DB_PASSWORD: {MASK}"),
    "a flag as a value": (f"opts=--password={SECRET}", f"opts=--password={MASK}"),
    "a quoted value": (f"config: 'token={SECRET}'", f"config: 'token={MASK}"),
    "a flag within a flag's value": (f'-c "login --password {SECRET}"', f'-c "login --password {MASK}'),
    "a list": (f"password: [{SECRET}, {SECRET}] x", f"password: {MASK} x"),
    "a mapping under a secret's name": (f'"auth": {{"a": "{SECRET}"}} x', f'"auth": {MASK} x'),
    "an arrow": (f"password => {SECRET}", f"password => {MASK}"),
    "an index": (f"d['token'] = '{SECRET}'", f"d['token'] = {MASK}"),
    "a counted name": (f"DB_PASSWORD_2={SECRET}", f"DB_PASSWORD_2={MASK}"),
    "MySQL": (f"mysql -u root -p{SECRET} db", f"mysql -u root -p{MASK} db"),
    "MySQL after another command": (f"cd /; mysqldump -p'{SECRET} x' db", f"cd /; mysqldump -p{MASK} db"),
    "a webhook of Slack": (f"https://hooks.slack.com/services/T0/B0/{SECRET} x", f"https://hooks.slack.com/{MASK} x"),
    "a scheme in a header": (f"Authorization: Token {SECRET} x", f"Authorization: {MASK} x"),
    "a user of an address": (f"https://user:{SECRET}@host", f"https://{MASK}@host"),
    "an at sign in an address": (f"https://user:a@{SECRET}@host/x", f"https://{MASK}@host/x"),
    "a slash in an address": (f"https://user:a/b@{SECRET}@host/x", f"https://{MASK}@host/x"),
    "AWS": ("AKIA0123456789ABCDEF.", f"{MASK}."),
    "a token of GitHub": ("clone ghp_abcdefghijklmnopqrstu123 x", f"clone {MASK} x"),
    "a token of Hugging Face": ("hf_abcdefghijklmnopqrstuvwxyz", MASK),
    "a JWT": ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc-def", MASK),
    "a private key": ("a -----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY----- b", f"a {MASK} b"),
    "half a private key": ("-----BEGIN PRIVATE KEY-----\nabc", MASK),
    "chance": ("x aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dE3 y", f"x {MASK} y"),
    "hexadecimal chance": ("0123456789abcdef0123456789abcdef01234567", MASK),
}
SHOWN = (
    "torchrun --nproc_per_node=8 train.py --lr 1e-4 --max-tokens 4096 --tokenizer gpt2 --tokens-per-batch=8",
    "--data /fsx/Research/Llama3-8B-Instruct-checkpoints-and-more-words-1 --bypass cache",
    "123456789012.dkr.ecr.us-east-1.amazonaws.com/train@sha256:" + "0123456789abcdef" * 4,
    "https://github.com/owner/name and s3://bucket/prefix",
    "https://host:8080/@scope/name and https://host/name@1.2 at 10:30",
    "ssh -p2222 host; mysql -P 3306 --protocol=tcp; Token classification: secretName=keys",
    "a_long_name_of_a_function_with_many_words_and_no_digits",
    "",
)


@pytest.mark.parametrize(("text", "shown"), HIDDEN.values(), ids=HIDDEN)
def test_what_looks_like_a_secret_is_blanked(text: str, shown: str) -> None:
    assert without_secrets(text) == shown


@pytest.mark.parametrize("text", SHOWN)
def test_what_does_not_is_shown(text: str) -> None:
    assert without_secrets(text) == text


@given(
    st.lists(
        st.sampled_from(["failed: ", "a=", "--x ", "https://h/?", "env: {", "'", '"', "[", "(", "a,", "x\n", "&"])
    ),
    st.sampled_from(
        ["password=", "TOKEN: ", "--api-key ", "access_key = ", "'private-key': ", "Authorization: Token "]
    ),
)
def test_a_named_secret_is_blanked_after_whatever_stands_before_it(before: list[str], name: str) -> None:
    assert SECRET not in without_secrets(f"{''.join(before)} {name}{SECRET}")
    if not name.startswith("-"):
        assert SECRET not in without_secrets(f"{''.join(before)}{name}{SECRET}")


def test_shapes_alone_leave_names_alone() -> None:
    assert without_shapes(f"token: {SECRET} AKIA0123456789ABCDEF") == f"token: {SECRET} {MASK}"


@pytest.mark.parametrize(
    "name", ["HF_TOKEN", "--api-key", "dbPassword", "my.io/ssh-key", "db_pass", "X-Auth", "PGPWD", "token_1"]
)
def test_names_of_secrets(name: str) -> None:
    assert is_secret_name(name)


@pytest.mark.parametrize("name", ["tokenizer", "max_tokens", "keyboard", "author", "compass", "secretName", "", "-"])
def test_names_of_other_things(name: str) -> None:
    assert not is_secret_name(name)


def test_a_command_line_word_by_word() -> None:
    words = [
        "--token",
        SECRET,
        "--lr",
        "1",
        "--password",
        "--next",
        f"--key={SECRET};b c",
        f"A={SECRET}",
        f"P_KEY={SECRET}",
    ]
    shown = ["--token", MASK, "--lr", "1", "--password", "--next", f"--key={MASK}", f"A={SECRET}", f"P_KEY={MASK}"]
    assert arguments_without_secrets(words) == shown


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (["/usr/bin/mysql", "-uroot", f"-p{SECRET}", "-p"], ["/usr/bin/mysql", "-uroot", f"-p{MASK}", "-p"]),
        (["ssh", "-p2222"], ["ssh", "-p2222"]),
        (["curl", "-u", f"me:{SECRET}", "-u", "me"], ["curl", "-u", MASK, "-u", "me"]),
        (["-H", f"Authorization: Token {SECRET}"], ["-H", f"Authorization: {MASK}"]),
    ],
)
def test_command_lines_of_clients(words: list[str], shown: list[str]) -> None:
    assert arguments_without_secrets(words) == shown


def test_a_command_line_that_begins_elsewhere() -> None:
    assert arguments_without_secrets([SECRET, "x"], before=["login", "--token"]) == [MASK, "x"]
    assert arguments_without_secrets([f"-p{SECRET}"], before=["mysql"]) == [f"-p{MASK}"]


def test_a_command_line_of_odd_things() -> None:
    assert arguments_without_secrets([]) == []
    assert arguments_without_secrets([1, None, ["--token"], "--token", 2, "x"]) == [
        1,
        None,
        ["--token"],
        "--token",
        2,
        MASK,
    ]


PARTS = (
    "a",
    "a-",
    "-a.",
    "eyJ-",
    "eyJaaaaaaaa",
    "A1a",
    "/a",
    "bearer ",
    "://",
    "-----BEGIN ",
    '"',
    "\\",
    "-u ",
    "= ",
    "a=",
    "a:b=",
    "token=",
    "token={",
    "token: [",
    "--token ",
    "mysql ",
    "mysql -",
    "://a:",
    "://a@",
    "hooks.slack.com/",
)
"""Each, many times over, takes minutes where a pattern may begin in the middle of a word."""


def test_a_text_of_four_times_the_length_takes_no_more_than_its_share() -> None:
    def mask(length: int) -> None:
        for part in PARTS:
            without_secrets(part * (length // len(part)))

    assert growth(mask, 12_500) < 2 * LINEAR
