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


if __name__ == "__main__":
    testing_main.main()
