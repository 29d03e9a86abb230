# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""A session of jobs in one command: how io.cost protects a storage service.

It is killed in the middle, and started again with the same command. Numbers of
an emulated machine mean nothing; that the jobs run, are kept, use each other's
results and leave nothing behind is what is tested.
"""

import os
import re

import findings
import machine

# With short runs of little data, except for the hog, which wants all memory.
SMALL = "limit=500ms,max_footprint=64MiB"
SHORT_SEARCH = "warmup=1s,probe=2s,final=4s,max_probes=24,tolerance=25"
PROTECTION = "slo=p95<=500ms,stabilise=10s,interfere=20s,hog_size=1GiB"
JOBS = (
    f"hashd-params:passive=io,{SMALL},{SHORT_SEARCH}",
    f"protection:id=iocost-off,passive=io,{PROTECTION}",
    "iocost-params:size=64MiB,depth=8,runtime=2s,warmup=1s",
    f"protection:id=iocost-on,{PROTECTION}",
)


def boot(options):
    computer = machine.Machine(
        findings.DISTBENCH,
        options.kernel,
        disks=(
            machine.make_data_disk(os.path.join(options.out, "data.img"), 1024),
            machine.make_swap_disk(os.path.join(options.out, "swap.img"), 2048),
        ),
    )
    files = findings.script("session_guest.sh")
    files["jobs"] = "\n".join(JOBS)
    machine.run(
        computer,
        files,
        options.out,
        os.path.join(options.out, "console.log"),
    )


class SessionTest(findings.Findings):
    def line_of(self, text, job):
        for line in self.read(text).splitlines():
            if job in line:
                return line
        raise AssertionError(f"{text} has no line of {job}")

    def section(self, heading):
        """Returns the part of the report that begins with the heading."""
        parts = re.split(r"(?m)^(?=\[)", self.read("format.txt"))
        for part in parts:
            if part.startswith(heading):
                return part
        raise AssertionError(f"the report has no part {heading}")

    def test_what_was_killed_ended_and_left_nothing(self):
        self.assertEqual(self.read("killed.txt"), "all ended\n")

    def test_done_jobs_are_kept_and_the_others_run_again(self):
        before = self.line_of("list_after_kill.txt", "hashd-params")
        self.assertIn("done", before)
        self.assertEqual(before, self.line_of("list.txt", "hashd-params"))
        self.assertNotIn(
            "done", self.line_of("list_after_kill.txt", "iocost-off")
        )

    def test_all_jobs_are_done(self):
        self.assertIn("exit status 0", self.read("second.txt"))
        for job in ("hashd-params", "iocost-off", "iocost-params", "iocost-on"):
            self.assertIn("done", self.line_of("list.txt", job))

    def test_report_has_the_form_of_a_header_and_a_result(self):
        for heading in (
            "[hashd-params result]",
            '[protection result] "iocost-off"',
            "[iocost-params result]",
            '[protection result] "iocost-on"',
        ):
            part = self.section(heading)
            self.assertIn("System info: kernel=", part)
            self.assertRegex(part, r"IO info: dev=nvme\d+n\d+\(259:\d+\)")
        self.assertRegex(
            self.section("[hashd-params result]"),
            r"Result: hash_size=\S+ rps_max=\S+ mem_actual=\S+ chunk_pages=\d+",
        )
        self.assertRegex(
            self.section("[iocost-params result]"),
            r"iocost model: rbps=\d+ rseqiops=\d+ rrandiops=\d+",
        )

    def test_protection_was_measured_with_and_without_io_cost(self):
        for name in ("iocost-off", "iocost-on"):
            part = self.section(f'[protection result] "{name}"')
            self.assertRegex(
                part,
                r"Result: isol=\S+:\S+% lat_imp=\S+%:\S+ work_csv=.* missing=",
            )
            self.assertRegex(part, r"(?m)^isol% ")
            self.assertNotRegex(part, "failed:|Missed requirements")
        self.assertIn(
            "from iocost-params",
            self.section('[protection result] "iocost-on"'),
        )

    def test_nothing_is_left_at_the_end(self):
        self.assertEqual(self.read("groups_left.txt"), "")
        self.assertIn("enable=0", self.read("io.cost.qos"))


def summary(out):
    """Returns the session's report, for people."""
    with open(os.path.join(out, "format.txt"), encoding="utf-8") as file:
        return file.read()
