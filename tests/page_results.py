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
