# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""What is compared: tests, each at three loads, with the drivers and the places."""

import dataclasses
import re
import subprocess

DRIVERS = ("grpc", "tcp")

# By name of a test: the configs of test_builder, from the lowest load to the
# highest. {driver} is that of the cell.
LOCALHOST_TESTS = {
    "client_server": [f"client_server:{{driver}}:parallel_queries={count}"
                      for count in (1, 4, 16)],
    "clique of 10": [f"clique:{{driver}}:node_count=10:rpc_interval_us={us}"
                     for us in (40_000, 20_000, 10_000)],
    "clique of 40": [f"clique:{{driver}}:node_count=40:rpc_interval_us={us}"
                     for us in (400_000, 200_000, 100_000)],
    "multi_level_rpc": [
        f"multi_level_rpc:{{driver}}:root_count=2:leaf_count=3:qps={qps}"
        for qps in (250, 500, 1000)],
    "tripartite": [f"tripartite:{{driver}}:data_count=3:client_count={count}"
                   for count in (1, 2, 4)],
}
# One client and one server, whose messages are large. Of others, namespaces say
# nothing: all of them share the machine's CPUs, while simulated hosts have their
# own; and tbf lets small messages pass at once, while links take their time.
NAMESPACES_TESTS = {"client_server": LOCALHOST_TESTS["client_server"]}

_WARMUP_NS = 500_000_000

# The most instances of a test with namespaces, each in its own.
NAMESPACES = 2


@dataclasses.dataclass(frozen=True)
class Cell:
    """A test at a load, with a driver, in a place."""

    place: str
    driver: str
    test: str
    load: str  # what sets it apart from the test's other loads
    config: str  # of test_builder


def cells(place, tests, loads):
    """Returns the cells of a place at the loads with these numbers."""
    return [Cell(place, driver, name, configs[load].rsplit(":", 1)[1],
                 configs[load].format(driver=driver))
            for driver in DRIVERS
            for name, configs in tests.items() for load in loads]


def _instances(text):
    for name, count in re.findall(r'services \{ name: "(\w+)" count: (\d+) \}',
                                  text):
        for number in range(int(count)):
            yield f"{name}/{number}"


def _bundles(text, node_of):
    bundles = {}
    for number, instance in enumerate(_instances(text)):
        bundles.setdefault(node_of(number), []).append(instance)
    return "\n".join(
        f'  node_service_bundles {{ key: "{node}" value {{ '
        + " ".join(f'services: "{instance}"' for instance in instances)
        + " } }" for node, instances in bundles.items())


def traffic(test_builder, cell, seconds, node_of):
    """Returns the cell's traffic config.

    An instance has one worker, which sleeps when it is idle: in simulations
    the workers of a host do not poll. node_of: from the number of an instance
    to the name of its node.
    """
    text = subprocess.run(
        [test_builder, "-t", str(seconds), cell.config], check=True,
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
    never_polls = "".join(
        f'\n    {side}_settings {{ name: "spin_us" int64_value: 0 }}'
        for side in ("client", "server"))
    text = re.sub(r"(protocol_name: .*)", rf"\1{never_polls}", text, count=1)
    # A pattern's own warm-up is long, and depends on its parameters.
    text = re.sub(r"warmup_iterations: \d+", f"warmup_ns: {_WARMUP_NS}", text)
    more = f"  workers_per_instance: 1\n{_bundles(text, node_of)}\n"
    return text.replace("tests {\n", "tests {\n" + more, 1)
