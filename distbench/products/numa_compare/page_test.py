# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""A comparison of NUMA deployments on the page in a real browser, compared with an approved picture.
Skipped if there is no chromium."""

from tests import page_results
from tests import testing_main
from tests.pictures import approved_pictures


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


class NumaPictureTest(approved_pictures.PicturesTest):
    folder_of_test = "distbench/products/numa_compare"
    names = ("numa",)

    def test_numa(self):
        page = self.open_text(page_results.TIERS + numa())
        self.check(page, "numa", "#numa")
        page.close()

    def test_every_approved_picture_is_compared(self):
        self.check_that_all_are_compared()


if __name__ == "__main__":
    testing_main.main()
