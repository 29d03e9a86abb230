# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""Runs of tests: their RPCs, verdicts and findings, as distbench reports them."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

from distbench._program import Json
from distbench._proto import results_pb2
from distbench.errors import ResultError, UnknownNameError
from distbench.tables import FAILED, CurvePoint

# The percentiles that reports have, by the part of a column's name.
PERCENTILE_NAMES = {
    50.0: "p50",
    75.0: "p75",
    90.0: "p90",
    95.0: "p95",
    99.0: "p99",
    99.9: "p99.9",
    99.99: "p99.99",
    99.999: "p99.999",
}

# What says that a percentile or a bound of its interval failed.
_FLAGS_OF_FAILURE = {
    "value_ns": "failed",
    "lower_ns": "lower_failed",
    "upper_ns": "upper_failed",
}


@dataclass(frozen=True)
class OfferedLoad:
    """What open loops were asked to send, without the warm-up: how many RPCs;
    how many of them were never sent; and how many iterations an in-flight cap
    delayed."""

    offered: int
    unsent: int
    held_back: int


@dataclass(frozen=True)
class Percentile:
    """An estimated percentile with its confidence interval.

    Attributes:
        percent: such as 99.9.
        value_ns: nanoseconds, or FAILED.
        lower_ns, upper_ns: bounds of the interval at 95 %; None where there are
            too few requests for a bound, FAILED where it falls among the
            failures.
        method: "blocks" (from the spread between parts of the run) or
            "order_statistics" (from the ranks, as if requests were independent).
    """

    percent: float
    value_ns: float
    lower_ns: float | None
    upper_ns: float | None
    method: str


class Latency:
    """One kind of latency of one RPC, without the warm-up.

    Attributes:
        count: requests, including those that failed.
        failed_count: those of them that failed or were never sent.
        min_ns, mean_ns, standard_deviation_ns, max_ns: of those that succeeded;
            None if none did.
    """

    def __init__(self, report: Json | None = None) -> None:
        """Takes the part of a report; None if nothing was measured."""
        report = report or {}
        self.count: int = report.get("count", 0)
        self.failed_count: int = report.get("failed_count", 0)
        self.min_ns: float | None = report.get("min_ns")
        self.mean_ns: float | None = report.get("mean_ns")
        self.standard_deviation_ns: float | None = report.get("standard_deviation_ns")
        self.max_ns: float | None = report.get("max_ns")
        self._percentiles = [
            _percentile(found) for found in report.get("percentiles", [])
        ]
        self._distribution = report.get("distribution", [])

    def percentile_ns(self, percent: float) -> float | None:
        """Returns nanoseconds or FAILED; None if there are too few requests."""
        found = self.percentile(percent)
        return found.value_ns if found is not None else None

    def percentile(self, percent: float) -> Percentile | None:
        """Returns a percentile with its interval; None if there are too few
        requests.

        Raises:
            ResultError: reports do not have it; lists those that they have.
        """
        for found in self._percentiles:
            if found.percent == percent:
                return found
        if percent in PERCENTILE_NAMES:
            return None
        known = ", ".join(f"{known:g}" for known in PERCENTILE_NAMES)
        raise ResultError(
            f"reports have no percentile {percent:g}; they have {known}, and "
            "curve() has the distribution"
        )

    def percentiles(self) -> list[Percentile]:
        """Returns those percentiles that the number of requests supports."""
        return list(self._percentiles)

    def curve(self) -> list[CurvePoint]:
        """Returns points of the cumulative distribution of those that succeeded,
        ascending and denser towards the maximum."""
        return [CurvePoint(*point) for point in self._distribution]


class RpcMeasurements:
    """All measurements of one RPC in one run.

    Attributes:
        name: of the RPC.
        succeeded, failed, warmup: counts; all others exclude the warm-up.
        request_bytes, response_bytes: of RPCs that succeeded.
        dropped_samples: RPCs of which no sample was kept.
        duration_ns, per_second: the time from the first send to the last
            response, and the rate of RPCs that succeeded.
        offered: None in closed loops.
        service_time: from the actual send to the response.
        response_time: from when each RPC was due; empty in closed loops.
        lateness: from when each RPC was due until it was sent; likewise.
        wire_time: from when requests left the client's host to when replies
            arrived, of RPCs that the kernel has stamped; empty if none was.
        failures: counts of failed RPCs by cause.
    """

    def __init__(self, report: Json) -> None:
        """Takes the part of a report."""
        load = report["offered_load"]
        self.name: str = report["name"]
        self.succeeded: int = report["succeeded_count"]
        self.failed: int = report["failed_count"]
        self.warmup: int = report["warmup_count"]
        self.request_bytes: int = report["request_bytes"]
        self.response_bytes: int = report["response_bytes"]
        self.dropped_samples: int = report["dropped_sample_count"]
        self.duration_ns: int = report["duration_ns"]
        self.per_second: float = report["per_second"]
        self.offered = load and OfferedLoad(
            load["offered_count"], load["unsent_count"], load["held_back_count"]
        )
        self.service_time = Latency(report["service_time"])
        self.response_time = Latency(report["response_time"])
        self.lateness = Latency(report["lateness"])
        self.wire_time = Latency(report.get("wire_time"))
        self.failures: dict[str, int] = {
            failure["cause"]: failure["count"] for failure in report["failures"]
        }

    @property
    def latency(self) -> Latency:
        """The latency that a caller experiences: response times in open loops,
        otherwise service times."""
        return self.response_time if self.response_time.count > 0 else self.service_time


