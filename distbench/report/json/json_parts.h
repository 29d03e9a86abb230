// The parts of RenderJson(), for parts of products too. Otherwise private to
// json.h.

#ifndef DISTBENCH_REPORT_JSON_JSON_PARTS_H_
#define DISTBENCH_REPORT_JSON_JSON_PARTS_H_

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "distbench/report/measurements/rpc_measurements.h"
#include "distbench/report/measurements/test_run.h"
#include "distbench/report/measurements/topology.h"
#include "distbench/report/tables/table.h"
#include "proto/results.pb.h"

namespace distbench::report {

// Describes the nodes and the sequencer: facts about them and their resource
// usage.
nlohmann::ordered_json NodesJson(const TestResult& result);

// Lists the bindings of instances, and the CPUs and memory that they actually
// used, by node and instance.
nlohmann::ordered_json BindingsJson(const TestResult& result);

// Lists what was read back from the sockets of data connections.
nlohmann::ordered_json NetworkSettingsJson(const TestResult& result);

// Lists the faults that servers had on purpose, and the services that limit
// their requests.
nlohmann::ordered_json ServerFaultsJson(const TestResult& result);
nlohmann::ordered_json AdmissionJson(const TestResult& result);

// Lists the node of each instance.
nlohmann::ordered_json PlacementJson(const TestResult& result);

// A value of Outcomes: nanoseconds, or "failed".
nlohmann::ordered_json OutcomeJson(int64_t value_ns);

// Describes one RPC for RenderJson().
nlohmann::ordered_json RpcJson(const RpcMeasurements& rpc);

// Describes the services of a test and their RPCs. Of the rows of instances,
// lists the worst max_instance_rows.
nlohmann::ordered_json TopologyJson(const Topology& topology,
                                    int64_t max_instance_rows);

// Null for an empty cell.
nlohmann::ordered_json CellJson(const Cell& cell);
nlohmann::ordered_json RowJson(const Row& row);

// The names of columns, and the first max_rows of the rows that `list_rows`
// passes to its sink; counts the others.
nlohmann::ordered_json RowsJson(
    const std::vector<std::string>& columns,
    absl::FunctionRef<void(RowSink)> list_rows,
    int64_t max_rows = std::numeric_limits<int64_t>::max());

// Where instances ran: the CPUs and the memory that they asked for and used.

nlohmann::ordered_json BindingProofJson(const std::string& instance,
                                        const BindingProof& proof);

// What was asked for, for example "CPUs 0-3, memory bind 0"; "none" if nothing.
std::string BindingText(const BindingProof& proof);

// Resident memory by node, for example "0: 12.0 MiB, 1: 3.0 MiB".
std::string ResidentText(const BindingProof& proof);

// CPU time by CPU, for example "2: 55 %, 3: 45 %".
std::string CpusText(const BindingProof& proof);

// Lists the verdicts on the objectives of the run's test, for RenderJson().
nlohmann::ordered_json ObjectivesJson(const TestResult& result);

}  // namespace distbench::report

#endif  // DISTBENCH_REPORT_JSON_JSON_PARTS_H_
