# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""Output and exit status of `distbench report` and `distbench compare`."""

import csv
import io
import json
import os
import unittest
import xml.etree.ElementTree

from tests import programs
from tests import testing_main

MAKE_EXAMPLE = os.path.abspath("distbench/report/testing/make_example_result")

INVALID_RESULT = """
test_results {
  traffic_config { name: "example" }
  run_info { findings { severity: INVALID message: "sent too late" } }
}
"""

# Nine RPCs ended in the only second, but five in all.
CONTRADICTORY_RESULT = """
test_results {
  traffic_config { name: "example" rpc_descriptions { name: "query" } }
  service_logs { instance_logs { key: "client/0" value {
    peer_logs { key: "server/0" value { rpc_logs { key: 0 value {
      statistics {
        succeeded_count: 5
        first_start_timestamp_ns: 1700000000000000000
        last_end_timestamp_ns: 1700000001000000000
      }
    } } } }
    rpc_time_series { key: 0 value {
      interval_ns: 1000000000
      intervals { index: 1700000000 succeeded_count: 9 }
    } }
  } } }
}
"""


class ReportTestCase(programs.ProgramTest):
    def example(self, file_name="a.pb.gz", slowness=1.0, name="example"):
        path = self.path(file_name)
        outcome = self.run_to_end(
            MAKE_EXAMPLE, path, name, "2", "3", "2", "20", "50", str(slowness)
        )
        self.assertEqual(outcome.status, 0, outcome)
        return path


