"""Rows of the tables of a run and of a search, as distbench/report/tables makes
them."""

from collections.abc import Iterator

from google.protobuf.message import Message

from distbench import _walk
from distbench._proto import results_pb2
from distbench._totals import TIME_PARTS, Moments, RpcTotals, per_second
from distbench.errors import ResultError
from distbench.histogram import Histogram
from distbench.outcomes import REPORT_PERCENTILES, Latency, Outcomes
from distbench.runs import RpcMeasurements, Run
from distbench.tables import LATENCY_NAMES, Cell, Row

_NS_PER_SECOND = 1e9


def run_rows(run: Run) -> Iterator[Row]:
    """A row about the run as a whole."""
    info = run.result.run_info
    totals, duration_ns = run.traffic_totals()
    yield (
        run.verdict,
        run.failure,
        info.version or None,
        info.revision or None,
        str(info.random_seed) if info.HasField("random_seed") else None,
        info.config_hash or None,
        info.start_timestamp_ns if info.HasField("start_timestamp_ns") else None,
        info.end_timestamp_ns if info.HasField("end_timestamp_ns") else None,
        totals.succeeded,
        totals.failed,
        totals.warmup,
        totals.request_bytes,
        totals.response_bytes,
        duration_ns / _NS_PER_SECOND,
    )


def finding_rows(run: Run) -> Iterator[Row]:
    """A row per finding, the worst first."""
    for finding in run.findings:
        yield (finding.severity, finding.code, finding.message)


def rpc_rows(run: Run) -> Iterator[Row]:
    """A row per RPC."""
    for rpc in run.rpcs:
        yield rpc_row(rpc)


def rpc_row(rpc: RpcMeasurements) -> Row:
    """The row of one RPC."""
    load = rpc.offered
    cells: list[Cell] = [
        rpc.name,
        rpc.succeeded,
        rpc.failed,
        rpc.warmup,
        rpc.request_bytes,
        rpc.response_bytes,
        rpc.duration_ns / _NS_PER_SECOND,
        rpc.per_second,
        load.offered if load is not None else None,
        load.unsent if load is not None else None,
        load.held_back if load is not None else None,
        rpc.dropped_samples,
    ]
    for latency in (rpc.service_time, rpc.response_time, rpc.lateness):
        values = latency.outcomes.latency_ns
        cells += [values.min, values.mean]
        cells += [latency.percentile_ns(percent) for percent in REPORT_PERCENTILES]
        cells.append(values.max)
    return tuple(cells)


def percentile_rows(run: Run) -> Iterator[Row]:
    """A row per RPC, kind of latency and percentile."""
    for rpc in run.rpcs:
        latencies = (rpc.service_time, rpc.response_time, rpc.lateness)
        for name, latency in zip(LATENCY_NAMES, latencies):
            for found in latency.percentiles():
                yield (
                    rpc.name,
                    name,
                    found.percent,
                    found.value_ns,
                    found.lower_ns,
                    found.upper_ns,
                    found.method,
                )


def second_rows(run: Run) -> Iterator[Row]:
    """A row per RPC and second, or longer."""
    for rpc in run.rpcs:
        for series in rpc.series:
            for index, interval in series.intervals.items():
                # Closed loops have no response times, not even of failures.
                has_responses = interval.response_time_ns.count > 0
                yield (
                    rpc.name,
                    index * series.interval_ns,
                    series.interval_ns / _NS_PER_SECOND,
                    interval.offered,
                    interval.sent,
                    interval.succeeded,
                    interval.failed,
                    interval.warmup,
                    interval.request_bytes,
                    interval.response_bytes,
                    *_median_p99_max(interval.service_time()),
                    *_median_p99_max(
                        interval.response_time() if has_responses else Outcomes()
                    ),
                )


