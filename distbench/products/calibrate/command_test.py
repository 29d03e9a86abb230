# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""distbench calibrate measures activities and sizes them."""

import unittest

from tests import programs
from tests import testing_main

CONFIG = """
tests {
  name: "work"
  default_protocol: "loopback"
  services { name: "lonely" count: 1 }
  activity_configs {
    name: "chase"
    activity_settings { name: "activity_func" string_value: "PointerChase" }
    activity_settings { name: "bytes" int64_value: 6400 }
    activity_settings { name: "hops" int64_value: 1000 }
  }
  activity_configs {
    name: "nap"
    activity_settings { name: "activity_func" string_value: "Wait" }
    activity_settings { name: "mean_us" int64_value: 5 }
  }
  action_lists { name: "lonely" action_names: "chase" action_names: "nap" }
  actions { name: "chase" activity_config_name: "chase" }
  actions { name: "nap" activity_config_name: "nap" }
}
"""


class CalibrateTest(programs.ProgramTest):
    def calibrate(self, *flags):
        infile = f"--infile={self.infile}"
        return self.distbench("calibrate", infile, "--round=1ms", *flags)

    def setUp(self):
        super().setUp()
        self.infile = self.write("work.config", CONFIG)

    def test_the_file_is_an_argument_or_a_flag(self):
        self.assert_one_file(self.infile, "calibrate")

    def test_measures(self):
        outcome = self.calibrate()
        self.assertEqual(outcome.status, 0, outcome)
        self.assertRegex(
            outcome.out,
            r"(?s)Test \"work\":\n"
            r"  chase \(PointerChase\): [0-9.]+ us CPU \([0-9.]+ to [0-9.]+\) "
            r"per iteration, of \d+\n"
            r"  nap \(Wait\): waits, and takes no CPU time\n$",
        )

    def test_measures_what_it_is_asked_for(self):
        outcome = self.calibrate("--activity=chase")
        self.assertEqual(outcome.status, 0, outcome)
        self.assertNotIn("nap", outcome.out)

    def test_sizes(self):
        outfile = self.path("calibrated.config")
        # The result counts, however busy the machine is.
        outcome = self.calibrate(
            "--target=chase=200us", "--tolerance=50", f"--outfile={outfile}"
        )
        self.assertEqual(outcome.status, 0, outcome)
        self.assertRegex(outcome.out, r"chase \(PointerChase\): hops \d+: ")
        with open(outfile, encoding="utf-8") as file:
            text = file.read()
        self.assertRegex(
            text, r'key: "calibration:chase"\s+value: "hops \d+: [0-9.]+ us CPU'
        )
        self.assertNotIn("int64_value: 1000\n", text)
        self.assertEqual(
            self.distbench("check_test", f"--infile={outfile}").status, 0
        )

    def test_a_target_that_can_not_be_reached_exits_2(self):
        outfile = self.path("calibrated.config")
        outcome = self.calibrate("--target=nap=5us", f"--outfile={outfile}")
        self.assertEqual(outcome.status, 2, outcome)
        self.assertRegex(outcome.err, r"nap: Wait waits, and takes no CPU time")

    def test_wrong_flags(self):
        outfile = f"--outfile={self.path('out.config')}"
        target = "--target=chase=5us"
        for flags, message in (
            (["--activity=chaes"], r'"chaes"; did you mean "chase"\?'),
            (
                ["--target=chaes=5us", outfile],
                r'"chaes"; did you mean "chase"\?',
            ),
            (["--target=chase", outfile], r"write an activity and a time"),
            (["--target=chase=-1us", outfile], r"is not a target"),
            ([target, target, outfile], r'"chase" already has a target'),
            ([target], r"--target needs --outfile"),
            ([outfile], r"--outfile needs --target"),
            (
                [target, "--activity=chase", outfile],
                r"has no effect with --target",
            ),
        ):
            with self.subTest(flags=flags):
                outcome = self.calibrate(*flags)
                self.assertEqual(outcome.status, 1, outcome)
                self.assertRegex(outcome.err, message)
                self.assertEqual(outcome.out, "")


if __name__ == "__main__":
    testing_main.main()
