# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""distbench simulate, as users run it."""

import json
import os
import re
import resource
import signal
import time
import unittest

from tests import programs
from tests import testing_main

LOOP = "max_iteration_count: 500"

# Also on simulated time: a billion iterations take days.
ENDLESS = "max_iteration_count: 1000000000"

EXTERNAL = """
tests {
  name: "outside"
  services { name: "client" count: 1 }
  services { name: "them" external { addresses: "127.0.0.1:1" } }
  rpc_descriptions {
    name: "call" client: "client" server: "them"
    external_call { method: "/a.B/C" }
  }
  action_lists { name: "client" action_names: "call" }
  actions { name: "call" rpc_name: "call" }
}
"""

# One worker that answers from its own CPU time, on hosts on which that takes
# exactly a millisecond.
ONE_WORKER = """
tests {
  name: "t"
  workers_per_instance: 1
  services { name: "client" count: 1 }
  services { name: "server" count: 1 }
  rpc_descriptions { name: "ask" client: "client" server: "server" }
  action_lists { name: "client" action_names: "run" }
  action_lists { name: "ask" }
  actions {
    name: "run"
    rpc_name: "ask"
    iterations { rate: "100/s" max_duration: "1s" }
  }
}
"""
ONE_THOUSAND_PER_SECOND = """
stacks {
  driver: "grpc"
  client_send { fixed_ns: 1000 }
  client_receive { fixed_ns: 1000 }
  server_receive { fixed_ns: 900000 }
  server_send { fixed_ns: 100000 }
}
"""


