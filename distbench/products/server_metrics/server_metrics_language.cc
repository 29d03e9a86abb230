// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/server_metrics/server_metrics_language.h"

#include "absl/status/status.h"
#include "distbench/config/problems/suggest.h"
#include "distbench/products/server_metrics/prometheus_url.h"
#include "distbench/products/server_metrics/server_metrics.h"
#include "distbench/stats/metric.h"

namespace distbench::server_metrics {

void ServerMetricsLanguage::Validate(
    const config::TestValidation& validation) const {
  const config::NameIndex names(validation.test().server_metrics());
  for (int i = 0; i < validation.test().server_metrics_size(); ++i) {
    const ServerMetric& entry = validation.test().server_metrics(i);
    const std::string& url = entry.prometheus().url();
    if (url.empty()) continue;
    const absl::Status status = ParsePrometheusUrl(url).status();
    if (status.ok()) continue;
    validation.Add(validation.Element("server_metrics", names, i)
                       .Field("prometheus")
                       .Field("url"),
                   config::Quoted(url), " ", status.message());
  }
}

bool ServerMetricsLanguage::CheckObjective(
    const config::TestValidation& validation, const config::Path& path,
    const config::Objective& objective, bool /*is_of_search*/) const {
  if (objective.metric.kind != stats::Metric::Kind::kServerMetric) return false;
  const config::NameIndex names(validation.test().server_metrics());
  const int found = names.Find(objective.metric.name);
  if (found == config::kNone) {
    validation.Add(
        path, config::Quoted(objective.text),
        " is about a metric that the test does not read; ",
        names.names().empty()
            ? "add it to server_metrics"
            : config::Suggestion(objective.metric.name, names.names()));
    return true;
  }
  const std::string problem =
      UnitProblem(objective, validation.test().server_metrics(found));
  if (!problem.empty()) {
    validation.Add(path, config::Quoted(objective.text), " ", problem);
  }
  return true;
}

}  // namespace distbench::server_metrics
