#include "distbench/products/simulation/calibration/known_errors.h"

#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "distbench/config/syntax/traffic.h"
#include "distbench/products/simulation/calibration/validation_errors.h"
#include "distbench/products/simulation/model/used_driver.h"
#include "glog/logging.h"
#include "google/protobuf/text_format.h"

namespace distbench::simulation {
namespace {

// The aims of docs/products/simulation.md.
constexpr double kRateAim = 0.10;
constexpr double kMedianAim = 0.20;
constexpr double kTailAim = 0.30;

using Kind = ValidationErrors::Kind;

// Whether loops that start traffic are open; both if there are open and closed
// ones.
std::set<bool> LoopsOf(const DistributedSystemDescription& test) {
  const std::map<std::string, int64_t> main_actions = config::MainActions(test);
  std::set<bool> are_open;
  for (const Action& action : test.actions()) {
    if (main_actions.count(action.name()) == 0) continue;
    if (config::IsOpenLoop(action) || config::IsClosedLoop(action)) {
      are_open.insert(config::IsOpenLoop(action));
    }
  }
  return are_open;
}

std::set<std::string> DriversOf(const DistributedSystemDescription& test) {
  std::set<std::string> drivers;
  for (const ServiceSpec& service : test.services()) {
    drivers.insert(UsedDriverOf(test, service).name);
  }
  return drivers;
}

void AddBeyond(double aim, const ValidationErrors::Range& range,
               absl::string_view name, std::vector<std::string>& parts) {
  if (range.least() >= -aim && range.most() <= aim) return;
  parts.push_back(absl::StrFormat("%s by %+.0f to %+.0f %%", name,
                                  100 * range.least(), 100 * range.most()));
}

// Empty if all was as near as is aimed at.
std::string ErrorsOf(const Kind& kind) {
  std::vector<std::string> parts;
  AddBeyond(kRateAim, kind.rate(), "rates", parts);
  AddBeyond(kMedianAim, kind.p50(), "medians", parts);
  AddBeyond(kTailAim, kind.p99(), "99th percentiles", parts);
  if (parts.empty()) return "";
  return absl::StrCat(kind.open_loops() ? "open" : "closed", " loops with ",
                      kind.driver(), " on ",
                      kind.several_hosts() ? "several hosts" : "one host", ": ",
                      absl::StrJoin(parts, ", "), " (", kind.rpcs(),
                      kind.rpcs() == 1 ? " RPC)" : " RPCs)");
}

}  // namespace

const ValidationErrors& MeasuredErrors() {
  static const ValidationErrors* const errors = [] {
    auto* const parsed = new ValidationErrors;
    // Part of the program, and parsed by a test.
    CHECK(google::protobuf::TextFormat::ParseFromString(
        std::string(kValidationErrorsTextproto), parsed));
    return parsed;
  }();
  return *errors;
}

std::vector<std::string> KnownErrors(const DistributedSystemDescription& test,
                                     int host_count,
                                     const ValidationErrors& measured) {
  const std::set<std::string> drivers = DriversOf(test);
  const std::set<bool> loops = LoopsOf(test);
  std::vector<std::string> sentences;
  for (const Kind& kind : measured.kinds()) {
    if (drivers.count(kind.driver()) == 0 ||
        kind.several_hosts() != (host_count > 1) ||
        loops.count(kind.open_loops()) == 0) {
      continue;
    }
    std::string errors = ErrorsOf(kind);
    if (!errors.empty()) sentences.push_back(std::move(errors));
  }
  return sentences;
}

}  // namespace distbench::simulation
