# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""The chart without a cluster: what it renders, and what it refuses.

Needs helm on the PATH, and the Python package kubernetes-validate.
"""

import base64
import os
import re
import subprocess
import tempfile
import unittest

import kubernetes_validate
import yaml

REPOSITORY = os.path.dirname(
    os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
)
KUBERNETES = os.path.join(REPOSITORY, "deploy/kubernetes")
CHART = os.path.join(KUBERNETES, "chart")

# The oldest that the chart admits, those before and after the success policy,
# and the newest whose schemas are known.
VERSIONS = ["1.27.0", "1.30.0", "1.31.0", "1.33.0", "1.36.0"]

A_TEST = ["--set", "test.configMap=my-test"]
CLUSTER = ["--set", "form=cluster"]

# Each with values that reach a branch of the templates.
VARIANTS = {
    "job": A_TEST,
    "job with a config": ["--set-string", "test.config=tests {}"],
    "job with a claim": ["--set", "test.claim=my-tests"],
    "job with a command": [
        *A_TEST,
        "--set-json",
        'command=["search", "--infile=/test/test.config"]',
    ],
    "job that serves": ["--set", "serve=true"],
    "job in plain text": [*A_TEST, "--set", "security.tls=false"],
    "job with topology": [*A_TEST, "--set", "topologyLabels=true"],
    "job on distinct hosts": [*A_TEST, "--set", "spread=distinct"],
    "job anywhere": [*A_TEST, "--set", "spread=none"],
    "job with limits": [
        *A_TEST,
        "--set",
        "activeDeadlineSeconds=600,ttlSecondsAfterFinished=0",
    ],
    "job with results": [
        *A_TEST,
        "--set",
        "results.size=1Gi,results.storageClass=nfs",
    ],
    "job by chance": [*A_TEST, "--set", "resources.guaranteed=false"],
    "cluster": CLUSTER,
    "cluster in plain text": [*CLUSTER, "--set", "security.tls=false"],
    "cluster with a claim": [*CLUSTER, "--set", "results.claim=my-results"],
    "cluster with all that Pods may have": [
        *CLUSTER,
        "--set-json",
        'tolerations=[{"operator": "Exists"}]',
        "--set-json",
        'image.pullSecrets=[{"name": "registry"}]',
        "--set",
        "nodeSelector.pool=bench,priorityClassName=high,runtimeClassName=runc,"
        "podAnnotations.a=b,podLabels.c=d,attributes.rack=a7,topologyLabels=true",
    ],
}


def helm(*arguments):
    return subprocess.run(
        ["helm", *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


def try_template(*arguments, version=VERSIONS[-1]):
    return helm(
        "template", "mine", CHART, "--kube-version", version, *arguments
    )


def template(*arguments, version=VERSIONS[-1]):
    done = try_template(*arguments, version=version)
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return [part for part in yaml.safe_load_all(done.stdout) if part]


def only(objects, kind):
    (found,) = [part for part in objects if part["kind"] == kind]
    return found


def pod_specs(objects):
    return [
        part["spec"]["template"]["spec"]
        for part in objects
        if "template" in part.get("spec", {})
    ]


class RenderingTest(unittest.TestCase):
    def test_every_variant_satisfies_the_schemas(self):
        for name, arguments in VARIANTS.items():
            for version in VERSIONS:
                with self.subTest(name, version=version):
                    for part in template(*arguments, version=version):
                        kubernetes_validate.validate(
                            part, ".".join(version.split(".")[:2]), strict=True
                        )

    def test_lint_finds_nothing(self):
        done = helm("lint", "--strict", CHART, "--kube-version=1.33.0", *A_TEST)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_pods_are_restricted(self):
        for name, arguments in VARIANTS.items():
            for pod in pod_specs(template(*arguments)):
                with self.subTest(name):
                    self.check_restricted(pod)

    def check_restricted(self, pod):
        self.assertIs(pod["automountServiceAccountToken"], False)
        self.assertIs(pod["enableServiceLinks"], False)
        self.assertNotIn("hostNetwork", pod)
        security = pod["securityContext"]
        self.assertIs(security["runAsNonRoot"], True)
        self.assertEqual(security["seccompProfile"], {"type": "RuntimeDefault"})
        (container,) = pod["containers"]
        self.assertEqual(
            container["securityContext"],
            {
                "allowPrivilegeEscalation": False,
                "readOnlyRootFilesystem": True,
                "capabilities": {"drop": ["ALL"]},
            },
        )

    def test_pods_are_guaranteed_their_cpus(self):
        for arguments in (A_TEST, CLUSTER):
            for pod in pod_specs(template(*arguments)):
                resources = pod["containers"][0]["resources"]
                self.assertEqual(resources["requests"], resources["limits"])
                self.assertRegex(resources["limits"]["cpu"], r"^\d+$")

    def test_a_job_succeeds_with_its_leader(self):
        job = only(template(*A_TEST, version="1.31.0"), "Job")["spec"]
        self.assertEqual(
            job["successPolicy"], {"rules": [{"succeededIndexes": "0"}]}
        )
        self.assertEqual(job["backoffLimit"], 0)
        old = only(template(*A_TEST, version="1.30.0"), "Job")["spec"]
        self.assertNotIn("successPolicy", old)

    def test_the_leader_has_a_name(self):
        objects = template(*A_TEST, "--set", "port=12345")
        service = only(objects, "Service")
        job = only(objects, "Job")
        pod = job["spec"]["template"]
        self.assertEqual(pod["spec"]["subdomain"], service["metadata"]["name"])
        self.assertIs(service["spec"]["publishNotReadyAddresses"], True)
        self.assertLessEqual(
            service["spec"]["selector"].items(),
            pod["metadata"]["labels"].items(),
        )
        self.assertIn(
            {
                "name": "DISTBENCH_LEADER",
                "value": f"{job['metadata']['name']}-0."
                f"{service['metadata']['name']}:12345",
            },
            pod["spec"]["containers"][0]["env"],
        )

    def test_long_names_of_releases_make_valid_names(self):
        done = helm(
            "template", "x" * 53, CHART, "--kube-version=1.33.0", *A_TEST
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        for part in yaml.safe_load_all(done.stdout):
            # With "-" and the index of a Pod, at most 63.
            self.assertLessEqual(len(part["metadata"]["name"]), 57)

    def test_attributes_of_the_user_and_of_the_host(self):
        values = ["--set", "topologyLabels=true,attributes.rack=a7"]
        expected = [
            "kubernetes_node=$(NODE_NAME)",
            "zone=$(ZONE)",
            "region=$(REGION)",
            "rack=a7",
        ]
        job = only(template(*A_TEST, *values), "Job")
        variables = job["spec"]["template"]["spec"]["containers"][0]["env"]
        self.assertIn(
            {"name": "DISTBENCH_NODE_ATTRIBUTES", "value": ",".join(expected)},
            variables,
        )
        nodes = only(template(*CLUSTER, *values), "DaemonSet")
        arguments = nodes["spec"]["template"]["spec"]["containers"][0]["args"]
        self.assertEqual(arguments[-4:], expected)

    def test_allowed_targets_reach_all_programs(self):
        target = "[::1]:9000@50"
        allowed = ["--set-json", f'allowTargets=["{target}"]']
        for form, count in ((A_TEST, 1), (CLUSTER, 2)):
            specs = pod_specs(template(*form, *allowed))
            self.assertEqual(len(specs), count)
            for spec in specs:
                self.assertIn(
                    f"--allow_target={target}", spec["containers"][0]["args"]
                )

    def test_the_command_is_the_users(self):
        command = ["search", "--slo=query p99<=5ms"]
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as values:
            yaml.safe_dump({"command": command}, values)
            values.flush()
            job = only(template("--values", values.name), "Job")
        arguments = job["spec"]["template"]["spec"]["containers"][0]["args"]
        self.assertEqual(arguments[arguments.index("--") + 1 :], command)

    def test_the_certificate_has_the_jobs_name(self):
        secret = only(template(*A_TEST), "Secret")
        self.assertEqual(set(secret["data"]), {"ca.crt", "tls.crt", "tls.key"})
        text = subprocess.run(
            ["openssl", "x509", "-noout", "-text"],
            input=base64.b64decode(secret["data"]["tls.crt"]),
            capture_output=True,
            check=True,
        ).stdout.decode()
        self.assertIn("DNS:distbench-job", text)
        self.assertIn("TLS Web Server Authentication", text)
        self.assertIn("TLS Web Client Authentication", text)

    def test_a_secret_of_the_user_is_used(self):
        values = ["--set", "security.secret=mine"]
        objects = template(*A_TEST, *values)
        self.assertNotIn("Secret", [part["kind"] for part in objects])
        volumes = pod_specs(objects)[0]["volumes"]
        (secret,) = [volume for volume in volumes if "secret" in volume]
        self.assertEqual(
            secret["secret"], {"secretName": "mine", "defaultMode": 0o440}
        )

    def test_manifests_are_what_the_chart_renders(self):
        done = subprocess.run(
            [os.path.join(KUBERNETES, "render_manifests"), "--check"],
            capture_output=True,
            text=True,
            check=False,
        )
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_versions_agree(self):
        with open(
            os.path.join(REPOSITORY, "VERSION"), encoding="ascii"
        ) as file:
            version = file.read().strip()
        with open(os.path.join(CHART, "Chart.yaml"), encoding="utf-8") as file:
            chart = yaml.safe_load(file)
        self.assertEqual(chart["appVersion"], version)
        self.assertEqual(chart["version"], version)


class RefusalTest(unittest.TestCase):
    def check_refused(self, expected, *arguments, version=VERSIONS[-1]):
        done = try_template(*arguments, version=version)
        self.assertNotEqual(done.returncode, 0, done.stdout)
        self.assertRegex(done.stderr, expected)

    def test_values_that_exclude_each_other(self):
        for expected, arguments in (
            ("there is no test: add --set-file test.config", []),
            (
                "test.config, test.configMap and test.claim exclude each other",
                [*A_TEST, "--set", "test.claim=c"],
            ),
            (
                "serve=true runs no command",
                [*A_TEST, "--set", "serve=true"],
            ),
            (
                "form=cluster runs no test by itself",
                [*A_TEST, "--set", "form=cluster"],
            ),
            (
                "results.claim names a claim that exists, and results.size",
                [*A_TEST, "--set", "results.claim=c,results.size=1Gi"],
            ),
            (
                "security.tls=false would not use it",
                [*A_TEST, "--set", "security.secret=s,security.tls=false"],
            ),
            (
                "size=1 with nodeOnLeader=false has no node",
                [*A_TEST, "--set", "size=1,nodeOnLeader=false"],
            ),
            (
                "port, healthPort and metricsPort are 9999, 9999 and 9998",
                [*CLUSTER, "--set", "port=9999"],
            ),
        ):
            with self.subTest(expected):
                self.check_refused(expected, *arguments)

    def test_names_of_releases_that_no_service_can_have(self):
        for name in ("my.test", "1test"):
            with self.subTest(name):
                done = helm(
                    "template", name, CHART, "--kube-version=1.33.0", *A_TEST
                )
                self.assertNotEqual(done.returncode, 0, done.stdout)
                self.assertIn("cannot be part of a Service's name", done.stderr)

    def test_the_hosts_network_has_to_be_acknowledged(self):
        self.check_refused(
            'needs a namespace whose level is "privileged"',
            *A_TEST,
            "--set",
            "hostNetwork=true",
        )
        objects = template(
            *A_TEST,
            "--set",
            "hostNetwork=true,hostNetworkAcknowledged=true",
        )
        self.assertIs(pod_specs(objects)[0]["hostNetwork"], True)
        # Otherwise the leader's name would not be found.
        self.assertEqual(
            pod_specs(objects)[0]["dnsPolicy"], "ClusterFirstWithHostNet"
        )

    def test_a_test_that_no_config_map_can_hold(self):
        limit = 1 << 20
        with tempfile.NamedTemporaryFile("w", suffix=".config") as file:
            file.write("#" * limit)
            file.flush()
            template("--set-file", f"test.config={file.name}")
            file.write("#")
            file.flush()
            self.check_refused(
                f"test.config has {limit + 1} bytes, and a ConfigMap holds at "
                f"most {limit}: .*test.claim",
                "--set-file",
                f"test.config={file.name}",
            )

    def test_values_of_the_wrong_kind(self):
        for name, value in (
            ("form", "daemon"),
            ("size", "0"),
            ("size", "three"),
            ("resources.cpus", "1.5"),
            ("resources.memory", "lots"),
            ("spread", "odd"),
            ("port", "80"),
            ("user", "0"),
            ("security.validForDays", "0"),
            ("results.accessMode", "ReadOnlyMany"),
            ("attributes.rack", "a\\,b"),
            ("attributes.--port", "a"),
            ("joinTimeout", "5"),
            ("terminationGracePeriodSeconds", "1"),
        ):
            with self.subTest(name, value=value):
                self.check_refused(
                    re.escape(name.rsplit(".", maxsplit=1)[-1]),
                    *A_TEST,
                    "--set",
                    f"{name}={value}",
                )

    def test_targets_that_are_no_addresses(self):
        for target in ("cache", "cache:1,other:1", "cache:1@fast"):
            self.check_refused(
                "allowTargets",
                *A_TEST,
                "--set-json",
                f'allowTargets=["{target}"]',
            )

    def test_values_that_do_not_exist(self):
        self.check_refused("sise", *A_TEST, "--set", "sise=4")

    def test_kubernetes_that_is_too_old(self):
        self.check_refused(
            "requires kubeVersion: >=1.27.0",
            *A_TEST,
            version="1.26.0",
        )


class FetchTest(unittest.TestCase):
    """deploy/kubernetes/fetch, with a kubectl that says yes to everything."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        kubectl = os.path.join(self.folder, "kubectl")
        with open(kubectl, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\necho yes\n")
        os.chmod(kubectl, 0o755)

    def fetch(self, *arguments):
        return subprocess.run(
            [os.path.join(KUBERNETES, "fetch"), *arguments],
            env={**os.environ, "PATH": f"{self.folder}:{os.environ['PATH']}"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )

    def test_nobody_else_can_read_a_fetched_key(self):
        key = os.path.join(self.folder, "tls.key")
        with open(key, "w", encoding="utf-8") as file:
            file.write("an old one")
        os.chmod(key, 0o644)
        done = self.fetch("secret", "mine", self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(os.stat(key).st_mode & 0o777, 0o600)

    def test_results_need_an_image(self):
        done = self.fetch("results", "claim", self.folder)
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("--image=IMAGE", done.stderr)


if __name__ == "__main__":
    unittest.main()
