# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""Compares what a result reports with what was on the wire."""

import csv
import dataclasses
import io
import json
import operator
import statistics

# By how much a constant rate may be off.
RATE_TOLERANCE = 0.01

# By how much wire times may be off, at the median and the 99th percentile of
# the differences: tcpdump's stamp of a packet that leaves is a moment before the
# kernel's.
WIRE_TOLERANCES_NS = {50: 2_000, 99: 10_000}


@dataclasses.dataclass
class Reported:
    """What a result says about its only RPC."""

    ended: int  # RPCs, with those that failed and the warm-up
    answered: int  # the same without those that failed
    service_times: list  # of all samples, in nanoseconds, ascending
    minimum_ns: int  # of the histogram, which has no warm-up
    median_ns: int
    request_bytes: int  # of all samples
    response_bytes: int


def read_report(report_json, samples_csv):
    """Returns a Reported, from the output of `distbench report`."""
    (test,) = json.loads(report_json)["tests"]
    (rpc,) = test["rpcs"]
    samples = list(csv.DictReader(io.StringIO(samples_csv)))
    answered = rpc["succeeded_count"] + rpc["warmup_count"]
    (median_ns,) = (
        entry["value_ns"]
        for entry in rpc["service_time"]["percentiles"]
        if entry["percentile"] == 50
    )
    return Reported(
        ended=answered + rpc["failed_count"],
        answered=answered,
        service_times=sorted(
            int(sample["service_time_ns"]) for sample in samples
        ),
        minimum_ns=rpc["service_time"]["min_ns"],
        median_ns=median_ns,
        request_bytes=sum(int(sample["request_bytes"]) for sample in samples),
        response_bytes=sum(int(sample["response_bytes"]) for sample in samples),
    )


def read_wire_times(samples_csv):
    """Returns the wire times of all samples in the order in which they were
    sent, in nanoseconds; None of those without one."""
    samples = sorted(
        csv.DictReader(io.StringIO(samples_csv)),
        key=lambda sample: int(sample["start_timestamp_ns"]),
    )
    return [
        int(sample["wire_time_ns"]) if sample["wire_time_ns"] else None
        for sample in samples
    ]


def wire_time_errors(reported, traffic):
    """Returns by how much each reported wire time differs from the capture's,
    ascending. Both are of RPCs that were sent one at a time."""
    return sorted(
        abs(says - wire)
        for says, wire in zip(reported, traffic.wire_times_by_send())
    )


def percentile(ascending, percent):
    return ascending[min(len(ascending) * percent // 100, len(ascending) - 1)]


def rate(times_ns):
    """Returns the rate per second over the middle 80 % of ascending times.

    It follows from the median time for half as many requests. So requests that
    were late because the machine was busy for a moment do not change it.
    """
    margin = len(times_ns) // 10
    middle = times_ns[margin : len(times_ns) - margin]
    half = len(middle) // 2
    spans = map(operator.sub, middle[half:], middle)
    return half * 1e9 / statistics.median(spans)


def differences(reported, traffic, asked_rate=None):
    """Returns what the result reports differently from the wire, as a list.

    asked_rate: requests per second of a constant open loop.
    """
    found = []

    def expect_equal(what, says, wire):
        if says != wire:
            found.append(f"{what}: {says} reported, {wire} on the wire")

    expect_equal("requests", reported.ended, len(traffic.requests))
    expect_equal("responses", reported.answered, len(traffic.responses))
    for what, says, messages in (
        ("request bytes", reported.request_bytes, traffic.requests),
        ("response bytes", reported.response_bytes, traffic.responses),
    ):
        wire = sum(message.size for message in messages.values())
        expect_equal(what, says, wire)

    wire_times = traffic.wire_times()
    expect_equal("samples", len(reported.service_times), len(wire_times))
    # No RPC took less time than it spent on the wire. So of both lists, which
    # ascend, no service time is below the wire time of the same rank.
    for rank, pair in enumerate(zip(reported.service_times, wire_times)):
        if pair[0] < pair[1]:
            found.append(
                f"service time of rank {rank}: {pair[0]} ns reported, "
                f"{pair[1]} ns on the wire"
            )
            break
    if reported.minimum_ns < wire_times[0]:
        found.append(
            f"minimum: {reported.minimum_ns} ns reported, {wire_times[0]} ns "
            "on the wire"
        )

    if asked_rate is not None:
        seen = rate(traffic.sends())
        if abs(seen / asked_rate - 1) > RATE_TOLERANCE:
            found.append(f"rate: {asked_rate}/s asked, {seen:.1f}/s seen")
    return found
