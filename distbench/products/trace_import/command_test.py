# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""`distbench import` as users run it."""

import json
import unittest

from tests import programs
from tests import testing_main

TRACES = """trace,span,parent,service,operation,start_ns,duration_ns,kind
t,1,,bank,transfer,1000000,90000,server
t,2,1,vault,open,1020000,50000,server
u,1,,bank,transfer,501000000,90000,server
v,9,missing,vault,open,602000000,50000,server
"""


class ImportTest(programs.ProgramTest):
    def traces(self, text=TRACES):
        path = self.path("traces.csv")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def test_the_config_passes_check_test(self):
        config = self.path("mine.config")
        outcome = self.distbench(
            "import",
            "csv",
            self.traces(),
            "-o",
            config,
            "--fidelity",
            "--hide_names",
        )
        self.assertEqual((outcome.status, outcome.out), (0, ""), outcome)
        self.assertIn("Invented:", outcome.err)
        self.assertIn("On simulated time", outcome.err)
        self.assertIn("too few calls to compare", outcome.err)
        with open(config, encoding="utf-8") as file:
            self.assertNotIn("vault", file.read())
        self.assertIn("names of services and operations: pseudonyms", outcome.err)
        outcome = self.distbench("check_test", config)
        self.assertEqual(outcome.status, 0, outcome)

    def test_a_secret_hides_names_and_contradictions_are_refused(self):
        for flags in (["--hide_names"], ["--pseudonym_key=x"]):
            with self.subTest(flags):
                hidden = self.distbench("import", "csv", self.traces(), *flags)
                self.assertEqual(hidden.status, 0, hidden)
                self.assertNotIn("vault", hidden.out)
                both = self.distbench(
                    "import", "csv", self.traces(), "--keep_names", *flags
                )
                self.assertEqual((both.status, both.out), (1, ""), both)
                self.assertIn("remove one of them", both.err)

    def test_reports_are_files_if_named(self):
        text, document = self.path("report"), self.path("report.json")
        outcome = self.distbench(
            "import",
            "csv",
            self.traces(),
            f"--report={text}",
            f"--json_report={document}",
        )
        self.assertEqual((outcome.status, outcome.err), (0, ""), outcome)
        self.assertIn('name: "vault"', outcome.out)
        with open(text, encoding="utf-8") as file:
            self.assertIn("--hide_names replaces them", file.read())
        with open(document, encoding="utf-8") as file:
            report = json.load(file)
        self.assertEqual(report["traces"], 3)
        self.assertEqual(
            report["notes"],
            {"spans whose parent is missing begin a tree of their own": 1},
        )

    def test_failures_become_faults_if_asked_for(self):
        header, *rows = TRACES.splitlines()
        failed = [row + ("," if ",vault," in row else ",1") for row in rows]
        path = self.traces("\n".join([header + ",error"] + failed) + "\n")
        config = self.path("faulty.config")
        outcome = self.distbench("import", "csv", path, "-o", config)
        self.assertEqual(outcome.status, 0, outcome)
        self.assertIn("2 failures, which the config does not repeat", outcome.err)
        outcome = self.distbench("import", "csv", path, "-o", config, "--failures")
        self.assertEqual(outcome.status, 0, outcome)
        self.assertNotIn("does not repeat", outcome.err)
        with open(config, encoding="utf-8") as file:
            self.assertIn("server_faults", file.read())
        outcome = self.distbench("check_test", config)
        self.assertEqual(outcome.status, 0, outcome)

    def test_one_is_no_plural(self):
        header, *rows = TRACES.splitlines()
        failed = [f"{row},{int(i == 0)}" for i, row in enumerate(rows)]
        path = self.traces("\n".join([header + ",error"] + failed) + "\n")
        outcome = self.distbench("import", "csv", path)
        self.assertEqual(outcome.status, 0, outcome)
        self.assertIn(" 1 failure, which the config does not", outcome.err)
        self.assertIn(" 1 time: ", outcome.err)

    def test_what_is_imported_is_not_overwritten(self):
        path = self.traces()
        for flag in ("-o", "--report", "--json_report"):
            with self.subTest(flag):
                outcome = self.distbench("import", "csv", path, flag, path)
                self.assertEqual((outcome.status, outcome.out), (1, ""), outcome)
                self.assertIn(f"{flag} {path} would overwrite FILE", outcome.err)
                with open(path, encoding="utf-8") as file:
                    self.assertEqual(file.read(), TRACES)

    def ranks(self, count=4, change=lambda rank, nodes: None):
        """Writes a step of a job as files of ranks, of which every other one
        shares tensors, and returns their paths."""
        paths = []
        for rank in range(count):
            nodes = [
                {"Id": 1, "NodeType": 4, "data_deps": [], "runtime": 2000},
                {
                    "Id": 2,
                    "NodeType": 7,
                    "data_deps": [1],
                    "comm_type": 0,
                    "comm_size": 4096,
                    "pg_name": f"tensors of {rank % 2}",
                },
                {"Id": 3, "NodeType": 4, "data_deps": [1], "runtime": 6000},
                {
                    "Id": 4,
                    "NodeType": 7,
                    "data_deps": [2, 3],
                    "comm_type": 6,
                    "comm_size": 4096,
                    "pg_name": f"data of {rank // 2}",
                },
            ]
            change(rank, nodes)
            paths.append(
                self.write(
                    f"step.{rank}.json", json.dumps({"workload_graph": nodes})
                )
            )
        return paths

    def test_a_job_is_imported(self):
        config, document = self.path("job.config"), self.path("job.json")
        outcome = self.distbench(
            "import",
            "chakra",
            *self.ranks(),
            "-o",
            config,
            "--iterations=7",
            f"--json_report={document}",
        )
        self.assertEqual(outcome.status, 0, outcome)
        self.assertIn("4 ranks of 16 nodes in all", outcome.err)
        self.assertIn("which takes 8 ms if they take no time", outcome.err)
        with open(document, encoding="utf-8") as file:
            self.assertEqual(json.load(file)["critical_path_us"], 8000)
        outcome = self.distbench("check_test", config)
        self.assertEqual(outcome.status, 0, outcome)

    def test_bad_jobs_are_explained(self):
        def set_member(node, member, value):
            return lambda rank, nodes: rank == 1 and nodes[node].update(
                {member: value}
            )

        for change, flags, message in [
            (set_member(0, "NodeType", 9), [], "step.1.json: node 1 is of type 9"),
            (set_member(0, "data_deps", [3]), [], "step.1.json: node 1 waits"),
            (set_member(1, "comm_size", 0), [], "step.1.json: node 2 has 0 bytes"),
            (set_member(1, "comm_type", 6), [], "rank 1 does not do the same"),
            (set_member(1, "pg_name", "x"), [], "node 2 of rank 0: the group"),
            (lambda rank, nodes: None, ["--ranks=8"], "there are files of 4 ranks"),
            (lambda rank, nodes: None, ["--hide_names"], "--hide_names has no"),
            (lambda rank, nodes: None, ["--max_spans=3"], "more than 3 nodes"),
        ]:
            with self.subTest(message):
                outcome = self.distbench(
                    "import", "chakra", *self.ranks(change=change), *flags
                )
                self.assertEqual((outcome.status, outcome.out), (1, ""), outcome)
                self.assertIn(message, outcome.err)
        files = self.ranks()
        outcome = self.distbench("import", "chakra", *files[:1], *files[2:])
        self.assertIn("the file of rank 1 is missing", outcome.err)
        outcome = self.distbench("import", "chakra", files[0])
        self.assertIn("--ranks=N", outcome.err)
        outcome = self.distbench("import", "csv", self.traces(), "--ranks=2")
        self.assertIn("--ranks has no effect", outcome.err)

    def test_bad_input_is_explained(self):
        for arguments, message in [
            (["otlp", self.traces()], "is not JSON"),
            (["xml", self.traces()], "otlp, jaeger, zipkin, csv, chakra"),
            (["csv", self.path("missing")], "missing"),
            (["csv", self.traces(), "--max_spans=2"], "--max_spans"),
            (
                ["csv", self.traces(), "--sampled_fraction=nan"],
                "nan not in range 1e-09 to 1",
            ),
        ]:
            with self.subTest(arguments):
                outcome = self.distbench("import", *arguments)
                self.assertEqual((outcome.status, outcome.out), (1, ""), outcome)
                self.assertIn(message, outcome.err)


