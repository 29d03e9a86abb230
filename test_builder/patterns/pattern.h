// Patterns: traffic of a known shape, adjusted by parameters. To add a pattern,
// declare it below and list it in patterns.cc. The command line, its
// checks and its help follow from the declaration.

#ifndef DISTBENCH_TEST_BUILDER_PATTERNS_PATTERN_H_
#define DISTBENCH_TEST_BUILDER_PATTERNS_PATTERN_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/traffic_config.pb.h"
#include "test_builder/parameters/parameter.h"

namespace distbench::test_builder {

// Values that follow from the parameters, by name.
using DerivedValues = ValueMap;

// Its forms are texts with holes, "<NAME>", for derived values, which may have
// holes themselves, and for parameters: between quotes as they are written,
// elsewhere as integers.
struct Pattern {
  std::string name;

  // Describes the traffic: a line for the list of patterns, and a paragraph for
  // the pattern's own help.
  std::string summary;
  std::string description;

  // The CONFIG of a useful example.
  std::string example;

  std::vector<Parameter> parameters;

  // A form of the pattern and the values that distinguish its variants, as they
  // are written; "<arrivals>" is ArrivalsName(). It begins the test's name, so
  // it must not contain '/' or blanks.
  std::string alias;

  // The same, for the end of the test's name.
  std::string name_suffix = {};

  // A form of a DistributedSystemDescription in text format: services, RPCs,
  // actions and so on, without name, attributes and protocol.
  std::string body;

  // Adds the derived values of the forms, other than "duration_us", which all
  // patterns have; null if there are none. The error says which values are
  // incompatible, and what would be right.
  absl::Status (*derive)(const ParameterValues& values,
                         DerivedValues& derived) = nullptr;
};

// What a pattern makes of its parameters.
struct Traffic {
  std::string alias;
  std::string name_suffix;
  DistributedSystemDescription body;
};

// `values` are those of the pattern's parameters and of CommonParameters(). The
// error is that of Pattern::derive.
absl::StatusOr<Traffic> BuildTraffic(const Pattern& pattern,
                                     const ParameterValues& values);

// In the order in which the help lists them.
const std::vector<Pattern>& AllPatterns();

// Their names.
std::vector<std::string> PatternNames();

// Returns null if there is no such pattern.
const Pattern* FindPattern(absl::string_view name);

// Clients that keep a number of RPCs in flight to all servers.
Pattern ClientServerPattern();

// Every node queries all others, all at the same moments.
Pattern CliquePattern();

// Nodes on a grid that query neighbours, rows or columns.
Pattern RectangularPattern();

// Clients that first query an index, then the data servers.
Pattern TripartitePattern();

// Clients whose queries go to a random number of servers.
Pattern StochasticPattern();

// A load balancer, roots and leaves, with messages of 1 KiB.
Pattern MultiLevelRpcPattern();

// A load balancer, roots, and leaves whose responses have random sizes.
Pattern VariableResponseMultiLevelRpcPattern();

// A driver, aggregators and leaves, with the message sizes of a feed.
Pattern FeedAggregatorPattern();

// A client and servers that read and hash files.
Pattern StorageServicePattern();

// A client and servers that fetch features and run a model.
Pattern InferencePattern();

// A client that opens streams of messages.
Pattern StreamingPattern();

// Peers that exchange messages with sizes measured in data centres.
Pattern HomaCpNodePattern();

}  // namespace distbench::test_builder

#endif  // DISTBENCH_TEST_BUILDER_PATTERNS_PATTERN_H_
