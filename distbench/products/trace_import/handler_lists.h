// The action lists that do what the server of an RPC does.

#ifndef DISTBENCH_PRODUCTS_TRACE_IMPORT_HANDLER_LISTS_H_
#define DISTBENCH_PRODUCTS_TRACE_IMPORT_HANDLER_LISTS_H_

#include <string>

#include "distbench/products/trace_import/config_names.h"
#include "distbench/products/trace_import/distribution_fit.h"
#include "distbench/products/trace_import/traces/traffic_model.h"
#include "proto/traffic_config.pb.h"

namespace distbench::trace_import {

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

}  // namespace distbench::trace_import

#endif  // DISTBENCH_PRODUCTS_TRACE_IMPORT_HANDLER_LISTS_H_
