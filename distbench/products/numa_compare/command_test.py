# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""The command line of `distbench numa_compare`."""

from tests import programs
from tests import testing_main


class NumaCompareTest(programs.ProgramTest):
    def test_services_are_completed(self):
        config = self.write(
            "test.config",
            programs.client_server_config("max_iteration_count: 10"),
        )
        outcome = self.distbench(
            "complete",
            "--",
            "distbench",
            "numa_compare",
            f"--infile={config}",
            "--service=",
        )
        self.assertEqual(outcome.status, 0, outcome)
        self.assertEqual(
            outcome.out.split(), ["--service=client", "--service=server"]
        )

    def test_a_file_is_not_taken_for_a_pattern(self):
        config = self.write("a.config", "tests { }")
        outcome = self.distbench("numa_compare", config)
        self.assertEqual(outcome.status, 1, outcome)
        self.assertIn(f"not a pattern; name it with --infile={config}", outcome.err)


if __name__ == "__main__":
    testing_main.main()
