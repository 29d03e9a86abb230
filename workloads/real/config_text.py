# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""Writes tests of the traffic language (proto/traffic_config.proto).

A service's behaviour is given as stages that run one after the other; a stage is a
list of Call that run concurrently, a Delay or Work.
"""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Call:
    """An RPC that is made with a probability."""

    rpc: str
    probability: float = 1


@dataclasses.dataclass(frozen=True)
class Delay:
    """Waits for a time that is drawn from a distribution of Test.delays()."""

    distribution: str


@dataclasses.dataclass(frozen=True)
class Work:
    """Occupies a place among those of Test.work(), for its time."""

    activity: str


class Test:
    """Collects the parts of one test, and makes a config of them."""

    def __init__(self, name, protocol="grpc"):
        self._name = name
        self._protocol = protocol
        self._services = []
        self._instances = []
        self._rpcs = []
        self._payloads = {}
        self._lists = []
        self._actions = []
        self._distributions = []
        self._bundles = []
        self._parts = []

    def service(self, name, count=1, x_size=None, y_size=None):
        """Adds a service of `count` instances, or a grid."""
        if x_size is None:
            self._services.append(f'services {{ name: "{name}" count: {count} }}')
            self._instances += [f"{name}/{i}" for i in range(count)]
        else:
            sizes = f"x_size: {x_size}" + (f" y_size: {y_size}" if y_size else "")
            self._services.append(f'services {{ name: "{name}" {sizes} }}')

    def rpc(self, name, client, server, request=None, response=None, fanout=None,
            stages=(), stream=None, policy=()):
        """Adds an RPC and what its server does.

        `client` is a service or a list of them. `request` and `response` are bytes or
        the name of a distribution of sizes(). The answer follows the last stage.
        `policy` has lines of a CallPolicy.
        """
        clients = [client] if isinstance(client, str) else client
        lines = [f'name: "{name}"']
        lines += [f'client: "{c}"' for c in clients]
        lines.append(f'server: "{server}"')
        if request is not None:
            lines.append(f'request_payload_name: "{self._payload(request)}"')
        if response is not None:
            lines.append(f'response_payload_name: "{self._payload(response)}"')
        if fanout:
            lines.append(f'fanout_filter: "{fanout}"')
        if stream:
            lines.append(f"stream {{ {stream} }}")
        if policy:
            lines += _nested("policy", policy)
        self._rpcs.append(_block("rpc_descriptions", lines))
        self._list(name, stages)

    def load(self, service, actions):
        """Adds the main program of a service: lines of its actions by name."""
        names = " ".join(f'action_names: "{name}"' for name in actions)
        self._lists.append(f'action_lists {{ name: "{service}" {names} }}')
        for name, lines in actions.items():
            self._actions.append(_block("actions", [f'name: "{name}"', *lines]))

    def steps(self, name, stages):
        """Adds a list that actions of load() can run."""
        self._list(name, stages)

    def sizes(self, name, points):
        """Adds a distribution of sizes: (bytes, share up to it), linear between."""
        self._distribution("size", "payload_size", name, points)

    def delays(self, name, points_ms):
        """Adds a distribution of delays: (ms, share up to it), linear between."""
        points = [(round(ms * 1e6), share) for ms, share in points_ms]
        self._distribution("delay", "action_delay_ns", name, points)

    def work(self, name, milliseconds, places):
        """Adds an activity that requests do one after the other in some places."""
        self._parts.append(f'activity_pools {{ name: "{name}_places" size: {places} }}')
        self._parts.append(_block("activity_configs", [
            f'name: "{name}"', f'pool_name: "{name}_places"',
            _setting("activity_func", '"Wait"'),
            _setting("distribution", '"fixed"'),
            f'activity_settings {{ name: "mean_us" int64_value: {milliseconds * 1000:.0f} }}',
        ]))

    def fault(self, name, lines):
        """Adds a failure of servers: lines of a ServerFault."""
        self._parts.append(_block("server_faults", [f'name: "{name}"', *lines]))

    def bundle(self, nodes):
        """Puts all instances so far onto so many nodes, in turn."""
        for node in range(nodes):
            services = [f'services: "{i}"' for i in self._instances[node::nodes]]
            self._bundles.append(
                _block("node_service_bundles",
                       [f'key: "node{node}"', *_nested("value", services)])
            )

    def text(self):
        payloads = [
            f'payload_descriptions {{ name: "{name}" {value} }}'
            for name, value in self._payloads.items()
        ]
        parts = [f'name: "{self._name}"', f'default_protocol: "{self._protocol}"',
                 *self._services, *self._bundles, *payloads, *self._rpcs,
                 *self._lists, *self._actions, *self._distributions, *self._parts]
        lines = [line for part in parts for line in part.splitlines()]
        return (
            "# Made by workloads/real/generate.py. Beside it, provenance.textproto has\n"
            "# the sources of its figures, and what is invented.\n"
            + _block("tests", lines) + "\n"
        )

    def _payload(self, size):
        name = f"{size}_bytes" if isinstance(size, int) else size
        self._payloads[name] = (
            f"size: {size}" if isinstance(size, int)
            else f'size_distribution_name: "{size}"'
        )
        return name

    def _distribution(self, kind, field, name, points):
        lines = [f'name: "{name}"', f'field_names: "{field}"']
        lines += [f"cdf_points {{ cdf: {share:.9g} value: {value} }}"
                  for value, share in points]
        self._distributions.append(_block(f"{kind}_distribution_configs", lines))

    def _list(self, name, stages):
        lines = [f'name: "{name}"']
        previous = []
        for number, stage in enumerate(stages, 1):
            steps = stage if isinstance(stage, list) else [stage]
            actions = [self._action(name, number, step, previous) for step in steps]
            lines += [f'action_names: "{action}"' for action in actions]
            previous = actions
        if stages:
            self._lists.append(_block("action_lists", lines))
        else:
            self._lists.append(f'action_lists {{ name: "{name}" }}')

    def _action(self, list_name, number, step, previous):
        dependencies = [f'dependencies: "{action}"' for action in previous]
        if isinstance(step, Delay):
            name = f"{list_name}_delay_{number}"
            does = f'delay_distribution_name: "{step.distribution}"'
        elif isinstance(step, Work):
            name = f"{list_name}_{number}_{step.activity}"
            does = f'activity_config_name: "{step.activity}"'
        else:
            name = f"{list_name}_{number}_{step.rpc}"
            does = f'rpc_name: "{step.rpc}"'
            if step.probability < 1:
                does = f'action_list_name: "{self._maybe(name, step)}"'
        self._actions.append(
            _block("actions", [f'name: "{name}"', *dependencies, does])
        )
        return name

    def _maybe(self, name, call):
        """Adds a list that makes the call or not.

        Actions that depend on a skipped one are skipped, too: the list is not.
        """
        self._lists.append(_block("action_lists", [
            f'name: "maybe_{name}"',
            f'action_names: "made_{name}"',
            "predicate_probabilities "
            f'{{ key: "made" value: {call.probability} }}',
        ]))
        self._actions.append(_block("actions", [
            f'name: "made_{name}"', 'predicates: "made"', f'rpc_name: "{call.rpc}"',
        ]))
        return f"maybe_{name}"


def _nested(name, lines):
    return [f"{name} {{", *(f"  {line}" for line in lines), "}"]


def _setting(name, value):
    return f'activity_settings {{ name: "{name}" string_value: {value} }}'


def _block(name, lines):
    return "\n".join(_nested(name, lines))


def open_loop(what, rate, distribution="exponential", arrivals="", seconds=10):
    """Lines of an action that is done at a rate for some time.

    `arrivals` is an Arrivals message, which replaces the distribution.
    """
    process = (f"arrivals {{ {arrivals} }}" if arrivals else
               f'open_loop_interval_distribution: "{distribution}"')
    return [
        what,
        *_nested("iterations", [
            f'rate: "{rate:g}/s"',
            f'max_duration: "{seconds}s"',
            process,
        ]),
    ]
