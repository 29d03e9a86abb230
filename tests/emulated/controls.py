# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""Each control: set, read back, effective, and restored after each kind of end.

Two boots: in the first one the tests run, and the machine is switched off in
the middle of the last one; in the second, a node manager finds what that left.
"""

import collections
import os
import re

import controls_configs as configs
import findings
import machine

# Ways in which a test ends, other than its own end.
WAYS_TO_END = (
    "cancelled",
    "terminated",
    "manager_killed",
    "guardian_killed",
    "both_killed",
)

# A guardian restores within a second; an emulated machine may take a few to
# notice that.
RESTORED_WITHIN_SECONDS = 10

# What weights and limits of time and rates may miss by: times of an emulated
# machine mean little.
CPU_RATIO = (1.4, 2.8)
IO_RATIO = (2, 8)
RATE_TOLERANCE = 1.6

# Memory that the kernel may charge beyond a limit that only slows a group down.
HIGH_TOLERANCE = 1.5
KEPT_SHARE = 0.8
RECLAIMED_SHARE = 0.7


def _settings():
    return f"""
readonly MEASURED_TESTS="{" ".join(configs.MEASURED)}"
readonly NEIGHBOUR_WEIGHT={configs.NEIGHBOUR_WEIGHT}
readonly HELD_WEIGHT={configs.HELD_NEIGHBOUR_WEIGHT}
# As the test before the reboot wrote it, which must not be taken for that.
readonly REBOOT_WEIGHT={configs.HELD_NEIGHBOUR_WEIGHT}
"""


def _files(script):
    files = findings.script(script)
    files["controls_settings.sh"] = _settings()
    files["controls_lib.sh"] = findings.read_here("controls_lib.sh")
    for name, text in configs.configs().items():
        files[f"{name}.config"] = text
    return files


def boot(options):
    computer = machine.Machine(
        findings.DISTBENCH,
        options.kernel,
        disks=(
            machine.make_data_disk(os.path.join(options.out, "data.img"), 256),
            machine.make_swap_disk(os.path.join(options.out, "swap.img"), 512),
        ),
    )
    for script, out in (
        ("controls_guest.sh", options.out),
        ("controls_reboot_guest.sh", os.path.join(options.out, "reboot")),
    ):
        os.makedirs(out, exist_ok=True)
        machine.run(
            computer, _files(script), out, os.path.join(out, "console.log")
        )


def _samples(text):
    """Returns pairs (second, value), by the instance's service and the file."""
    samples = collections.defaultdict(list)
    for line in text.splitlines():
        second, group, file, value = line.split(" ", 3)
        service = re.search(r"-(\w+)\.", group).group(1)
        samples[service, file].append((int(second), value))
    return samples


class Effects(findings.Findings):
    """What the kernel said of the groups of a test while it ran."""

    def samples(self, test):
        return _samples(self.read(f"{test}.samples"))

    def rate(self, test, file, service=configs.FAVOURED):
        """Returns the growth of a counter, per second."""
        samples = self.samples(test)[service, file]
        (first, low), (last, high) = samples[0], samples[-1]
        self.assertGreater(last, first + 3, f"{test}: too few samples")
        return (int(high) - int(low)) / (last - first)

    def most(self, test, file, service=configs.FAVOURED):
        return max(int(value) for _, value in self.samples(test)[service, file])

    def kept_beside_hog(self, test, file, service):
        """Returns the share of its most that a service had when the hog had
        the most."""
        samples = self.samples(test)
        full, _ = max(samples[configs.HOG, file], key=lambda pair: int(pair[1]))
        kept = [
            int(value)
            for second, value in samples[service, file]
            if second <= full
        ][-1]
        return kept / self.most(test, file, service)

    def proofs(self, test, out=""):
        result = self.report(os.path.join(out, f"{test}.pb.gz"))
        return result["tests"][0]["controls"]


