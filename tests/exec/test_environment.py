"""What is left of an environment for a command that a model chose."""

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.exec import filtered_environment

SECRET_NAMES = [
    "OPENAI_API_KEY", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN", "GITHUB_TOKEN",
    "GH_TOKEN", "GHTOKEN", "TOKEN", "NPM_TOKEN", "npm_config__authToken", "openaiApiKey", "SECRET",
    "CLIENT_SECRET", "SECRET_KEY_BASE", "DJANGO_SECRET_KEY", "JWT_SECRET_2", "PGPASSWORD", "MYSQL_PWD", "DB_PASS",
    "DB_PASSWORD_PROD", "REDIS_PASSWD", "GPG_PASSPHRASE", "GOOGLE_APPLICATION_CREDENTIALS", "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE", "SSH_AUTH_SOCK", "SSH_ASKPASS", "GIT_ASKPASS",
    "DOCKER_AUTH_CONFIG", "AZURE_DEVOPS_EXT_PAT", "NPM_AUTH", "SESSION_COOKIE", "MYAPIKEY", "APIKEY",
    "OPENAI_API_KEY_2", "DEPLOY_KEY_STAGING", "MASTERKEY", "api_key", "Api-Key", "SENTRY_AUTH_TOKEN",
    "HEROKU_API_KEY", "VAULT_TOKEN", "API_KEYS", "TOKEN2",
]  # fmt: skip

HARMLESS_NAMES = [
    "PATH", "HOME", "LANG", "LC_ALL", "TERM", "COLORTERM", "SHELL", "USER", "LOGNAME", "PWD", "OLDPWD", "TMPDIR",
    "EDITOR", "PAGER", "CI", "DISPLAY", "TZ", "COLUMNS", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR", "XDG_SESSION_ID",
    "KEYBOARD", "KEYBOARD_LAYOUT", "KEYMAP", "MONKEY", "GREASEMONKEY", "HOTKEY", "TOKENIZERS_PARALLELISM",
    "MAX_TOKENS", "TOKEN_LIMIT", "SECRETARY", "COMPASS", "BYPASS", "PASSENGER_COUNT", "AUTHOR", "GIT_AUTHOR_NAME",
    "PATTERN", "COOKIES_ENABLED", "KEY_REPEAT_RATE", "VIRTUAL_ENV", "PYTHONPATH", "NODE_ENV", "GOPATH",
    "CARGO_HOME", "JAVA_HOME", "MAKEFLAGS", "SIGHTLINE_RUN", "SIGHTLINE_HOME", "DEBIAN_FRONTEND", "NO_COLOR",
    "LS_COLORS", "DATABASE_URL", "LESSOPEN", "AUTHORITY", "AWSOME",
]  # fmt: skip

SECRET_VALUES = [
    "sk-proj-abcdefghijklmnop0123456789",
    "sk-ant-api03-AAAAAAAAAAAAAAAAAAAAAAAA",
    "ghp_" + "a1B2" * 9,
    "gho_" + "a1B2" * 9,
    "github_pat_11ABCDEFG0abcdefghijklmnop",
    "glpat-abcdefghij0123456789",
    "xoxb-123456789012-abcdefghij",
    "xoxp-123456789012-abcdefghij",
    "AKIAIOSFODNN7EXAMPLE",
    "AIza" + "Sy0" * 12,
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl",
    "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaA==\n-----END OPENSSH PRIVATE KEY-----",
    "-----BEGIN PRIVATE KEY-----",
    "postgres://user:hunter2@db.example/app",
    "redis://:hunter2@cache.example:6379/0",
    "http://me:hunter2@proxy.example:3128",
    "host=db user=app password=hunter2 dbname=app",
    "Server=db;User Id=app;Password=hunter2;",
    "DefaultEndpointsProtocol=https;AccountName=a;AccountKey=b==;",
    "https://hooks.slack.com/services/T0/B0/x",
    "Authorization: Bearer abc",
    "hf_" + "abCD" * 9,
    "sk_live_0123456789abcdef",
]

HARMLESS_VALUES = [
    "",
    "1",
    "/usr/local/bin:/usr/bin",
    "postgres://db.example:5432/app",
    "https://public@sentry.example/1",
    "http://127.0.0.1:8080/a:b@c",
    "git@github.com:owner/repo.git",
    "disk-abcdefghijklmnopqrstuvwxyz0123",
    "risk-assessment-of-something-very-long-1",
    "sk-learn",
    "eyJust.a.sentence",
    "-----BEGIN PUBLIC KEY-----",
    "password",
    "2026-01-01T00:00:00Z",
    "rgb:ff/ff/ff",
    "unix:path=/run/user/1000/bus",
]


@pytest.mark.parametrize("name", SECRET_NAMES)
def test_a_name_that_says_secret_goes(name):
    """Whatever its value is."""
    assert filtered_environment({name: "x", "HOME": "/h"}) == {"HOME": "/h"}


@pytest.mark.parametrize("name", HARMLESS_NAMES)
def test_a_name_that_only_resembles_one_stays(name):
    """A word that contains another is another word."""
    assert filtered_environment({name: "x"}) == {name: "x"}


@pytest.mark.parametrize("value", SECRET_VALUES)
def test_a_value_that_looks_like_a_secret_goes_under_any_name(value):
    """Alone, and inside other text."""
    assert filtered_environment({"PLAIN": value, "PLAIN_TOO": f"a={value} b"}) == {}


@pytest.mark.parametrize("value", HARMLESS_VALUES)
def test_an_ordinary_value_stays(value):
    """Addresses without a password, paths, flags."""
    assert filtered_environment({"PLAIN": value}) == {"PLAIN": value}


def test_a_dsn_goes_only_with_a_password_in_it():
    """The public kind is not secret."""
    env = {"SENTRY_DSN": "https://public@sentry.example/1", "DB_DSN": "mysql://app:pw@db/app"}
    assert filtered_environment(env) == {"SENTRY_DSN": "https://public@sentry.example/1"}


@pytest.mark.parametrize("name", ["PATH", "HOME", "PWD", "SHELL", "LANG", "TERM"])
def test_what_a_command_cannot_run_without_is_never_judged_by_its_value(name):
    """A folder may be called anything."""
    value = f"/home/me/{SECRET_VALUES[0]}/bin"
    assert filtered_environment({name: value}) == {name: value}


names = st.text(string.ascii_letters + string.digits + "_", min_size=1, max_size=30)


@given(st.dictionaries(names, st.text(max_size=60)))
def test_filtering_only_takes_away_and_twice_is_once(env):
    """Nothing is changed or added."""
    left = filtered_environment(env)
    assert left.items() <= env.items()
    assert filtered_environment(left) == left


@given(names, st.sampled_from(["KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "API_KEY", "CREDENTIALS"]))
def test_any_name_with_a_secret_last_word_goes(prefix, word):
    """In either case."""
    assert filtered_environment({f"{prefix}_{word}": "x", f"{prefix}_{word}".lower(): "x"}) == {}


@given(st.text(max_size=40), st.sampled_from(SECRET_VALUES), st.text(max_size=40))
def test_a_secret_is_found_wherever_it_stands(before, secret, after):
    """Between any two other texts that do not run into it."""
    assert filtered_environment({"PLAIN": f"{before} {secret} {after}"}) == {}


@given(st.text(string.ascii_lowercase + "/.:-_ ", max_size=80))
def test_words_and_paths_are_no_secrets(value):
    """Lower-case text without `=` and `@`."""
    assert filtered_environment({"PLAIN": value}) == {"PLAIN": value}
