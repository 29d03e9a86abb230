# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""Results of runs that read a metric of a server, as text protos."""

from tests import page_results


def watched(name, values, query="sum(cpu)", unit="share", failed=0, day=0):
    """Returns a run of 20 s in which the metric "cpu" had these values, read
    each second from the first one on; `failed` readings more failed."""
    start_s = page_results.START_S + 86400 * day
    start_ns = round(start_s * 1e9)
    samples = [
        page_results.sample(start_s + i / 5, 500, 0) for i in range(100)
    ]
    readings = " ".join(
        f"timestamps_ns: {start_ns + (i + 1) * 10**9} values: {value}"
        for i, value in enumerate(values)
    )
    failure = (
        f"""failed_count: {failed} failures {{
          timestamp_ns: {start_ns + 20 * 10**9} message: "refused" }}"""
        if failed
        else ""
    )
    return page_results.run(
        name,
        {"query": samples},
        config=f"""
          services {{ name: "c" count: 1 }}
          server_metrics {{
            name: "cpu" unit: "{unit}"
            prometheus {{ url: "http://p:9090" query: "{query}" }}
          }}""",
        log=page_results.series([5] * 20)
        + f" traffic_start_timestamp_ns: {start_ns}",
        run_info=f"start_timestamp_ns: {start_ns} "
        f"end_timestamp_ns: {start_ns + 20 * 10**9}",
        usage=f"""node_resources {{ key: "node0" value {{
          server_metrics {{
            name: "cpu" interval_ns: 1000000000 {readings} {failure}
          }}
        }} }}""",
    )


def steady(share, **more):
    """Returns a run in which the metric was about this share."""
    values = [share + (i % 3 - 1) / 1000 for i in range(18)]
    return watched("watched", values, **more)
