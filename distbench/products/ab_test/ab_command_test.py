# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""`distbench ab_test` and `distbench noise_floor` on real runs."""

import json
import os
import signal
import unittest

from tests import programs
from tests import testing_main

COUNTED = "max_iteration_count: 400 max_parallel_iterations: 4"

# A server that takes this long for each request.
SLOW_SERVER = """
  actions {{ name: "work" activity_config_name: "sleep" }}
  activity_configs {{
    name: "sleep"
    activity_settings {{ name: "activity_func" string_value: "SleepFor" }}
    activity_settings {{ name: "duration_us" int64_value: {duration_us} }}
  }}
  action_lists {{ name: "ping" action_names: "work" }}
}}
"""


def config(duration_us):
    text = programs.client_server_config(COUNTED)
    start, _, _ = text.rpartition("action_lists { name: \"ping\"")
    return start + SLOW_SERVER.format(duration_us=duration_us)


class AbTestTest(programs.ClusterTest):
    def ab_test(self, *flags):
        sequencer = self.start_sequencer("--local_nodes=2")
        return self.distbench(
            "ab_test",
            f"--test_sequencer={sequencer.address}",
            f"--base={self.write('base.config', config(2_000))}",
            f"--outdir={self.path('out')}",
            *flags,
        )

    def repetitions(self, name):
        report = self.distbench(
            "report", os.path.join(self.path("out"), name), "--format=json"
        )
        return [
            test["repetition"] for test in json.loads(report.out)["tests"]
        ]

    def test_a_large_regression_is_decided_early(self):
        changes = self.path("changes.xml")
        outcome = self.ab_test(
            f"--new={self.write('new.config', config(6_000))}",
            "--allow_different_traffic",
            "--fail_if=p50>20%",
            "--until_decided",
            "--repeat=12",
            f"--junit={changes}",
        )
        self.assertEqual(outcome.status, 2, outcome)
        self.assertRegex(outcome.out, r"FAIL .*ping:p50>20%")
        rounds = self.repetitions("base.pb.gz")
        self.assertEqual(rounds, self.repetitions("new.pb.gz"))
        self.assertEqual(rounds, list(range(len(rounds))))
        self.assertGreaterEqual(len(rounds), 4)
        self.assertLess(len(rounds), 12)
        # The files are judged later as they were then.
        compared = self.distbench(
            "compare",
            os.path.join(self.path("out"), "base.pb.gz"),
            os.path.join(self.path("out"), "new.pb.gz"),
            "--allow_different_traffic",
            "--fail_if=p50>20%",
        )
        self.assertEqual(compared.out, outcome.out)
        with open(changes, encoding="utf-8") as file:
            self.assertRegex(file.read(), 'name="ping:p50&gt;20%"><failure ')

    def test_an_a_a_test_gives_a_noise_floor(self):
        outcome = self.ab_test(
            f"--new={self.path('base.config')}",
            "--repeat=3",
            "--format=json",
        )
        self.assertEqual(outcome.status, 0, outcome)
        document = json.loads(outcome.out)
        for side in ("base", "new"):
            self.assertEqual(
                document[side], {"source": side, "runs": 3, "hosts": "real"}
            )
        base = os.path.join(self.path("out"), "base.pb.gz")
        floor = self.distbench("noise_floor", base)
        self.assertEqual(floor.status, 0, floor)
        # On a busy host, a single run may not even show that p50 has doubled.
        change = r" +(±\d+\.\d %|x\d+\.\d+)"
        self.assertRegex(floor.out, f"p50{change}{change}{change}\n")
        compared = self.distbench(
            "compare",
            base,
            os.path.join(self.path("out"), "new.pb.gz"),
            f"--noise_floor={base}",
        )
        self.assertRegex(
            compared.out, r"p50 .*; (within|beyond) the noise floor of [±x]"
        )

    def test_a_signal_keeps_what_was_measured(self):
        sequencer = self.start_sequencer("--local_nodes=2")
        endless = self.write(
            "endless.config", programs.client_server_config(programs.ENDLESS)
        )
        arguments = (
            "ab_test",
            f"--test_sequencer={sequencer.address}",
            f"--base={self.write('base.config', config(2_000))}",
            f"--new={endless}",
            "--allow_different_traffic",
            f"--outdir={self.path('out')}",
        )
        client = self.start(programs.DISTBENCH, *arguments)
        client.wait_for(r"(?s)base:.*client_server: started", "err")
        # Before there are files, too.
        beside = self.distbench(*arguments)
        self.assertEqual(beside.status, 1, beside)
        self.assertIn("another distbench works on ", beside.err)
        client.wait_for(r"(?s)new:.*client_server: started", "err")
        client.send(signal.SIGINT)
        outcome = client.wait()
        self.assertEqual(outcome.status, 3, outcome)
        self.assertIn("was left out: new: ", outcome.err)
        self.assertEqual(self.repetitions("left_out.pb.gz"), [0, 0])

    def error_of_refused(self, *flags):
        """Of a test with these flags that must not reach its sequencer."""
        outcome = self.distbench(
            "ab_test",
            "--test_sequencer=localhost:1",
            f"--base={self.write('base.config', config(2_000))}",
            f"--new={self.path('base.config')}",
            f"--outdir={self.path('out')}",
            *flags,
        )
        self.assertEqual(outcome.status, 1, outcome)
        return outcome.err

    def test_wrong_usage_is_refused_before_anything_runs(self):
        for flags, problem in (
            (["--until_decided"], "needs a condition"),
            (
                ["--until_decided", "--fail_if=p99>5%", "--repeat=3"],
                "from 4 to 200",
            ),
            (["--fail_if=p99"], "p99>5%"),
            (["--fail_if=pinng:p99>5%"], 'did you mean "ping"?'),
            (["--noise_floor=/missing.pb"], "/missing.pb"),
        ):
            self.assertIn(problem, self.error_of_refused(*flags))

    def test_results_of_an_earlier_test_stay(self):
        os.mkdir(self.path("out"))
        for name in ("base.pb.gz", "new.pb.gz", "left_out.pb.gz"):
            with self.subTest(name=name):
                kept = self.write(os.path.join("out", name), "kept")
                self.assertRegex(
                    self.error_of_refused(),
                    f"--outdir=.*out holds {name}, .*name another directory",
                )
                with open(kept, encoding="utf-8") as file:
                    self.assertEqual(file.read(), "kept")
                os.remove(kept)

    def test_few_runs_have_no_noise_floor(self):
        sequencer = self.start_sequencer("--local_nodes=2")
        outfile = self.path("two.pb.gz")
        self.distbench(
            "run_tests",
            f"--test_sequencer={sequencer.address}",
            f"--infile={self.write('base.config', config(2_000))}",
            "--repeat=2",
            f"--outfile={outfile}",
            "--binary_output",
        )
        outcome = self.distbench("noise_floor", outfile)
        self.assertEqual(outcome.status, 3, outcome)
        self.assertIn("there are 2 of at least 3 runs", outcome.err)


if __name__ == "__main__":
    testing_main.main()
