#!/usr/bin/env python3
# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""Measures what queue.ipynb analyses: a server that works on one request at a
time, as a queue of known theory. Needs a sequencer with two nodes and takes five
minutes:

  ./start_distbench_localhost.sh -n 2 &
  python3 python/examples/measure_queue.py localhost:10000 DIR

DIR then holds the results; data/ has those of one such run.
"""

import pathlib
import subprocess
import sys

import distbench

# Requests per second that the server can serve.
SERVICE_RATE = 500

CONFIG = """
tests {{
  name: "{name}"
  random_seed: 1
  sample_memory_bytes: 0
  services {{ name: "client" count: 1 }}
  services {{ name: "server" count: 1 }}
  rpc_descriptions {{ name: "query" client: "client" server: "server" }}
  activity_pools {{ name: "server" size: 1 }}
  activity_configs {{
    name: "serve"
    pool_name: "server"
    activity_settings {{ name: "activity_func" string_value: "Wait" }}
    activity_settings {{ name: "distribution" string_value: "{distribution}" }}
    activity_settings {{ name: "mean_us" int64_value: {mean_us} }}
  }}
  action_lists {{ name: "client" action_names: "ask" }}
  action_lists {{ name: "query" action_names: "serve" }}
  actions {{
    name: "ask"
    rpc_name: "query"
    iterations {{
      max_duration_us: {duration_us}
      open_loop_interval_ns: {interval_ns}
      open_loop_interval_distribution: "exponential"
      warmup_ns: 2000000000
    }}
  }}
  actions {{ name: "serve" activity_config_name: "serve" }}
}}
"""


def config(name, load, seconds, distribution="exponential"):
    """Returns a test that offers this share of the server's rate."""
    return CONFIG.format(
        name=name,
        distribution=distribution,
        mean_us=1_000_000 // SERVICE_RATE,
        duration_us=seconds * 1_000_000,
        interval_ns=round(1e9 / (load * SERVICE_RATE)),
    )


def show(progress):
    if progress.state == "started":
        print(f"{progress.run_id}: {progress.test_name}", flush=True)


def main():
    address, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    folder.mkdir(exist_ok=True)
    with distbench.Client(address) as client:
        loads = (0.25, 0.5, 0.7, 0.8, 0.9)
        sweep = "".join(config(f"load {load:.0%}", load, 30) for load in loads)
        client.run(sweep, on_progress=show).write(folder / "sweep.pb.gz")
        for distribution in ("exponential", "fixed"):
            # A seed of its own for each repetition, or they would be alike.
            test = "".join(
                config("half load", 0.5, 12, distribution).replace(
                    "random_seed: 1", f"random_seed: {seed}"
                )
                for seed in (1, 2, 3)
            )
            results = client.run(test, on_progress=show)
            results.write(folder / f"{distribution}.pb.gz")
    tests = folder / "search.config"
    tests.write_text(config("search", 0.5, 30))
    subprocess.run(
        [
            "distbench",
            "search",
            f"--test_sequencer={address}",
            f"--infile={tests}",
            "--slo=query p95<=20ms",
            f"--max_qps={SERVICE_RATE}",
            "--initial_qps=200",
            "--tolerance=5",
            "--max_probes=10",
            "--max_time=180s",
            "--probe_duration=6s",
            "--final_duration=10s",
            f"--outfile={folder / 'search.pb.gz'}",
            "--binary_output",
        ],
        check=True,
    )
    tests.unlink()


if __name__ == "__main__":
    main()
