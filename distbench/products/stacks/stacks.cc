// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/stacks/stacks.h"

#include <cmath>
#include <compare>
#include <cstdint>
#include <iterator>
#include <set>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "distbench/config/catalogs/driver_resolution.h"
#include "distbench/config/plan/test_names.h"
#include "distbench/config/syntax/instance_names.h"
#include "distbench/report/comparison/capacity.h"
#include "distbench/report/comparison/comparability.h"
#include "distbench/report/comparison/compare.h"
#include "distbench/report/derived/derive.h"
#include "distbench/report/derived/figures.h"
#include "distbench/report/measurements/engines.h"
#include "distbench/report/measurements/run_outcome.h"
#include "distbench/stats/run_interval.h"

namespace distbench::stacks {
namespace {

using report::ComparisonVerdict;
using Load = ReportedStacks::Load;
using StackRow = ReportedStacks::StackRow;

// The protocol drivers that carry the RPCs of a service or a test.
struct Stack {
  std::string drivers;
  std::string settings;  // as the config has them: "client connections=4"

  // Not auto: libc++ before 16 has no <=> of strings.
  std::strong_ordering operator<=>(const Stack&) const = default;
};

std::string SettingsOf(const ProtocolDriverOptions& options) {
  std::set<std::string> settings;
  const auto add = [&settings](absl::string_view side, const auto& named) {
    for (const NamedSetting& setting : named) {
      settings.insert(absl::StrCat(side, " ", setting.name(), "=",
                                   setting.has_int64_value()
                                       ? absl::StrCat(setting.int64_value())
                                       : setting.string_value()));
    }
  };
  add("client", options.client_settings());
  add("server", options.server_settings());
  if (!options.netdev_name().empty()) {
    settings.insert(absl::StrCat("netdev_name=", options.netdev_name()));
  }
  if (options.ip_version() != 0) {
    settings.insert(absl::StrCat("ip_version=", options.ip_version()));
  }
  return absl::StrJoin(settings, ", ");
}

// By the name with which tests ask for them: what is known of programs besides
// the nodes' own.
using EngineTexts = std::map<std::string, std::string>;

EngineTexts EngineTextsOf(const TestResult& result) {
  EngineTexts texts;
  for (const report::EngineUse& use : report::EnginesOf(result)) {
    texts[use.name] = absl::StrJoin(use.texts, "; ");
  }
  return texts;
}

Stack StackOfService(const DistributedSystemDescription& test,
                     const config::TestNames& names, const EngineTexts& engines,
                     const ServiceSpec& service) {
  const config::DriverStack stack = config::ResolveDriverStack(
      test, names, config::OptionsOf(names, service));
  // Results may name drivers that this program was built without.
  if (stack.problem) return {"an unknown driver", stack.problem->message};
  std::vector<std::string> drivers, settings;
  for (const config::ResolvedDriver& level : stack.drivers) {
    drivers.push_back(level.driver->name);
    settings.push_back(SettingsOf(*level.options));
  }
  std::string name = absl::StrJoin(drivers, " over ");
  const auto engine = engines.find(config::EngineOf(stack.drivers));
  if (engine != engines.end()) {
    absl::StrAppend(&name, " of ", engine->second);
  }
  return {std::move(name), absl::StrJoin(settings, "; ")};
}

// The services are part of the settings only if they have several stacks.
Stack StackOf(const TestResult& result) {
  const DistributedSystemDescription& test = result.traffic_config();
  const config::TestNames names(test);
  const EngineTexts engines = EngineTextsOf(result);
  std::map<Stack, std::vector<std::string>> services;
  for (const ServiceSpec& service : test.services()) {
    if (config::IsOutside(service)) continue;
    services[StackOfService(test, names, engines, service)].push_back(
        service.name());
  }
  if (services.size() == 1) return services.begin()->first;
  std::set<std::string> drivers, settings;
  for (const auto& [stack, users] : services) {
    drivers.insert(stack.drivers);
    settings.insert(absl::StrCat(absl::StrJoin(users, ", "), ": ",
                                 stack.drivers, ": ", stack.settings));
  }
  return {absl::StrJoin(drivers, " + "), absl::StrJoin(settings, "; ")};
}

// What the stack of each run is called. The settings are part of the names if
// there are several of the drivers.
std::map<const TestResult*, std::string> NameStacks(
    const std::vector<report::TestRun>& runs) {
  std::map<const TestResult*, Stack> stacks;
  std::map<std::string, std::set<std::string>> settings_of_drivers;
  for (const report::TestRun& run : runs) {
    Stack& stack = stacks[run.result] = StackOf(*run.result);
    stack.drivers = report::MarkedName(stack.drivers, *run.result);
    settings_of_drivers[stack.drivers].insert(stack.settings);
  }
  std::map<const TestResult*, std::string> names;
  for (const auto& [result, stack] : stacks) {
    names[result] = stack.drivers;
    if (settings_of_drivers[stack.drivers].size() == 1) continue;
    absl::StrAppend(&names[result], " (",
                    stack.settings.empty() ? "defaults" : stack.settings, ")");
  }
  return names;
}

// Adds the CPU time of the run's processes, divided by the RPCs that main
// lists send or, if the config does not tell which these are, all RPCs;
// warm-up and failures included. Nothing unless every instance had a process
// of its own, and kept it.
void AddCpu(const TestResult& result, StackRow& row) {
  const auto [clients, rpc_count] = report::EntryTrafficOf(result);
  double client_ns = 0;
  double server_ns = 0;
  int process_count = 0;
  for (const auto& [node, resources] :
       result.resource_usage_logs().node_resources()) {
    process_count += resources.engine_usages_size();
    for (const auto& [instance, usage] : resources.engine_usages()) {
      const std::string service = config::ServiceOf(instance);
      (clients.contains(service) ? client_ns : server_ns) +=
          1e9 *
          (usage.user_cpu_time_seconds() + usage.system_cpu_time_seconds());
    }
  }
  const double sum_ns = client_ns + server_ns;
  if (process_count < result.placement().service_endpoints_size()) return;
  // Damaged files may contain any number.
  if (rpc_count == 0 || !(sum_ns > 0) || !std::isfinite(sum_ns)) return;
  row.add_cpu_ns(sum_ns / rpc_count);
  if (clients.empty()) return;
  if (client_ns > 0) row.add_client_cpu_ns(client_ns / rpc_count);
  // Without other services, clients serve one another.
  if (server_ns > 0) row.add_server_cpu_ns(server_ns / rpc_count);
}

// Adds how the last stack of the load differs from the first one.
void AddChange(const std::string& rpc, const std::string& metric,
               ComparisonVerdict verdict, const stats::Difference& ratio,
               Load& load) {
  ReportedStacks::StackChange& change = *load.add_changes();
  change.set_stack(load.rows().rbegin()->stack());
  if (!rpc.empty()) change.set_rpc(rpc);
  change.set_metric(metric);
  change.set_verdict(std::string(report::VerdictName(verdict)));
  if (verdict == ComparisonVerdict::kNotComparable) return;
  report::SetDifference(ratio, "ratio", "", change);
}

// Compares CPU times per RPC, if all runs of both stacks have them.
void CompareCpu(const char* name,
                const google::protobuf::RepeatedField<double>& base_ns,
                const google::protobuf::RepeatedField<double>& next_ns,
                report::TestComparison& comparison, Load& load) {
  if (base_ns.size() < comparison.base_runs ||
      next_ns.size() < comparison.next_runs) {
    return;
  }
  const report::CapacityRatio ratio = {
      .name = name,
      .base = stats::GeometricMean(base_ns),
      .next = stats::GeometricMean(next_ns),
      .ratio =
          stats::RatioOfMeans(base_ns, next_ns, report::kCompareConfidence)};
  const ComparisonVerdict verdict =
      report::JudgeChange(ratio.ratio, /*no_change=*/1, /*resolution=*/0,
                          /*higher_is_better=*/false);
  AddChange("", name, verdict, ratio.ratio, load);
  comparison.notes.push_back(absl::StrCat(name, " ",
                                          report::DescribeRatio(ratio), ": ",
                                          report::VerdictName(verdict)));
}

// Compares the last stack of the load with the first one.
void CompareStack(const report::RunGroup& first, const report::RunGroup& next,
                  report::ComparisonReport& report, Load& load) {
  report::TestComparison comparison =
      report::Compare(first.runs, next.runs, {}).front();
  for (const report::RpcComparison& rpc : comparison.rpcs) {
    for (const report::MetricComparison& metric : rpc.metrics) {
      if (!stats::IsComparedByRatio(metric.metric)) continue;
      AddChange(rpc.rpc, stats::MetricName(metric.metric), metric.verdict,
                metric.change, load);
    }
  }
  for (const report::MetricComparison& metric : comparison.metrics) {
    if (!report::IsByRatio(metric)) continue;
    AddChange("", stats::MetricName(metric.metric), metric.verdict,
              metric.change, load);
  }
  const StackRow& base = load.rows(0);
  const StackRow& row = *load.rows().rbegin();
  CompareCpu("CPU per RPC", base.cpu_ns(), row.cpu_ns(), comparison, load);
  CompareCpu("client CPU", base.client_cpu_ns(), row.client_cpu_ns(),
             comparison, load);
  CompareCpu("server CPU", base.server_cpu_ns(), row.server_cpu_ns(),
             comparison, load);
  for (const std::string& difference :
       report::DescribeDifferences(first.runs, next.key, next.runs)) {
    if (absl::StartsWith(difference, report::kDriversCircumstance)) continue;
    load.add_notes(absl::StrCat("not only the driver differs: ", difference));
  }
  report.base.source = first.key;
  report.next.source = next.key;
  absl::c_copy(first.runs, std::back_inserter(report.base.runs));
  absl::c_copy(next.runs, std::back_inserter(report.next.runs));
  report.tests.push_back(std::move(comparison));
}

// Sets the stacks of one traffic beside each other.
void CompareTraffic(std::vector<report::RunGroup> stacks,
                    const std::map<const TestResult*, int>& positions,
                    StackComparison& all, Load& load) {
  load.set_test(stacks.front().runs.front().name);
  for (report::RunGroup& stack : stacks) {
    StackRow& row = *load.add_rows();
    row.set_stack(stack.key);
    row.set_runs(static_cast<int64_t>(stack.runs.size()));
    for (report::TestRun& run : stack.runs) {
      run.name = load.test();  // one test, whatever it is called
      row.add_tests(positions.at(run.result));
      AddCpu(*run.result, row);
    }
    if (&stack == &stacks.front()) continue;
    CompareStack(stacks.front(), stack,
                 all.reports[{stacks.front().key, stack.key}], load);
  }
}

std::string RunText(const report::TestRun& run) {
  return absl::StrCat(run.name, report::RunNumber(run), " (", run.source, ")");
}

// Says why the only stack of a traffic has nothing to be compared with.
std::string WhyAlone(const report::RunGroup& alone,
                     const std::vector<report::RunGroup>& stacks) {
  const report::TestRun& run = alone.runs.front();
  for (const report::RunGroup& other : stacks) {
    if (other.key == alone.key || other.runs.empty()) continue;
    return absl::StrCat(
        RunText(run), " is the only one with its traffic; that of ",
        RunText(other.runs.front()), ", over ", other.key,
        ", differs: ", report::TrafficDifference({other.runs.front()}, {run}));
  }
  return absl::StrCat(RunText(run), ": no run of another stack is valid");
}

}  // namespace

StackComparison CompareStacks(absl::Span<const report::TestRun> runs) {
  std::vector<report::TestRun> compared;
  std::map<const TestResult*, int> positions;
  for (const report::TestRun& run : runs) {
    positions[run.result] = static_cast<int>(&run - runs.data());
    const bool is_of_experiment = run.result->has_experiment_cell();
    if (report::HasChosenLoad(run) || is_of_experiment) continue;
    compared.push_back(run);
  }
  const auto names = NameStacks(compared);
  const auto stack_of = [&names](const report::TestRun& run) {
    return names.at(run.result);
  };
  std::vector<report::RunGroup> stacks = report::GroupRuns(compared, stack_of);
  StackComparison comparison;
  if (stacks.size() < 2) return comparison;

  // Stack by stack, so that these have the same order under every load.
  std::vector<report::TestRun> valid;
  for (report::RunGroup& stack : stacks) {
    comparison.reported.add_stacks(stack.key);
    std::erase_if(stack.runs, [&](const report::TestRun& run) {
      const std::string why = report::WhyNotMeasured(*run.result);
      if (why.empty()) return false;
      comparison.reported.add_omissions(absl::StrCat(RunText(run), " ", why));
      return true;
    });
    absl::c_copy(stack.runs, std::back_inserter(valid));
  }
  for (const report::RunGroup& work :
       report::GroupRuns(valid, report::WorkText)) {
    ReportedStacks::Study study;
    for (const report::RunGroup& traffic :
         report::GroupRuns(work.runs, report::TrafficText)) {
      auto groups = report::GroupRuns(traffic.runs, stack_of);
      if (groups.size() > 1) {
        CompareTraffic(std::move(groups), positions, comparison,
                       *study.add_loads());
      } else {
        comparison.reported.add_omissions(WhyAlone(groups.front(), stacks));
      }
    }
    if (!study.loads().empty()) *comparison.reported.add_studies() = study;
  }
  return comparison;
}

}  // namespace distbench::stacks
