#include "distbench/report/measurements/client_sums.h"

#include <cstdint>
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "distbench/results/message_sums.h"
#include "distbench/results/walk.h"
#include "google/protobuf/map.h"

namespace distbench::report {
namespace {

// A field of a client's log: statistics by the RPC's index.
template <typename Statistics>
using ByRpc = const google::protobuf::Map<int32_t, Statistics>& (
    ServicePerformanceLog::*)() const;

// Adds the statistics of each client and RPC to tally_of(rpc), unless that is
// null.
template <typename Statistics>
void AddUpClients(
    const TestResult& result, ByRpc<Statistics> statistics_by_rpc,
    absl::FunctionRef<results::Tally*(const std::string& rpc)> tally_of,
    absl::FunctionRef<void(const std::string& client, const std::string& rpc,
                           const absl::Status& problem)>
        left_out) {
  for (const auto* client :
       results::Sorted(result.service_logs().instance_logs())) {
    const auto& by_rpc = (client->second.*statistics_by_rpc)();
    for (const auto* statistics : results::Sorted(by_rpc)) {
      const std::string rpc = results::RpcName(result, statistics->first);
      results::Tally* const tally = tally_of(rpc);
      if (tally == nullptr) continue;
      const absl::Status added = tally->Add(statistics->second);
      if (!added.ok()) left_out(client->first, rpc, added);
    }
  }
}

template <typename Statistics>
std::optional<Statistics> SumOf(const TestResult& result,
                                const std::string& rpc,
                                ByRpc<Statistics> statistics_by_rpc) {
  std::optional<results::TallyOf<Statistics>> tally;
  AddUpClients(
      result, statistics_by_rpc,
      [&](const std::string& name) -> results::Tally* {
        if (name != rpc) return nullptr;
        return tally.has_value() ? &*tally : &tally.emplace();
      },
      [](const auto&...) {});
  if (!tally.has_value()) return std::nullopt;
  Statistics sum;
  tally->Encode(sum);
  return sum;
}

}  // namespace

std::optional<PolicyStatistics> AttemptsOf(const TestResult& result,
                                           const std::string& rpc) {
  return SumOf(result, rpc, &ServicePerformanceLog::policy_statistics);
}

std::optional<StreamStatistics> StreamsOf(const TestResult& result,
                                          const std::string& rpc) {
  return SumOf(result, rpc, &ServicePerformanceLog::stream_statistics);
}

std::optional<OfferedLoad> OfferedLoadOf(const TestResult& result,
                                         const std::string& rpc) {
  return SumOf(result, rpc, &ServicePerformanceLog::offered_loads);
}

void ForEachLeftOut(const TestResult& result,
                    absl::FunctionRef<void(const std::string& what,
                                           const absl::Status& problem)>
                        visit) {
  const auto visit_all = [&]<typename Statistics>(
                             absl::string_view what,
                             ByRpc<Statistics> statistics_by_rpc) {
    std::map<std::string, results::TallyOf<Statistics>> tallies;
    AddUpClients(
        result, statistics_by_rpc,
        [&](const std::string& rpc) { return &tallies[rpc]; },
        [&](const std::string& client, const std::string& rpc,
            const absl::Status& problem) {
          visit(absl::StrCat(what, " of ", rpc, " from ", client), problem);
        });
  };
  visit_all("attempts", &ServicePerformanceLog::policy_statistics);
  visit_all("messages", &ServicePerformanceLog::stream_statistics);
  visit_all("offered load", &ServicePerformanceLog::offered_loads);
}

}  // namespace distbench::report