def peer_rows(run: Run) -> Iterator[Row]:
    """A row per client, server and RPC."""
    for view in _walk.rpc_logs(run.result):
        totals = RpcTotals()
        totals.add(view.log.statistics)
        yield (
            view.client,
            view.server,
            view.rpc,
            totals.succeeded,
            totals.failed,
            totals.warmup,
            totals.request_bytes,
            totals.response_bytes,
            totals.duration_ns / _NS_PER_SECOND,
            per_second(totals.succeeded, totals.duration_ns),
            *_peer_latency(totals, "service_time", has_failures=True),
            *_peer_latency(
                totals, "response_time", has_failures=_is_open_loop(totals)
            ),
            *(cell for part in TIME_PARTS for cell in _part(totals.histogram(part))),
        )


def sample_rows(run: Run) -> Iterator[Row]:
    """A row per sampled RPC."""
    for view in _walk.rpc_logs(run.result):
        for sample in view.log.successful_rpc_samples:
            yield _sample_row(view, sample, None)
        for sample in view.log.failed_rpc_samples:
            cause = _walk.error_message(view.errors, sample.error_index)
            yield _sample_row(view, sample, cause)


def resource_rows(run: Run) -> Iterator[Row]:
    """A row per node and second."""
    nodes = run.result.resource_usage_logs.node_resources
    for name in sorted(nodes):
        for sample in nodes[name].samples:
            yield (
                name,
                sample.end_timestamp_ns,
                sample.duration_ns / _NS_PER_SECOND,
                sample.process_cpu_ns,
                sample.host_cpu_ns,
                sample.resident_bytes,
                sample.host_available_memory_bytes,
                sample.voluntary_context_switches,
                sample.involuntary_context_switches,
                sum(device.received_bytes for device in sample.network.values()),
                sum(device.sent_bytes for device in sample.network.values()),
                sum(device.dropped_packets for device in sample.network.values()),
                *_fields(sample, "busiest_cpu_ns run_queue_delay_ns"),
                *_host_counters(sample.host_counters),
                *_data_connections(sample),
                *_fields(
                    sample.hardware_counters,
                    "cycles instructions cache_references cache_misses",
                ),
                _package_energy(sample),
            )


def fault_rows(run: Run) -> Iterator[Row]:
    """A row per instance and fault that it had on purpose."""
    logs = run.result.service_logs.instance_logs
    for instance in sorted(logs):
        faults = logs[instance].fault_logs
        for fault in sorted(faults):
            # A damaged result may have other times.
            times = [
                (time.begin_timestamp_ns, time.end_timestamp_ns)
                for time in faults[fault].times
                if 0 <= time.begin_timestamp_ns <= time.end_timestamp_ns
            ]
            yield (
                instance,
                fault,
                faults[fault].request_count,
                faults[fault].connection_count,
                len(times),
                sum(end - begin for begin, end in times) / _NS_PER_SECOND,
                min((begin for begin, _ in times), default=None),
                max((end for _, end in times), default=None),
            )


def search_row(report: results_pb2.SearchReport, position: int) -> Row:
    """The row of a search, which is at this position in its file."""
    spec = report.search
    return (
        position,
        "; ".join(spec.objectives),
        spec.knob,
        report.load_unit,
        report.verdict if report.HasField("verdict") else None,
        report.evidence,
        *_fields(report, "load min_load max_load confidence_level is_proven"),
        report.finds_lowest,
        spec.tolerance,
    )


def probe_rows(report: results_pb2.SearchReport, position: int) -> Iterator[Row]:
    """A row per probe of a search."""
    for probe in report.probes:
        statistics = probe.statistics
        duration_ns = (
            statistics.last_end_timestamp_ns - statistics.first_start_timestamp_ns
        )
        latency = probe_latency(statistics)
        yield (
            position,
            probe.number,
            probe.phase,
            probe.outcome,
            probe.requested_load,
            *_fields(probe, "achieved_load"),
            "; ".join(probe.measured),
            probe.start_timestamp_ns,
            probe.end_timestamp_ns,
            statistics.succeeded_count,
            statistics.failed_count,
            per_second(statistics.succeeded_count, duration_ns),
            latency.latency_ns.mean,
            *(
                latency.value_at_quantile(quantile) if latency.count > 0 else None
                for quantile in (0.5, 0.9, 0.95, 0.99, 0.999)
            ),
            *_fields(probe, "host_cpu_share"),
        )


