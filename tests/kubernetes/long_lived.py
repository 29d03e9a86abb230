# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""The chart's long-lived cluster in a real one, in a restricted namespace."""

import os
import shutil
import tempfile
import unittest

from cluster import HOST, note, run, wait_until
from release import (
    CLAIM,
    NAMESPACE,
    Release,
    fetch_secret,
    make_claim,
    make_namespace,
    program,
    remove_namespace,
    start_port_forward,
    traffic,
)

CLUSTER = None  # set by run

# Client and server share a node: there is one, because the cluster has one host.
CONFIG = traffic(
    seconds=2,
    servers=1,
    extra="""node_service_bundles {
      key: "node0" value { services: "client/0" services: "server/0" }
    }""",
)


class LongLivedTest(unittest.TestCase):
    def setUp(self):
        note(f"\n# {self.id()}\n")
        make_namespace(CLUSTER)
        self.addCleanup(remove_namespace, CLUSTER)
        self.folder = tempfile.mkdtemp(prefix="results")
        self.addCleanup(shutil.rmtree, self.folder)
        self.config = os.path.join(self.folder, "test.config")
        with open(self.config, "w", encoding="utf-8") as file:
            file.write(CONFIG)

    def install(self, *values):
        return Release(CLUSTER, "form=cluster", *values)

    def wait_until_ready(self, release):
        for component in ("sequencer", "node"):
            wait_until(
                lambda component=component: self.is_ready(release, component),
                f"the {component} is ready",
            )

    def is_ready(self, release, component):
        pods = release.pods(f"app.kubernetes.io/component={component}")
        return (
            pods
            and all(
                condition["status"] == "True"
                for pod in pods
                for condition in pod["status"].get("conditions", [])
                if condition["type"] == "Ready"
            )
            and pods[0]["status"].get("phase") == "Running"
        )

    def client(self, release, tls):
        """Returns a function that runs a subcommand as a user would."""
        process, address = start_port_forward(
            CLUSTER, f"service/{release.name}", 10000
        )
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.terminate)
        flags = [f"--test_sequencer={address}"]
        if tls:
            secret = os.path.join(self.folder, "secret")
            fetch_secret(CLUSTER, f"{release.name}-secret", secret)
            flags += [
                f"--tls_ca={secret}/ca.crt",
                f"--tls_cert={secret}/tls.crt",
                f"--tls_key={secret}/tls.key",
                "--tls_name=distbench-job",
            ]
        return lambda *command, **options: run(
            [program("distbench"), *command, *flags],
            is_noted=True,
            **options,
        )

    def wait_for_node(self, distbench):
        wait_until(
            lambda: HOST in distbench("status", check=False).stdout,
            "the sequencer has a node with its attribute",
        )

    def check_runs(self, tls):
        release = self.install(f"security.tls={'true' if tls else 'false'}")
        self.wait_until_ready(release)
        distbench = self.client(release, tls)
        self.wait_for_node(distbench)
        release.show()
        done = distbench("run_tests", f"--infile={self.config}")
        self.assertIn("query: N: ", done.stdout)

    def test_runs_what_is_submitted(self):
        self.check_runs(tls=True)

    def test_runs_in_plain_text(self):
        self.check_runs(tls=False)

    def test_the_sequencer_comes_back_with_its_results(self):
        folder = os.path.join(self.folder, "claim")
        make_claim(CLUSTER, folder)
        release = self.install(f"results.claim={CLAIM}")
        self.wait_until_ready(release)
        distbench = self.client(release, tls=True)
        self.wait_for_node(distbench)
        submitted = distbench(
            "run_tests", f"--infile={self.config}", "--detach"
        )
        identity = submitted.stdout.strip()
        distbench("runs", "wait", identity)

        (pod,) = release.pods("app.kubernetes.io/component=sequencer")
        CLUSTER.kubectl(
            "-n", NAMESPACE, "delete", "pod", pod["metadata"]["name"]
        )
        self.wait_until_ready(release)
        distbench = self.client(release, tls=True)
        self.assertIn("query: N: ", distbench("runs", "get", identity).stdout)
        self.wait_for_node(distbench)
        self.assertIn(
            "query: N: ",
            distbench("run_tests", f"--infile={self.config}").stdout,
        )

    def test_binding_memory_is_refused_by_name(self):
        release = self.install("security.tls=false")
        wait_until(lambda: self.is_ready(release, "node"), "the node is ready")
        (pod,) = release.pods("app.kubernetes.io/component=node")
        done = CLUSTER.kubectl(
            "-n",
            NAMESPACE,
            "exec",
            pod["metadata"]["name"],
            "--",
            "distbench",
            "node_manager",
            "--cpus=0",
            "--test_sequencer=distbench:10000",
            check=False,
        )
        self.assertEqual(done.returncode, 1)
        self.assertIn("SYS_NICE", done.stderr)

    def test_a_node_with_another_secret_is_refused(self):
        release = self.install()
        self.wait_until_ready(release)
        other = Release(CLUSTER, "form=cluster", name="other-distbench")
        # Its nodes go to the first sequencer, with a secret of their own.
        CLUSTER.kubectl(
            "-n",
            NAMESPACE,
            "patch",
            "daemonset",
            "other-distbench-nodes",
            "--type=json",
            "-p",
            '[{"op": "replace", "value": "--test_sequencer=distbench:10000",'
            ' "path": "/spec/template/spec/containers/0/args/0"}]',
        )

        def refused():
            for pod in other.pods("app.kubernetes.io/component=node"):
                log = other.log(pod)
                if "distbench:10000" in log and "certificate" in log:
                    return log
            return None

        log = wait_until(refused, "the node is refused")
        self.assertIn("tls_ca", log)
