#include "distbench/report/json/json_parts.h"
#include "distbench/report/measurements/planned_faults.h"

namespace distbench::report {
namespace {

// Times that a page can draw.
constexpr size_t kMaxSpans = 1000;

nlohmann::ordered_json FaultJson(const PlannedFault& fault) {
  nlohmann::ordered_json spans = nlohmann::ordered_json::array();
  for (const FaultSpan& span : fault.spans) {
    if (spans.size() == kMaxSpans) break;
    spans.push_back({{"begin_timestamp_ns", span.begin_ns},
                     {"end_timestamp_ns", span.end_ns}});
  }
  return {{"name", fault.name},
          {"description", fault.description},
          {"request_count", fault.request_count},
          {"connection_count", fault.connection_count},
          {"times", spans}};
}

nlohmann::ordered_json WaitJson(const stats::LogHistogram& wait_ns) {
  if (wait_ns.count() == 0) return nullptr;
  return {{"mean_ns", wait_ns.mean()},
          {"p50_ns", wait_ns.ValueAtQuantile(0.5)},
          {"p90_ns", wait_ns.ValueAtQuantile(0.9)},
          {"p99_ns", wait_ns.ValueAtQuantile(0.99)},
          {"max_ns", wait_ns.max()}};
}

}  // namespace

nlohmann::ordered_json ServerFaultsJson(const TestResult& result) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const PlannedFault& fault : PlannedFaultsOf(result)) {
    json.push_back(FaultJson(fault));
  }
  return json;
}

nlohmann::ordered_json AdmissionJson(const TestResult& result) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const ServiceAdmission& admission : AdmissionsOf(result)) {
    json.push_back({{"service", admission.service},
                    {"admitted_count", admission.admitted_count},
                    {"refused_count", admission.refused_count},
                    {"wait", WaitJson(admission.wait_ns)}});
  }
  return json;
}

}  // namespace distbench::report
