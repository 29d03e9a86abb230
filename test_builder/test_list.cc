#include "test_builder/test_list.h"

#include <algorithm>
#include <map>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/types/span.h"
#include "google/protobuf/util/message_differencer.h"
#include "test_builder/config_string.h"
#include "test_builder/test_factory.h"
#include "test_builder/test_names.h"
#include "test_builder/value_lists.h"

namespace distbench {
namespace {

constexpr size_t kMaxTests = 10000;

// Collects problems, each with the config that it is about.
class ConfigErrors {
 public:
  void Add(absl::string_view config, const absl::Status& status) {
    for (absl::string_view line : absl::StrSplit(status.message(), '\n')) {
      std::string problem = absl::StrCat(config, ": ", line);
      if (std::find(problems_.begin(), problems_.end(), problem) ==
          problems_.end()) {
        problems_.push_back(std::move(problem));
      }
    }
  }

  absl::Status ToStatus() const {
    if (problems_.empty()) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrJoin(problems_, "\n"));
  }

 private:
  std::vector<std::string> problems_;
};

// The value of each sweep at one point of their product.
struct SweepPoint {
  std::vector<Setting> settings;

  // As written, such as "request_size,response_size".
  std::vector<std::string> names;
};

absl::StatusOr<std::vector<SweepPoint>> SweepPoints(
    absl::Span<const Sweep> sweeps) {
  std::vector<SweepPoint> points(1);
  for (const Sweep& sweep : sweeps) {
    if (points.size() * sweep.values.size() > kMaxTests) {
      return absl::InvalidArgumentError(absl::StrCat(
          "the sweeps make more than ", kMaxTests, " tests; shorten them"));
    }
    std::vector<SweepPoint> multiplied;
    for (const SweepPoint& point : points) {
      for (const std::string& value : sweep.values) {
        SweepPoint& added = multiplied.emplace_back(point);
        added.names.push_back(absl::StrJoin(sweep.parameters, ","));
        for (const std::string& parameter : sweep.parameters) {
          added.settings.push_back({parameter, value});
        }
      }
    }
    points = std::move(multiplied);
  }
  return points;
}
