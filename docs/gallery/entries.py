# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""What the gallery shows, and the text of its page."""

import dataclasses
import textwrap

SEED = "sed 's/^tests {/& random_seed: 1/'"
RUN = "distbench run_tests --binary_output --no_samples --allow_invalid"


@dataclasses.dataclass
class Entry:
    """A page of a result, or of the comparison of two."""

    name: str
    title: str

    # Two sentences on what to see.
    text: str

    # For bash, on a sequencer with twelve nodes that DISTBENCH_TEST_SEQUENCER names,
    # in a folder with workloads/, distbench/ and tests/ of the source. Makes the result
    # there.
    command: str

    # The element at which the picture begins.
    top: str = "header"

    # Whether results are called after NAME_base and NAME_new.
    is_comparison: bool = False

    @property
    def results(self):
        if not self.is_comparison:
            return [f"{self.name}.pb.gz"]
        return [f"{self.name}_{side}.pb.gz" for side in ("base", "new")]

    @property
    def page_command(self):
        """The arguments of distbench that make the page, without its options."""
        return ["compare" if self.is_comparison else "report", *self.results]


def _pattern(name, title, text, config, seconds, options="", **more):
    run = f"{RUN} {options}".rstrip()
    command = (
        f"test_builder {config} -t {seconds} |\n"
        f"    {SEED} |\n"
        f"    {run} --outfile={name}.pb.gz"
    )
    return Entry(name, title, text, command, **more)


