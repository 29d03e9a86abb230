#include "distbench/report/measurements/origin.h"

#include <algorithm>
#include <cstdint>
#include <set>

#include "absl/strings/str_cat.h"

namespace distbench::report {

std::string MarkedName(const std::string& name, const TestResult& result) {
  return IsSimulated(result) ? absl::StrCat(name, kSimulatedMark) : name;
}

std::string OriginOf(absl::Span<const TestRun> runs) {
  if (MixesOrigins(runs)) return "real and simulated";
  const bool is_real = runs.empty() || !IsSimulated(*runs.front().result);
  return is_real ? kRealOrigin : "simulated";
}

bool MixesOrigins(absl::Span<const TestRun> runs) {
  return std::any_of(runs.begin(), runs.end(), [&](const TestRun& run) {
    return IsSimulated(*run.result) != IsSimulated(*runs.front().result);
  });
}

bool ShareSeeds(absl::Span<const TestRun> runs) {
  std::set<uint64_t> seeds;
  return std::any_of(runs.begin(), runs.end(), [&](const TestRun& run) {
    const RunInfo& info = run.result->run_info();
    return IsSimulated(*run.result) && info.has_random_seed() &&
           !seeds.insert(info.random_seed()).second;
  });
}

}  // namespace distbench::report
