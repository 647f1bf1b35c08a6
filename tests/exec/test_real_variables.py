"""Variables as tools, build services and desktops really set them: which a command gets, and which are masked.

To withhold a harmless one breaks a build, to mask one makes output unreadable: both are as bad as a leak. The values
are made up, in the forms the tools give them.
"""

import pytest

from sightline.exec import filtered_environment, secret_variables

HEX40 = "A035C8C19219BA821ECEA86B64E628F8D684696D"
UUID = "123e4567-e89b-42d3-a456-426614174000"

LEFT = [
    # GitHub Actions
    ("GITHUB_ACTION", "__run_2"),
    ("GITHUB_ACTION_REPOSITORY", "actions/checkout"),
    ("GITHUB_API_URL", "https://api.github.com"),
    ("GITHUB_ENV", "/home/runner/work/_temp/_runner_file_commands/set_env_5f5e1a3b-1234-4abc-9def-0123456789ab"),
    ("GITHUB_EVENT_PATH", "/home/runner/work/_temp/_github_workflow/event.json"),
    ("GITHUB_RETENTION_DAYS", "90"),
    ("GITHUB_SERVER_URL", "https://github.com"),
    ("GITHUB_WORKFLOW_REF", "octo/hello-World2/.github/workflows/Build-V3.yml@refs/heads/main"),
    ("GITHUB_WORKFLOW_SHA", HEX40.lower()),
    ("GITHUB_HEAD_REF", "dependabot/npm_and_yarn/Types-Node-20.11.5"),
    ("RUNNER_TRACKING_ID", f"github_{UUID}"),
    ("RUNNER_NAME", "GitHub Actions 12"),
    ("ImageOS", "ubuntu22"),
    ("ImageVersion", "20240714.1.0"),
    ("POWERSHELL_DISTRIBUTION_CHANNEL", "GitHub-Actions-ubuntu22"),
    ("GOROOT_1_21_X64", "/opt/hostedtoolcache/go/1.21.12/x64"),
    ("ANDROID_NDK_LATEST_HOME", "/usr/local/lib/android/sdk/ndk/27.0.11902837"),
    ("HOMEBREW_CLEANUP_PERIODIC_FULL_DAYS", "3650"),
    ("CACHE_KEY", "v1-linux-deps-2024"),
    ("CACHE_KEY", "Linux-node-Kx7vQ2mZp9Lw4TnB8sRd"),
    ("UV_CACHE_KEY", "x1234567"),
    # GitLab
    ("CI_COMMIT_SHORT_SHA", "0a1b2c3d"),
    ("CI_COMMIT_MESSAGE", "Fix the Authorization: header, and bearer authentication"),
    ("CI_COMMIT_TITLE", "Ask for a password (2 times)"),
    ("CI_COMMIT_TAG", "v2024.11.17-a1B2c3D-Rel4"),
    ("CI_JOB_IMAGE", "registry.example/group/App2:V1.2"),
    ("CI_JOB_NAME_SLUG", "build-x86-64-Release2-B3"),
    ("CI_JOB_URL", "https://gitlab.example/group/app/-/jobs/123456"),
    ("CI_RUNNER_DESCRIPTION", "3-green.shared.runners-manager.gitlab.com/default"),
    ("CI_RUNNER_TAGS", '["gce","east-c","linux2"]'),
    ("CI_SERVER_FQDN", "gitlab.example:8443"),
    ("CI_REGISTRY_IMAGE", "registry.example:5050/group/app"),
    ("CI_PROJECT_PATH_SLUG", "group-app-V2-x1Y2-z3"),
    # Jenkins and other build services
    ("BUILD_TAG", "jenkins-Project_Main-1234"),
    ("BUILD_URL", "https://ci.example/job/App2/1234/"),
    ("JENKINS_HOME", "/var/lib/jenkins"),
    ("NODE_LABELS", "linux docker x64-Xl2"),
    ("GIT_PREVIOUS_SUCCESSFUL_COMMIT", HEX40.lower()),
    ("CREDENTIALS_ID", "deploy-key-prod-2"),
    ("BUILDKITE_BUILD_URL", "https://buildkite.com/org/p/builds/1"),
    ("CIRCLE_WORKFLOW_ID", UUID),
    ("TRAVIS_COMMIT_RANGE", f"{HEX40.lower()[:12]}...{HEX40.lower()[12:24]}"),
    ("SONAR_PROJECT_KEY", "org.example:App2"),
    ("JIRA_PROJECT_KEY", "PLAT"),
    ("IMAGE_TAG", "v2024.11.17-a1B2c3D-Rel4"),
    ("DOCKER_IMAGE", "registry.example/foo/Bar2:V1.2"),
    ("BASE_IMAGE", f"docker://alpine:3.19@sha256:{'0a' * 32}"),
    # shells and desktops
    ("STARSHIP_SESSION_KEY", "1489416588129891"),
    ("MEMORY_PRESSURE_WRITE", "c29tZSAyMDAwMDAgMjAwMDAwMAA="),
    ("DIRENV_WATCHES", "eJx0zUEKwzAMBMC_7DmOZdmyhT6jRSJxUtO9kRLyevTUkyB3Zl2l"),
    ("DIRENV_DIR", "-/home/me/App2"),
    ("ATUIN_SESSION", "018f3c2b7d9e7a31b2c4d5e6f7a8b9c0"),
    ("KITTY_PUBLIC_KEY", "1:x7Kq2mZp9Lw4TnB8sRd<x7Kq2mZp9Lw4"),
    ("WT_SESSION", UUID),
    ("VSCODE_NONCE", UUID),
    ("XMODIFIERS", "@im=ibus"),
    ("GPG_TTY", "/dev/pts/0"),
    ("SSH_AGENT_PID", "1234"),
    ("SSH_CLIENT", "10.0.0.1 52000 22"),
    ("XDG_SESSION_PATH", "/org/freedesktop/DisplayManager/Session0"),
    ("XDG_SESSION_CLASS", "user"),
    ("GNOME_SETUP_DISPLAY", ":1"),
    ("QT_ACCESSIBILITY", "1"),
    ("GTK_MODULES", "gail:atk-bridge"),
    ("COLORFGBG", "15;0"),
    ("PROMPT_COMMAND", 'printf "\\033]0;%s@%s:%s\\007" "${USER}" "${HOSTNAME%%.*}" "${PWD/#$HOME/~}"'),
    ("BASH_FUNC_login%%", '() {  local password=$1; PWD=/tmp; run "$password"; }'),
    ("FZF_DEFAULT_OPTS", "--bind=ctrl-k:kill-line --color=fg:#D8DEE9"),
    ("PASSWORD_STORE_DIR", "/home/me/.password-store"),
    ("SECRETS_DIR", "/run/secrets"),
    ("LESS_TERMCAP_md", "\x1b[01;31m"),
    # Python, Node, Go, Rust, Java, Nix
    ("PIP_INDEX_URL", "https://pypi.example/simple"),
    ("PYTHONHASHSEED", "0"),
    ("PYTHON_SHA256", "0" * 64),
    ("GPG_KEY", HEX40),
    ("PYTHON_GPG_KEY", HEX40),
    ("WHEEL", "foo-1.2.3-cp311-cp311-manylinux_2_17_x86_64"),
    ("UV_INDEX", "https://download.pytorch.org/whl/cu121"),
    ("TOKENIZERS_PARALLELISM", "false"),
    ("MAX_OUTPUT_TOKENS", "8192"),
    ("THINKING_TOKENS", "4096"),
    ("EOS_TOKEN", "<|endoftext|>"),
    ("npm_package_integrity", "sha512-" + "AbCdEf0123456789" * 5 + "=="),
    ("npm_package_resolved", "https://registry.example/foo/-/foo-1.2.3.tgz"),
    ("npm_config_node_gyp", "/usr/lib/node_modules/npm/node_modules/node-gyp/bin/node-gyp.js"),
    ("npm_lifecycle_event", "test"),
    ("COREPACK_ROOT", "/opt/corepack"),
    ("GOPROXY", "https://proxy.golang.org,direct"),
    ("GOSUMDB", "sum.golang.org+033de0ae+Ac4zctda0e5eza+HJyk9SxEdh+s3Ux18htTTAD8OuAn8"),
    ("GOTOOLCHAIN", "go1.22.5+auto"),
    ("RUSTFLAGS", "-Ctarget-cpu=native"),
    ("CARGO_PKG_AUTHORS", "Me <me@example.org>"),
    ("JAVA_TOOL_OPTIONS", "-Djavax.net.ssl.trustStore=/etc/ssl/ca.jks -Drequire.password=false"),
    ("MAVEN_OPTS", "-Xmx2g -Dhttp.proxyHost=proxy -Dhttp.proxyPort=3128"),
    ("GRADLE_OPTS", "-Dorg.gradle.daemon=false"),
    ("ANDROID_KEYSTORE", "/home/me/a.jks"),
    ("NIX_PATH", "nixpkgs=/nix/var"),
    ("PKG", "libfoo2-1.0.3b4-Linux-x86_64-GLIBC2.35"),
    ("GIT_DESCRIBE", "v1.2.3-45-g0a1b2c3d4e"),
    # clouds and services
    ("AWS_PROFILE", "AdministratorAccess-123456789012"),
    ("AWS_DEFAULT_PROFILE", "prod-Eu1-Admin2-Team3"),
    ("AWS_CREDENTIAL_EXPIRATION", "2026-11-17T00:00:00Z"),
    ("AWS_SECRET_NAME", "prod/db-1"),
    ("DB_SECRET_ARN", "arn:aws:secretsmanager:eu-central-1:123456789012:secret:prod/db-AbCdEf"),
    ("SECRET_NAME", "my-k8s-secret-1"),
    ("SECRETS_MANAGER_ENDPOINT", "http://localhost:4566"),
    ("PASSWORD_RESET_URL", "https://app.example/reset"),
    ("TOKEN_URL", "https://auth.example/token"),
    ("VAULT_ADDR", "https://vault:8200"),
    ("CLUSTER", "gke_My-Project1_europe-west1-b_Prod2"),
    ("CONTAINER", "k8s-prod-Pod3-7f9Xx-2Bq"),
    ("S3_BUCKET", "my-bucket-1a2b3c4d5e6f7g8h9i"),
    ("S3_OBJECT_KEY", "releases/v1/app-2.tar.gz"),
    ("TF_STATE_KEY", "prod/network/terraform.tfstate"),
    ("AZURE_TENANT_ID", UUID),
    ("GOOGLE_CLOUD_PROJECT", "my-project-123456"),
    ("KUBERNETES_PORT_443_TCP", "tcp://10.0.0.1:443"),
    ("STRIPE_PUBLISHABLE_KEY", "pk_live_abcdefghijkl0123456789"),
    ("PUBLIC_KEY", "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ me@x"),
    ("DEPLOY_KEY", "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ me@x"),
    ("JWT_PUBLIC_KEY", "MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAx7Kq2mZp9Lw4TnB8sRd"),
    ("SSH_PUBLIC_KEY", "/home/me/.ssh/id.pub"),
    ("PRIMARY_KEY", "user_id_1"),
    ("DB_AUTH", "scram-sha-256"),
    ("REGISTRY_AUTH", "htpasswd"),
    ("SKIP_AUTH", "true"),
    ("GITHUB_TOKEN", ""),
    ("USE_API_KEY", "1"),
    ("ANSIBLE_HOST_KEY_CHECKING", "False"),
    ("SESSION_COOKIE_NAME", "sid-cookie-1"),
    ("HTTP_PROXY", "http://127.0.0.1:3128"),
    ("GIT_REMOTE", "https://firstname.lastname.long@dev.azure.com/org/app"),
    ("PROXY_TEMPLATE", "http://localhost:${PORT}/users/me@example.org"),
    ("V6", "http://[::1]:8080/a@b"),
    ("LINKS", '{"url":"http://h:80","mail":"me@example.org"}'),
    ("CALLBACK", "https://app.example/?key=category&code=404"),
    ("KMS_KEY_ARN", "arn:aws:kms:eu-central-1:123456789012:key/" + UUID),
    ("PAGERDUTY_URL", "https://events.pagerduty.com/v2/enqueue"),
    ("HOOKS_DOC", "https://git.example/hooks/pre-commit-configuration"),
]

