// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/server_metrics/prometheus_answer.h"

#include <cmath>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "distbench/base/json.h"

namespace distbench::server_metrics {
namespace {

using base::Json;

absl::Status NoAnswer(absl::string_view problem) {
  return absl::InvalidArgumentError(
      absl::StrCat("the answer is not that of a Prometheus: ", problem));
}

// The member of that name; null if there is none, or the value is no object.
const Json& Member(const Json& json, const char* name) {
  static const Json* const kNone = new Json;
  if (!json.is_object()) return *kNone;
  const auto found = json.find(name);
  return found == json.end() ? *kNone : *found;
}

std::string TextOf(const Json& json) {
  return json.is_string() ? json.get<std::string>() : "";
}

// [TIMESTAMP, "VALUE"].
absl::StatusOr<PrometheusAnswer> ParsePoint(const Json& point) {
  PrometheusAnswer answer;
  if (!point.is_array() || point.size() != 2 || !point[0].is_number() ||
      !point[1].is_string()) {
    return NoAnswer("it has no pair of a time and a value");
  }
  answer.timestamp_s = point[0].get<double>();
  const std::string text = TextOf(point[1]);
  if (!absl::SimpleAtod(text, &answer.value)) {
    return NoAnswer("its value is no number");
  }
  if (!std::isfinite(answer.value)) {
    return absl::FailedPreconditionError(absl::StrCat("the value is ", text));
  }
  return answer;
}

absl::StatusOr<PrometheusAnswer> ParseVector(const Json& result) {
  if (!result.is_array()) return NoAnswer("it has no list of series");
  if (result.empty()) {
    return absl::NotFoundError(
        "the query has no series: nothing was scraped that it is about, or not "
        "for long enough");
  }
  if (result.size() > 1) {
    return absl::FailedPreconditionError(
        absl::StrCat("the query has ", result.size(),
                     " series; aggregate it, for example with sum()"));
  }
  return ParsePoint(Member(result[0], "value"));
}

}  // namespace

absl::StatusOr<PrometheusAnswer> ParsePrometheusAnswer(int http_status,
                                                       absl::string_view body) {
  const Json json = Json::parse(body.begin(), body.end(), nullptr,
                                /*allow_exceptions=*/false);
  if (const std::string error = TextOf(Member(json, "error")); !error.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat("Prometheus says: ", error));
  }
  if (http_status != 200) {
    return absl::UnavailableError(
        absl::StrCat("the answer has the HTTP status ", http_status));
  }
  if (TextOf(Member(json, "status")) != "success") {
    return NoAnswer("it has no status \"success\"");
  }
  const Json& data = Member(json, "data");
  const std::string type = TextOf(Member(data, "resultType"));
  const Json& result = Member(data, "result");
  if (type == "vector") return ParseVector(result);
  if (type == "scalar") return ParsePoint(result);
  if (type == "matrix" || type == "string") {
    return absl::FailedPreconditionError(
        absl::StrCat("the query gives a ", type,
                     "; one that gives a number at one time is needed"));
  }
  return NoAnswer("it has no result of a known type");
}

}  // namespace distbench::server_metrics
