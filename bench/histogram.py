# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""Histograms of results in protobuf's text format."""

import re

# As in stats/log_histogram.h.
SUB_BUCKET_BITS = 7


def bucket_middle(index):
    """Returns the middle of a histogram's bucket, in nanoseconds."""
    octave, position = divmod(index, 1 << SUB_BUCKET_BITS)
    if octave == 0:
        return position
    width = 1 << (octave - 1)
    return ((1 << SUB_BUCKET_BITS) + position) * width + width // 2


def of_result(result, field):
    """Returns (nanoseconds, count) pairs of a latency of a result's first RPC.

    `field` is "service_time_ns" or "response_time_ns".
    """
    # Remove the time series, whose histograms have the same names.
    text = re.sub(r"(?s)rpc_time_series \{.*?\n    \}\n", "", result)
    text = text[text.index("statistics {"):]
    start = text.index(field + " {")
    text = text[start:text.index("}", start)]
    deltas = map(int, re.findall(r"bucket_index_deltas: (\d+)", text))
    counts = map(int, re.findall(r"bucket_counts: (\d+)", text))
    index = 0
    values = []
    for delta, count in zip(deltas, counts):
        index += delta
        values.append((bucket_middle(index), count))
    return values


def quantile(values, share):
    """Returns a quantile in seconds."""
    position = share * sum(count for _, count in values)
    for value, count in sorted(values):
        position -= count
        if position < 0:
            return value / 1e9
    return values[-1][0] / 1e9
