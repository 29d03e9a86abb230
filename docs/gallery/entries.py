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

    # A sentence or two on what to see.
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
        "load achieved is the answer and there is no response time.",
        "client_server",
        5,
    ),
    _pattern(
        "multi_level_rpc",
        "A tree of services",
        "A load balancer asks two roots, which ask all leaves. The graph marks the "
        "slowest kind of RPC.",
        "multi_level_rpc:root_count=2:leaf_count=3:qps=200",
        6,
    ),
    _pattern(
        "clique",
        "All to all",
        "Every node sends to all others at the same time. Each pair has a square.",
        "clique:node_count=4",
        5,
        top="#peers",
    ),
    Entry(
        "all_pairs",
        "All pairs of a cluster",
        "Twelve hosts, each a network namespace, of which two send 100 ms late. They are "
        "named, and their lines and columns stand out.",
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
        "A client asks an index and then the results that it names: two curves.",
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
        "A tree of services with large responses, as FeedSim models it. The "
        "verdict has the offered rate, the achieved one and the tail.",
        "feed_aggregator",
        6,
    ),
    _pattern(
        "sweep",
        "A sweep",
        "A tree of services at three loads: latency and rate over the load.",
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
        "One client and one server over three protocol drivers, three runs each: "
        "latency, CPU time of an RPC, and which differences the runs show.",
        "'client_server:{grpc,tcp,thrift}:parallel_queries=10'",
        5,
        options="--repeat=3",
        top="#stacks",
    ),
    Entry(
        "comparison",
        "Before and after",
        "A client and a server over gRPC, and then over plain TCP, four runs each: "
        "`distbench compare` says what became better or worse, and whether the "
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
    return " and ".join(f"[{name}](results/{name})" for name in entry.results)


def readme():
    """The text of README.md."""
    parts = [
        "# Gallery\n\n"
        "Pages of short runs, all on one busy machine with two cores: they show "
        "what pages look\nlike, not what hardware can do. "
        "[reports.md](../reports.md#the-page) explains them. To see\none in a "
        "browser, make it from the result that is linked below each picture:\n\n"
        "    distbench report docs/gallery/results/clique.pb.gz --format=html "
        "-o clique.html\n\n"
        "`docs/gallery/build --render` makes all of them, and `docs/gallery/build` "
        "runs everything\nanew, by the commands in [entries.py](entries.py).\n"
    ]
    for entry in ENTRIES:
        parts.append(
            f"\n## {entry.title}\n\n{textwrap.fill(entry.text, 88)}\n\n"
            f"![{entry.title}](pictures/{entry.name}.png)\n\n"
            f"{links(entry)}\n"
        )
    return "".join(parts)
