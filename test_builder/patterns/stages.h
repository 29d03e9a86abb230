// The work of a handler besides its answer: activities and RPCs in stages.

#ifndef DISTBENCH_TEST_BUILDER_PATTERNS_STAGES_H_
#define DISTBENCH_TEST_BUILDER_PATTERNS_STAGES_H_

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "proto/traffic_config.pb.h"

namespace distbench::test_builder {

using ActivitySettings =
    std::vector<std::pair<std::string, std::variant<int64_t, std::string>>>;

// Builds a handler's action list, in which each stage waits for the previous
// one.
class Stages {
 public:
  // `list` must be one of body's, and outlive this object.
  Stages(DistributedSystemDescription& body, ActionList& list)
      : body_(body), list_(list) {}

  // Adds an activity with the stage's name. An empty pool means the default
  // pool.
  void Do(const std::string& name, const std::string& function,
          const std::string& pool, const ActivitySettings& settings);

  // Adds several concurrent RPCs. The stage ends when all of them have ended.
  void Call(const std::string& name, const std::vector<std::string>& rpcs,
            int64_t calls_of_each);

  // Continues after an action that the list already has.
  void Continue(const std::string& name) { last_ = {name}; }

 private:
  Action& Append(const std::string& name);

  DistributedSystemDescription& body_;
  ActionList& list_;
  std::vector<std::string> last_;
};

void AddPool(const std::string& name, int64_t size,
             DistributedSystemDescription& body);

}  // namespace distbench::test_builder

#endif  // DISTBENCH_TEST_BUILDER_PATTERNS_STAGES_H_
