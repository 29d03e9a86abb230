# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""A release of the chart in a cluster, and what tests ask about it."""

import os
import subprocess
import tempfile

from cluster import DEADLINE_SECONDS, run, wait_until

REPOSITORY = os.path.dirname(
    os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
)
CHART = os.path.join(REPOSITORY, "deploy/kubernetes/chart")
FETCH = os.path.join(REPOSITORY, "deploy/kubernetes/fetch")

LEADER = "batch.kubernetes.io/job-completion-index=0"
NAMESPACE = "bench"
CLAIM = "kept"
USER = 65532  # as in the chart's values

# For the image that the test has loaded. The host has too few CPUs to guarantee
# any to several Pods.
BASE_VALUES = [
    "image.repository=localhost/distbench",
    "image.tag=test",
    "image.pullPolicy=Never",
    "resources.guaranteed=false",
]


def program(name):
    return os.path.join(os.environ["DISTBENCH_PROGRAMS"], name)


def traffic(seconds, servers=2, clients=1, extra=""):
    """A test in which each client calls all servers in a closed loop.

    extra: fields that are added to the test.
    """
    return TRAFFIC.format(
        servers=servers,
        clients=clients,
        extra=extra,
        duration_us=seconds * 1_000_000,
    )


TRAFFIC = """tests {{
  name: "calls"
  services {{ name: "client" count: {clients} }}
  services {{ name: "server" count: {servers} }}
  rpc_descriptions {{ name: "query" client: "client" server: "server" }}
  action_lists {{ name: "client" action_names: "send" }}
  action_lists {{ name: "query" }}
  actions {{
    name: "send"
    rpc_name: "query"
    iterations {{ max_duration_us: {duration_us} }}
  }}
  {extra}
}}
"""


def only_on_nodes_with(**attributes):
    """For traffic(): the servers need nodes with all of these attributes."""
    sets = "".join(
        f'constraint_sets {{ constraints {{ attribute_name: "{name}"'
        f' relation: EQUAL string_values: "{value}" }} }}'
        for name, value in attributes.items()
    )
    return f'service_constraints {{ key: "server/*" value {{ {sets} }} }}'


def make_namespace(cluster):
    """A namespace that admits only restricted Pods."""
    cluster.kubectl("create", "namespace", NAMESPACE)
    cluster.kubectl(
        "label",
        "namespace",
        NAMESPACE,
        "pod-security.kubernetes.io/enforce=restricted",
    )
    wait_until(
        lambda: cluster.kubectl(
            "-n", NAMESPACE, "get", "serviceaccount", "default", check=False
        ).returncode
        == 0,
        "the namespace has its service account",
    )


def remove_namespace(cluster):
    """Removes it with everything in it, and the volume of its claim."""
    cluster.kubectl("delete", "namespace", NAMESPACE, "--timeout=120s")
    cluster.kubectl("delete", "persistentvolume", CLAIM, "--ignore-not-found")


def make_claim(cluster, folder):
    """A claim whose files are in a folder of the host."""
    os.makedirs(folder)
    os.chown(folder, USER, USER)
    cluster.kubectl("apply", "-f", "-", input=VOLUME.format(folder=folder))


VOLUME = f"""apiVersion: v1
kind: PersistentVolume
metadata: {{{{name: {CLAIM}}}}}
spec:
  accessModes: [ReadWriteMany]
  capacity: {{{{storage: 1Gi}}}}
  hostPath: {{{{path: {{folder}}}}}}
  claimRef: {{{{namespace: {NAMESPACE}, name: {CLAIM}}}}}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {{{{name: {CLAIM}, namespace: {NAMESPACE}}}}}
spec:
  accessModes: [ReadWriteMany]
  storageClassName: ""
  volumeName: {CLAIM}
  resources: {{{{requests: {{{{storage: 1Gi}}}}}}}}
"""


