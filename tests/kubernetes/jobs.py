# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""Jobs of the chart in a real cluster, whose namespace is restricted."""

import os
import re
import shutil
import tempfile
import unittest

from cluster import HOST, note, run, wait_until
from release import (
    CHART,
    CLAIM,
    NAMESPACE,
    REPOSITORY,
    BASE_VALUES,
    Release,
    fetch_results,
    make_claim,
    make_namespace,
    only_on_nodes_with,
    program,
    remove_namespace,
    traffic,
)

CLUSTER = None  # set by run

MANIFEST = os.path.join(REPOSITORY, "deploy/kubernetes/manifests/job.yaml")


def summary_of(result):
    return run(
        [program("distbench"), "report", result], check=False, is_noted=True
    ).stdout


class JobTest(unittest.TestCase):
    def setUp(self):
        note(f"\n# {self.id()}\n")
        make_namespace(CLUSTER)
        self.addCleanup(remove_namespace, CLUSTER)
        folder = tempfile.mkdtemp(prefix="results")
        self.addCleanup(shutil.rmtree, folder)
        self.kept = os.path.join(folder, "claim")
        self.fetched = os.path.join(folder, "fetched")
        make_claim(CLUSTER, self.kept)

    def result(self, revision=1):
        return os.path.join(self.fetched, f"distbench-{revision}.pb.gz")

    def test_runs_and_its_results_are_fetched(self):
        release = Release(
            CLUSTER,
            f"results.claim={CLAIM}",
            "topologyLabels=true",
            # Kubernetes 1.35 copies them from the host.
            r"podLabels.topology\.kubernetes\.io/zone=zone1",
            r"podLabels.topology\.kubernetes\.io/region=region1",
            "attributes.rack=a7",
            config=traffic(
                3,
                extra=only_on_nodes_with(
                    kubernetes_node=HOST,
                    zone="zone1",
                    region="region1",
                    rack="a7",
                ),
            ),
        )
        release.wait_for_job("Complete")
        self.assertIn("RPC latency summary:", release.leader_log())
        self.assertIn("deploy/kubernetes/fetch results", release.notes)
        fetch_results(CLUSTER, self.fetched)
        self.assertIn("query: N: ", summary_of(self.result()))

    def test_status_of_an_objective_that_is_missed(self):
        release = Release(
            CLUSTER,
            f"results.claim={CLAIM}",
            config=traffic(3, extra='objectives: "query p99<=1us"'),
        )
        release.wait_for_job("Failed")
        self.assertEqual(release.exit_status(0), 2, release.describe())
        fetch_results(CLUSTER, self.fetched)
        self.assertIn("query: N: ", summary_of(self.result()))

    def test_without_a_success_policy_the_nodes_end_with_the_leader(self):
        run_as_before_1_31(traffic(3))
        release = AppliedJob()
        release.wait_for_job("Complete")
        for rank in range(3):
            self.assertEqual(release.exit_status(rank), 0, release.describe())

    def test_plain_manifests(self):
        make_job_secret("distbench-secret")
        make_config_map("distbench-test", traffic(3))
        CLUSTER.kubectl("-n", NAMESPACE, "apply", "-f", "-", input=plain_job())
        release = AppliedJob()
        release.wait_for_job("Complete")
        self.assertIn("RPC latency summary:", release.leader_log())

    def test_thirty_pods(self):
        release = Release(
            CLUSTER,
            "size=30",
            f"results.claim={CLAIM}",
            config=traffic(5, clients=10, servers=20),
        )
        release.wait_for_job("Complete", seconds=400)
        fetch_results(CLUSTER, self.fetched)
        self.assertIn("server/19", summary_of(self.result()))

    def test_a_pod_that_is_deleted_ends_the_job_and_keeps_measurements(self):
        release = Release(
            CLUSTER, f"results.claim={CLAIM}", config=traffic(120)
        )
        release.wait_for_traffic()
        node = release.pod_of_rank(1)["metadata"]["name"]
        CLUSTER.kubectl(
            "-n",
            NAMESPACE,
            "delete",
            "pod",
            node,
            "--wait=false",
            is_noted=True,
        )
        release.wait_for_job("Failed")
        self.wait_for_result()
        self.assertIn("query: N: ", summary_of(self.result()))

    def test_a_job_that_is_deleted_keeps_measurements(self):
        release = Release(
            CLUSTER, f"results.claim={CLAIM}", config=traffic(120)
        )
        release.wait_for_traffic()
        release.show()
        CLUSTER.kubectl(
            "-n",
            NAMESPACE,
            "delete",
            "job",
            release.job_name(),
            is_noted=True,
        )
        wait_until(lambda: not release.pods(), "all Pods have ended")
        self.wait_for_result()
        self.assertIn("query: N: ", summary_of(self.result()))

    def wait_for_result(self):
        name = os.path.basename(self.result())
        wait_until(lambda: name in os.listdir(self.kept), f"{name} is written")
        fetch_results(CLUSTER, self.fetched)

    def test_upgrading_runs_again_with_the_same_secret(self):
        release = Release(CLUSTER, f"results.claim={CLAIM}", config=traffic(2))
        release.wait_for_job("Complete")
        before = secret_of(release)
        release.upgrade(config=traffic(2))
        release.wait_for_job("Complete", revision=2)
        self.assertEqual(secret_of(release), before)
        fetch_results(CLUSTER, self.fetched)
        self.assertIn("query: N: ", summary_of(self.result(1)))
        self.assertIn("query: N: ", summary_of(self.result(2)))

    def test_a_secret_of_two_authorities_is_refused(self):
        make_mixed_secret()
        release = Release(
            CLUSTER,
            "security.secret=mixed",
            "joinTimeout=20s",
            config=traffic(2),
        )
        release.wait_for_job("Failed")
        self.assertRegex(release.leader_log(), "certificate")

    def test_a_secret_that_is_missing_is_named(self):
        release = Release(CLUSTER, "security.secret=absent", config=traffic(2))
        wait_until(
            lambda: 'secret "absent" not found' in release.describe(),
            "an event names the Secret",
        )

    def test_too_few_pods_are_refused_before_traffic(self):
        release = Release(CLUSTER, "size=2", config=traffic(2, servers=5))
        release.wait_for_job("Failed")
        self.assertEqual(release.exit_status(0), 1, release.describe())

    def test_the_hosts_network_needs_another_namespace(self):
        release = Release(
            CLUSTER,
            "hostNetwork=true",
            "hostNetworkAcknowledged=true",
            config=traffic(2),
        )
        wait_until(
            lambda: 'violates PodSecurity "restricted' in release.describe(),
            "an event names the Pod Security level",
        )

    def test_whole_cpus_make_the_pods_guaranteed(self):
        release = Release(
            CLUSTER,
            "size=1",
            "resources.guaranteed=true",
            "resources.cpus=1",
            "resources.memory=256Mi",
            "serve=true",
        )
        pod = wait_until(lambda: release.pod_of_rank(0), "the Pod exists")
        self.assertEqual(pod["status"]["qosClass"], "Guaranteed")

    def test_a_config_map_that_is_too_large_is_refused(self):
        with tempfile.NamedTemporaryFile("w") as file:
            file.write("#" * ((1 << 20) + 1))
            file.flush()
            done = CLUSTER.kubectl(
                "-n",
                NAMESPACE,
                "create",
                "configmap",
                "large",
                f"--from-file=test.config={file.name}",
                check=False,
            )
        self.assertIn("may not be more than 1048576 bytes", done.stderr)


