# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""Results of runs for tests of reports, as text protos."""

START_S = 1_700_000_000


def sample(start_s, latency_us, lateness_us=None):
    late = (
        "" if lateness_us is None else f"lateness_ns: {1000 * lateness_us}"
    )
    return (
        "successful_rpc_samples { "
        f"start_timestamp_ns: {round(start_s * 1e9)} "
        f"latency_ns: {1000 * latency_us} {late} }}"
    )


def run(name, rpcs, config="", log="", run_info="", usage=""):
    """Returns a run as text. rpcs: for each name, the samples from client c/0
    to server s/0; config, log (of the client), run_info and usage are further
    fields of the messages of these names."""
    descriptions = " ".join(
        f'rpc_descriptions {{ name: "{rpc}" }}' for rpc in rpcs
    )
    logs = " ".join(
        f"rpc_logs {{ key: {i} value {{ {' '.join(samples)} }} }}"
        for i, samples in enumerate(rpcs.values())
    )
    return f"""
test_results {{
  traffic_config {{ name: "{name}" {descriptions} {config} }}
  service_logs {{ instance_logs {{ key: "c/0" value {{
    peer_logs {{ key: "s/0" value {{ {logs} }} }}
    {log}
  }} }} }}
  run_info {{ {run_info} }}
  resource_usage_logs {{ {usage} }}
}}
"""


def series(counts):
    """Returns the series of RPC 0: counts in the seconds from START_S on."""
    intervals = " ".join(
        f"intervals {{ index: {START_S + i} sent_count: {count} "
        f"succeeded_count: {count} }}"
        for i, count in enumerate(counts)
    )
    return (
        "rpc_time_series { key: 0 value { interval_ns: 1000000000 "
        f"{intervals} }} }}"
    )


def swept(name, attributes, offered_count, latency_us):
    """Returns a run of a second, as a test of a sweep."""
    config = " ".join(
        f'attributes {{ key: "{key}" value: "{value}" }}'
        for key, value in {"traffic_pattern": "clique", **attributes}.items()
    )
    samples = [sample(START_S, latency_us, 0)] * 99
    samples.append(sample(START_S + 1 - latency_us / 1e6, latency_us, 0))
    return run(
        name,
        {"query": samples},
        config=config,
        log="offered_loads { key: 0 value { "
        f"offered_count: {offered_count} }} }}",
    )


def waited_in_vain():
    """Returns an open loop of 400 RPCs of which 100 were never sent; 60 of
    these are among the failures too."""
    failed = (
        f"failed_rpc_samples {{ start_timestamp_ns: {START_S}000000000 "
        "latency_ns: 7000000 }"
    )
    sent = [sample(START_S + i / 100, 500, 0) for i in range(300)]
    return run(
        "waited in vain",
        {"query": sent + 60 * [failed]},
        log="offered_loads { key: 0 value { offered_count: 400 "
        "unsent_count: 100 } }",
    )


def sweep():
    """Cliques of two sizes of messages and three numbers of nodes."""
    return "".join(
        swept(
            f"clique {count} {size}",
            {
                "swept_parameter": "node_count,size",
                "node_count": str(count),
                "size": str(size),
                "traffic_alias": f"clique_{count}x{size}",
            },
            offered_count=100 * count,
            latency_us=10 * count + size,
        )
        for size in (1, 1000)
        for count in (2, 10, 4)
    )


def repeats(latencies_us):
    """Four runs of a test, each a microsecond slower than the one before."""
    return "".join(
        run(
            "test",
            {"query": [sample(START_S, us + i) for us in latencies_us]},
            run_info=f"repetition: {i}",
        )
        for i in range(4)
    )


def samples(count, latency_ns):
    """RPCs of a pair of instances, one each 10 ms."""
    return "".join(
        f"successful_rpc_samples {{ start_timestamp_ns: {1 + i * 10_000_000} "
        f"latency_ns: {latency_ns} }} "
        for i in range(count)
    )


def histogram(ns, count):
    """The fields of a Histogram with a value, so many times."""
    octave = max(0, (ns | 127).bit_length() - 7)
    index = octave * 128 + ((ns >> max(0, octave - 1)) & 127)
    return (
        f"sub_bucket_bits: 7 bucket_index_deltas: {index} "
        f"bucket_counts: {count} min: {ns} max: {ns} sum: {ns * count} "
        f"sum_of_squares: {float(ns) ** 2 * count}"
    )


def log(client, rpc, servers):
    """The log of a client; servers maps instances to RPCs."""
    peers = "".join(
        f'peer_logs {{ key: "{server}" value {{ rpc_logs {{ '
        f"key: {rpc} value {{ {rpcs} }} }} }} }} "
        for server, rpcs in servers.items()
    )
    return f'instance_logs {{ key: "{client}" value {{ {peers} }} }} '


def result(config, logs, more=""):
    return (
        f"test_results {{ traffic_config {{ {config} }} "
        f"service_logs {{ {logs} }} {more} }}\n"
    )


FAILED = "failed_rpc_samples { start_timestamp_ns: 5 latency_ns: 7 } "

# Three tiers; "leaf" fails for one of its callers.
TIERS = result(
    """
name: "tiers"
services { name: "load" count: 1 }
services { name: "root" count: 2 }
services { name: "leaf" count: 3 }
rpc_descriptions { name: "fetch" client: "root" server: "leaf" }
rpc_descriptions { name: "query" client: "load" server: "root" }
action_lists { name: "load" action_names: "run" }
action_lists { name: "query" action_names: "ask" }
actions { name: "run" rpc_name: "query" }
actions { name: "ask" rpc_name: "fetch" }
""",
    log("load/0", 1, {"root/0": samples(200, 9000)})
    + log("root/0", 0, {"leaf/0": samples(200, 2000)})
    + log("root/1", 0, {"leaf/2": samples(200, 3000) + 100 * FAILED}),
)


def simple(more_config="", more="", latency_ns=2000, name="simple"):
    """A test of one RPC, without findings."""
    return result(
        f'name: "{name}" rpc_descriptions {{ name: "query" client: "c" '
        f'server: "s" }} {more_config}',
        log("c/0", 0, {"s/0": samples(200, latency_ns)}),
        more,
    )
