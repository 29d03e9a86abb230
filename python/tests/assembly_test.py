"""Tests that the pieces which a sequencer sends become one result, whatever their
order."""

import itertools
import unittest

from distbench import _walk
from distbench._assembly import ResultAssembler
from distbench._proto import control_pb2, results_pb2
from distbench.errors import DistbenchError, ResultError
from python.tests.example import histogram_of
from tests import testing_main


def statistics_of(values):
    return results_pb2.RpcStatistics(
        succeeded_count=len(values), service_time_ns=histogram_of(values)
    )


def rpc_piece(values):
    return results_pb2.ResultChunk(
        instance="client/0",
        peer="server/0",
        rpc_index=0,
        rpc_log=results_pb2.RpcPerformanceLog(
            statistics=statistics_of(values),
            successful_rpc_samples=[
                results_pb2.RpcSample(latency_ns=value) for value in values
            ],
        ),
    )


def series_piece(width_ns, *intervals):
    """intervals: pairs of an index and values."""
    chunk = results_pb2.ResultChunk(instance="client/0")
    series = chunk.instance_log.rpc_time_series[0]
    series.interval_ns = width_ns
    for index, values in intervals:
        series.intervals.add(
            index=index,
            succeeded_count=len(values),
            service_time_ns=histogram_of(values),
        )
    return chunk


def load_piece(offered, waits):
    chunk = results_pb2.ResultChunk(instance="client/0")
    load = chunk.instance_log.offered_loads[0]
    load.offered_count = offered
    load.unsent_wait_ns.CopyFrom(histogram_of(waits))
    chunk.instance_log.pooled_statistics[0].CopyFrom(statistics_of(waits))
    return chunk


def assembled(chunks):
    assembler = ResultAssembler()
    for chunk in chunks:
        assembler.add(control_pb2.RunTestsEvent(test_index=1, result_chunk=chunk))
    finished = results_pb2.TestResult()
    finished.run_info.version = "1.2.3"
    assembler.add(control_pb2.RunTestsEvent(test_index=1, finished=finished))
    return assembler.results.test_results


