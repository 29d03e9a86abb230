# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""Formats of `distbench report` that other programs read, read by these
programs' own libraries, and the JSON report by its schema."""

import base64
import json
import os
import struct
import unittest
import zlib

try:
    from prometheus_client.openmetrics import parser as openmetrics
except ImportError:
    openmetrics = None
try:
    from google.protobuf import json_format
    from opentelemetry.proto.collector.trace.v1 import trace_service_pb2
except ImportError:
    trace_service_pb2 = None

from tests import programs
from tests import report_schema
from tests import testing_main

MAKE_EXAMPLE = os.path.abspath("distbench/report/testing/make_example_result")

# What the examples do not contain: a failed run with bindings and settings of
# control groups, a search, and a comparison of deployments.
STATISTICS = """
  succeeded_count: 10
  first_start_timestamp_ns: 1000000000 last_end_timestamp_ns: 2000000000
  service_time_ns {
    sub_bucket_bits: 7 bucket_index_deltas: 5 bucket_counts: 10
    min: 5 max: 5 sum: 50 sum_of_squares: 250
  }
"""
SEARCH = f"""
  search {{ objectives: "query p99<=1ms" tolerance: 0.02 }}
  load_unit: "requests per second" verdict: "converged" evidence: "text"
  load: 100 min_load: 90 max_load: 110 confidence_level: 0.95 is_proven: true
  probes {{
    number: 1 phase: "final" requested_load: 100 achieved_load: 99
    outcome: "met" measured: "p99 5 ns" load_of_limit: 0.1
    start_timestamp_ns: 1 end_timestamp_ns: 2 host_cpu_share: 0.5
    statistics {{ {STATISTICS} }}
    instance_statistics {{ {STATISTICS} }}
    instance_failures: "none answered"
  }}
"""
PROOF = """
  resident_bytes_by_node { key: 0 value: 4096 }
  cpu_time_ns_by_cpu { key: 1 value: 7 }
  numa_counters_by_node { key: 0 value { hit: 1 } }
  cpu_migrations: 2 violations: "it ran elsewhere"
"""
EVERYTHING_ELSE = f"""
test_results {{
  traffic_config {{
    name: "t" objectives: "query p99<=1ms" objectives: "what is this?"
    rpc_descriptions {{ name: "query" }}
    server_faults {{ name: "pause" service: "c" freeze: true }}
  }}
  run_info {{
    failure: "a node was lost"
    findings {{ severity: WARN code: "late_sends" message: "text" }}
    clock_offsets {{ key: "node0" value {{ offset_ns: 1 error_ns: 2 }} }}
  }}
  resource_usage_logs {{
    node_usages {{ key: "node0" value {{ rusage_diff {{ swaps: 0 }} }} }}
    node_resources {{
      key: "node0"
      value {{
        host {{
          network_devices {{ name: "eth0" mtu: 1500 interrupt_cpus: "0-3" }}
          topology {{ numa_nodes {{ id: 0 cpus: "0-3" distances: 10 }} }}
          control_groups {{ version: 2 controllers: "cpu" }}
          mitigations {{ key: "meltdown" value: "PTI" }}
          versions {{ key: "grpc" value: "1.51" }}
        }}
        samples {{ energy_uj {{ key: "package-0" value: 7 }} }}
        binding_proofs {{ key: "c/0" value {{ {PROOF} }} }}
        controls {{
          group: "c/0" path: "/a" file: "cpu.max" wanted: "1" held: false
          problem: "no such file" after: "restored"
        }}
      }}
    }}
  }}
  service_logs {{
    instance_logs {{
      key: "c/0" value {{
        engine_error_message: "killed"
        fault_logs {{
          key: "pause" value {{
            times {{ begin_timestamp_ns: 1 end_timestamp_ns: 2 }}
          }}
        }}
        admission_log {{ admitted_count: 1 wait_ns {{
          sub_bucket_bits: 7 bucket_index_deltas: 50 bucket_counts: 1
          min: 50 max: 50 sum: 50 sum_of_squares: 2500
        }} }}
        network_settings {{
          connection_count: 2
          settings {{ name: "dscp" asked: "10" found: "0" differs: true }}
        }}
      }}
    }}
  }}
}}
searches {{ {SEARCH} }}
numa_comparison {{
  deployments {{
    name: "each node" instances: 2 workers_per_instance: 1
    cpu_target_searches {{ {SEARCH} }}
    objective_searches {{ {SEARCH} }}
    binding_proofs {{ key: "c/0" value {{ {PROOF} }} }}
  }}
  omissions: "text"
}}
"""

