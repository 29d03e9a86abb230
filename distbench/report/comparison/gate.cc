#include "distbench/report/comparison/gate.h"

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"

namespace distbench {
namespace {

absl::Status SyntaxError(absl::string_view text, absl::string_view problem) {
  return absl::InvalidArgumentError(
      absl::StrCat("the condition \"", text, "\" ", problem,
                   "; write it like p99>5%, rate<-3% or my_rpc:p99.9>10%"));
}

// As a share of the base, or as a difference of shares.
double RelativeChange(const Metric& metric, double change) {
  return IsComparedByRatio(metric) ? change - 1 : change;
}

bool IsBroken(const Gate& gate, const MetricComparison& comparison) {
  const Difference& change = comparison.change;
  const double relative = RelativeChange(gate.metric, change.estimate);
  if (gate.is_upper_limit ? relative <= gate.limit : relative >= gate.limit) {
    return false;
  }
  if (!change.interval) return true;
  return gate.is_upper_limit
             ? RelativeChange(gate.metric, change.interval->lower) > 0
             : RelativeChange(gate.metric, change.interval->upper) < 0;
}

std::string Describe(const Gate& gate, const MetricComparison& comparison) {
  const absl::string_view unit =
      IsComparedByRatio(gate.metric) ? "%" : " percentage points";
  const auto percent = [&](double change) {
    return 100 * RelativeChange(gate.metric, change);
  };
  const Difference& change = comparison.change;
  std::string text =
      absl::StrFormat("%s changed by %+.1f%s", MetricName(gate.metric),
                      percent(change.estimate), unit);
  if (change.interval) {
    absl::StrAppendFormat(&text, " (interval %+.1f%s to %+.1f%s)",
                          percent(change.interval->lower), unit,
                          percent(change.interval->upper), unit);
  } else {
    absl::StrAppend(&text, " (single runs: there is no interval)");
  }
  return text;
}

// Appends a breach if the RPC breaks the gate.
void CheckRpc(const Gate& gate, const std::string& test,
              const RpcComparison& rpc, std::vector<std::string>& breaches) {
  const std::string place = absl::StrCat(test, ": ", rpc.rpc, ": ");
  for (const MetricComparison& comparison : rpc.metrics) {
    if (!(comparison.metric == gate.metric)) continue;
    if (comparison.verdict == ComparisonVerdict::kNotComparable) {
      breaches.push_back(
          absl::StrCat(place, "cannot be judged: ", comparison.reason));
    } else if (IsBroken(gate, comparison)) {
      breaches.push_back(absl::StrCat(place, Describe(gate, comparison)));
    }
    return;
  }
  breaches.push_back(
      absl::StrCat(place, MetricName(gate.metric), " was not compared"));
}

}  // namespace

absl::StatusOr<Gate> ParseGate(absl::string_view text) {
  const size_t comparison = text.find_last_of("<>");
  if (comparison == absl::string_view::npos) {
    return SyntaxError(text, "has neither > nor <");
  }
  absl::string_view limit =
      absl::StripAsciiWhitespace(text.substr(comparison + 1));
  double percent = 0;
  if (!absl::ConsumeSuffix(&limit, "%") || !absl::SimpleAtod(limit, &percent)) {
    return SyntaxError(text, "does not end in a percentage");
  }
  absl::string_view name =
      absl::StripAsciiWhitespace(text.substr(0, comparison));
  Gate gate;
  gate.text = std::string(text);
  gate.is_upper_limit = text[comparison] == '>';
  gate.limit = percent / 100;
  if (const size_t colon = name.rfind(':'); colon != absl::string_view::npos) {
    gate.rpc = std::string(absl::StripAsciiWhitespace(name.substr(0, colon)));
    name = absl::StripAsciiWhitespace(name.substr(colon + 1));
  }
  const absl::StatusOr<Metric> metric = ParseMetric(name);
  if (!metric.ok()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the condition \"", text, "\": ", metric.status().message()));
  }
  gate.metric = *metric;
  return gate;
}

std::vector<std::string> GateBreaches(
    const Gate& gate, absl::Span<const TestComparison> comparisons) {
  std::vector<std::string> breaches;
  bool rpc_exists = false;
  for (const TestComparison& test : comparisons) {
    if (!test.not_comparable.empty()) {
      breaches.push_back(
          absl::StrCat(test.test, ": cannot be judged: ", test.not_comparable));
      continue;
    }
    for (const RpcComparison& rpc : test.rpcs) {
      if (!gate.rpc.empty() && gate.rpc != rpc.rpc) continue;
      rpc_exists = true;
      CheckRpc(gate, test.test, rpc, breaches);
    }
  }
  if (!rpc_exists && breaches.empty()) {
    breaches.push_back(
        gate.rpc.empty() ? "there is no RPC to judge"
                         : absl::StrCat("no test of both results has an RPC \"",
                                        gate.rpc, "\""));
  }
  return breaches;
}

}  // namespace distbench
