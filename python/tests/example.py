"""Small results for tests, made by hand."""

from distbench._proto import results_pb2
from distbench.histogram import Histogram
from distbench.results import Results

SECOND_NS = 10**9
START_NS = 1_700_000_000 * SECOND_NS


def histogram_of(values):
    histogram = Histogram()
    for value in values:
        histogram.record(value)
    return histogram.to_proto()


def test_result(name="example", values=range(1000, 2000), failed=0, repetition=0):
    """Returns a TestResult of a closed loop: one RPC from client/0 to server/0
    with these service times, half of them in each of two seconds."""
    values = list(values)
    result = results_pb2.TestResult()
    config = result.traffic_config
    config.name = name
    config.rpc_descriptions.add(name="query", client="client", server="server")
    result.run_info.version = "1.2.3"
    result.run_info.random_seed = 2**63
    result.run_info.start_timestamp_ns = START_NS
    result.run_info.end_timestamp_ns = START_NS + 2 * SECOND_NS
    result.run_info.repetition = repetition
    log = result.service_logs.instance_logs["client/0"]
    log.error_dictionary.error_message.extend(["", "deadline"])
    statistics = log.peer_logs["server/0"].rpc_logs[0].statistics
    statistics.succeeded_count = len(values)
    statistics.failed_count = failed
    if failed:
        statistics.failures_by_error[1] = failed
    statistics.first_start_timestamp_ns = START_NS
    statistics.last_end_timestamp_ns = START_NS + 2 * SECOND_NS
    statistics.service_time_ns.CopyFrom(histogram_of(values))
    series = log.rpc_time_series[0]
    series.interval_ns = SECOND_NS
    half = len(values) // 2
    for i, part in enumerate((values[:half], values[half:])):
        series.intervals.add(
            index=START_NS // SECOND_NS + i,
            sent_count=len(part),
            succeeded_count=len(part),
            service_time_ns=histogram_of(part),
        )
    return result


def message_of(*tests):
    """Returns TestSequenceResults."""
    return results_pb2.TestSequenceResults(test_results=tests)


def results_of(*tests, source="a.pb"):
    """Returns Results."""
    return Results([(source, message_of(*tests))])
