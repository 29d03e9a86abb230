# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""The tests that controls.py runs: each shows what some controls do."""

# Of services that do the same, this one is given more.
FAVOURED = "favoured"
OTHER = "other"
HOG = "hog"

MIB = 1 << 20
CPU_SHARE = 0.25
HIGH_BYTES = 32 * MIB
MAX_BYTES = 48 * MIB
GROWN_BYTES = 96 * MIB
KEPT_BYTES = 48 * MIB
READ_BYTES_PER_SECOND = 1 * MIB

# The tests that want too much memory must not be ended by the node manager.
NO_LIMIT_BYTES = 1 << 40

# Of the group of everything else, before and during a test.
NEIGHBOUR_WEIGHT = 77
HELD_NEIGHBOUR_WEIGHT = 33

# The tests whose effects are measured, in this order.
MEASURED = (
    "cpu_weight",
    "cpu_max",
    "memory_high",
    "memory_max",
    "memory_swap_max",
    "memory_low",
    "io_max",
    "io_weight",
    "io_priority_class",
    "held",
)

BURN = """
  activity_settings { name: "activity_func" string_value: "BurnCpu" }
  activity_settings { name: "operations" int64_value: 100000 }
"""

# Reads past the page cache.
READ = """
  activity_settings { name: "activity_func" string_value: "Disk" }
  activity_settings { name: "directory" string_value: "/data" }
  activity_settings { name: "io" string_value: "direct" }
  activity_settings { name: "data_bytes" int64_value: 8388608 }
"""

# The machine's script replaces this by the name of the drive with the data.
DRIVE = "DRIVE"

# A drive that can do less than it could: the kernel then has to divide it.
SLOW_DRIVE = f"""
  io_cost {{
    device: "{DRIVE}" enable: true
    model {{ rbps: 10485760 rseqiops: 1000 rrandiops: 1000
            wbps: 10485760 wseqiops: 1000 wrandiops: 1000 }}
    qos {{ rpct: 95 rlat: 50000 wpct: 95 wlat: 50000 min: 100 max: 100 }}
  }}
"""


def grow(limit_bytes, hot_percent=100):
    return f"""
  activity_settings {{ name: "activity_func" string_value: "GrowMemory" }}
  activity_settings {{ name: "bytes_per_iteration" int64_value: {4 * MIB} }}
  activity_settings {{ name: "limit_bytes" int64_value: {limit_bytes} }}
  activity_settings {{ name: "hot_percent" int64_value: {hot_percent} }}
  activity_settings {{ name: "content" string_value: "repeated" }}
"""


def group(services, settings):
    names = " ".join(f'services: "{service}"' for service in services)
    return f"groups {{ {names} {settings} }}"


def config(name, services, controls, seconds=12):
    """Returns the config of a test on one node.

    services: the settings of each service's activity, by name. Each service has
    an instance that repeats its activity.
    """
    parts = []
    for service, activity in services.items():
        parts.append(
            f"""
  services {{ name: "{service}" count: 1 }}
  activity_configs {{ name: "do_{service}" {activity} }}
  action_lists {{ name: "{service}" action_names: "repeat_{service}" }}
  actions {{
    name: "repeat_{service}" activity_config_name: "do_{service}"
    iterations {{ max_duration: "{seconds}s" }}
  }}"""
        )
    instances = " ".join(f'services: "{service}/0"' for service in services)
    return f"""
tests {{
  name: "{name}"
  default_protocol: "tcp"
  workers_per_instance: 1
  overload_limits {{ max_memory_bytes: {NO_LIMIT_BYTES} }}
  {"".join(parts)}
  node_service_bundles {{ key: "node0" value {{ {instances} }} }}
  controls {{ name: "{name}" {controls} }}
}}
"""


def two(activity):
    return {FAVOURED: activity, OTHER: activity}


def held_controls():
    """Controls of every kind, for tests that end in some other way."""
    return (
        group(
            [FAVOURED],
            'cpu_weight: 300 cpu_max: "0.5" cpuset_cpus: "1" '
            'cpuset_mems: "0" memory_min: "1MiB" memory_low: "2MiB" '
            'memory_high: "256MiB" memory_max: "300MiB" '
            'memory_swap_max: "64MiB" io_weight: 300 '
            f'io_max {{ device: "{DRIVE}" read_bytes: "4MiB" '
            "write_operations: 1000 }",
        )
        + f"groups {{ everything_else: true "
        f"cpu_weight: {HELD_NEIGHBOUR_WEIGHT} }}"
        + SLOW_DRIVE
    )


def configs():
    """Returns the configs, by name."""
    on_cpu_0 = 'cpuset_cpus: "0" '
    weights = "io_weight: %d"
    return {
        "cpu_weight": config(
            "cpu_weight",
            two(BURN),
            group([FAVOURED], on_cpu_0 + "cpu_weight: 200")
            + group([OTHER], on_cpu_0 + "cpu_weight: 100"),
        ),
        "cpu_max": config(
            "cpu_max",
            {FAVOURED: BURN},
            group([FAVOURED], f'cpu_max: "{CPU_SHARE}" cpuset_mems: "0"'),
        ),
        "memory_high": config(
            "memory_high",
            {FAVOURED: grow(GROWN_BYTES)},
            group([FAVOURED], f'memory_high: "{HIGH_BYTES}B"'),
        ),
        "memory_max": config(
            "memory_max",
            {FAVOURED: grow(GROWN_BYTES)},
            group([FAVOURED], f'memory_max: "{MAX_BYTES}B"'),
        ),
        "memory_swap_max": config(
            "memory_swap_max",
            {FAVOURED: grow(GROWN_BYTES)},
            group(
                [FAVOURED],
                f'memory_max: "{MAX_BYTES}B" memory_swap_max: "0B"',
            ),
        ),
        # The delegated group has less than all three want.
        "memory_low": config(
            "memory_low",
            {
                FAVOURED: grow(KEPT_BYTES, hot_percent=1),
                OTHER: grow(KEPT_BYTES, hot_percent=1),
                HOG: grow(3 * GROWN_BYTES),
            },
            group(
                [FAVOURED],
                f'memory_min: "1MiB" memory_low: "{2 * KEPT_BYTES}B"',
            ),
            seconds=20,
        ),
        "io_max": config(
            "io_max",
            {FAVOURED: READ},
            group(
                [FAVOURED],
                f'io_max {{ device: "{DRIVE}" '
                f'read_bytes: "{READ_BYTES_PER_SECOND}B" }}',
            ),
        ),
        "io_weight": config(
            "io_weight",
            two(READ),
            group([FAVOURED], weights % 400)
            + group([OTHER], weights % 100)
            + SLOW_DRIVE,
            seconds=15,
        ),
        "io_priority_class": config(
            "io_priority_class",
            {FAVOURED: BURN},
            group([FAVOURED], 'io_priority_class: "idle"'),
        ),
        "held": config(
            "held", {FAVOURED: BURN, OTHER: BURN}, held_controls()
        ),
        "held_long": config(
            "held_long",
            {FAVOURED: BURN, OTHER: BURN},
            held_controls(),
            seconds=600,
        ),
    }