class Release:
    """Installed by the constructor. All calls wait, with a deadline."""

    def __init__(self, cluster, *values, config=None, name="distbench"):
        self.cluster = cluster
        self.name = name
        self._values = list(values)
        self._change("install", config)

    def upgrade(self, *values, config=None):
        self._values += values
        self._change("upgrade", config)

    def uninstall(self):
        self.cluster.helm(
            "uninstall", self.name, "-n", NAMESPACE, "--wait", "--timeout=120s"
        )

    def _change(self, verb, config):
        arguments = [verb, self.name, CHART, "-n", NAMESPACE]
        for value in BASE_VALUES + self._values:
            arguments += ["--set", value]
        with tempfile.NamedTemporaryFile("w", suffix=".config") as file:
            if config is not None:
                file.write(config)
                file.flush()
                arguments += ["--set-file", f"test.config={file.name}"]
            self.notes = self.cluster.helm(*arguments).stdout

    # ---- Pods ---------------------------------------------------------------

    def pods(self, *labels):
        selector = ",".join(
            (f"app.kubernetes.io/instance={self.name}", *labels)
        )
        return self.cluster.get("pods", "-n", NAMESPACE, "-l", selector)[
            "items"
        ]

    def pod_of_rank(self, rank):
        """Its Pod, or None if it has none."""
        found = self.pods(f"batch.kubernetes.io/job-completion-index={rank}")
        return found[0] if found else None

    def log(self, pod):
        return self.cluster.kubectl(
            "-n", NAMESPACE, "logs", pod["metadata"]["name"], check=False
        ).stdout

    def leader_log(self):
        leader = self.pod_of_rank(0)
        return self.log(leader) if leader else ""

    def exit_status(self, rank):
        """Waits until the Pod of this rank has ended."""

        def terminated():
            pod = self.pod_of_rank(rank)
            statuses = (pod or {}).get("status", {}).get("containerStatuses")
            return statuses and statuses[0]["state"].get("terminated")

        return wait_until(terminated, f"the end of rank {rank}")["exitCode"]

    # ---- The job ------------------------------------------------------------

    def job_name(self, revision=1):
        return f"{self.name}-{revision}"

    def wait_for_job(self, condition, revision=1, seconds=DEADLINE_SECONDS):
        """Waits until the job is "Complete" or "Failed"."""

        def conditions():
            job = self.cluster.get(
                "job", self.job_name(revision), "-n", NAMESPACE
            )
            true = {
                one["type"]
                for one in job["status"].get("conditions", [])
                if one["status"] == "True"
            }
            if true & {"Complete", "Failed"}:
                self.show()
            if true & {"Complete", "Failed"} - {condition}:
                raise AssertionError(f"{job['status']}\n{self.leader_log()}")
            return condition in true

        try:
            wait_until(conditions, f"the job is {condition}", seconds)
        except TimeoutError as error:
            raise AssertionError(f"{error}\n{self.describe()}") from error

    def wait_for_traffic(self):
        """Waits until the leader's command shows progress."""
        wait_until(
            lambda: " RPCs" in self.leader_log(), "the leader reports progress"
        )

    def show(self):
        """Puts the state of the release into the transcript."""
        selector = f"app.kubernetes.io/instance={self.name}"
        for arguments in (
            ["get", "jobs,deployments,daemonsets,pods", "-l", selector],
            ["logs", "--tail=-1", "-l", f"{selector},{LEADER}"],
        ):
            self.cluster.kubectl(
                "-n", NAMESPACE, *arguments, check=False, is_noted=True
            )

    def describe(self):
        """For messages of failed tests."""
        pods = "".join(
            f"--- {pod['metadata']['name']}: {pod['status']}\n{self.log(pod)}"
            for pod in self.pods()
        )
        events = self.cluster.kubectl("-n", NAMESPACE, "get", "events").stdout
        return pods + events


def fetch_results(cluster, folder):
    """Fetches the claim's files as users do."""
    return run(
        [FETCH, "results", CLAIM, folder, "-n", NAMESPACE]
        + ["--image=localhost/distbench:test"],
        env=user_environment(cluster),
        is_noted=True,
    ).stdout


def fetch_secret(cluster, secret, folder):
    run(
        [FETCH, "secret", secret, folder, "-n", NAMESPACE],
        env=user_environment(cluster),
        is_noted=True,
    )


def user_environment(cluster):
    return {
        **os.environ,
        "KUBECONFIG": cluster.kubeconfig,
        "PATH": f"{os.path.dirname(cluster.tool('kubectl'))}:"
        + os.environ["PATH"],
    }


def start_port_forward(cluster, target, port):
    """Returns the process, which is to be ended, and the local address."""
    process = subprocess.Popen(
        ["kubectl", "-n", NAMESPACE, "port-forward", target, f":{port}"],
        env=user_environment(cluster),
        stdout=subprocess.PIPE,
        text=True,
    )
    line = process.stdout.readline()  # Forwarding from 127.0.0.1:PORT -> ...
    return process, "localhost:" + line.split("127.0.0.1:")[1].split()[0]
