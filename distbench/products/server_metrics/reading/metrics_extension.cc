// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/server_metrics/reading/metrics_extension.h"

#include <map>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "distbench/products/server_metrics/prometheus_url.h"
#include "distbench/products/server_metrics/reading/metric_reader.h"
#include "distbench/products/server_metrics/reading/metric_source.h"
#include "distbench/products/server_metrics/server_metrics.h"

namespace distbench::server_metrics {
namespace {

constexpr char kUrlSetting[] = "server_metric_url";
constexpr char kCommandSetting[] = "server_metric_command";

std::vector<std::string> LinesOf(const node::NodeSettings& settings,
                                 absl::string_view name) {
  const auto found = settings.find(name);
  if (found == settings.end()) return {};
  return absl::StrSplit(found->second, '\n', absl::SkipEmpty());
}

absl::Status WrongFlag(absl::string_view flag, absl::string_view value,
                       absl::string_view problem) {
  return absl::InvalidArgumentError(
      absl::StrCat("--", flag, "=", value, " ", problem));
}

// The commands that the node allows, by their names.
absl::StatusOr<std::map<std::string, std::string>> CommandsOf(
    const node::NodeSettings& settings) {
  std::map<std::string, std::string> commands;
  for (const std::string& line : LinesOf(settings, kCommandSetting)) {
    const std::pair<std::string, std::string> parts =
        absl::StrSplit(line, absl::MaxSplits('=', 1));
    if (parts.first.empty() || parts.second.empty()) {
      return WrongFlag(kCommandSetting, line,
                       "is not NAME=COMMAND; write it like "
                       "cpu='/usr/local/bin/cpu_share'");
    }
    if (!commands.insert(parts).second) {
      return WrongFlag(kCommandSetting, line,
                       "has a name that another one has; rename one of them");
    }
  }
  return commands;
}

absl::Status NotAllowed(const ServerMetric& entry, absl::string_view what,
                        absl::string_view flag) {
  return absl::PermissionDeniedError(absl::StrCat(
      "server_metrics[\"", entry.name(),
      "\"]: the node manager does not allow ", what, "; start it with ", flag));
}

absl::StatusOr<std::unique_ptr<MetricSource>> MakeSource(
    const ServerMetric& entry, const node::NodeSettings& settings) {
  if (entry.has_prometheus()) {
    const std::string& url = entry.prometheus().url();
    const absl::StatusOr<PrometheusUrl> parsed = ParsePrometheusUrl(url);
    if (!parsed.ok()) return parsed.status();
    if (!absl::c_linear_search(LinesOf(settings, kUrlSetting), url)) {
      return NotAllowed(entry, absl::StrCat("queries of ", url),
                        absl::StrCat("--", kUrlSetting, "=", url));
    }
    return MakePrometheusSource(*parsed, entry.prometheus().query());
  }
  const auto commands = CommandsOf(settings);
  if (!commands.ok()) return commands.status();
  const auto found = commands->find(entry.command());
  if (found == commands->end()) {
    return NotAllowed(
        entry, absl::StrCat("a command \"", entry.command(), "\""),
        absl::StrCat("--", kCommandSetting, "=", entry.command(), "=COMMAND"));
  }
  return MakeCommandSource(found->second);
}

class TestMetrics final : public node::TestPartExtension {
 public:
  explicit TestMetrics(std::vector<std::unique_ptr<MetricReader>> readers)
      : readers_(std::move(readers)) {}

  void TrafficBegins(const base::Clock& clock, int64_t start_ns) override {
    for (const auto& reader : readers_) reader->Start(clock, start_ns);
  }

  // All of them are told first, so that the wait is that for one.
  void TrafficEnded() override {
    for (const auto& reader : readers_) reader->Cancel();
    for (const auto& reader : readers_) reader->Stop();
  }

  void AddResults(NodeResources& resources) const override {
    for (const auto& reader : readers_) {
      *resources.add_server_metrics() = reader->log();
    }
  }

 private:
  const std::vector<std::unique_ptr<MetricReader>> readers_;
};

}  // namespace

std::vector<node::NodeSettingDeclaration> MetricsExtension::settings() const {
  return {{.name = kUrlSetting,
           .placeholder = "URL",
           .help = "A Prometheus that tests may query (server_metrics), such\n"
                   "as http://localhost:9090; repeatable",
           .is_repeatable = true},
          {.name = kCommandSetting,
           .placeholder = "NAME=COMMAND",
           .help = "A command that tests may have run by its NAME\n"
                   "(server_metrics); it prints one number; repeatable",
           .is_repeatable = true}};
}

absl::Status MetricsExtension::CheckSettings(
    const node::NodeSettings& settings) const {
  for (const std::string& url : LinesOf(settings, kUrlSetting)) {
    const absl::Status status = ParsePrometheusUrl(url).status();
    if (!status.ok()) return WrongFlag(kUrlSetting, url, status.message());
  }
  return CommandsOf(settings).status();
}

absl::StatusOr<std::unique_ptr<node::TestPartExtension>>
MetricsExtension::TestBegins(const node::NodeSite& site,
                             const DistributedSystemDescription& test,
                             const std::vector<std::string>& instances) const {
  std::vector<std::unique_ptr<MetricReader>> readers;
  for (const ServerMetric& entry : test.server_metrics()) {
    if (!absl::c_linear_search(instances, ReaderOf(test, entry))) continue;
    absl::StatusOr<std::unique_ptr<MetricSource>> source =
        MakeSource(entry, site.settings);
    if (source.ok()) {
      readers.push_back(
          std::make_unique<MetricReader>(entry, *std::move(source)));
    } else if (site.has_engine_processes) {
      return source.status();
    }
  }
  if (readers.empty()) return nullptr;
  return std::make_unique<TestMetrics>(std::move(readers));
}

}  // namespace distbench::server_metrics
