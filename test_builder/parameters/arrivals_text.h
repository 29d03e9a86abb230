#ifndef DISTBENCH_TEST_BUILDER_PARAMETERS_ARRIVALS_TEXT_H_
#define DISTBENCH_TEST_BUILDER_PARAMETERS_ARRIVALS_TEXT_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/traffic_config.pb.h"

namespace distbench::test_builder {

// Name of the parameter.
inline constexpr char kArrivals[] = "arrivals";

// Parses an arrival process as command lines have it: pieces with '+' between
// them, each a word and its values with ':' between them. Words are those of
// ArrivalsSyntax(). INVALID_ARGUMENT quotes the piece. The message may still be
// invalid: values are checked together with the test.
absl::StatusOr<Arrivals> ParseArrivals(absl::string_view text);

// The pieces, for help and errors.
std::string ArrivalsSyntax();

}  // namespace distbench::test_builder

#endif  // DISTBENCH_TEST_BUILDER_PARAMETERS_ARRIVALS_TEXT_H_
