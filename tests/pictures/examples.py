"""Results of a search and of a comparison of NUMA deployments, as text protos."""


def _bucket(ns):
    """The bucket of a latency of at least 128 ns in a histogram with 7 bits."""
    octave = ns.bit_length() - 7
    return 128 * octave + (ns >> (octave - 1)) - 128


def _probe(number, phase, load, p99_us, outcome):
    fast_ns, slow_ns = 500 * p99_us, 1000 * p99_us
    count = 5 * load
    return f"""
      probes {{
        number: {number} phase: "{phase}" outcome: "{outcome}"
        requested_load: {load} achieved_load: {load}
        measured: "p99 {p99_us} us" load_of_limit: {p99_us / 1000}
        start_timestamp_ns: {1_700_000_000_000_000_000 + number * 10**10}
        end_timestamp_ns: {1_700_000_005_000_000_000 + number * 10**10}
        host_cpu_share: {load / 20000}
        statistics {{
          succeeded_count: {count}
          first_start_timestamp_ns: 1000000000
          last_end_timestamp_ns: 6000000000
          service_time_ns {{
            sub_bucket_bits: 7
            bucket_index_deltas: {_bucket(fast_ns)}
            bucket_index_deltas: {_bucket(slow_ns) - _bucket(fast_ns)}
            bucket_counts: {count - count // 25} bucket_counts: {count // 25}
            min: {fast_ns} max: {slow_ns}
            sum: {count * fast_ns} sum_of_squares: {count * fast_ns**2}
          }}
        }}
      }}"""


def search(verdict='verdict: "converged" is_proven: true'):
    """A search that found 8000 requests per second."""
    probes = (
        ("bracket", 2000, 210, "met"),
        ("bracket", 4000, 320, "met"),
        ("bracket", 16000, 5400, "missed"),
        ("bisect", 8000, 870, "met"),
        ("bisect", 11000, 1900, "missed"),
        ("bisect", 9000, 1150, "missed"),
        ("final", 8000, 890, "met"),
    )
    return f"""
searches {{
  search {{ objectives: "query p99<=1ms" tolerance: 0.1 }}
  load_unit: "requests per second" evidence: "the bracket is narrow enough"
  load: 8000 min_load: 7800 max_load: 9000 confidence_level: 0.95
  {verdict}
  {''.join(_probe(i + 1, *probe) for i, probe in enumerate(probes))}
}}
"""


def _deployment(name, instances, loads, held):
    searches = "".join(
        f"""objective_searches {{
          search {{ objectives: "query p99<=1ms" }}
          load_unit: "requests per second" verdict: "converged" load: {load}
        }}"""
        for load in loads
    )
    proofs = "".join(
        f"""binding_proofs {{
          key: "{name}/{i}"
          value {{
            resident_bytes_by_node {{ key: {i} value: 67108864 }}
            cpu_time_ns_by_cpu {{ key: {i} value: 700 }}
            cpu_time_ns_by_cpu {{ key: {i + 2} value: 300 }}
            voluntary_context_switches: 120 involuntary_context_switches: 3
            cpu_migrations: 2 {held}
          }}
        }}"""
        for i in range(instances)
    )
    return f"""
  deployments {{
    name: "{name}" instances: {instances} workers_per_instance: 2
    {searches} {proofs}
  }}"""


def numa():
    """Two deployments; the second carries half as much again, and one of its
    instances ran elsewhere."""
    return f"""
numa_comparison {{
  {_deployment("one_unbound", 1, (10000, 10100, 9900), "")}
  {_deployment("bound", 2, (15000, 15300, 14900),
               'violations: "7 % of its CPU time was on node 1"')}
  omissions: "CPU targets were not searched for."
}}
"""
