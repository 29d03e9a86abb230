// Building blocks of patterns: parts of their forms, and parameters and derived
// values that several have.

#ifndef DISTBENCH_TEST_BUILDER_PATTERNS_TRAFFIC_PARTS_H_
#define DISTBENCH_TEST_BUILDER_PATTERNS_TRAFFIC_PARTS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "test_builder/parameters/parameter.h"
#include "test_builder/patterns/pattern.h"

namespace distbench::test_builder {

// The maximum number of instances of a service. Callers must not exceed it.
inline constexpr double kMaxInstances = 100000;

// For names of tests: the parameter "arrivals" or, without it,
// "synchronization_mode".
std::string ArrivalsName(const ParameterValues& values);

// request_size and response_size.
std::vector<Parameter> PayloadParameters(absl::string_view request_bytes,
                                         absl::string_view response_bytes);

// The load of patterns that a number of queries per second enters.
Parameter QpsParameter(absl::string_view default_qps);

// The same, with synchronization_mode and warmup_seconds.
std::vector<Parameter> QueryLoadParameters(absl::string_view default_qps);

// "query_load": the fields of Iterations that are an open loop as these
// parameters say, for as long as the test lasts.
absl::Status DeriveQueryLoad(const ParameterValues& values,
                             DerivedValues& derived);

// The form of a client whose action sends queries, with the derived query_load,
// to server_count servers in turn, without a handler. Sizes are numbers or
// holes; `fields` are more of the RPC's fields.
std::string QueriedServers(absl::string_view action, absl::string_view rpc,
                           absl::string_view request_bytes,
                           absl::string_view response_bytes,
                           absl::string_view fields = "");

// An activity as a step of an action list.
struct Stage {
  absl::string_view name;
  absl::string_view function;
  absl::string_view pool;  // empty: the default pool

  // A form such as `bytes=<file_bytes> io="<io>"`, with blanks or line
  // ends between settings.
  absl::string_view settings;
};

// The names of the stages, as fields of their action list.
std::string ActionNames(absl::Span<const Stage> stages);

// The form of the activities and actions of the stages. Each waits for the
// previous one, the first for the actions `before`.
std::string StagesForm(absl::Span<const Stage> stages,
                       std::vector<absl::string_view> before = {});

}  // namespace distbench::test_builder

#endif  // DISTBENCH_TEST_BUILDER_PATTERNS_TRAFFIC_PARTS_H_
