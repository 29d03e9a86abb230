# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""Tests distbench.Client against real clusters: runs, progress, cancelling, TLS,
and what it says when something is wrong."""

import itertools
import os
import signal
import sys
import threading
import unittest
from concurrent import futures

import grpc

import distbench
from distbench._proto import control_pb2
from tests import programs, testing_main
from tests.certificates import Authority
from tests.programs import ENDLESS, client_server_config

PACKAGE_FOLDER = os.path.dirname(distbench.__file__)


class ClientTest(programs.ClusterTest):
    def setUp(self):
        super().setUp()
        self.sequencer = self.start_sequencer()
        for _ in range(2):
            self.start_node(self.sequencer)
        self.client = self.connect(self.sequencer.address)

    def connect(self, address, **arguments):
        client = distbench.Client(address, environment={}, **arguments)
        self.addCleanup(client.close)
        return client

    def test_a_run_reports_its_progress_and_returns_results(self):
        seen = []
        config = client_server_config("max_duration_us: 1500000")
        results = self.client.run(config, label="mine", on_progress=seen.append)
        self.assertEqual(seen[0].state, "accepted")
        states = [progress.state for progress in seen]
        self.assertIn("running", states)
        self.assertEqual(states[-1], "finished")
        started = seen[states.index("started")]
        self.assertEqual(started.test_name, "client_server")
        (run,) = results.runs
        self.assertIn(run.verdict, ("ok", "warn"), run.findings)
        self.assertGreater(run.rpc("ping").succeeded, 0)
        self.assertEqual(run.source, f"{self.client.address}/{seen[0].run_id}")

        # What arrived in pieces is what the sequencer keeps and writes.
        path = self.path("kept.pb")
        self.distbench(
            "runs", "get", seen[0].run_id, f"--outfile={path}", "--binary_output",
            f"--test_sequencer={self.sequencer.address}",
        )
        kept = distbench.read_results(path)
        self.assertEqual(
            [row[1:] for row in kept.table("percentiles").rows],
            [row[1:] for row in results.table("percentiles").rows],
        )
        self.assertEqual(
            len(kept.table("samples").rows), len(results.table("samples").rows)
        )
        (described,) = self.client.runs()
        self.assertEqual(described.id, seen[0].run_id)
        self.assertEqual((described.state, described.label), ("done", "mine"))
        self.assertEqual(described.test_names, ("client_server",))

    def test_several_tests_and_a_failed_one_are_in_the_results(self):
        # A test that exceeds its time fails after what it has measured.
        config = client_server_config("max_iteration_count: 10", "short")
        slow = client_server_config(ENDLESS, "slow").replace(
            'name: "slow"',
            'name: "slow" attributes { key: "test_timeout" value: "1" }',
        )
        results = self.client.run(config + slow)
        short, slow = results.runs
        self.assertEqual((short.test, short.rpc("ping").succeeded), ("short", 10))
        self.assertEqual(slow.verdict, "failed")
        self.assertIsNotNone(slow.failure)
        self.assertGreater(slow.rpc("ping").succeeded, 0)

    def test_cancelling_from_a_callback_keeps_what_was_measured(self):
        def cancel_when_running(progress):
            if progress.state == "running" and progress.succeeded > 0:
                self.client.cancel(progress.run_id)
                cancelled.append(progress.run_id)

        cancelled = []
        # Cancelling twice would be an error of the callback.
        results = self.client.run(
            client_server_config(ENDLESS),
            on_progress=lambda p: cancelled or cancel_when_running(p),
        )
        self.assertGreater(results.runs[0].rpc("ping").succeeded, 0)
        self.assertEqual(results.runs[0].verdict, "failed")
        self.assertEqual(self.client.runs()[0].state, "cancelled")

    def test_a_run_that_is_cancelled_while_it_waits_has_no_results(self):
        first = self.client.submit(client_server_config(ENDLESS))
        second = self.client.submit(client_server_config(ENDLESS))
        self.client.cancel(second)
        self.assertEqual(self.client.wait(second).runs, [])
        self.client.cancel(first)

    def test_nothing_is_sent_without_the_program_that_gets_results(self):
        client = self.connect(self.sequencer.address, program="/none/distbench")
        with self.assertRaisesRegex(distbench.ProgramError, "/none/distbench"):
            client.run(client_server_config("max_iteration_count: 10"))
        self.assertEqual(client.runs(), [])

    def test_an_interrupted_call_cancels_its_run(self):
        def interrupt(progress):
            if progress.state == "running":
                raise KeyboardInterrupt

        with self.assertRaises(KeyboardInterrupt):
            self.client.run(client_server_config(ENDLESS), on_progress=interrupt)
        (described,) = self.client.runs()
        # Waits for the last measurements.
        results = self.client.wait(described.id)
        self.assertEqual(results.runs[0].verdict, "failed")
        self.assertEqual(self.client.runs()[0].state, "cancelled")

    def test_a_submitted_run_is_followed_later(self):
        run_id = self.client.submit(client_server_config("max_duration_us: 500000"))
        with self.connect(self.sequencer.address) as other:
            results = other.wait(run_id)
        self.assertGreater(results.runs[0].rpc("ping").succeeded, 0)
        again = self.client.results(run_id)
        self.assertEqual(
            again.table("percentiles").rows, results.table("percentiles").rows
        )

    def test_refusals_are_those_of_the_sequencer(self):
        with self.assertRaises(distbench.SequencerError) as raised:
            self.client.run('tests { name: "x" services { name: "a" count: -1 } }')
        self.assertEqual(raised.exception.code, "INVALID_ARGUMENT")
        self.assertIn("count", str(raised.exception))
        three = client_server_config("max_iteration_count: 1").replace(
            '"server" count: 1', '"server" count: 2'
        )
        with self.assertRaises(distbench.SequencerError) as raised:
            self.client.run(three)
        self.assertEqual(raised.exception.code, "FAILED_PRECONDITION")
        for call in (self.client.wait, self.client.cancel, self.client.results):
            with self.assertRaises(distbench.SequencerError) as raised:
                call("20200101-000000-000")
            self.assertEqual(raised.exception.code, "NOT_FOUND")

    def test_a_lost_sequencer_is_an_error(self):
        def kill(progress):
            if progress.state == "running":
                run_ids.append(progress.run_id)
                self.sequencer.kill()

        run_ids = []
        with self.assertRaises(distbench.SequencerError) as raised:
            self.client.run(client_server_config(ENDLESS), on_progress=kill)
        self.assertEqual(raised.exception.code, "UNAVAILABLE")
        self.assertIn(self.sequencer.address, str(raised.exception))
        self.assertIn(f"wait('{run_ids[0]}')", str(raised.exception))

    def test_status_lists_the_nodes(self):
        status = self.client.status()
        aliases = sorted(node.config.node_alias for node in status.nodes)
        self.assertEqual(aliases, ["node0", "node1"])

    def test_the_address_may_come_from_the_environment(self):
        environment = {"DISTBENCH_TEST_SEQUENCER": self.sequencer.address}
        with distbench.Client(environment=environment) as client:
            self.assertEqual(client.address, self.sequencer.address)


class FakeSequencer:
    """Accepts every run, and tells its id after `before_id` was called."""

    def __init__(self, before_id):
        self.accepted = 0
        self.cancelled = []
        self._before_id = before_id
        self._server = grpc.server(futures.ThreadPoolExecutor(max_workers=4))
        status = control_pb2.GetStatusResponse
        handlers = {
            "GetStatus": grpc.unary_unary_rpc_method_handler(
                lambda request, context: status(),
                response_serializer=status.SerializeToString,
            ),
            "RunTests": grpc.unary_stream_rpc_method_handler(
                self._run_tests,
                response_serializer=control_pb2.RunTestsEvent.SerializeToString,
            ),
            "CancelRun": grpc.unary_unary_rpc_method_handler(
                self._cancel_run,
                request_deserializer=control_pb2.CancelRunRequest.FromString,
                response_serializer=control_pb2.CancelRunResponse.SerializeToString,
            ),
        }
        self._server.add_generic_rpc_handlers(
            [
                grpc.method_handlers_generic_handler(
                    "distbench.DistBenchTestSequencer", handlers
                )
            ]
        )
        port = self._server.add_insecure_port("127.0.0.1:0")
        self.address = f"127.0.0.1:{port}"
        self._server.start()

    def stop(self):
        self._server.stop(None).wait()

    def _run_tests(self, request, context):
        self.accepted += 1
        self._before_id()
        ended = threading.Event()
        context.add_callback(ended.set)
        yield control_pb2.RunTestsEvent(run_id="the-run")
        ended.wait(programs.DEADLINE_SECONDS)

    def _cancel_run(self, request, context):
        self.cancelled.append(request.run_id)
        return control_pb2.CancelRunResponse()


class Interrupt:
    """Raises KeyboardInterrupt in this thread before the nth line of the package
    that it executes, within a `with` statement."""

    def __init__(self, nth):
        self.raised = False
        self._lines_left = nth

    def __enter__(self):
        sys.settrace(self._trace)
        return self

    def __exit__(self, *_):
        sys.settrace(None)

    def _trace(self, frame, event, _):
        if os.path.dirname(frame.f_code.co_filename) != PACKAGE_FOLDER:
            return None
        if event == "line":
            self._lines_left -= 1
            if self._lines_left == 0:
                sys.settrace(None)
                self.raised = True
                raise KeyboardInterrupt
        return self._trace


class InterruptTest(unittest.TestCase):
    def connect(self, before_id):
        sequencer = FakeSequencer(before_id)
        self.addCleanup(sequencer.stop)
        client = distbench.Client(sequencer.address, environment={})
        self.addCleanup(client.close)
        return sequencer, client

    def test_a_run_is_cancelled_though_its_id_comes_after_the_interrupt(self):
        sequencer, client = self.connect(
            lambda: signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
        )
        with self.assertRaises(KeyboardInterrupt):
            client.run(client_server_config(ENDLESS))
        self.assertEqual(sequencer.cancelled, ["the-run"])

    def test_an_interrupt_at_any_line_leaves_no_run_behind(self):
        sequencer, client = self.connect(lambda: None)

        def interrupt_at_last(_):
            raise KeyboardInterrupt

        for nth in itertools.count(1):
            sequencer.accepted = 0
            sequencer.cancelled.clear()
            with Interrupt(nth) as interrupt, self.assertRaises(KeyboardInterrupt):
                client.run(
                    client_server_config(ENDLESS), on_progress=interrupt_at_last
                )
            self.assertEqual(bool(sequencer.accepted), bool(sequencer.cancelled), nth)
            if not interrupt.raised:
                break
        self.assertGreater(nth, 20)
        self.assertEqual(sequencer.accepted, 1)


class ConnectionTest(programs.ClusterTest):
    def assert_refused(self, address, problem, **arguments):
        with self.assertRaises(distbench.SequencerError) as raised:
            distbench.Client(address, environment={}, **arguments)
        self.assertRegex(str(raised.exception), problem)

    def test_what_cannot_be_reached_is_explained(self):
        self.assert_refused("127.0.0.1:1", "nothing listens at 127.0.0.1:1")
        self.assert_refused(
            "host.invalid:1", "the host name in host.invalid:1 is unknown"
        )

    def test_mutual_tls_by_files_and_by_the_environment(self):
        authority = Authority(self.folder, "ca")
        # A certificate of a job, whose name is not the host's.
        flags = authority.flags("tls", "DNS:distbench-job")
        sequencer = self.start_sequencer("--local_nodes=2", *flags)
        folder = authority.folder
        files = {
            "tls_ca": f"{folder}/ca.crt",
            "tls_cert": f"{folder}/tls.crt",
            "tls_key": f"{folder}/tls.key",
        }
        with distbench.Client(
            sequencer.address, environment={}, tls_name="distbench-job", **files
        ) as client:
            results = client.run(client_server_config("max_iteration_count: 10"))
        self.assertEqual(results.runs[0].rpc("ping").succeeded, 10)
        environment = {
            "DISTBENCH_TEST_SEQUENCER": sequencer.address,
            "DISTBENCH_TLS_CA": files["tls_ca"],
            "DISTBENCH_TLS_CERT": files["tls_cert"],
            "DISTBENCH_TLS_KEY": files["tls_key"],
            "DISTBENCH_TLS_NAME": "distbench-job",
        }
        distbench.Client(environment=environment).close()

        # The wrong name, another authority, no certificate, no TLS.
        self.assert_refused(sequencer.address, "TLS files those of", **files)
        other = Authority(self.folder, "other").folder
        self.assert_refused(
            sequencer.address,
            "TLS files those of",
            tls_ca=f"{other}/ca.crt",
            tls_name="distbench-job",
        )
        self.assert_refused(
            sequencer.address,
            "TLS files those of",
            tls_ca=files["tls_ca"],
            tls_name="distbench-job",
        )
        self.assert_refused(sequencer.address, "if it requires TLS, give tls_ca")
        with self.assertRaises(distbench.ConfigError):
            os.rename(files["tls_key"], f"{folder}/moved.key")
            distbench.Client(sequencer.address, environment={}, **files)


if __name__ == "__main__":
    testing_main.main()