def probe_latency(statistics: results_pb2.RpcStatistics) -> Outcomes:
    """The response times of a probe or, in closed loops, its service times."""
    for name in ("response_time_ns", "service_time_ns"):
        try:
            latency = Histogram.from_proto(getattr(statistics, name))
        except ResultError:
            continue  # Absent, or damaged.
        if latency.count > 0:
            return Outcomes(latency, max(statistics.failed_count, 0))
    return Outcomes(failed_count=max(statistics.failed_count, 0))


def _median_p99_max(outcomes: Outcomes) -> Row:
    latency = Latency(outcomes)
    return (
        latency.percentile_ns(50),
        latency.percentile_ns(99),
        outcomes.latency_ns.max,
    )


def _is_open_loop(totals: RpcTotals) -> bool:
    moments = totals.moments.get("response_time", Moments())
    return totals.histogram("response_time").count > 0 or moments.count > 0


def _peer_latency(totals: RpcTotals, name: str, *, has_failures: bool) -> Row:
    """Mean, median, p99 and maximum. Without a histogram of all values there
    are no quantiles."""
    values = totals.histogram(name)
    others = totals.moments.get(name, Moments())
    latency = Latency()
    if others.count == 0:
        latency = Latency(Outcomes(values, totals.failed if has_failures else 0))
    return (
        _mean_with(values, others),
        latency.percentile_ns(50),
        latency.percentile_ns(99),
        max((m for m in (values.max, others.max) if m is not None), default=None),
    )


def _mean_with(values: Histogram, others: Moments) -> float | None:
    if others.count == 0:
        return values.mean
    total = (values.mean or 0.0) * values.count + others.sum
    return total / (values.count + others.count)


def _part(values: Histogram) -> Row:
    latency = Latency(Outcomes(values))
    return (
        values.mean,
        latency.percentile_ns(50),
        latency.percentile_ns(99),
        values.max,
    )


def _sample_row(
    view: _walk.RpcLog, sample: results_pb2.RpcSample, cause: str | None
) -> Row:
    return (
        view.client,
        view.server,
        view.rpc,
        sample.start_timestamp_ns,
        sample.latency_ns,
        *_fields(sample, "lateness_ns"),
        sample.request_size,
        sample.response_size,
        sample.warmup,
        *_fields(sample, "server_instance"),
        cause,
        *_fields(sample, "server_queue_ns server_handler_ns"),
    )


def _host_counters(counters: results_pb2.HostCounters) -> Row:
    names = [field.name for field in results_pb2.HostCounters.DESCRIPTOR.fields]
    return _fields(counters, " ".join(names))


def _data_connections(sample: results_pb2.ResourceSample) -> Row:
    connections = sample.data_connections
    counts: Row = (None,) * 4
    if sample.HasField("data_connections"):
        counts = (
            connections.connection_count,
            connections.sent_segments,
            connections.retransmitted_segments,
            connections.congestion_marked_segments,
        )
    return (*counts, *_fields(connections, "mean_rtt_ns max_rtt_ns"))


def _package_energy(sample: results_pb2.ResourceSample) -> int | None:
    """Of all packages; other domains are parts of these, or contain them."""
    found = [
        energy
        for domain, energy in sample.energy_uj.items()
        if domain.startswith("package-") and "/" not in domain
    ]
    return sum(found) if found else None


def _fields(message: Message, names: str) -> Row:
    """Returns fields of a message, None for those that are absent."""
    return tuple(
        getattr(message, name) if message.HasField(name) else None
        for name in names.split()
    )