@dataclass(frozen=True)
class Finding:
    """A conclusion that distbench drew about a run.

    Attributes:
        severity: "invalid" (the numbers are false), "warn" or "note".
        code: a stable identifier, such as "node_lost".
        message: what was found and what it means.
        advice: what to do; None if there is nothing to do.
    """

    severity: str
    code: str
    message: str
    advice: str | None


class Run:
    """One run of one test.

    Attributes:
        source: the file that it was read from, or the sequencer and the run.
        test: the test's name; "tests[INDEX]" if it has none.
        repetition: which run of the test it is, from 0, if it was repeated.
        simulated: whether its hosts were simulated, so that nothing was measured.
        verdict: the worst that applies of "failed" (it did not complete),
            "invalid" (its numbers are false), "warn" and "ok".
        failure: why the run did not complete; None if it did.
        findings: what distbench found out about the run, the worst first.
        rpcs: the RPCs in the order of the config.
        report: all that distbench reports of it (docs/reports.md, "JSON").
    """

    def __init__(
        self,
        report: Json,
        read_result: Callable[[], results_pb2.TestResult] | None = None,
    ) -> None:
        """Takes the part of a report, and what reads the result that it is of."""
        self.source: str = report["source"]
        self.test: str = report["name"]
        self.repetition: int = report["repetition"]
        # Reports of versions that did not simulate do not say.
        self.simulated: bool = report.get("simulated", False)
        self.verdict: str = report["verdict"]
        self.failure: str | None = report["failure"]
        self.findings = [
            Finding(
                found["severity"],
                found["code"],
                found["message"],
                found.get("advice"),
            )
            for found in report["findings"]
        ]
        self.rpcs: Sequence[RpcMeasurements] = [
            RpcMeasurements(rpc) for rpc in report["rpcs"]
        ]
        self.report = report
        self._read_result = read_result

    def __repr__(self) -> str:
        mark = ", simulated=True" if self.simulated else ""
        return (
            f"Run({self.source!r}, {self.test!r}, "
            f"repetition={self.repetition}{mark})"
        )

    def rpc(self, name: str) -> RpcMeasurements:
        """Returns an RPC by its name; KeyError lists the names."""
        for rpc in self.rpcs:
            if rpc.name == name:
                return rpc
        names = ", ".join(rpc.name for rpc in self.rpcs)
        raise UnknownNameError(f"{self.test} has no RPC {name!r}; it has {names}")

    @property
    def result(self) -> results_pb2.TestResult:
        """The message TestResult of proto/results.proto.

        Raises:
            ResultError: the run was read from a report.
        """
        if self._read_result is None:
            raise ResultError(
                f"{self.source} was read from a report, which has neither logs nor "
                "samples; read the result itself with distbench.read_results()"
            )
        return self._read_result()


def with_failures(figures: Json) -> Json:
    """Returns figures with FAILED for each time that falls among requests that
    failed.

    Reports have null there and say beside it that it failed: a percentile by
    `failed`, rows by `failed_above_percent`.
    """
    return {
        name: FAILED if _has_failed(name, figures) else value
        for name, value in figures.items()
    }


def _has_failed(name: str, figures: Json) -> bool:
    if figures[name] is not None:
        return False
    if name in _FLAGS_OF_FAILURE:
        return bool(figures.get(_FLAGS_OF_FAILURE[name]))
    column = _percentile_column(name)
    if column is None:
        return False
    prefix, percent = column
    limits = [figures.get(f"{prefix}failed_above_percent")]
    # Closed loops have no response times, not even of failures.
    if prefix == "service_" or (
        prefix == "response_" and figures["response_max_ns"] is not None
    ):
        limits.append(figures.get("failed_above_percent"))
    return any(limit is not None and percent >= limit for limit in limits)


@cache
def _percentile_column(name: str) -> tuple[str, float] | None:
    """Returns the prefix and the percentile of a column such as "service_p99.9_ns"
    or "p999_ns"; None if it is another one."""
    found = re.fullmatch(r"(\w*?)p(\d[\d.]*)_ns", name)
    if found is None:
        return None
    digits = found[2].replace(".", "")
    return found[1], float(f"{digits[:2]}.{digits[2:]}")


def _percentile(report: Json) -> Percentile:
    found = with_failures(report)
    return Percentile(
        found["percentile"],
        found["value_ns"],
        found["lower_ns"],
        found["upper_ns"],
        found["method"],
    )