class EffectiveTest(Effects):
    def test_cpu_weight(self):
        ratio = self.rate("cpu_weight", "cpu.stat:usage_usec") / self.rate(
            "cpu_weight", "cpu.stat:usage_usec", configs.OTHER
        )
        self.assertGreater(ratio, CPU_RATIO[0])
        self.assertLess(ratio, CPU_RATIO[1])

    def test_cpuset(self):
        for service in (configs.FAVOURED, configs.OTHER):
            cpus = {
                value
                for _, value in self.samples("cpu_weight")[service, "cpus"]
            }
            self.assertEqual(cpus, {"0"}, service)

    def test_cpu_max(self):
        share = self.rate("cpu_max", "cpu.stat:usage_usec") / 1e6
        self.assertLess(share, RATE_TOLERANCE * configs.CPU_SHARE)
        self.assertGreater(share, configs.CPU_SHARE / 2)

    def test_memory_high(self):
        self.assertLess(
            self.most("memory_high", "memory.current"),
            HIGH_TOLERANCE * configs.HIGH_BYTES,
        )
        self.assertGreater(self.most("memory_high", "memory.swap.current"), 0)

    def test_memory_max(self):
        self.assertLessEqual(
            self.most("memory_max", "memory.current"), configs.MAX_BYTES
        )
        self.assertGreater(self.most("memory_max", "memory.swap.current"), 0)
        self.assertIn("exit status 0", self.read("memory_max.txt"))

    def test_memory_swap_max(self):
        self.assertEqual(self.most("memory_swap_max", "memory.swap.current"), 0)
        said = self.read("memory_swap_max.txt")
        self.assertNotIn("exit status 0", said)
        self.assertIn("memory.max", said)

    def test_memory_low(self):
        self.assertGreater(
            self.kept_beside_hog(
                "memory_low", "memory.current", configs.FAVOURED
            ),
            KEPT_SHARE,
        )
        self.assertLess(
            self.kept_beside_hog("memory_low", "memory.current", configs.OTHER),
            RECLAIMED_SHARE,
        )

    def test_io_max(self):
        rate = self.rate("io_max", "io.stat:rbytes")
        self.assertLess(rate, RATE_TOLERANCE * configs.READ_BYTES_PER_SECOND)
        self.assertGreater(rate, 0)

    def test_io_weight(self):
        ratio = self.rate("io_weight", "io.stat:rbytes") / self.rate(
            "io_weight", "io.stat:rbytes", configs.OTHER
        )
        self.assertGreater(ratio, IO_RATIO[0])
        self.assertLess(ratio, IO_RATIO[1])

    def test_io_priority_class_is_refused_by_name(self):
        said = self.read("io_priority_class.txt")
        self.assertNotIn("exit status 0", said)
        self.assertIn("io.prio.class", said)
        self.assertIn("node0", said)


class ProvenTest(Effects):
    def assert_proven(self, test, out=""):
        proofs = self.proofs(test, out)
        self.assertTrue(proofs, f"{test} has no proofs")
        for proof in proofs:
            self.assertTrue(proof["held"], proof)
            self.assertIn(proof["after"], ("restored", "removed"), proof)
            self.assertIsNone(proof["problem"], proof)

    def test_everything_that_was_set_held_until_the_end(self):
        for test in configs.MEASURED:
            # One is refused, and the other's instance does not live so long.
            if test not in ("io_priority_class", "memory_swap_max"):
                with self.subTest(test):
                    self.assert_proven(test)

    def test_every_control_was_set(self):
        files = {proof["file"] for proof in self.proofs("held")}
        self.assertEqual(files, set(findings.CONTROL_FILES))


class RestoredTest(findings.Findings):
    def assert_as_before(self, name, out=""):
        self.assertEqual(
            self.read(os.path.join(out, f"{name}.after")),
            self.read(os.path.join(out, "state.before")),
        )

    def test_after_the_end(self):
        for test in configs.MEASURED:
            with self.subTest(test):
                self.assert_as_before(test)

    def test_after_other_ends(self):
        for way in WAYS_TO_END:
            with self.subTest(way):
                held = self.read(f"{way}.held")
                self.assertIn("distbench.group-0", held)
                self.assertIn(
                    f"neighbour {configs.HELD_NEIGHBOUR_WEIGHT}\n", held
                )
                self.assertIn("io.cost.qos 1\n", held)
                self.assert_as_before(way)

    def test_soon_after_the_node_manager_was_killed(self):
        for way in ("terminated", "manager_killed"):
            seconds = int(self.facts(f"{way}.time")["seconds"])
            self.assertLess(seconds, RESTORED_WITHIN_SECONDS, way)

    def test_by_the_next_node_manager_if_nobody_was_left(self):
        self.assertIn(
            f"neighbour {configs.HELD_NEIGHBOUR_WEIGHT}\n",
            self.read("both_killed.left"),
        )
        self.assertIn("control groups: ", self.read("both_killed.node.log"))

    def test_not_after_a_reboot(self):
        self.assertIn(".journal", self.read("switched_off.held"))
        self.assertEqual(self.read("reboot/reboot.journals").strip(), "1")
        self.assert_as_before("reboot", "reboot")
        self.assert_as_before("held_after_reboot", "reboot")


def summary(out):
    """Returns the table of controls, for people."""
    effects = Effects()
    effects.out = out
    rows = [("test", "group", "file", "wanted", "read back", "held", "after")]
    for test in configs.MEASURED:
        try:
            proofs = effects.proofs(test)
        except (AssertionError, IndexError, KeyError) as error:
            rows.append((test, "", "", "", "", "", f"no proofs: {error}"))
            continue
        for proof in proofs:
            rows.append(
                (
                    test,
                    proof["group"],
                    proof["file"],
                    proof["wanted"] or "",
                    proof["read_back"] or "",
                    "yes" if proof["held"] else "NO",
                    proof["after"] or "",
                )
            )
    lines = [_columns(rows), "", "Restored after:"]
    for way in WAYS_TO_END:
        same = effects.read(f"{way}.after") == effects.read("state.before")
        seconds = effects.facts(f"{way}.time")["seconds"]
        lines.append(f"  {way:16} {'yes' if same else 'NO'}, in {seconds} s")
    return "\n".join(lines)


def _columns(rows):
    widths = [max(map(len, column)) for column in zip(*rows)]
    return "\n".join(
        "  ".join(
            cell.ljust(width) for cell, width in zip(row, widths)
        ).rstrip()
        for row in rows
    )