class AssemblyTest(unittest.TestCase):
    def test_pieces_add_up_in_any_order(self):
        pieces = [
            rpc_piece([5, 300]),
            rpc_piece([7]),
            series_piece(1000, (4, [1]), (5, [2, 3])),
            series_piece(2000, (2, [9]), (3, [4])),
            load_piece(10, [8]),
            load_piece(20, [6]),
        ]
        for order in itertools.permutations(pieces, len(pieces)):
            _, result = assembled(order)
            log = result.service_logs.instance_logs["client/0"]
            rpc_log = log.peer_logs["server/0"].rpc_logs[0]
            self.assertEqual(rpc_log.statistics.succeeded_count, 3)
            self.assertEqual(
                rpc_log.statistics.service_time_ns, histogram_of([5, 7, 300])
            )
            self.assertEqual(len(rpc_log.successful_rpc_samples), 3)
            series = log.rpc_time_series[0]
            self.assertEqual(series.interval_ns, 2000)
            self.assertEqual(
                [(i.index, i.succeeded_count) for i in series.intervals],
                [(2, 4), (3, 1)],
            )
            self.assertEqual(
                series.intervals[0].service_time_ns, histogram_of([1, 2, 3, 9])
            )
            load = log.offered_loads[0]
            self.assertEqual(load.offered_count, 30)
            self.assertEqual(load.unsent_wait_ns, histogram_of([6, 8]))
            pooled = log.pooled_statistics[0]
            self.assertEqual(pooled.service_time_ns, histogram_of([6, 8]))

    def test_the_end_of_a_test_adds_the_rest(self):
        first, second = assembled([rpc_piece([1])])
        self.assertFalse(first.HasField("run_info"))
        self.assertEqual(second.run_info.version, "1.2.3")
        self.assertIn("client/0", second.service_logs.instance_logs)

    def test_tests_without_an_end_are_marked(self):
        assembler = ResultAssembler()
        assembler.add(
            control_pb2.RunTestsEvent(
                test_index=0, finished=results_pb2.TestResult()
            )
        )
        assembler.add(
            control_pb2.RunTestsEvent(test_index=1, result_chunk=rpc_piece([1]))
        )
        assembler.mark_incomplete("cancelled")
        first, second = assembler.results.test_results
        self.assertFalse(first.run_info.HasField("failure"))
        self.assertEqual(second.run_info.failure, "cancelled")

    def test_what_comes_once_is_set(self):
        chunk = results_pb2.ResultChunk(instance="client/0")
        log = chunk.instance_log
        log.error_dictionary.error_message.extend(["", "lost"])
        log.engine_error_message = "stopped"
        log.driver_counters["calls"] = 3
        log.network_settings.add(connection_count=2)
        log.replay_trace_logs.add(rpc_replay_trace_name="trace")
        activity = log.activity_logs["work"]
        activity.activity_metrics.add(name="iteration_count", value_int=4)
        activity.duration_ns.CopyFrom(histogram_of([1]))
        activity.series.interval_ns = 1000
        activity.series.intervals.add(index=1, completed_count=2)
        more = results_pb2.ResultChunk(instance="client/0")
        series = more.instance_log.activity_logs["work"].series
        series.interval_ns = 1000
        series.intervals.add(index=1, completed_count=5, read_ns=histogram_of([3]))
        _, result = assembled([chunk, more])
        merged = result.service_logs.instance_logs["client/0"]
        self.assertEqual(merged.error_dictionary.error_message[1], "lost")
        self.assertEqual(merged.engine_error_message, "stopped")
        self.assertEqual(merged.driver_counters["calls"], 3)
        self.assertEqual(merged.network_settings[0].connection_count, 2)
        self.assertEqual(len(merged.replay_trace_logs), 1)
        work = merged.activity_logs["work"]
        self.assertEqual(work.activity_metrics[0].value_int, 4)
        self.assertEqual(work.series.intervals[0].completed_count, 7)
        self.assertEqual(work.series.intervals[0].read_ns, histogram_of([3]))

    def test_faults_and_admission_add_up(self):
        chunk = results_pb2.ResultChunk(instance="server/0")
        fault = chunk.instance_log.fault_logs["pause"]
        fault.request_count = 3
        for begin in range(600):
            fault.times.add(begin_timestamp_ns=begin, end_timestamp_ns=begin + 1)
        admission = chunk.instance_log.admission_log
        admission.refused_count = 2
        admission.wait_ns.CopyFrom(histogram_of([5]))
        _, result = assembled([chunk, chunk])
        log = result.service_logs.instance_logs["server/0"]
        self.assertEqual(log.fault_logs["pause"].request_count, 6)
        self.assertEqual(len(log.fault_logs["pause"].times), 1000)
        self.assertEqual(log.admission_log.refused_count, 4)
        self.assertEqual(log.admission_log.wait_ns, histogram_of([5, 5]))

    def test_replays_are_kept_apart_from_rpcs(self):
        chunks = [
            results_pb2.ResultChunk(
                instance="client/0", peer="server/0", rpc_index=1, is_replay=True
            )
            for _ in range(2)
        ]
        for chunk in chunks:
            chunk.rpc_log.statistics.succeeded_count = 2
        _, result = assembled(chunks)
        log = result.service_logs.instance_logs["client/0"].peer_logs["server/0"]
        self.assertEqual(list(log.rpc_logs), [])
        self.assertEqual(log.replay_logs[1].statistics.succeeded_count, 4)
        (view,) = _walk.rpc_logs(result)
        self.assertEqual(view.log.statistics.succeeded_count, 4)

    def test_counts_stay_within_64_bits(self):
        most = 2**63 - 1
        chunk = results_pb2.ResultChunk(instance="client/0")
        chunk.instance_log.offered_loads[0].offered_count = most
        series = chunk.instance_log.rpc_time_series[0]
        series.interval_ns = 1000
        series.intervals.add(index=1, request_bytes=most, sent_count=3)
        _, result = assembled([chunk, chunk])
        log = result.service_logs.instance_logs["client/0"]
        self.assertEqual(log.offered_loads[0].offered_count, most)
        (interval,) = log.rpc_time_series[0].intervals
        self.assertEqual((interval.request_bytes, interval.sent_count), (most, 6))

    def test_tests_that_the_run_has_not_are_refused(self):
        assembler = ResultAssembler(2)
        for index in (-1, 2, 2**31 - 1):
            event = control_pb2.RunTestsEvent(
                test_index=index, finished=results_pb2.TestResult()
            )
            with self.assertRaisesRegex(DistbenchError, f"of test {index} of 2"):
                assembler.add(event)
        self.assertEqual(len(assembler.results.test_results), 0)
        # A sequencer that is trusted with less is no reason to run out of memory.
        with self.assertRaisesRegex(DistbenchError, "of 100000"):
            ResultAssembler().add(event)

    def test_contradictions_are_refused(self):
        bad = rpc_piece([1])
        bad.rpc_log.statistics.failed_count = -1
        for pieces, problem in (
            ([results_pb2.ResultChunk()], "does not say of which instance"),
            ([rpc_piece([1]), bad], "statistics hold -1"),
            ([series_piece(0)], "intervals of 0 ns"),
            (
                [series_piece(2000, (1, [1])), series_piece(3000, (1, [1]))],
                "3000 and 2000 ns cannot be merged",
            ),
        ):
            with self.assertRaisesRegex(ResultError, problem):
                assembled(pieces)


if __name__ == "__main__":
    testing_main.main()
