#include "distbench/sequencer/runs/run_status.h"

#include "absl/strings/str_cat.h"

namespace distbench {

std::string TestName(const DistributedSystemDescription& test, int test_index) {
  if (!test.name().empty()) return test.name();
  const auto it = test.attributes().find("test_name");
  if (it != test.attributes().end() && !it->second.empty()) return it->second;
  return absl::StrCat("tests[", test_index, "]");
}

}  // namespace distbench