class JobTest(programs.ClusterTest):
    def test_a_job_runs_on_real_nodes(self):
        files = []
        for rank in range(4):
            nodes = [
                {"Id": 1, "NodeType": 4, "data_deps": [], "runtime": 1000},
                {
                    "Id": 2,
                    "NodeType": 5,
                    "data_deps": [1],
                    "comm_dst": (rank + 1) % 4,
                    "comm_size": 100,
                },
                {
                    "Id": 3,
                    "NodeType": 6,
                    "data_deps": [1],
                    "comm_src": (rank - 1) % 4,
                },
                {
                    "Id": 4,
                    "NodeType": 7,
                    "data_deps": [2, 3],
                    "comm_type": 0,
                    "comm_size": 65536,
                },
                {
                    "Id": 5,
                    "NodeType": 7,
                    "data_deps": [4],
                    "comm_type": 0,
                    "comm_size": 65536,
                },
            ]
            files.append(
                self.write(f"s.{rank}.json", json.dumps({"workload_graph": nodes}))
            )
        config = self.path("job.config")
        outcome = self.distbench("import", "chakra", *files, "-o", config)
        self.assertEqual(outcome.status, 0, outcome)
        sequencer = self.start_sequencer("--local_nodes=4")
        self.wait_for_nodes(sequencer, 4)
        outcome = self.run_tests(sequencer, config)
        self.assertEqual(outcome.status, 0, outcome)
        self.assertIn("all_reduce_1: all_reduce by ring of 65536 bytes", outcome.out)
        # Two of each of 20 iterations.
        self.assertRegex(outcome.out, r"rank/\*/?0? +4 +40 ")
        self.assertIn("message_1", outcome.out)


if __name__ == "__main__":
    testing_main.main()
