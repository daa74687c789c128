"""One control plane on free loopback ports: etcd, kube-apiserver, Kueue and, if wanted, what makes Jobs run."""

import base64
import os
import secrets
import shutil
import subprocess
from pathlib import Path
from types import TracebackType

import requests
import yaml

from gateways.rights import RIGHTS
from scheduling.names import KUEUE_GROUP
from tests.cluster import kueue
from tests.cluster.build import component
from tests.cluster.canary import Canary
from tests.cluster.certificates import Authority
from tests.cluster.client import KUEUE, VISIBILITY, Client, path
from tests.cluster.kubeconfig import kubeconfig, write_private
from tests.cluster.processes import PlaneFailed, Processes
from tests.cluster.roles import PORTAL_GROUP, portal_rights
from tests.servers import free_port

METRICS_CERTIFICATES = Path("/etc/kueue/metrics/certs")  # Kueue reads them there and nowhere else
PORTAL = "hyperpod-portal"
STRANGER = "stranger"
ADMIN_GROUP = "system:masters"
KINDS_READ = {right.resource for right in RIGHTS if right.group == KUEUE_GROUP}

# A mount namespace of its own in which /etc is the real one under a layer that holds the certificates: needs no root,
# and several Kueues side by side do not meet.
_OWN_ETC = 'mount -t overlay overlay -o "lowerdir=$1:/etc" /etc && shift && exec "$@"'


