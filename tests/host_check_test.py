# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""What `distbench check_test` says of hosts, and that a run fails of the same."""

from tests import programs
from tests import testing_main

FINE = programs.client_server_config("max_iteration_count: 10")

# No host has that many NUMA nodes.
BOUND = FINE.replace(
    'name: "client" count: 1',
    'name: "client" count: 1 numa_binding { nodes: "1000" strict: true }',
)
PROBLEM = r"its numa_binding cannot be made"


class HostCheckTest(programs.ClusterTest):
    def check(self, text, *flags):
        infile = self.write("test.config", text)
        return self.distbench("check_test", infile, *flags)

    def test_this_host(self):
        outcome = self.check(FINE, "--this_host")
        self.assertEqual(outcome.status, 0, outcome)
        self.assertIn("this host: nothing is missing for", outcome.out)
        outcome = self.check(BOUND, "--this_host")
        self.assertEqual(outcome.status, 1, outcome)
        self.assertIn("parsed successfully", outcome.out)
        self.assertRegex(
            outcome.err, rf"cannot run on this host: client/0: {PROBLEM}"
        )

    def test_what_a_run_would_go_without(self):
        options = 'name: "default_protocol_driver_options" netdev_name: "none"'
        infile = FINE.replace(
            "tests {", f"tests {{ protocol_driver_options {{ {options} }}"
        )
        outcome = self.check(infile, "--this_host")
        self.assertEqual(outcome.status, 0, outcome)
        self.assertRegex(outcome.out, r"warning: .*none")
        self.assertIn("this host: nothing but what the warnings", outcome.out)

    def test_nodes_of_a_sequencer(self):
        sequencer = self.start_sequencer()
        flag = f"--test_sequencer={sequencer.address}"
        outcome = self.check(FINE, flag)
        self.assertEqual(outcome.status, 1, outcome)
        self.assertRegex(outcome.err, r"needs 2 nodes but none are registered")
        for _ in range(2):
            self.start_node(sequencer)
        outcome = self.check(FINE, flag)
        self.assertEqual(outcome.status, 0, outcome)
        outcome = self.check(BOUND, flag)
        self.assertEqual(outcome.status, 1, outcome)
        self.assertRegex(
            outcome.err, rf"node\d \(host .*\): client/0: {PROBLEM}"
        )
        # As the run says.
        run = self.run_tests(sequencer, self.path("test.config"))
        self.assertNotEqual(run.status, 0, run)
        self.assertRegex(run.out + run.err, rf"client/0: {PROBLEM}")

    def test_controls_are_told_as_the_nodes_tell_them(self):
        sequencer = self.start_sequencer()
        for _ in range(2):
            self.start_node(sequencer)
        infile = self.write(
            "controlled.config",
            FINE.replace(
                "tests {",
                "tests { controls { groups { services: '*' cpu_weight: 50 } }",
            ),
        )
        outcome = self.distbench(
            "check_test", infile, f"--test_sequencer={sequencer.address}"
        )
        run = self.run_tests(sequencer, infile)
        # Hosts with groups that are delegated to the tests lack nothing.
        self.assertEqual(outcome.status == 0, run.status == 0, (outcome, run))
        if outcome.status != 0:
            self.assertIn("controls cannot be set", outcome.err)
            self.assertIn("controls cannot be set", run.out + run.err)

    def test_nobody_is_asked_without_a_flag(self):
        infile = self.write("test.config", FINE)
        outcome = self.distbench(
            "check_test",
            infile,
            env=self.environment(DISTBENCH_TEST_SEQUENCER="localhost:1"),
        )
        self.assertEqual(outcome.status, 0, outcome)
        self.assertEqual(
            outcome.out, f"Result: {infile} parsed successfully.\n"
        )

    def test_a_sequencer_that_is_not_there(self):
        outcome = self.check(FINE, "--test_sequencer=localhost:1")
        self.assertEqual(outcome.status, 3, outcome)
        self.assertIn("parsed successfully", outcome.out)


if __name__ == "__main__":
    testing_main.main()
