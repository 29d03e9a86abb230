#include "distbench/report/export/rpc_selection.h"

#include <algorithm>
#include <iterator>
#include <limits>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "distbench/report/measurements/test_run.h"
#include "distbench/report/measurements/test_totals.h"
#include "distbench/results/walk.h"

namespace distbench::report {
namespace {

// Returns the selected name, or the only one. `what` names the kind of thing.
absl::StatusOr<std::string> Choose(const std::string& selected,
                                   const std::vector<std::string>& names,
                                   absl::string_view what) {
  if (names.empty()) {
    return absl::InvalidArgumentError(absl::StrCat("the result has no ", what));
  }
  if (!selected.empty()) {
    if (std::find(names.begin(), names.end(), selected) != names.end()) {
      return selected;
    }
    return absl::InvalidArgumentError(
        absl::StrCat("the result has no ", what, " \"", selected,
                     "\"; it has: ", absl::StrJoin(names, ", ")));
  }
  if (names.size() == 1) return names.front();
  return absl::InvalidArgumentError(absl::StrCat(
      "the format has room for a single ", what, "; choose one with --", what,
      ": ", absl::StrJoin(names, ", ")));
}

void AddOnce(const std::string& name, std::vector<std::string>& names) {
  if (std::find(names.begin(), names.end(), name) == names.end()) {
    names.push_back(name);
  }
}

std::vector<std::string> TestNamesOf(absl::Span<const TestRun> runs) {
  std::vector<std::string> names;
  for (const TestRun& run : runs) AddOnce(run.name, names);
  return names;
}

std::vector<std::string> RpcNamesOf(const std::vector<TestRun>& runs) {
  std::vector<std::string> names;
  for (const TestRun& run : runs) {
    for (const int index : ListRpcs(*run.result)) {
      AddOnce(results::RpcName(*run.result, index), names);
    }
  }
  return names;
}

bool HasResponseTimes(const std::vector<RpcMeasurements>& runs) {
  return std::any_of(runs.begin(), runs.end(), [](const RpcMeasurements& rpc) {
    return rpc.response_time.count() > 0;
  });
}

std::vector<RpcMeasurements> MeasurementsIn(const std::vector<TestRun>& runs,
                                            const std::string& rpc_name) {
  std::vector<RpcMeasurements> all;
  for (const TestRun& run : runs) {
    const TestTotals totals = AddUp(*run.result);
    for (const int index : ListRpcs(*run.result)) {
      if (results::RpcName(*run.result, index) != rpc_name) continue;
      all.push_back(MeasurementsOf(*run.result, totals, index,
                                   std::numeric_limits<int64_t>::max()));
    }
  }
  return all;
}

}  // namespace

absl::StatusOr<SelectedRpc> SelectRpc(absl::Span<const TestRun> runs,
                                      const RpcSelection& selection) {
  const absl::StatusOr<std::string> test =
      Choose(selection.test, TestNamesOf(runs), "test");
  if (!test.ok()) return test.status();
  std::vector<TestRun> repetitions;
  std::copy_if(runs.begin(), runs.end(), std::back_inserter(repetitions),
               [&](const TestRun& run) { return run.name == *test; });
  if (MixesOrigins(repetitions)) {
    return absl::InvalidArgumentError(absl::StrCat(
        *test, " has real and simulated runs; report one kind only"));
  }
  const absl::StatusOr<std::string> rpc =
      Choose(selection.rpc, RpcNamesOf(repetitions), "rpc");
  if (!rpc.ok()) return rpc.status();

  SelectedRpc selected = {
      .test = *test,
      .runs = MeasurementsIn(repetitions, *rpc),
      .is_simulated = IsSimulated(*repetitions.front().result)};
  const bool is_open_loop = HasResponseTimes(selected.runs);
  selected.latency = selection.latency.value_or(
      is_open_loop ? LatencyKind::kResponse : LatencyKind::kService);
  if (selected.latency == LatencyKind::kResponse && !is_open_loop) {
    return absl::InvalidArgumentError(
        absl::StrCat(*rpc,
                     " has no response times: these exist in open loops "
                     "only. Choose --latency=service"));
  }
  return selected;
}

}  // namespace distbench::report