class ReportTest(ReportTestCase):
    def test_json_goes_to_stdout_or_to_a_file(self):
        result = self.example()
        outcome = self.distbench("report", result, "--format=json")
        self.assertEqual(outcome.status, 0, outcome)
        document = json.loads(outcome.out)
        self.assertEqual(
            document["tests"][0]["totals"]["succeeded_count"], 12000
        )

        file = self.path("a.json")
        outcome = self.distbench("report", result, "--format=json", "-o", file)
        self.assertEqual((outcome.status, outcome.out), (0, ""), outcome)
        with open(file, encoding="utf-8") as written:
            self.assertEqual(json.load(written), document)

    def test_tables_are_csv(self):
        result = self.example()
        rows_by_table = {
            "rpcs": 2,
            "percentiles": 2 * (6 + 6 + 6),
            "time_parts": 0,
            "streams": 0,
            "policies": 0,
            "goodput": 0,
            "faults": 0,
            "recoveries": 0,
            "peers": 12,
            "seconds": 40,
            "activities": 0,
            "activity_series": 0,
            "resources": 40,
            "cpus": 40,
            "groups": 0,
            "connections": 2,
            "samples": 0,
        }
        for table, row_count in rows_by_table.items():
            with self.subTest(table=table):
                outcome = self.distbench(
                    "report", result, "--format=csv", f"--table={table}"
                )
                self.assertEqual(outcome.status, 0, outcome)
                header, *rows = csv.reader(
                    io.StringIO(outcome.out), strict=True
                )
                self.assertEqual(header[:3], ["source", "test", "repetition"])
                self.assertEqual(len(rows), row_count)
                for row in rows:
                    self.assertEqual(len(row), len(header))
                    self.assertEqual(row[:3], [result, "example", "0"])

    def test_terminals_get_the_view_for_people(self):
        result = self.example()
        status, shown = self.on_terminal(80, "report", result, NO_COLOR="1")
        self.assertEqual(status, 0, shown)
        self.assertRegex(shown, r"\Aexample: ")
        self.assertIn("\nRPCs:\n", shown)
        self.assertNotIn("RPC latency summary:", shown)
        same = self.distbench("report", result, "--format=terminal")
        self.assertEqual(same.out, shown)

    def test_several_tests_are_also_beside_each_other(self):
        self.example("a.pb.gz", name="a")
        self.example("b.pb.gz", name="b")
        outcome = self.distbench("report", self.folder, "--format=terminal")
        self.assertEqual(outcome.status, 0, outcome)
        table = outcome.out.partition("\nAll tests, with ")[2].splitlines()
        self.assertRegex(table[1], r"^test +RPC +rate +p50 +p99 +verdict$")
        names = [line.split()[0] for line in table[2:] if line[0] != " "]
        self.assertEqual(names, ["a", "b"])

    def test_files_and_who_asks_get_the_summary(self):
        result = self.example()
        _, summary = self.on_terminal(80, "report", result, "--format=text")
        self.assertIn("RPC latency summary:", summary)
        file = self.path("report.txt")
        self.assertEqual(self.on_terminal(80, "report", result, "-o", file), (0, ""))
        with open(file, encoding="utf-8") as written:
            self.assertEqual(written.read(), summary)

    # The summary has what run_tests prints into a pipe, JSON the same words.
    def test_missed_objectives_are_in_every_format(self):
        result = self.write(
            "missed.pb",
            CONTRADICTORY_RESULT.replace(
                'name: "example"',
                'name: "example" objectives: "rate>=1000" '
                'objectives: "failures<=100%"',
            ),
        )
        summary = self.distbench("report", result, "--format=text").out
        self.assertRegex(
            summary,
            r"\nObjectives:\n"
            r"FAIL +example  rate>=1000 +cannot be judged: [^\n]+\n"
            r"FAIL +example  failures<=100% +cannot be judged: [^\n]+\n\Z",
        )
        terminal = self.distbench("report", result, "--format=terminal").out
        document = json.loads(
            self.distbench("report", result, "--format=json").out
        )
        headline = document["tests"][0]["headline"]
        self.assertEqual(headline["verdict"], "missed")
        self.assertEqual(
            headline["objectives"], "2 missed of 2 objectives"
        )
        self.assertTrue(
            terminal.startswith(
                "example: missed (2 missed of 2 objectives"
            ),
            terminal,
        )

    def test_several_results_and_directories(self):
        self.example("a.pb.gz", name="a")
        self.example("b.pb", name="b")
        self.write("notes.txt", "no result")
        outcome = self.distbench("report", self.folder, "--format=text")
        self.assertEqual(outcome.status, 0, outcome)
        self.assertRegex(
            outcome.out, r"(?s)^Test: a\n.*^Test: b\n".replace("^", "(?m:^)")
        )
        empty = self.path("empty")
        os.mkdir(empty)
        outcome = self.distbench("report", empty)
        self.assertEqual(outcome.status, 1, outcome)
        self.assertIn("holds no results", outcome.err)

    def test_control_characters_of_names_are_blanks(self):
        result = self.write(
            "old.pb",
            INVALID_RESULT.replace(
                '"example"', r'"ctl\001\033[31mred\nfeed"', 1
            ),
        )
        outcome = self.distbench("report", result)
        self.assertIn("Test: ctl  [31mred feed", outcome.out)
        self.assertNotIn("\033", outcome.out)

    def test_check_says_which_numbers_contradict_each_other(self):
        checked = self.distbench("report", self.example(), "--check")
        self.assertEqual(
            (checked.status, checked.out),
            (0, "1 run checked: the numbers agree with each other\n"),
            checked,
        )
        lie = self.write("lie.result", CONTRADICTORY_RESULT)
        checked = self.distbench("report", lie, "--check")
        self.assertEqual(checked.status, 3, checked)
        self.assertIn(
            f"{lie}: example: query: ended in seconds, without warm-up 9, "
            "in all 5\n",
            checked.out,
        )
        refused = self.distbench("report", lie, "--check", "--format=json")
        self.assertEqual(refused.status, 1, refused)
        self.assertIn("leave out --format=json", refused.err)

    def test_hdr_is_of_one_rpc(self):
        result = self.example()
        outcome = self.distbench("report", result, "--format=hdr")
        self.assertEqual(outcome.status, 1, outcome)
        self.assertIn("--rpc: rpc_0, rpc_1", outcome.err)
        outcome = self.distbench(
            "report", result, "--format=hdr", "--rpc=rpc_1", "--latency=service"
        )
        self.assertEqual(outcome.status, 0, outcome)
        self.assertRegex(outcome.out, r"Total count    =         6000\]")

    def test_mpstat_has_rows_of_each_cpu_and_second(self):
        outcome = self.distbench("report", self.example(), "--format=mpstat")
        self.assertEqual(outcome.status, 0, outcome)
        self.assertRegex(outcome.out, r"(?m) \(host0\)\t.* CPU\)$")
        self.assertRegex(outcome.out, r"(?m)^Average: +all( +\d+\.\d\d){8}$")
        self.assertRegex(outcome.out, r"(?m)^\d\d:\d\d:\d\d +\d+ +\d+\.\d\d ")

    def test_trace_needs_traced_rpcs(self):
        outcome = self.distbench("report", self.example(), "--format=trace")
        self.assertEqual((outcome.status, outcome.out), (1, ""), outcome)
        self.assertIn("tracing_interval", outcome.err)

    def test_flags_of_another_format_are_refused(self):
        for flag in (
            "--table=peers",
            "--rpc=a",
            "--test=a",
            "--latency=service",
        ):
            with self.subTest(flag=flag):
                outcome = self.distbench("report", "a.pb", flag)
                self.assertEqual(outcome.status, 1, outcome)
                self.assertRegex(outcome.err, r"goes with --format=(csv|hdr)")
        outcome = self.distbench(
            "report", "a.pb", "--format=csv", "--table=peer"
        )
        self.assertIn('did you mean "peers"?', outcome.err)

    def test_invalid_results_exit_3_in_every_format(self):
        result = self.write("invalid.pb", INVALID_RESULT)
        names = "text json csv html mpstat openmetrics"
        for name in names.split():
            with self.subTest(format=name):
                outcome = self.distbench("report", result, f"--format={name}")
                self.assertEqual(outcome.status, 3, outcome)

    def test_file_stays_as_it_was_if_a_report_fails(self):
        file = self.write("kept.json", "kept")
        outcome = self.distbench(
            "report", self.example(), "--format=trace", "-o", file
        )
        self.assertEqual(outcome.status, 1, outcome)
        with open(file, encoding="utf-8") as kept:
            self.assertEqual(kept.read(), "kept")


