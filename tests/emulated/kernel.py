# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""What the control groups of the machine's kernel can do, without distbench.

If this fails, the failures of the other tests say nothing about distbench. The
cases of distbench/products/protection/control_groups that need such a kernel run here, too.
"""

import os

import findings
import machine

# As in the script.
ALLOWED_CPU_SHARE = 0.25
WATCHED_SECONDS = 6

REQUIRED_FILES = (
    *findings.CONTROL_FILES,
    "cpu.pressure",
    "memory.pressure",
    "io.pressure",
)


# The cases of distbench/products/protection/control_groups that need a kernel, if they are built.
CASES = os.path.join(
    findings.REPOSITORY, "bazel-bin/distbench/products/protection/control_groups/kernel_test"
)


def boot(options):
    computer = machine.Machine(
        findings.DISTBENCH,
        options.kernel,
        disks=(
            machine.make_data_disk(os.path.join(options.out, "data.img"), 64),
            machine.make_swap_disk(os.path.join(options.out, "swap.img"), 128),
        ),
        programs=(CASES,) if os.path.exists(CASES) else (),
    )
    machine.run(
        computer,
        findings.script("kernel_guest.sh"),
        options.out,
        os.path.join(options.out, "console.log"),
    )


class KernelTest(findings.Findings):
    def setUp(self):
        self.fact = self.facts()

    def number(self, name):
        return int(self.fact[name])

    def test_has_controllers_and_files(self):
        controllers = set(self.fact["controllers"].split())
        self.assertLessEqual(
            {"cpu", "cpuset", "memory", "io", "pids"}, controllers
        )
        for name in REQUIRED_FILES:
            self.assertEqual(self.fact[f"has:{name}"], "yes", name)

    def test_lacks_what_its_configuration_leaves_out(self):
        for name in ("io.latency", "io.prio.class", "memory.zswap.max"):
            self.assertEqual(self.fact[f"has:{name}"], "no", name)

    def test_has_drives(self):
        self.assertEqual(self.number("mounted"), 1)
        self.assertGreater(self.number("swap_kib"), 120 << 10)

    def test_measures_pressure(self):
        for resource in ("cpu", "memory", "io"):
            self.assertRegex(
                self.fact[f"pressure:{resource}"], r"^some avg10=.* total=\d+$"
            )

    def test_says_what_was_written(self):
        drive = self.fact["drive"].split()[1]
        for name, value in (
            ("cpu.weight", "200"),
            ("cpu.max", "50000 100000"),
            ("memory.low", "2097152"),
            ("memory.swap.max", "67108864"),
            ("io.weight", "default 200"),
            (
                "io.max",
                f"{drive} rbps=1048576 wbps=max riops=max wiops=max",
            ),
            (
                "io.cost.qos",
                f"{drive} enable=1 ctrl=user rpct=95.00 rlat=50000 "
                "wpct=95.00 wlat=50000 min=100.00 max=100.00",
            ),
        ):
            self.assertEqual(self.fact[f"set:{name}"], value, name)

    def test_weights_divide_a_cpu(self):
        ratio = self.number("cpu_weight:heavy") / self.number(
            "cpu_weight:light"
        )
        self.assertGreater(ratio, 1.5)
        self.assertLess(ratio, 2.7)

    def test_cpu_max_caps(self):
        seconds = self.number("cpu_max:used") / 1e6
        self.assertGreater(seconds, 0.5 * ALLOWED_CPU_SHARE * WATCHED_SECONDS)
        self.assertLess(seconds, 1.3 * ALLOWED_CPU_SHARE * WATCHED_SECONDS)

    def test_swaps_above_the_limit_and_kills_without_swap(self):
        self.assertGreater(self.number("swap:pages_out"), 0)
        self.assertEqual(self.number("oom:kills_with_swap"), 0)
        self.assertEqual(self.number("oom:kills_without_swap"), 1)

    def test_io_max_caps(self):
        # 8 MiB at 2 MiB/s; the kernel lets the first ones pass.
        self.assertGreaterEqual(self.number("io_max:seconds"), 3)

    def test_io_weights_divide_a_drive(self):
        ratio = self.number("io_weight:heavy") / self.number("io_weight:light")
        self.assertGreater(ratio, 2)
        self.assertLess(ratio, 8)

    def test_library_of_controls(self):
        if "kernel_test" not in self.fact:
            self.skipTest(
                "bazel build //distbench/products/protection/control_groups:kernel_test first"
            )
        log = self.read("kernel_test.log")
        self.assertEqual(self.fact["kernel_test"], "0", log)
        self.assertNotIn("SKIPPED", log)