ENTRIES = [
    _pattern(
        "client_server",
        "Client and server",
        "One client sends as fast as one server answers: a closed loop, so the "
        "load achieved is the answer and there is no response time. The findings "
        "say what to know of the host.",
        "client_server",
        5,
    ),
    _pattern(
        "multi_level_rpc",
        "A tree of services",
        "A load balancer asks two roots, which ask all leaves. The graph shows "
        "each kind of RPC with its rate and p99, and marks the slowest.",
        "multi_level_rpc:root_count=2:leaf_count=3:qps=200",
        6,
    ),
    _pattern(
        "clique",
        "All to all",
        "Every node sends to all others at the same time. The map of who talks "
        "to whom has a square for each pair.",
        "clique:node_count=4",
        5,
        top="#peers",
    ),
    Entry(
        "all_pairs",
        "All pairs of a cluster",
        "Twelve hosts, each a network namespace, of which two send 100 ms late. They are "
        "named, and their lines and columns stand out; in bursts, all pairs take longer.",
        "KEEP=. DISTBENCH=$(command -v distbench) python3 -m "
        "distbench.products.all_pairs.hosts_test \\\n"
        "    SlowHostsTest.test_two_slow_hosts\n"
        "mv test_two_slow_hosts.pb.gz all_pairs.pb.gz",
        top="#all-pairs",
    ),
    Entry(
        "collectives",
        "A collective with a slow rank",
        "Six ranks do ring all-reduces, and each loads something from a disk of its own "
        "before. The disk of rank 3 takes 4 ms longer, so that all others wait for it.",
        "test_builder collective:ranks=6:iterations=200:size=64KiB:compute_us=2000 |\n"
        "    sed 's/^tests {/& random_seed: 1 services { name: \"disk\" x_size: 6 }/\n"
        "        s/^tests {/& rpc_descriptions { name: \"load\" client: \"rank\" "
        "server: \"disk\" fanout_filter: \"same_x\" }/\n"
        "        s/^tests {/& action_lists { name: \"load\" } "
        "actions { name: \"load\" rpc_name: \"load\" }/\n"
        "        s/^tests {/& server_faults { name: \"slow\" service: \"disk\" "
        "instances: 3 extra_latency: \"4ms\" }/\n"
        "        s/action_names: \"compute\"/action_names: \"load\" &/\n"
        "        s/name: \"compute\" delay/name: \"compute\" dependencies: \"load\" "
        "delay/' |\n"
        f"    {RUN} --outfile=collectives.pb.gz",
        top="#collectives",
    ),
    _pattern(
        "tripartite",
        "Two steps in a row",
        "A client asks an index and then the results that it names. Each of the "
        "two kinds of RPC has its own curve.",
        "tripartite",
        5,
        top="#latency",
    ),
    _pattern(
        "stochastic",
        "Random fanout",
        "Each query goes to a random number of servers. The slowest of them "
        "decides when the client goes on.",
        "stochastic",
        5,
    ),
    _pattern(
        "feed_aggregator",
        "Feed aggregator",
        "A tree of services with work at each stage and large responses, as "
        "FeedSim models it. The verdict has the offered rate, the achieved one "
        "and their tail.",
        "feed_aggregator",
        6,
    ),
    _pattern(
        "sweep",
        "A sweep",
        "The same tree at three loads. One page draws latency and rate over the "
        "load, offered and succeeded.",
        "multi_level_rpc:root_count=2:leaf_count=3:qps=50,150,400",
        5,
        top="#sweep",
    ),
    Entry(
        "search",
        "A search for the highest load",
        "Each probe is a run at another load, and the bracket between what met "
        "the objective and what missed it narrows. The verdict says whether the "
        "load found is proven.",
        "test_builder multi_level_rpc:root_count=2:leaf_count=3:qps=100 -t 6 |\n"
        f"    {SEED} |\n"
        "    distbench search --slo 'root_query p95<=20ms' --max_qps=4000 \\\n"
        "        --tolerance=20 --max_probes=10 --warmup=1s --probe_duration=2s \\\n"
        "        --final_duration=4s --binary_output --outfile=search.pb.gz",
        top="#search",
    ),
    _pattern(
        "stacks",
        "Protocol drivers under the same traffic",
        "One client and one server over three protocol drivers, three runs each. A "
        "table has their latency and the CPU time of an RPC, and sentences say "
        "which differences the runs show.",
        "'client_server:{grpc,tcp,thrift}:parallel_queries=10'",
        5,
        options="--repeat=3",
        top="#stacks",
    ),
    Entry(
        "comparison",
        "Before and after",
        "A client and a server over gRPC, and then over plain TCP, four runs each. "
        "The page says what became better or worse, by how much, and whether the "
        "runs suffice to tell.",
        "for side in base:grpc new:tcp; do\n"
        "    test_builder client_server:parallel_queries=10:${side#*:} -t 5 |\n"
        f"    {SEED} |\n"
        f"    {RUN} --repeat=4 --outfile=comparison_${{side%:*}}.pb.gz\n"
        "done",
        is_comparison=True,
    ),
    Entry(
        "protection",
        "A service beside noisy neighbours",
        "The queries are measured alone, then beside an antagonist that burns CPU "
        "or one that uses up memory bandwidth. Isolation is the share of the "
        "goodput that remains.",
        "sed 's/stabilise: \"40s\"/stabilise: \"6s\"/; "
        "s/flat_over: \"10s\" flat_within_percent: 0.5/flat_over: \"5s\"/;\n"
        "    s/baseline: \"15s\" interfere: \"20s\" recover: \"10s\"/"
        "baseline: \"5s\" interfere: \"5s\" recover: \"3s\"/;\n"
        "    /name: \"cache\"/d; s/repeat: 3/repeat: 2/; "
        "s/^tests {/& random_seed: 1/' workloads/protection.config |\n"
        "    distbench protection --binary_output --allow_invalid "
        "--outfile=protection.pb.gz",
        top="#protection",
    ),
]


def links(entry):
    """The line that links the entry's results."""
    results = " and ".join(f"[{name}](results/{name})" for name in entry.results)
    return f"{'Results' if entry.is_comparison else 'Result'}: {results}"


def readme():
    """The text of README.md."""
    parts = [
        "# Gallery\n\n"
        "Pages of short runs, all on one busy machine with two cores: they show "
        "what pages look\nlike, not what hardware can do. `docs/gallery/build "
        "--render` makes the pages from the\nrecorded results, "
        "`docs/gallery/build` runs everything anew. Reports are explained in\n"
        "[reports.md](../reports.md). Commands run in the root of the source, and "
        "need a sequencer\nwith twelve nodes:\n\n"
        "    distbench test_sequencer --listen=localhost --local_nodes=12\n"
        "    export DISTBENCH_TEST_SEQUENCER=localhost:10000\n"
    ]
    for entry in ENTRIES:
        command = "".join(f"    {line}\n" for line in entry.command.split("\n"))
        parts.append(
            f"\n## {entry.title}\n\n{textwrap.fill(entry.text, 88)}\n\n"
            f"![{entry.title}](pictures/{entry.name}.png)\n\n"
            f"{command}\n"
            f"{links(entry)}\n"
        )
    return "".join(parts)
