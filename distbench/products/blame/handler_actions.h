// What the config says about the RPCs that handlers make.

#ifndef DISTBENCH_PRODUCTS_BLAME_HANDLER_ACTIONS_H_
#define DISTBENCH_PRODUCTS_BLAME_HANDLER_ACTIONS_H_

#include <set>
#include <string>
#include <utility>

#include "proto/traffic_config.pb.h"

namespace distbench::blame {

class HandlerActions {
 public:
  explicit HandlerActions(const DistributedSystemDescription& config);

  // Whether chance or time decide how many RPCs the action makes. Arguments are
  // positions, as in a TraceContext: of the list in the config, and of the
  // action in the list. Those that do not exist do not vary.
  bool Varies(int64_t list, int64_t action) const {
    return varying_.count({list, action}) > 0;
  }

  // Whether the handler of the RPC may answer before its list is done.
  bool AnswersEarly(const std::string& rpc) const {
    return answering_early_.count(rpc) > 0;
  }

 private:
  std::set<std::pair<int64_t, int64_t>> varying_;
  std::set<std::string> answering_early_;
};

}  // namespace distbench::blame

#endif  // DISTBENCH_PRODUCTS_BLAME_HANDLER_ACTIONS_H_