class CompareTest(ReportTestCase):
    def test_gates_decide_the_exit_status(self):
        base = self.example("base.pb.gz")
        slower = self.example("slower.pb.gz", slowness=2)
        outcome = self.distbench("compare", base, slower)
        self.assertEqual(outcome.status, 0, outcome)
        self.assertRegex(outcome.out, r"p99 +[\d.]+ .s +[\d.]+ .s +x[12]\.\d+ ")
        self.assertIn("--repeat", outcome.out)

        outcome = self.distbench("compare", base, slower, "--fail_if=p99>5%")
        self.assertEqual(outcome.status, 2, outcome)
        self.assertRegex(outcome.out, r"undecided .*rpc_0:p99>5% .*--repeat=5")
        outcome = self.distbench(
            "compare",
            base,
            slower,
            "--fail_if=p99>5%",
            "--allow_undecided",
            f"--junit={self.path('checks.xml')}",
            f"--markdown={self.path('checks.md')}",
        )
        self.assertEqual(outcome.status, 0, outcome)
        checks = xml.etree.ElementTree.parse(self.path("checks.xml"))
        cases = checks.findall("testsuite/testcase")
        self.assertTrue(cases)
        self.assertTrue(all(c.find("skipped") is not None for c in cases))
        with open(self.path("checks.md"), encoding="utf-8") as table:
            self.assertIn("| undecided |", table.read())

    def compared(self, *flags):
        """Two runs of each, of which new is slower, in a format."""
        for side, slowness in (("base", 1), ("new", 2)):
            if not os.path.isdir(self.path(side)):
                os.mkdir(self.path(side))
                self.example(f"{side}/a.pb.gz", slowness)
                self.example(f"{side}/b.pb.gz", slowness * 1.01)
        return self.distbench(
            "compare", self.path("base"), self.path("new"), *flags
        )

    def test_every_format_has_the_same_verdict(self):
        text = self.compared()
        self.assertEqual(text.status, 0, text)
        headline = text.out.splitlines()[0]
        document = json.loads(self.compared("--format=json").out)
        self.assertEqual(
            headline, f"Result: {document['verdict']}. {document['headline']}"
        )
        self.assertEqual(document["verdict"], "worse")
        markdown = self.compared("--format=markdown").out
        self.assertTrue(
            markdown.startswith(f"**distbench: worse.** {document['headline']}")
        )
        (metrics,) = (
            rpc["metrics"]
            for rpc in document["tests"][0]["rpcs"]
            if rpc["name"] == "rpc_0"
        )
        cases = xml.etree.ElementTree.fromstring(
            self.compared("--format=junit").out
        ).findall("testsuite/testcase")
        found = {
            case.get("name"): "".join(case.itertext()) for case in cases
        }
        for metric in metrics:
            if metric["verdict"] in ("worse", "better"):
                message = found[f"rpc_0 {metric['metric']}"]
                self.assertTrue(message.startswith(metric["verdict"]), message)
        page = self.compared("--format=html").out
        self.assertIn(f'"headline":"{document["headline"]}"', page)

    def test_every_format_has_the_same_exit_status(self):
        invalid = self.write("invalid.pb", INVALID_RESULT)
        for name in ("text", "json", "markdown", "junit", "html"):
            with self.subTest(format=name):
                file = self.path(f"changes.{name}")
                flags = (f"--format={name}", "-o", file)
                outcome = self.compared(*flags)
                self.assertEqual((outcome.status, outcome.out), (0, ""), outcome)
                self.assertGreater(os.path.getsize(file), 0)
                outcome = self.compared(*flags, "--fail_if=p50>5%")
                self.assertEqual(outcome.status, 2, outcome)
                outcome = self.distbench(
                    "compare", invalid, invalid, f"--format={name}"
                )
                self.assertEqual(outcome.status, 3, outcome)

    def test_an_unknown_format_and_an_unwritable_file_are_refused(self):
        outcome = self.compared("--format=htlm")
        self.assertEqual(outcome.status, 1, outcome)
        self.assertIn('did you mean "html"?', outcome.err)
        below_a_file = os.path.join(self.write("file", ""), "a.html")
        outcome = self.compared("-o", below_a_file)
        self.assertEqual(outcome.status, 1, outcome)
        self.assertIn(below_a_file, outcome.err)

    def test_false_numbers_exit_3(self):
        outcome = self.distbench(
            "compare", self.example(), self.write("invalid.pb", INVALID_RESULT)
        )
        self.assertEqual(outcome.status, 3, outcome)
        self.assertIn("sent too late", outcome.out)

    def test_a_misspelt_rpc_is_wrong_usage(self):
        """Not a condition that is not met, even where nothing is comparable."""
        base = self.example("base.pb.gz")
        other = self.write(
            "other.pb",
            'test_results { traffic_config { rpc_descriptions { name: "x" } } }',
        )
        for new in (base, other):
            outcome = self.distbench(
                "compare", base, new, "--fail_if=rcp_0:p99>5%"
            )
            self.assertEqual((outcome.status, outcome.out), (1, ""), outcome)
            self.assertIn(
                '"rcp_0:p99>5%": no test has an RPC "rcp_0"; did you mean "rpc_0"?',
                outcome.err,
            )
        # Base has this one: what new lost cannot be judged.
        outcome = self.distbench("compare", base, other, "--fail_if=rpc_0:p99>5%")
        self.assertNotEqual(outcome.status, 1, outcome)

    def test_wrong_conditions_are_refused_before_anything_is_read(self):
        outcome = self.distbench("compare", "a", "b", "--fail_if=p99")
        self.assertEqual(outcome.status, 1, outcome)
        self.assertIn("p99>5%", outcome.err)


