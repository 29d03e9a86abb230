#include "distbench/config/support.h"

#include <algorithm>
#include <functional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

namespace distbench {
namespace {

// A list of what is missing: a line is deleted once its feature works.

// Fields of a test that may not be used so far.
struct UnsupportedField {
  std::string feature;
  std::string field;
  std::function<bool(const DistributedSystemDescription&)> is_used;
};

using Test = DistributedSystemDescription;

const std::vector<UnsupportedField> kFields = {
    {"netdev_name", "protocol_driver_options",
     [](const Test& test) {
       return std::any_of(test.protocol_driver_options().begin(),
                          test.protocol_driver_options().end(),
                          [](const ProtocolDriverOptions& options) {
                            return !options.netdev_name().empty();
                          });
     }},
};

std::string NotYet(const std::string& feature) {
  return absl::StrCat("not supported yet: ", feature);
}

}  // namespace

std::vector<Problem> UnsupportedFeatures(const TestSequence& sequence) {
  Problems problems;
  for (int i = 0; i < sequence.tests_size(); ++i) {
    const Test& test = sequence.tests(i);
    const Path path = Path("tests").At(i);
    for (const UnsupportedField& unsupported : kFields) {
      if (!unsupported.is_used(test)) continue;
      problems.Add(path.Field(unsupported.field), NotYet(unsupported.feature));
    }
  }
  return std::move(problems).Take();
}

}  // namespace distbench
