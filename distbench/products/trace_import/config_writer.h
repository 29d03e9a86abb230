// From what traces say to a config that people can read and change.

#ifndef DISTBENCH_PRODUCTS_TRACE_IMPORT_CONFIG_WRITER_H_
#define DISTBENCH_PRODUCTS_TRACE_IMPORT_CONFIG_WRITER_H_

#include <string>
#include <vector>

#include "distbench/products/trace_import/config_names.h"
#include "distbench/products/trace_import/distribution_fit.h"
#include "distbench/products/trace_import/traces/traffic_model.h"
#include "proto/traffic_config.pb.h"

namespace distbench::trace_import {

// A test as a file that people read.

// Where the parts of an imported config are from: a sentence each.
struct Provenance {
  std::vector<std::string> in_the_data;
  std::vector<std::string> inferred;
  std::vector<std::string> invented;
};

// A piece of a test, with a comment of some lines above it; empty: none.
struct ConfigPart {
  std::string comment;
  DistributedSystemDescription content;
};

// The test of all parts, below what is known about where they are from.
std::string ConfigText(const Provenance& from,
                       const std::vector<ConfigPart>& parts);

// The action lists that do what the server of an RPC does.

// Adds lists and actions to a test. Their names do not meet those of services
// and RPCs.
class HandlerLists {
 public:
  HandlerLists(const TrafficModel& model, const ConfigNames& names);

  // Adds the handler of an RPC: it works, then calls others, at once or in
  // turn. `delays` names the distribution of how long it works; empty: not at
  // all.
  void Add(int rpc, const std::string& delays,
           DistributedSystemDescription& test);

 private:
  // Makes the action do one of the numbers of calls.
  void SetCalls(const CallGroup& group, const CountWeights& counts,
                Action& action, DistributedSystemDescription& test);
  void SetCount(const CallGroup& group, int count, Action& action) const;

  // A list that tosses a coin between the first number and the others.
  void AddChoice(const CallGroup& group, const CountWeights& counts,
                 const std::string& name, DistributedSystemDescription& test);

  const TrafficModel& model_;
  const ConfigNames& names_;
  UniqueNames lists_;
  UniqueNames actions_;
};

struct ImportedConfig {
  DistributedSystemDescription test;
  std::string text;  // the test as a file, with comments
  Provenance provenance;
};

// Makes a test of what requests from outside cause. Calls that only parts of
// traces show are left out, which `provenance` says. If the model is only of
// successes, failures become faults of servers. `sampled_fraction` is the
// share of all requests that were traced, above 0 and at most 1. Requires
// arrivals.
ImportedConfig WriteConfig(const TrafficModel& model, const ConfigNames& names,
                           double sampled_fraction);

}  // namespace distbench::trace_import

#endif  // DISTBENCH_PRODUCTS_TRACE_IMPORT_CONFIG_WRITER_H_
