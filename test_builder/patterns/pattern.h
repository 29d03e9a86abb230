// Patterns: traffic of a known shape, adjusted by parameters. To add a pattern,
// declare it below and list it in patterns.cc. The command line, its
// checks and its help follow from the declaration.

#ifndef DISTBENCH_TEST_BUILDER_PATTERNS_PATTERN_H_
#define DISTBENCH_TEST_BUILDER_PATTERNS_PATTERN_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/traffic_config.pb.h"
#include "test_builder/parameters/parameter.h"

namespace distbench::test_builder {

// The traffic that a pattern builds from its parameters.
struct Traffic {
  // The pattern, and the values that distinguish its variants. It is the first
  // part of the test's name, so it must not contain '/' or blanks.
  std::string alias;

  // Appended to the test's name; may be empty.
  std::string name_suffix;

  // Services, RPCs, actions and so on, without name, attributes and protocol.
  DistributedSystemDescription body;
};

struct Pattern {
  std::string name;

  // Describes the traffic: a line for the list of patterns, and a paragraph for
  // the pattern's own help.
  std::string summary;
  std::string description;

  // The CONFIG of a useful example.
  std::string example;

  std::vector<Parameter> parameters;

  // `values` are those of `parameters` and of CommonParameters(). The error
  // says which values are incompatible, and what would be right.
  absl::StatusOr<Traffic> (*build)(const ParameterValues& values);
};

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