class AppliedJob(Release):
    """A job that was applied without Helm."""

    def __init__(self):
        self.cluster = CLUSTER
        self.name = "distbench"


def run_as_before_1_31(config):
    """Applies what the chart renders for a Kubernetes without successPolicy."""
    with tempfile.NamedTemporaryFile("w", suffix=".config") as file:
        file.write(config)
        file.flush()
        arguments = ["template", "distbench", CHART, "-n", NAMESPACE]
        for value in BASE_VALUES:
            arguments += ["--set", value]
        rendered = CLUSTER.helm(
            *arguments,
            "--kube-version=1.30.0",
            "--set-file",
            f"test.config={file.name}",
        ).stdout
    assert "successPolicy:" not in rendered
    CLUSTER.kubectl("-n", NAMESPACE, "apply", "-f", "-", input=rendered)


def plain_job():
    """The manifest, with what users change: the image, and the resources."""
    with open(MANIFEST, encoding="utf-8") as file:
        text = file.read()
    text = re.sub(
        r'image: ".*"',
        "image: localhost/distbench:test",
        text,
    )
    text = text.replace("IfNotPresent", "Never")
    return text.replace('cpu: "2"', "cpu: 100m").replace("2Gi", "256Mi")


def make_config_map(name, config):
    with tempfile.NamedTemporaryFile("w") as file:
        file.write(config)
        file.flush()
        CLUSTER.kubectl(
            "-n",
            NAMESPACE,
            "create",
            "configmap",
            name,
            f"--from-file=test.config={file.name}",
        )


def make_job_secret(name):
    with tempfile.TemporaryDirectory() as folder:
        secret = os.path.join(folder, "secret")
        run([program("distbench"), "make_secret", secret])
        CLUSTER.kubectl(
            "-n",
            NAMESPACE,
            "create",
            "secret",
            "generic",
            name,
            f"--from-file={secret}",
        )


def secret_of(release):
    return CLUSTER.get("secret", f"{release.name}-secret", "-n", NAMESPACE)[
        "data"
    ]


def make_mixed_secret():
    """A certificate and key of one authority, and another's certificate."""
    with tempfile.TemporaryDirectory() as folder:
        for name in ("ours", "theirs"):
            run(
                ["openssl", "req", "-x509", "-newkey", "ec", "-nodes"]
                + ["-pkeyopt", "ec_paramgen_curve:P-256", "-days", "1"]
                + ["-subj", "/CN=distbench-job"]
                + ["-addext", "subjectAltName=DNS:distbench-job"]
                + ["-keyout", f"{folder}/{name}.key"]
                + ["-out", f"{folder}/{name}.crt"]
            )
        CLUSTER.kubectl(
            "-n",
            NAMESPACE,
            "create",
            "secret",
            "generic",
            "mixed",
            f"--from-file=ca.crt={folder}/theirs.crt",
            f"--from-file=tls.crt={folder}/ours.crt",
            f"--from-file=tls.key={folder}/ours.key",
        )