class SimulateTest(programs.ProgramTest):
    def simulate(self, *arguments, **environment):
        return self.distbench(
            "simulate", *arguments, env={**os.environ, **environment}
        )

    def config(self, loop=LOOP):
        return self.write("a.config", programs.client_server_config(loop))

    def test_results_are_those_of_a_test_and_marked(self):
        outfile = self.path("a.pb.gz")
        outcome = self.simulate(
            self.config(), f"--outfile={outfile}", "--binary_output"
        )
        self.assertEqual(outcome.status, 0, outcome)
        first, second = outcome.out.splitlines()[:2]
        self.assertEqual(first, "Test summary:")
        self.assertRegex(second, "^Simulated, not measured: 2 hosts of 8 CPUs")
        self.assertIn("client/0 -> server/0: RPCs: 500 ", outcome.out)
        self.assertRegex(outcome.err, r"client_server: done after .* simulated ")
        report = self.distbench("report", outfile, "--format=json")
        (test,) = json.loads(report.out)["tests"]
        self.assertTrue(test["simulated"])
        self.assertEqual(test["simulation"]["host_count"], 2)
        self.assert_nothing_runs()

    def test_equal_seeds_give_equal_figures_on_any_number_of_threads(self):
        config = self.config()
        outcomes = [
            self.simulate(
                config, "--quiet", f"--threads={threads}", f"--seed={seed}"
            )
            for threads, seed in ((1, 7), (2, 7), (1, 8))
        ]
        same, other_threads, other_seed = [
            re.findall("min: .*", outcome.out) for outcome in outcomes
        ]
        self.assertEqual(same, other_threads)
        self.assertNotEqual(same, other_seed)
        self.assertEqual(outcomes[0].err, "")

    def test_files_are_identical_if_the_start_is_given(self):
        config = self.config(
            "max_iteration_count: 3000 open_loop_interval_ns: 1000000"
        )
        files = []
        for threads in (1, 2):
            outfile = self.path(f"{threads}.pb")
            outcome = self.simulate(
                config, f"--threads={threads}", f"--outfile={outfile}",
                "--binary_output", SOURCE_DATE_EPOCH="1800000000"
            )
            self.assertEqual(outcome.status, 0, outcome)
            with open(outfile, "rb") as file:
                files.append(file.read())
        self.assertEqual(*files)

    @unittest.skipIf(programs.SANITIZED, "sanitizers need more memory")
    def test_ten_thousand_hosts_need_less_than_two_gibibytes(self):
        config = self.write(
            "many.config",
            ONE_WORKER.replace('"server" count: 1', '"server" count: 9999')
            .replace('server: "server"', 'server: "server" fanout_filter: "all"')
            .replace('"100/s"', '"5/s"'),
        )
        outfile = self.path("many.pb.gz")
        outcome = self.simulate(
            config,
            f"--fabric={self.write('fabric', ONE_THOUSAND_PER_SECOND)}",
            f"--outfile={outfile}",
            "--binary_output",
            "--quiet",
        )
        self.assertEqual(outcome.status, 0, outcome)
        self.assertRegex(outcome.out, "Simulated, not measured: 10000 hosts")
        # Of the largest program that this test has run.
        kibibytes = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
        self.assertLess(kibibytes, 2 << 20)

    def test_an_impossible_start_is_refused(self):
        outcome = self.simulate(self.config(), SOURCE_DATE_EPOCH="today")
        self.assertEqual(outcome.status, 1, outcome)
        self.assertIn('SOURCE_DATE_EPOCH is "today"', outcome.err)

    def test_fabrics_are_read_and_kept(self):
        fabric = self.write("fabric", "host { cpus: 3 } leaf_spine {}")
        kept = self.path("kept")
        for flags in (
            (f"--fabric={fabric}", f"--keep_fabric={kept}"),
            (f"--fabric={kept}",),
        ):
            outcome = self.simulate(self.config(), "--hosts=5", *flags)
            self.assertEqual(outcome.status, 0, outcome)
            self.assertIn("5 hosts of 3 CPUs, leaf-spine network", outcome.out)

    def test_objectives_decide_the_exit_status(self):
        for objective, status in (("ping p50<=10s", 0), ("ping p50<=1ns", 2)):
            outcome = self.simulate(self.config(), f"--slo={objective}")
            self.assertEqual(outcome.status, status, outcome)
            self.assertRegex(outcome.out, r"client_server \(simulated\)")

    def test_a_limit_that_no_test_needs_is_none(self):
        outcome = self.simulate(
            self.config(), "--max_test_duration=300000h"
        )
        self.assertEqual(outcome.status, 0, outcome)

    def test_numbers_that_it_would_change_are_refused(self):
        for flag, message in (
            ("--max_test_duration=10ms", "the next one is 1s"),
            ("--max_test_duration=1.1s", "the next one is 2s"),
            ("--seed=-1", "not in range 0 to 18446744073709551615"),
            ("--seed=18446744073709551616", "not in range"),
        ):
            outcome = self.simulate(self.config(), flag)
            self.assertEqual(outcome.status, 1, outcome)
            self.assertIn(message, outcome.err)

    def test_an_interrupt_keeps_what_was_simulated(self):
        outfile = self.path("a.pb")
        process = self.start(
            programs.DISTBENCH,
            "simulate",
            self.config(ENDLESS),
            "--max_test_duration=100000000",
            f"--outfile={outfile}",
        )
        process.wait_for(r"s simulated, \d+ RPCs", "err")
        outcome = process.stop(signal.SIGINT)
        self.assertEqual(outcome.status, 3, outcome)
        self.assertIn("cancelled", outcome.err)
        self.assertRegex(
            outcome.out, "Simulated, not measured.*\nThe test failed"
        )
        report = self.distbench("report", outfile)
        self.assertRegex(report.out, r"client/0 -> server/0: RPCs: [1-9]")

    def test_what_cannot_be_simulated_is_refused(self):
        config = self.config()
        missing = self.path("missing")
        wrong = self.write("wrong", "host { cpus: 0 }")
        for pattern, arguments in (
            ("missing", [missing]),
            ("missing", [config, f"--fabric={missing}"]),
            (r"host.cpus", [config, f"--fabric={wrong}"]),
            ("missing", [config, f"--calibrate_from={missing}"]),
            ("--legacy_text", [config, "--outfile=a", "--legacy_text"]),
            ("nothing to keep", [config, f"--keep_fabric={missing}"]),
            ("--hosts", [config, "--hosts=0"]),
            ("--hosts", [config, "--hosts=many"]),
            ("--fabrik", [config, "--fabrik=x"]),
            ("external", [self.write("b.config", EXTERNAL)]),
        ):
            outcome = self.simulate(*arguments)
            self.assertEqual(outcome.status, 1, outcome)
            self.assertRegex(outcome.err, pattern)
            self.assertEqual(outcome.out, "")

    def test_all_tests_are_checked_before_the_first_one_runs(self):
        sequence = programs.client_server_config(LOOP) + EXTERNAL
        outcome = self.simulate(self.write("two.config", sequence))
        self.assertEqual(outcome.status, 1, outcome)
        self.assertRegex(outcome.err, "outside: .*external")
        self.assertNotIn("simulating", outcome.err)
        self.assertEqual(outcome.out, "")

    def test_the_tests_of_a_sweep_run_one_after_the_other(self):
        sweep = "".join(
            programs.client_server_config(LOOP, f"of_{count}") for count in (1, 2)
        )
        outcome = self.simulate(self.write("sweep.config", sweep))
        self.assertEqual(outcome.status, 0, outcome)
        self.assertRegex(outcome.err, "of_1: done(.|\n)*of_2: done")

    def test_results_have_the_time_at_which_they_were_made(self):
        outfile = self.path("a.pb")
        before = time.time_ns() // 10**9 * 10**9
        self.simulate(self.config(), f"--outfile={outfile}")
        report = self.distbench("report", outfile, "--format=json")
        (test,) = json.loads(report.out)["tests"]
        started = test["run"]["start_timestamp_ns"]
        self.assertTrue(before <= started <= time.time_ns() + 10**9, started)

    def test_a_search_finds_the_capacity_of_the_simulated_server(self):
        self.require_command("search")
        outfile = self.path("search.pb")
        outcome = self.distbench(
            "search",
            self.write("one_worker.config", ONE_WORKER),
            "--simulate",
            f"--fabric={self.write('fabric', ONE_THOUSAND_PER_SECOND)}",
            "--slo=ask p99<=5ms",
            "--warmup=500ms",
            "--probe_duration=2s",
            "--final_duration=2s",
            f"--outfile={outfile}",
        )
        self.assertEqual(outcome.status, 0, outcome)
        with open(outfile, encoding="utf-8") as file:
            found = re.search(r"^  load: ([\d.]+)$", file.read(), re.MULTILINE)
        self.assertAlmostEqual(float(found[1]), 1000, delta=40)

    def test_searches_are_marked_while_they_run(self):
        self.require_command("search")
        outfile = self.path("search.pb")
        outcome = self.distbench(
            "search",
            self.config(
                "open_loop_interval_ns: 1000000 max_duration_us: 10000000"
            ),
            "--simulate",
            "--slo=failures<=50%",
            "--loads=100,200",
            "--final_duration=2s",
            f"--outfile={outfile}",
        )
        self.assertEqual(outcome.status, 0, outcome)
        self.assertIn("on simulated hosts", outcome.err)
        self.assertIn("Verdict (simulated): all_met", outcome.err)
        self.assertIn("outside of what was validated", outcome.err)
        header, *rows = outcome.out.splitlines()
        self.assertTrue(header.endswith(",simulated"), header)
        self.assertEqual([row[-2:] for row in rows], [",1", ",1"])
        table = self.distbench("report", outfile, "--format=csv", "--table=search")
        self.assertEqual(table.out, outcome.out)
        real = self.distbench(
            "search", self.config(), f"--keep_fabric={self.path('f')}"
        )
        self.assertRegex(real.err, "--keep_fabric requires --simulate")


if __name__ == "__main__":
    testing_main.main()