# Withheld, since they lead to a secret; what they say is a file's name.
PLACES = [
    ("SSH_KEY", "/home/me/.ssh/id_ed25519"),
    ("SSH_KEY", "~/.ssh/id_ed25519"),
    ("DEPLOY_KEY", "./keys/deploy_ed25519"),
    ("SSL_KEY", "/etc/ssl/private/server.pem"),
    ("TLS_KEY", "/etc/tls/tls.key"),
    ("PGSSLKEY", "/home/me/.pg/key.pem"),
    ("SIGNING_KEY", "/signing/release.p12"),
    ("SIGNING_KEY", "C:\\keys\\release.p12"),
    ("API_SECRET_FILE", "/run/secrets/api"),
    ("DB_PASSWORD_FILE", "/run/secrets/db"),
    ("CLIENT_SECRET", "/run/secrets/client"),
    ("VSCODE_GIT_ASKPASS", "/usr/share/code/askpass.sh"),
    ("KUBECONFIG", "/home/me/.kube/config"),
    ("DIRENV_DIFF", "eJ" + "x0zUEKwzAM" * 60),
]

SECRET = [
    ("DBPASS", "hunter2hunter2"),
    ("SMTPPASS", "hunter2hunter"),
    ("MYSQLPASS", "Tr0ub4dor&3"),
    ("DB_PW", "hunter2hunter2"),
    ("DBPW", "hunter2hunter2"),
    ("DBPWD", "hunter2hunter2"),
    ("ROOT_PASSWORT", "x1234567"),
    ("SECRET_URL", "https://x.example/unguessable"),
    ("VAULT_SECRET_ID", UUID),
    ("AWS_SECRET_ACCESS_KEY", "/wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"),
    ("COSMOS_PRIMARY_KEY", "C2y6yDjf5R/ob0N8A7Cgv30VRDJIWEHLM+4QDU5DE2nQ9nDuVTqobD4b8mGGyPMbIZnqyMsEcaGQy67XIw/Jw=="),
    ("GPG_PRIVATE_KEY", HEX40),
    ("DEPLOY_TOKEN", HEX40.lower()),
    ("AUTH_LINE", "Basic dXNlcjpwYXNzd29yZDEyMw=="),
    ("AUTH_LINE", "Bearer correcthorsebattery"),
    ("HEADER", "X-Api-Key: abcdef123456"),
    ("HEADER", "Ocp-Apim-Subscription-Key: 0123456789abcdef"),
    ("TELE", "bot123456789:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw_"),
    ("SQUARE", "sq0atp-abcDEF123456789012xyz"),
    ("SQUARE", "EAAAE" + "x1Y2" * 14),
    ("AIRTABLE", "patAbCdEf12345678." + "0a" * 32),
    ("FLY", "FlyV1 fm2_lJPECAAAAAAAAA"),
    ("CF", "v1.0-0123456789abcdef01234567-" + "a1" * 73),
    ("LARK", "https://open.feishu.cn/open-apis/bot/v2/hook/0123-abc"),
    ("LARK", "https://open.larksuite.com/open-apis/bot/v2/hook/0123-abc"),
    ("MATTERMOST", "https://mm.example/hooks/8xk3p1m5jtyg7qz9r4w6ncadoe"),
    ("ROCKET", f"https://chat.example/hooks/{'aB3' * 6}/{'x1Y2' * 11}"),
    ("PAGER_HOOK", "https://events.pagerduty.com/integration/0123456789abcdef/enqueue"),
    ("TEAMS", "https://contoso.webhook.office.com/webhookb2/uuid@uuid/IncomingWebhook/abc/uuid"),
    ("REDIS_URL", "redis://:p/ss#word@h:6379"),
    ("REDIS_URL", "redis://me:pa?ss@h:6379"),
    ("MONGO", "mongodb+srv://u:p@ss:w@h/x"),
    ("JSON_URL", '{"url":"http:\\/\\/me:pw@h"}'),
    ("JAVA_OPTS", "-Xmx2g -Dspring.datasource.password=hunter2"),
    ("ODBC", "Driver=x;UID=sa;PWD=hunter2;"),
    ("FUNCTION", "https://f.example/api?code=AbCdEf0123456789AbCdEf=="),
    ("BLOB", "https://b.example/c?sas=abcdef0123456789"),
    ("CI_REPOSITORY_URL", "https://gitlab-ci-token:64_x1Y2z3@gitlab.example/g/app.git"),
    ("ACTIONS_RUNTIME_TOKEN", "x.y.z"),
    ("CI_JOB_TOKEN", "64_abcdefghijkl"),
    ("JENKINS_API_TOKEN", "11a1b2c3d4"),
    ("SONAR_TOKEN", "squ_abcdef"),
    ("GOOGLE_CREDENTIALS", '{"private_key": "-----BEGIN PRIVATE KEY-----\\nMII"}'),
]


@pytest.mark.parametrize(("name", "value"), LEFT)
def test_a_command_gets_it(name: str, value: str) -> None:
    """And nothing of it is masked."""
    assert filtered_environment({name: value}) == {name: value}
    assert secret_variables({name: value}) == {}


@pytest.mark.parametrize(("name", "value"), PLACES)
def test_a_place_is_withheld_and_not_masked(name: str, value: str) -> None:
    """The name of a file stands in every other line of output."""
    assert filtered_environment({name: value}) == {}
    assert secret_variables({name: value}) == {}


@pytest.mark.parametrize(("name", "value"), SECRET)
def test_a_secret_is_withheld_and_masked(name: str, value: str) -> None:
    """By its name, or by what its value looks like."""
    assert filtered_environment({name: value}) == {}
    assert secret_variables({name: value}) == {name: value}
