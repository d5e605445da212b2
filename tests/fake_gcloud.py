"""The programs `gcloud` and `docker` of an operator, as far as our pages call them: what they make is in the stand-in.

A project begins with nothing but quota. `tucano deploy vertex` and the jobs then find what the commands have made, and
an account may do what its roles allow.
"""

import re
import sys
from pathlib import Path
from typing import Any

from fake_google import QUOTA, Cloud, Reply, permitted

ROLE_OF = {
    "storage.objects": "roles/storage.objectUser",
    "secretmanager.versions": "roles/secretmanager.secretAccessor",
}
"""The role that holds a permission, by the permission's beginning."""
PROGRAM = """#!{python} -S
import json, sys, urllib.request
given = sys.stdin.read() if "--data-file=-" in sys.argv else ""
order = json.dumps({{"program": "{name}", "words": sys.argv[1:], "input": given}}).encode()
with urllib.request.urlopen(urllib.request.Request("{url}/operator", order)) as answer:
    said = json.load(answer)
print(said["said"], file=sys.stderr if said["code"] else sys.stdout)
sys.exit(said["code"])
"""


class Project:
    """A project of Google Cloud behind a Cloud; `install` puts the programs that change it into a folder."""

    def __init__(self, cloud: Cloud, name: str) -> None:
        self.cloud, self.name = cloud, name
        self.accounts: set[str] = set()
        self.roles: set[tuple[str, str]] = set()
        self.commands: list[str] = []
        limits = [{"effectiveLimit": "3", "dimensions": {"region": "us-central1"}}]
        cloud.replies |= {
            "operator": self.obey,
            QUOTA.format(project=name): (200, {"consumerQuotaLimits": [{"quotaBuckets": limits}]}),
            f"cloudresourcemanager/v1/projects/{name}:testIamPermissions": permitted,
            "policytroubleshooter/v1/iam:troubleshoot": self.troubleshoot,
        }

    def install(self, folder: Path) -> None:
        folder.mkdir()
        for name in ("gcloud", "docker"):
            program = folder / name
            program.write_text(PROGRAM.format(python=sys.executable, name=name, url=self.cloud.url), encoding="utf-8")
            program.chmod(0o755)

    def obey(self, order: dict[str, Any]) -> Reply:
        line = " ".join([order["program"], *order["words"]])
        self.commands.append(line)
        for pattern, act in self.known().items():
            if found := re.match(pattern, line):
                act(found, order["input"])
                return 200, {"code": 0, "said": "done"}
        return 200, {"code": 2, "said": f"Invalid choice: {line}"}

    def known(self) -> dict[str, Any]:
        """Command lines and what they do."""
        return {
            r"gcloud services enable (?P<names>.+) --project": self.enable,
            r"gcloud artifacts repositories create \S+ .*--repository-format docker": lambda found, given: None,
            r"gcloud auth configure-docker \S+": lambda found, given: None,
            r"gcloud storage buckets create gs://(?P<name>[\w-]+) .*--location (?P<region>\S+)": self.make_bucket,
            r"gcloud iam service-accounts create (?P<name>\S+)": self.make_account,
            r"gcloud \S+(?: \S+)? add-iam-policy-binding .*--member (?P<who>\S+) .*?--role (?P<role>\S+)": self.bind,
            r"gcloud secrets create (?P<name>\S+) .*--data-file=-": self.make_secret,
            r"docker build .*-f deployments/image/Dockerfile": lambda found, given: None,
            r"docker push (?P<host>[\w.-]+)/(?P<path>[\w/-]+):(?P<tag>\S+)": self.push,
        }

    def enable(self, found: re.Match[str], given: str) -> None:
        for service in found["names"].split():
            self.cloud.replies[f"serviceusage/v1/projects/{self.name}/services/{service}"] = (200, {"state": "ENABLED"})

    def make_bucket(self, found: re.Match[str], given: str) -> None:
        about = {"name": found["name"], "location": found["region"].upper()}
        self.cloud.replies[f"storage/storage/v1/b/{found['name']}"] = (200, about)

    def make_account(self, found: re.Match[str], given: str) -> None:
        account = f"{found['name']}@{self.name}.iam.gserviceaccount.com"
        self.accounts.add(account)
        self.cloud.replies[f"iam/v1/projects/{self.name}/serviceAccounts/{account}:testIamPermissions"] = permitted

    def bind(self, found: re.Match[str], given: str) -> None:
        account = found["who"].removeprefix("serviceAccount:")
        assert account in self.accounts, f"{account} does not exist"
        self.roles.add((account, found["role"]))

    def make_secret(self, found: re.Match[str], given: str) -> None:
        self.cloud.secrets[found["name"]] = given
        path = f"secretmanager/v1/projects/{self.name}/secrets/{found['name']}/versions/latest"
        self.cloud.replies[path] = (200, {"state": "ENABLED"})

    def push(self, found: re.Match[str], given: str) -> None:
        manifest = f"registry/v2/{found['path']}/manifests/{found['tag']}"
        self.cloud.replies[manifest] = (200, {"schemaVersion": 2})
        self.cloud.reply_headers[manifest] = {"Docker-Content-Digest": "sha256:" + 64 * "a"}

    def troubleshoot(self, body: dict[str, Any]) -> Reply:
        asked = body["accessTuple"]
        role = ROLE_OF[asked["permission"].rpartition(".")[0]]
        may = (asked["principal"], role) in self.roles
        return 200, {"access": "GRANTED" if may else "NOT_GRANTED"}
