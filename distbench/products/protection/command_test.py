# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""`distbench protection` on a cluster of real processes, and its files."""

import json
import os
import select
import signal
import time

from tests import programs
from tests import testing_main

EXPERIMENT = """
  activity_configs {
    name: "burn"
    activity_settings { name: "activity_func" string_value: "ConsumeCpu" }
  }
  experiment {
    antagonists { name: "hog" activity: "burn" }
    phases {
      stabilise: "5s" flat_over: "5s" flat_within_percent: 1000
      baseline: "3s" interfere: "3s" recover: "0s"
    }
    repeat: 1
  }
"""

# With and without the antagonist, and the antagonist alone.
RUNS = 3


class ProtectionTest(programs.ClusterTest):
    """Uses the shortest phases, because the figures are not tested."""

    def config(self, experiment=EXPERIMENT):
        text = programs.client_server_config(
            "open_loop_interval_ns: 10000000 max_duration_us: 1000000"
        )
        end = text.rindex("}")
        return self.write("test.config", text[:end] + experiment + text[end:])

    def start_cluster(self):
        sequencer = self.start_sequencer()
        for _ in range(2):
            self.start_node(sequencer)
        return sequencer

    def arguments(self, sequencer, infile, *flags):
        return (
            programs.DISTBENCH,
            "protection",
            f"--test_sequencer={sequencer.address}",
            f"--infile={infile}",
            "--allow_invalid",
            *flags,
        )

    def wait_for_file(self, path):
        end = time.monotonic() + programs.DEADLINE_SECONDS
        while not os.path.exists(path):
            self.assertLess(time.monotonic(), end, path)
            select.select([], [], [], 0.05)

    def count_kept(self, result):
        """Returns how many runs of the file need not be run again: all but a
        baseline that other programs made false."""
        report = json.loads(
            self.distbench("report", "--format=json", result).out
        )
        return sum(
            not test["name"].endswith("-none")
            or all(each["severity"] != "invalid" for each in test["findings"])
            for test in report["tests"]
        )

    def test_the_file_is_an_argument_or_a_flag(self):
        self.assert_one_file(
            self.config(), "protection", "--test_sequencer=a:1"
        )

    def test_runs_every_cell_and_reports_it(self):
        sequencer = self.start_cluster()
        result = self.path("protection.pb")
        outcome = self.run_to_end(
            *self.arguments(
                sequencer, self.config(), "--seed=7", f"--outfile={result}"
            )
        )
        self.assertEqual(outcome.status, 0, outcome)
        self.assertIn(f"{RUNS} runs, at least", outcome.err)
        self.assertIn("--seed=7", outcome.err)
        for cell in ("controls none, hog", "no antagonist", "hog alone"):
            self.assertIn(cell, outcome.err)
        self.assertIn("Result: isol=", outcome.out)
        # An experiment is not overwritten.
        again = self.run_to_end(
            *self.arguments(sequencer, self.config(), f"--outfile={result}")
        )
        self.assertEqual(again.status, 1, again)
        self.assertIn(f"resume with --resume={result}", again.err)

    def test_goes_on_after_it_was_ended(self):
        sequencer = self.start_cluster()
        result = self.path("protection.pb")
        infile = self.config()
        experiment = self.start(
            *self.arguments(sequencer, infile, f"--outfile={result}")
        )
        self.wait_for_file(f"{result}.lock")
        beside = self.run_to_end(
            *self.arguments(sequencer, infile, f"--outfile={result}")
        )
        self.assertEqual(beside.status, 1, beside)
        self.assertIn(f"another distbench works on {result}", beside.err)
        self.wait_for_file(result)
        experiment.send(signal.SIGINT)
        self.assertEqual(experiment.wait().status, 3)
        kept = self.count_kept(result)
        outcome = self.run_to_end(
            *self.arguments(sequencer, infile, f"--resume={result}")
        )
        self.assertEqual(outcome.status, 0, outcome)
        self.assertIn(
            f"{RUNS} runs, of which {RUNS - kept} are left, at least"
            if kept
            else f"{RUNS} runs, at least",
            outcome.err,
        )
        self.assertIn("Result: isol=", outcome.out)

    def test_refuses_what_is_no_experiment_before_any_traffic(self):
        sequencer = self.start_sequencer()
        outcome = self.run_to_end(
            *self.arguments(sequencer, self.config(experiment=""))
        )
        self.assertEqual(outcome.status, 1, outcome)
        self.assertIn("has no experiment", outcome.err)
        outcome = self.run_to_end(
            *self.arguments(
                sequencer,
                self.config(EXPERIMENT.replace('activity: "burn"', "")),
            )
        )
        self.assertEqual(outcome.status, 1, outcome)
        self.assertIn("experiment.antagonists[0].activity", outcome.err)
        hogs = "".join(
            f'antagonists {{ name: "{i}" activity: "burn" }}' for i in range(5)
        )
        outcome = self.run_to_end(
            *self.arguments(
                sequencer,
                self.config(EXPERIMENT.replace("phases", hogs + "phases")),
                "--repeat=1000",
            )
        )
        self.assertEqual(outcome.status, 1, outcome)
        self.assertIn("has 13000 runs; at most 10000", outcome.err)

    def test_says_before_the_first_run_what_cells_lack(self):
        sequencer = self.start_cluster()
        groups = 'controls { name: "none" } controls { name: "on" groups { '
        infile = self.config(
            EXPERIMENT.replace(
                "phases",
                groups + "services: '*' cpu_weight: 50 } } phases",
            )
        )
        experiment = self.start(*self.arguments(sequencer, infile))
        experiment.wait_for("run 1 of", "err")
        said = experiment.text("err").split("run 1 of")[0]
        experiment.send(signal.SIGINT)
        experiment.wait()
        if os.path.exists("/sys/fs/cgroup/cgroup.controllers"):
            self.skipTest("this host may have all that the cells need")
        self.assertIn("warning: 2 of 5 runs cannot be made (controls on", said)
        self.assertIn("controls cannot be set", said)

    def test_controls_that_no_host_can_set(self):
        sequencer = self.start_cluster()
        config = programs.client_server_config(
            "max_iteration_count: 100"
        )

        def run(strict):
            # There is no such device, whatever control groups there are.
            controls = (
                f"controls {{ strict: {strict} groups {{ services: '*' "
                'io_max { device: "4095:77" read_bytes: "1MB" } } }'
            )
            infile = self.write(
                "controlled.config",
                config.replace("tests {", f"tests {{ {controls}"),
            )
            return self.run_tests(sequencer, infile)

        outcome = run("true")
        self.assertNotEqual(outcome.status, 0)
        self.assertRegex(
            outcome.out,
            r"node[01] \(host .*\) could not prepare its instances: controls "
            r"cannot be set",
        )
        self.assertRegex(outcome.out, r"io\.max = ")
        if not os.path.exists("/sys/fs/cgroup/cgroup.controllers"):
            self.assertRegex(
                outcome.out, "control groups cannot be used: .*version"
            )
        self.assertIn("N: 0\n", outcome.out)
        outcome = run("false")
        self.assertEqual(outcome.status, 0, outcome)
        self.assertRegex(outcome.out, r"node[01]: 0 of \d+ settings held")
        self.assertIn("controls_not_held", outcome.out)
        self.assertIn("N: 100 ", outcome.out)

    def test_a_subject_without_a_baseline_is_told(self):
        sequencer = self.start_cluster()
        never = 'experiment { subject { objective: "p99<=1ns" }'
        outcome = self.run_to_end(
            *self.arguments(
                sequencer,
                self.config(EXPERIMENT.replace("experiment {", never)),
            )
        )
        self.assertEqual(outcome.status, 3, outcome)
        self.assertIn(
            "The cell (controls none, hog) was not measured in repetition 1: "
            "no request was served within the objective",
            outcome.err,
        )
        self.assertIn("Result: not measured", outcome.out)

    def test_cells_that_cannot_run_are_told(self):
        sequencer = self.start_sequencer()
        outcome = self.run_to_end(*self.arguments(sequencer, self.config()))
        self.assertEqual(outcome.status, 3, outcome)
        self.assertIn("none of the cells could be run", outcome.err)


if __name__ == "__main__":
    testing_main.main()