class RepeatTest(programs.ClusterTest):
    def test_runs_are_interleaved_and_numbered(self):
        sequencer = self.start_sequencer("--local_nodes=2")
        counted = "max_iteration_count: 200 max_parallel_iterations: 10"
        infile = self.write(
            "two.config",
            programs.client_server_config(counted, "a")
            + programs.client_server_config(counted, "b"),
        )
        outfile = self.path("out.pb.gz")
        outcome = self.run_tests(
            sequencer,
            infile,
            "--repeat=3",
            f"--outfile={outfile}",
            "--binary_output",
        )
        self.assertEqual(outcome.status, 0, outcome)
        self.assertRegex(outcome.err, r"\[6/6\] b: done")
        report = self.distbench("report", outfile, "--format=json")
        runs = [
            (test["name"], test["repetition"])
            for test in json.loads(report.out)["tests"]
        ]
        self.assertEqual(
            runs, [("a", 0), ("b", 0), ("a", 1), ("b", 1), ("a", 2), ("b", 2)]
        )
        compared = self.distbench("compare", outfile, outfile)
        self.assertEqual(compared.status, 0, compared)
        self.assertIn("base: 3 runs, new: 3 runs", compared.out)
        self.assertIn("no difference shown", compared.out)

    def test_no_repetition_is_refused(self):
        outcome = self.distbench(
            "run_tests", "--test_sequencer=localhost:1", "--repeat=0"
        )
        self.assertEqual(outcome.status, 1, outcome)
        self.assertIn("--repeat", outcome.err)


if __name__ == "__main__":
    testing_main.main()