# Two hops, every tenth query traced, with the times of the servers.
TRACED = """
tests {
  name: "traced"
  measure_time_parts: true
  services { name: "client" count: 1 }
  services { name: "root" count: 1 }
  services { name: "leaf" count: 2 }
  rpc_descriptions {
    name: "query" client: "client" server: "root" tracing_interval: 10
  }
  rpc_descriptions { name: "lookup" client: "root" server: "leaf" }
  actions {
    name: "send" rpc_name: "query" iterations { max_iteration_count: 200 }
  }
  actions { name: "ask" rpc_name: "lookup" }
  action_lists { name: "client" action_names: "send" }
  action_lists { name: "query" action_names: "ask" }
  action_lists { name: "lookup" }
}
"""


class ExportTest(programs.ClusterTest):
    def example(self):
        path = self.path("example.pb.gz")
        made = self.run_to_end(
            MAKE_EXAMPLE, path, "example", "2", "3", "2", "20", "50"
        )
        self.assertEqual(made.status, 0, made)
        return path

    def run_traced(self):
        """Returns the result of a real test with traces."""
        sequencer = self.start_sequencer("--local_nodes=4")
        path = self.path("traced.pb.gz")
        outcome = self.run_tests(
            sequencer,
            self.write("traced.config", TRACED),
            f"--outfile={path}",
            "--binary_output",
            "--allow_invalid",
        )
        self.assertEqual(outcome.status, 0, outcome)
        return path

    def report(self, result, name, *flags, statuses=(0,)):
        outcome = self.distbench(
            "report", result, f"--format={name}", *flags
        )
        self.assertIn(outcome.status, statuses, outcome)
        return outcome.out


@unittest.skipUnless(report_schema.jsonschema, "needs python3-jsonschema")
class SchemaTest(ExportTest):
    def documents(self):
        for result in (
            self.example(),
            self.run_traced(),
            self.write("else.pb", EVERYTHING_ELSE),
            self.write("nothing.pb", "test_results {}"),
        ):
            yield json.loads(self.report(result, "json", statuses=(0, 3)))

    def test_reports_have_no_member_that_the_schema_lacks(self):
        report_schema.jsonschema.Draft202012Validator.check_schema(
            report_schema.read()
        )
        for document in self.documents():
            self.assertEqual(report_schema.errors_of(document), [])

    def test_the_schema_notices_what_is_wrong(self):
        document = json.loads(self.report(self.example(), "json"))
        self.assertEqual(report_schema.errors_of(document), [])
        document["tests"][0]["rpcs"][0]["new"] = 1
        self.assertNotEqual(report_schema.errors_of(document), [])
        # Readers of the schema accept what later versions add.
        reader = report_schema.jsonschema.Draft202012Validator(
            report_schema.read()
        )
        self.assertTrue(reader.is_valid(document))
        del document["tests"][0]["verdict"]
        self.assertFalse(reader.is_valid(document))


@unittest.skipUnless(openmetrics, "needs python3-prometheus-client")
class OpenMetricsTest(ExportTest):
    def samples(self, *results):
        outcome = self.distbench("report", *results, "--format=openmetrics")
        self.assertIn(outcome.status, (0, 3), outcome)
        found = {}
        for family in openmetrics.text_string_to_metric_families(outcome.out):
            for sample in family.samples:
                key = (sample.name, frozenset(sample.labels.items()))
                self.assertNotIn(key, found)
                found[key] = sample.value
        return found

    def test_the_parser_of_prometheus_reads_it(self):
        labels = {"test": "example", "repetition": "0", "rpc": "rpc_1"}
        samples = self.samples(self.example())

        def value(name, **more):
            return samples[(name, frozenset({**labels, **more}.items()))]

        self.assertEqual(
            value("distbench_rpc_ended_total", outcome="succeeded"), 6000
        )
        self.assertEqual(
            value("distbench_rpc_service_time_seconds_count"), 6000
        )
        document = json.loads(self.report(self.example(), "json"))
        times = document["tests"][0]["rpcs"][1]["service_time"]
        self.assertAlmostEqual(
            value("distbench_rpc_service_time_seconds_sum"),
            times["mean_ns"] * times["count"] / 1e9,
        )
        (p99,) = (
            one["value_ns"]
            for one in times["percentiles"]
            if one["percentile"] == 99
        )
        name = "distbench_rpc_service_time_percentile_seconds"
        self.assertAlmostEqual(value(name, percentile="99"), p99 / 1e9)

    def test_several_results_have_different_labels(self):
        example = self.example()
        everything = self.write("else.pb", EVERYTHING_ELSE)
        self.assertTrue(self.samples(example, everything, example))


