# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""Dashboards of folders and of sequencers, with the real programs."""

import os
import shutil
import signal
import time

from tests import programs
from tests import testing_main

import dashboard_client


class DashboardTest(dashboard_client.DashboardTest):
    def setUp(self):
        super().setUp()
        self.results = self.path("results")
        os.mkdir(self.results)

    # ---- Folders

    def test_shows_a_folder_and_what_is_added_to_it(self):
        self.make_result(f"{self.results}/a.pb.gz", "first")
        dashboard = self.serve(self.results)
        self.wait_for_results(dashboard, 1)
        self.make_result(f"{self.results}/b.pb.gz", "second")
        results = self.wait_for_results(dashboard, 2)
        self.assertEqual({r["test"] for r in results}, {"first", "second"})
        found = dashboard.get("/api/results?test=second&limit=1").json()
        self.assertEqual([r["test"] for r in found["results"]], ["second"])
        session = dashboard.get("/api/session").json()
        self.assertEqual(session["source"], "directory")
        self.assertFalse(session["live"])
        self.assertEqual(dashboard.get("/api/live").status, 404)

    def test_shows_several_folders(self):
        other = self.path("other")
        os.mkdir(other)
        for folder in (self.results, other):
            self.make_result(f"{folder}/a.pb.gz")
        dashboard = self.serve(self.results)
        (alone,) = self.wait_for_results(dashboard, 1)
        self.program.stop(signal.SIGINT)

        dashboard = self.serve(self.results, other)
        session = dashboard.get("/api/session").json()
        self.assertEqual(session["folders"], [self.results, other])
        results = self.wait_for_results(dashboard, 2)
        ids = {r["file"]: r["id"] for r in results}
        self.assertEqual(
            set(ids), {f"{self.results}/a.pb.gz", f"{other}/a.pb.gz"}
        )
        for result in results:
            page = dashboard.get(f"/results/{result['id']}")
            self.assertEqual(page.status, 200, page)
            note = {"result": result["id"], "note": result["file"]}
            self.assertEqual(dashboard.post("/api/notes", note).status, 200)
        a, b = ids.values()
        comparison = dashboard.get(f"/compare?base={a}&new={b}")
        self.assertEqual(comparison.status, 200, comparison)
        for folder in (self.results, other):
            with open(f"{folder}/distbench_notes.jsonl") as notes:
                self.assertIn(f'"note":"{folder}/', notes.read())
        unclear = dashboard.get(f"/results/{alone['id']}")
        self.assertEqual(unclear.status, 400, unclear)
        self.assertIn("several folders", unclear.json()["error"])

        # What one folder alone has is still found under its old address.
        os.remove(f"{other}/a.pb.gz")
        self.wait_for_results(dashboard, 1)
        page = dashboard.get(f"/results/{alone['id']}")
        self.assertEqual(page.status, 200, page)

    def test_serves_reports_comparisons_and_files(self):
        for name in ("a", "b"):
            self.make_result(f"{self.results}/{name}.pb.gz", name)
        dashboard = self.serve(self.results)
        a, b = (r["id"] for r in self.wait_for_results(dashboard, 2))
        page = dashboard.get(f"/results/{a}")
        self.assertEqual(page.status, 200, page)
        self.assertEqual(page.headers["content-type"], "text/html; charset=utf-8")
        report = dashboard.get(f"/results/{a}.json")
        self.assertIn("schema_version", report.json())
        file = dashboard.get(f"/results/{a}/file")
        self.assertIn("attachment", file.headers["content-disposition"])
        self.assertEqual(file.body[:2], b"\x1f\x8b")
        comparison = dashboard.get(f"/compare?base={a}&new={b}")
        self.assertEqual(comparison.status, 200, comparison)
        self.assertIn(b"comparison-data", comparison.body)

    def test_says_which_files_it_cannot_read(self):
        self.write("results/bad.pb", "no result")
        self.make_result(f"{self.results}/a.pb.gz")
        dashboard = self.serve(self.results)
        self.wait_for_results(dashboard, 1)
        (bad,) = self.wait_for_problems(dashboard)
        self.assertEqual(bad["file"], "bad.pb")
        self.assertTrue(bad["problem"])

    def test_says_that_the_folder_is_gone(self):
        self.make_result(f"{self.results}/a.pb.gz")
        dashboard = self.serve(self.results)
        (result,) = self.wait_for_results(dashboard, 1)
        shutil.rmtree(self.results)
        (folder,) = self.wait_for_problems(dashboard)
        self.assertIn(self.results, folder["problem"])
        answer = dashboard.get(f"/results/{result['id']}")
        self.assertEqual(answer.status, 404, answer)
        self.assertIn("a.pb.gz", answer.json()["error"])

    def test_says_what_is_wrong_with_a_query(self):
        dashboard = self.serve(self.results)
        for query, what in (
            ("limit=0", "limit"),
            ("limit=501", "limit"),
            ("after=yesterday", "after"),
            ("attribute=a", "attribute"),
            ("tset=a", "tset"),
            ("test=a&test=b", "test"),
            ("search=%", "%25"),
            (f"search={'a+' * 100}", "words"),
        ):
            with self.subTest(query):
                answer = dashboard.get(f"/api/results?{query}")
                self.assertEqual(answer.status, 400, answer)
                self.assertIn(what, answer.json()["error"])
        for path in ("filters", "problems", "series", "trend"):
            with self.subTest(path):
                answer = dashboard.get(f"/api/{path}?tset=a")
                self.assertEqual(answer.status, 400, answer)
                self.assertIn("tset", answer.json()["error"])

    def test_says_why_it_cannot_start(self):
        dashboard = self.serve(self.results)
        for arguments, what in (
            ([self.path("missing")], "missing"),
            ([self.results, self.path("missing")], "missing"),
            ([self.write("a.pb", "")], "give the folder"),
            ([self.results, f"--port={dashboard.port}"], "in use"),
            ([self.results, "--listen=192.0.2.1"], "192.0.2.1"),
            ([self.results, "--port=0", "--index=/missing/x.db"], "/missing"),
            ([self.results, "--tls_cert=/missing.crt"], "tls"),
            ([self.results, "--allow_submit=alice"], "--tls_ca"),
        ):
            with self.subTest(arguments):
                outcome = self.distbench("serve", *arguments)
                self.assertEqual(outcome.status, 1, outcome)
                self.assertIn(what, outcome.err)

    # ---- Sequencers

    def start_live(self, *flags):
        sequencer = self.start_sequencer("--dashboard_port=0", *flags)
        sequencer.dashboard = dashboard_client.Dashboard(sequencer)
        for _ in range(2):
            self.start_node(sequencer)
        return sequencer

    def submit(self, sequencer, name):
        config = programs.client_server_config(programs.ENDLESS, name)
        return self.start(
            programs.DISTBENCH,
            "run_tests",
            f"--test_sequencer={sequencer.address}",
            f"--infile={self.write(name + '.config', config)}",
            f"--label=label of {name}",
        )

    def test_shows_runs_and_cancels_them(self):
        sequencer = self.start_live()
        dashboard = sequencer.dashboard
        stream = dashboard_client.EventStream(dashboard)
        self.addCleanup(stream.close)
        idle = stream.wait_until(lambda status: len(status["nodes"]) == 2)
        self.assertIsNone(idle["running"])
        first = self.submit(sequencer, "first")
        busy = stream.wait_until(
            lambda status: status["running"]
            and status["running"]["succeeded"] > 0
        )
        run = busy["running"]
        self.assertEqual(run["tests"], ["first"])
        self.assertEqual(run["label"], "label of first")
        self.assertEqual({n["state"] for n in busy["nodes"]}, {"busy"})
        second = self.submit(sequencer, "second")
        queue = stream.wait_until(lambda status: status["queue"])["queue"]
        self.assertEqual([q["tests"] for q in queue], [["second"]])
        stream.wait_until(
            lambda status: status["running"]["succeeded"] > run["succeeded"]
        )

        for run_id in (queue[0]["id"], run["id"]):
            answer = dashboard.post("/api/cancel", {"run": run_id})
            self.assertEqual(answer.status, 200, answer)
        stream.wait_until(lambda status: status["running"] is None)
        self.assertNotEqual(first.wait().status, 0)
        self.assertNotEqual(second.wait().status, 0)
        answer = dashboard.post("/api/cancel", {"run": run["id"]})
        self.assertEqual(answer.status, 409, answer)
        self.assertEqual(
            dashboard.post("/api/cancel", {"run": "../x"}).status, 404
        )

    def test_says_that_no_results_are_kept(self):
        dashboard = self.start_live().dashboard
        session = dashboard.get("/api/session").json()
        self.assertTrue(session["live"])
        self.assertFalse(session["history"])
        self.assertIn("--results_dir", session["why_no_history"])
        self.assertEqual(dashboard.get("/api/results").json()["results"], [])

    def test_flags_of_no_dashboard_are_refused(self):
        for flag in ("--dashboard_listen=::1", "--dashboard_host=a.example"):
            outcome = self.distbench("test_sequencer", "--port=0", flag)
            self.assertEqual(outcome.status, 1, outcome)
            self.assertIn("--dashboard_port", outcome.err)

    def test_shows_the_results_of_its_runs(self):
        sequencer = self.start_live(f"--results_dir={self.results}")
        config = programs.client_server_config("max_iteration_count: 100")
        outcome = self.run_tests(sequencer, self.write("t.config", config))
        self.assertEqual(outcome.status, 0, outcome)
        results = self.wait_for_results(sequencer.dashboard, 1)
        self.assertEqual(results[0]["test"], "client_server")
        self.assertTrue(results[0]["run_id"])

    def test_another_dashboard_shows_its_runs_with_other_results(self):
        kept = self.path("kept")
        sequencer = self.start_live(f"--results_dir={kept}")
        self.make_result(f"{self.results}/a.pb.gz")
        dashboard = self.serve(self.results, kept)
        self.wait_for_results(dashboard, 1)
        config = programs.client_server_config("max_iteration_count: 100")
        outcome = self.run_tests(sequencer, self.write("t.config", config))
        self.assertEqual(outcome.status, 0, outcome)
        results = self.wait_for_results(dashboard, 2)
        (run,) = [r for r in results if r["run_id"]]
        self.assertEqual(run["file"], f"{kept}/{run['run_id']}.result")

    def test_streams_have_places_and_requests_are_answered_still(self):
        dashboard = self.start_live().dashboard
        streams = []
        for _ in range(8):
            streams.append(dashboard_client.EventStream(dashboard))
            self.addCleanup(streams[-1].close)
            streams[-1].next_status()
        answer = dashboard.get("/api/live")
        self.assertEqual(answer.status, 503, answer)
        self.assertIn("retry-after", answer.headers)
        self.assertIn("live views", answer.json()["error"])
        self.assertEqual(dashboard.get("/api/status").status, 200)

    def test_ends_quickly_while_a_stream_is_open(self):
        sequencer = self.start_live()
        stream = dashboard_client.EventStream(sequencer.dashboard)
        self.addCleanup(stream.close)
        stream.next_status()
        begin = time.monotonic()
        self.assertEqual(sequencer.stop(signal.SIGINT).status, 0)
        self.assertLess(time.monotonic() - begin, 10)

    def test_a_folder_s_dashboard_ends_quickly(self):
        dashboard = self.serve(self.results)
        with dashboard.connect():
            begin = time.monotonic()
            self.assertEqual(self.program.stop(signal.SIGINT).status, 0)
            self.assertLess(time.monotonic() - begin, 10)


if __name__ == "__main__":
    testing_main.main()
