# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""What `distbench launch` must do, whichever ssh it uses."""

import os
import shutil
import signal
import time

from tests import programs


class LaunchCases:
    """Cases for a programs.ProgramTest whose setUp() sets `self.hosts`, names
    of this host, and `self.ssh`, a command that reaches them."""

    def install(self):
        """Gives the hosts a distbench by which its processes are known."""
        folder = self.path("installed")
        os.mkdir(folder)
        return shutil.copy2(programs.DISTBENCH, folder)

    def launch_arguments(self, *arguments, hosts=None, program=None):
        return [
            programs.DISTBENCH,
            "launch",
            "--hosts=" + ",".join(hosts or self.hosts),
            f"--ssh={self.ssh}",
            f"--remote_program={program or self.program}",
            "--service_address=127.0.0.1",
            *arguments,
        ]

    def launch(self, *arguments, **where):
        return self.run_to_end(*self.launch_arguments(*arguments, **where))

    def start_endless(self):
        """Starts a job that runs until it is stopped; returns launch."""
        config = self.write(
            "endless.config",
            programs.client_server_config(
                programs.ENDLESS + " open_loop_interval_ns: 1000000"
                ' open_loop_interval_distribution: "constant"'
            ),
        )
        launch = self.start(
            *self.launch_arguments(
                "--", "run_tests", f"--infile={config}", "--binary_output",
                f"--outfile={self.path('result.pb')}",
            )
        )
        launch.wait_for(r"[1-9]\d* RPCs", "err")
        return launch

    def running(self):
        """Returns the processes of programs below this test's folder."""
        found = {}
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                path = os.readlink(f"/proc/{pid}/exe")
            except OSError:
                continue  # The process has ended meanwhile.
            if path.startswith(self.folder):
                found[pid] = path
        return found

    def assert_all_ends(self):
        end = time.monotonic() + programs.DEADLINE_SECONDS
        while self.running() and time.monotonic() < end:
            time.sleep(0.05)  # Nobody tells when others' processes end.
        self.assertEqual(self.running(), {})

    def test_runs_a_job_and_keeps_logs(self):
        config = self.write(
            "test.config",
            programs.client_server_config("max_iteration_count: 100"),
        )
        result = self.path("it's a result.pb")
        outcome = self.launch(
            f"--logs={self.path('logs')}", "--", "run_tests",
            f"--infile={config}", "--binary_output", f"--outfile={result}",
        )
        self.assertEqual(outcome.status, 0, outcome)
        self.assertIn("3 hosts are ready", outcome.err)
        self.assertIn("ping", outcome.out)
        self.assertGreater(os.path.getsize(result), 0)
        for host in self.hosts:
            with open(
                self.path(f"logs/{host}.log"), encoding="utf-8"
            ) as file:
                log = file.read()
            self.assertNotIn("PRIVATE KEY", log)
            self.assertNotEqual(log, "", host)
        self.assert_all_ends()

    def test_exits_as_rank_0_does(self):
        config = self.write(
            "test.config",
            programs.client_server_config("max_iteration_count: 100"),
        )
        outcome = self.launch(
            "--", "run_tests", f"--infile={config}", "--slo=ping p99<=1ns",
        )
        self.assertEqual(outcome.status, 2, outcome)
        self.assert_all_ends()

    def test_a_signal_ends_the_job_and_keeps_what_was_measured(self):
        launch = self.start_endless()
        outcome = launch.stop(signal.SIGINT)
        self.assertEqual(outcome.status, 3, outcome)
        self.assertGreater(os.path.getsize(self.path("result.pb")), 0)
        self.assert_all_ends()

    def test_the_hosts_end_when_launch_is_killed(self):
        launch = self.start_endless()
        launch.kill()
        self.assert_all_ends()
        # Nobody reads what rank 0 prints any more, and it goes on all the same.
        self.assertGreater(os.path.getsize(self.path("result.pb")), 0)

    def test_names_a_host_without_the_program(self):
        outcome = self.launch("--", "status", program="/no/such/distbench")
        self.assertEqual(outcome.status, 1, outcome)
        for host in self.hosts:
            self.assertIn(f"{host}: there is no program", outcome.err)

    def test_the_secret_is_in_no_argument_and_no_environment(self):
        launch = self.start_endless()
        for pid in filter(str.isdigit, os.listdir("/proc")):
            for name in ("cmdline", "environ"):
                try:
                    with open(f"/proc/{pid}/{name}", "rb") as file:
                        contents = file.read()
                except OSError:
                    continue
                self.assertNotIn(b"PRIVATE KEY", contents)
        launch.stop(signal.SIGTERM)
        self.assert_all_ends()

    def test_copies_the_program_and_removes_it(self):
        places = self.path("copies")
        os.mkdir(places)
        config = self.write(
            "test.config",
            programs.client_server_config("max_iteration_count: 100"),
        )
        arguments = [
            argument
            for argument in self.launch_arguments(
                "--copy", f"--remote_dir={places}", "--", "run_tests",
                f"--infile={config}",
            )
            if not argument.startswith("--remote_program")
        ]
        outcome = self.run_to_end(*arguments)
        self.assertEqual(outcome.status, 0, outcome)
        self.assertEqual(os.listdir(places), [])
        self.assert_all_ends()