class HlogTest(ExportTest):
    def test_has_all_rpcs(self):
        """Decodes the log without the program's code; hdr_histogram_test.cc knows what
        buckets the counts are for."""
        log = self.report(self.example(), "hlog", "--rpc=rpc_1")
        total = 0
        for line in log.splitlines():
            if line[0] in '#"':
                continue
            _, length, _, encoded = line.split(",")
            self.assertEqual(length, "1.000")
            framed = base64.b64decode(encoded)
            cookie, size = struct.unpack(">II", framed[:8])
            self.assertEqual((cookie, size), (0x1C849314, len(framed) - 8))
            histogram = zlib.decompress(framed[8:])
            cookie, size = struct.unpack(">II", histogram[:8])
            self.assertEqual((cookie, size), (0x1C849313, len(histogram) - 40))
            total += sum(
                count for count in zigzags(histogram[40:]) if count > 0
            )
        self.assertEqual(total, 6000)


def zigzags(encoded):
    """The numbers of an encoding in groups of seven bits."""
    number = shift = 0
    for byte in encoded:
        number |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            yield number >> 1 if number % 2 == 0 else -(number >> 1) - 1
            number = shift = 0


class OtlpTest(ExportTest):
    def test_spans_form_trees_across_services(self):
        request = json.loads(self.report(self.run_traced(), "otlp"))
        spans = {}
        for part in request["resourceSpans"]:
            for scope in part["scopeSpans"]:
                for span in scope["spans"]:
                    spans[span["traceId"], span["spanId"]] = span
        by_name = {}
        for span in spans.values():
            by_name.setdefault((span["name"], span["kind"]), []).append(span)
        client, server = 3, 2
        self.assertEqual(
            {kind: len(found) for kind, found in by_name.items()},
            {
                ("root/query", client): 20,
                ("root/query", server): 20,
                ("leaf/lookup", client): 40,
                ("leaf/lookup", server): 40,
            },
        )
        for span in by_name["leaf/lookup", server]:
            ancestors = []
            while "parentSpanId" in span:
                span = spans[span["traceId"], span["parentSpanId"]]
                ancestors.append((span["name"], span["kind"]))
            self.assertEqual(
                ancestors,
                [
                    ("leaf/lookup", client),
                    ("root/query", server),
                    ("root/query", client),
                ],
            )

    @unittest.skipUnless(
        trace_service_pb2, "needs opentelemetry-proto, of PyPI"
    )
    def test_is_a_request_of_the_published_protocol(self):
        request = json.loads(self.report(self.run_traced(), "otlp"))
        count = 0
        for part in request["resourceSpans"]:
            for span in part["scopeSpans"][0]["spans"]:
                count += 1
                # Protobuf's own JSON has base64 where OTLP has hexadecimal.
                for key in ("traceId", "spanId", "parentSpanId"):
                    if key in span:
                        span[key] = base64.b64encode(
                            bytes.fromhex(span[key])
                        ).decode()
        message = json_format.ParseDict(
            request, trace_service_pb2.ExportTraceServiceRequest()
        )
        parsed = [
            span
            for part in message.resource_spans
            for scope in part.scope_spans
            for span in scope.spans
        ]
        self.assertEqual(len(parsed), count)
        for span in parsed:
            self.assertEqual((len(span.trace_id), len(span.span_id)), (16, 8))
            self.assertLess(span.start_time_unix_nano, span.end_time_unix_nano)


if __name__ == "__main__":
    testing_main.main()