class ControlPlane:
    """Started by `start` or as a context manager. `admin` may do everything, `portal` what deploy/kubernetes grants,
    `stranger` nothing."""

    is_set_up = False

    def __init__(
        self, folder: Path, *, fair_sharing: bool = False, workers: bool = False, impatient: bool = False
    ) -> None:
        self.folder = folder.resolve()
        self.folder.mkdir(parents=True, exist_ok=True)
        self.fair_sharing = fair_sharing
        self.workers = workers
        self.impatient = impatient
        self.canaries = 0
        self.processes = Processes(self.folder)
        self.url = f"https://127.0.0.1:{free_port()}"
        self.etcd_url = f"http://127.0.0.1:{free_port()}"
        self.tokens = {user: secrets.token_hex(16) for user in ("admin", PORTAL, STRANGER)}
        self.authority = self.folder / "ca.crt"
        self.kubeconfig = self.folder / "kubeconfig"
        self.portal_kubeconfig = self.folder / "portal.kubeconfig"
        self.admin = self.client("admin")
        self.portal = self.client(PORTAL)
        self.stranger = self.client(STRANGER)

    def __enter__(self) -> "ControlPlane":
        try:
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.stop()

    def client(self, user: str) -> Client:
        return Client(self.url, self.tokens[user], str(self.authority))

    def start(self) -> None:
        """Returns when all of it answers. Raises PlaneFailed."""
        self._write_credentials()
        self._start_etcd()
        self.start_api_server()
        self._grant_portal()
        self._start_kueue()
        if self.workers:
            self._start_workers()
        self.is_set_up = True

    def stop(self) -> None:
        self.processes.stop_all()

    def start_api_server(self) -> None:
        """On the port it had before, with what etcd holds."""
        tls, port = self.folder / "tls", self.url.rsplit(":", 1)[1]
        self._run(
            "kubernetes",
            "kube-apiserver",
            f"--etcd-servers={self.etcd_url}",
            f"--secure-port={port}",
            "--bind-address=127.0.0.1",
            f"--tls-cert-file={tls}/tls.crt",
            f"--tls-private-key-file={tls}/tls.key",
            f"--cert-dir={self.folder}/api-server",
            "--service-cluster-ip-range=10.0.0.0/24",
            "--service-account-issuer=https://localhost",
            f"--service-account-key-file={tls}/tls.key",
            f"--service-account-signing-key-file={tls}/tls.key",
            "--authorization-mode=RBAC",
            "--allow-privileged=true",
            "--disable-admission-plugins=ServiceAccount",
            f"--token-auth-file={self.folder}/tokens.csv",
            f"--requestheader-client-ca-file={self.authority}",
            "--requestheader-allowed-names=aggregator",
            "--requestheader-username-headers=X-Remote-User",
            "--requestheader-group-headers=X-Remote-Group",
            "--requestheader-extra-headers-prefix=X-Remote-Extra-",
            f"--proxy-client-cert-file={self.folder}/aggregator/tls.crt",
            f"--proxy-client-key-file={self.folder}/aggregator/tls.key",
        )
        self.processes.wait_until("kube-apiserver", lambda: self.admin.ask("GET", "/readyz").ok)
        if self.is_set_up:
            self._wait_until_back()

    def _wait_until_back(self) -> None:
        """A server that is back says ready before it knows whom it may answer and what it stores."""
        self._wait_for_kinds()
        self._wait_for_kueue()

    def _wait_for_kinds(self) -> None:
        def shows() -> bool:
            return all(self.portal.ask("GET", path(kind)).ok for kind in (*KINDS_READ, "nodes"))

        self.processes.wait_until("Kueue's kinds", shows)

    def stop_api_server(self) -> None:
        self.processes.stop("kube-apiserver")

    def restart_api_server(self) -> None:
        """Every connection breaks; resourceVersions go on, the watch cache begins anew."""
        self.stop_api_server()
        self.start_api_server()

    def compact(self) -> None:
        """Make etcd forget all but the newest revision. Within 15 seconds older continue tokens answer 410."""
        revision = self._ask_etcd("range", key=_encoded("/registry"))["header"]["revision"]
        # As another API server's compactor would tell it: this one still lists old pages from its cache otherwise.
        self._ask_etcd("put", key=_encoded("compact_rev_key"), value=_encoded(revision))
        self._ask_etcd("compaction", revision=revision, physical=True)

    def _run(self, part: str, binary: str, *arguments: str) -> None:
        self.processes.start(binary, [str(component(part).folder / binary), *arguments])

    def _ask_etcd(self, verb: str, **body: str | bool) -> dict[str, dict[str, str]]:
        with requests.Session() as session:
            session.trust_env = False
            answer = session.post(f"{self.etcd_url}/v3/kv/{verb}", json=body, timeout=30)
        answer.raise_for_status()
        found: dict[str, dict[str, str]] = answer.json()
        return found

    def _write_credentials(self) -> None:
        authority = Authority()
        self.authority.write_bytes(authority.certificate)
        authority.write_pair(self.folder / "tls", "localhost")
        authority.write_pair(self.folder / "aggregator", "aggregator")
        groups = {"admin": ADMIN_GROUP, PORTAL: PORTAL_GROUP}
        rows = [f'{token},{user},{user},"{groups.get(user, "")}"' for user, token in self.tokens.items()]
        write_private(self.folder / "tokens.csv", "\n".join(rows) + "\n")
        for file, user in ((self.kubeconfig, "admin"), (self.portal_kubeconfig, PORTAL)):
            write_private(file, kubeconfig(self.url, authority.certificate, user, self.tokens[user]))

    def _start_etcd(self) -> None:
        peer = f"http://127.0.0.1:{free_port()}"
        self._run(
            "etcd",
            "etcd",
            f"--data-dir={self.folder}/etcd",
            f"--listen-client-urls={self.etcd_url}",
            f"--advertise-client-urls={self.etcd_url}",
            f"--listen-peer-urls={peer}",
            "--unsafe-no-fsync",
            "--log-level=warn",
        )

    def _grant_portal(self) -> None:
        for collection, manifest in portal_rights():
            self.admin.create(collection, manifest)

    def _start_kueue(self) -> None:
        webhook, metrics, probe, visibility = (free_port() for _ in range(4))
        authority = self.authority.read_bytes()
        self.admin.create("namespaces", {"metadata": {"name": kueue.NAMESPACE}})
        for crd in kueue.crds(webhook, authority):
            self.admin.create("customresourcedefinitions", crd)
        self.processes.wait_until("Kueue's kinds", self._serves_kueue)  # without them Kueue exits at once
        for hook in kueue.webhooks(webhook, authority):
            self.admin.create(f"{hook['kind'].lower()}s", hook)
        settings = kueue.settings(
            webhook_port=webhook,
            probe_port=probe,
            metrics_port=metrics,
            visibility_port=visibility,
            fair_sharing=self.fair_sharing,
            impatient=self.impatient,
        )
        (self.folder / "kueue.yaml").write_text(yaml.safe_dump(settings))
        self._run_kueue()
        self.admin.create("services", kueue.visibility_service())
        for service in kueue.visibility_apis(visibility):
            self.admin.create("apiservices", service)
        plain = Client(f"http://127.0.0.1:{probe}", "")
        self.processes.wait_until("Kueue", lambda: plain.ask("GET", "/readyz").ok)
        self._wait_for_kueue()

    def _wait_for_kueue(self) -> None:
        """Kueue says ready before it listens to every kind, and handles what was there by then last of all."""
        self.processes.wait_until("the visibility API", lambda: self.admin.ask("GET", VISIBILITY).ok)
        self.canaries += 1
        canary = Canary(self.admin, kueue.NAMESPACE, f"ready-{self.canaries}")
        canary.send()
        self.processes.wait_until("an admission", canary.is_through)
        canary.remove()

    def _serves_kueue(self) -> bool:
        served = self.admin.ask("GET", KUEUE)
        return served.ok and {r["name"] for r in served.json()["resources"]} >= kueue.KINDS

    def _run_kueue(self) -> None:
        command = [
            str(component("kueue").folder / "kueue"),
            f"--kubeconfig={self.kubeconfig}",
            f"--config={self.folder}/kueue.yaml",
            "--zap-log-level=2",
        ]
        layer = self.folder / "etc"
        certificates = layer / METRICS_CERTIFICATES.relative_to("/etc")
        certificates.mkdir(parents=True)
        for file in (self.folder / "tls").iterdir():
            (certificates / file.name).write_bytes(file.read_bytes())
        own_etc = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", _OWN_ETC, "sh", str(layer)]
        if shutil.which("unshare") and subprocess.run([*own_etc, "true"], stderr=subprocess.DEVNULL).returncode == 0:
            self.processes.start("kueue", [*own_etc, *command])
        elif os.geteuid() == 0:
            self._write_metrics_certificates(certificates)
            self.processes.start("kueue", command)
        else:
            raise PlaneFailed(
                f"Kueue wants {METRICS_CERTIFICATES}: neither user namespaces nor root are to be had here"
            )

    def _write_metrics_certificates(self, source: Path) -> None:
        """The same for every plane: nobody checks whose certificate the metrics are served with."""
        METRICS_CERTIFICATES.mkdir(parents=True, exist_ok=True)
        for file in source.iterdir():
            (METRICS_CERTIFICATES / file.name).write_bytes(file.read_bytes())

    def _start_workers(self) -> None:
        """The Job controller, the scheduler, and kwok in the kubelets' place: Jobs get pods, which run on Node objects
        for as long as their annotations pod-complete.stage.kwok.x-k8s.io/delay and /jitter-delay say (the smaller)."""
        common = (f"--kubeconfig={self.kubeconfig}", "--secure-port=0", "--leader-elect=false")
        controllers = "--controllers=*,-serviceaccount-token-controller"
        self._run("kubernetes", "kube-controller-manager", *common, controllers)
        self._run("kubernetes", "kube-scheduler", *common)
        stages = [f"--config={file}" for file in kueue.kwok_stages()]
        kubeconfig = f"--kubeconfig={self.kubeconfig}"
        self._run("kwok", "kwok", kubeconfig, "--manage-all-nodes=true", "--node-lease-duration-seconds=40", *stages)


def _encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()
