#include "distbench/config/validate/check.h"

#include <cstdint>
#include <limits>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "distbench/base/plugins.h"
#include "distbench/config/problems/problem.h"
#include "distbench/config/syntax/instance_names.h"
#include "distbench/config/validate/arrivals.h"
#include "distbench/config/validate/language_part.h"
#include "distbench/config/validate/quantities.h"
#include "distbench/config/validate/validators.h"

namespace distbench::config {
namespace {

bool HasSizes(const ServiceSpec& service) {
  return service.has_x_size() || service.has_y_size() || service.has_z_size();
}

void CanonicalizeService(ServiceSpec& service) {
  if (service.has_admission() && service.admission().refuse().empty()) {
    service.mutable_admission()->clear_refuse();
  }
  if (IsOutside(service) && !service.has_count()) service.set_count(1);
  if (HasSizes(service)) {
    const int64_t count = GridOf(service).Count();
    if (!service.has_count() && count <= std::numeric_limits<int32_t>::max()) {
      service.set_count(static_cast<int32_t>(count));
    }
  } else if (service.count() >= 1) {
    service.set_x_size(service.count());
  }
}

// An empty word means the default, as everywhere.
void CanonicalizePolicy(CallPolicy& policy) {
  ReplaceQuantities(policy);
  if (policy.load_balancing().empty()) policy.clear_load_balancing();
  if (policy.has_retry()) {
    RetryPolicy& retry = *policy.mutable_retry();
    ReplaceQuantities(retry);
    if (retry.jitter().empty()) retry.clear_jitter();
    if (retry.has_budget()) ReplaceQuantities(*retry.mutable_budget());
  }
  if (policy.has_hedging()) {
    HedgingPolicy& hedging = *policy.mutable_hedging();
    ReplaceQuantities(hedging);
    if (hedging.has_budget()) ReplaceQuantities(*hedging.mutable_budget());
  }
  if (policy.has_quorum() && policy.quorum().rest().empty()) {
    policy.mutable_quorum()->clear_rest();
  }
  if (policy.has_circuit_breaker()) {
    ReplaceQuantities(*policy.mutable_circuit_breaker());
  }
  if (policy.has_concurrency_limit() &&
      policy.concurrency_limit().kind().empty()) {
    policy.mutable_concurrency_limit()->clear_kind();
  }
}

void CanonicalizeTest(DistributedSystemDescription& test) {
  if (test.default_protocol().empty()) test.clear_default_protocol();
  for (ServiceSpec& service : *test.mutable_services()) {
    CanonicalizeService(service);
  }
  for (PayloadSpec& payload : *test.mutable_payload_descriptions()) {
    ReplaceQuantities(payload);
  }
  for (RpcSpec& rpc : *test.mutable_rpc_descriptions()) {
    ReplaceQuantities(rpc);
    if (rpc.fanout_filter().empty()) rpc.clear_fanout_filter();
    if (rpc.has_policy()) CanonicalizePolicy(*rpc.mutable_policy());
    if (!rpc.has_stream()) continue;
    ReplaceQuantities(*rpc.mutable_stream());
    if (rpc.stream().response_starts().empty()) {
      rpc.mutable_stream()->clear_response_starts();
    }
  }
  for (Action& action : *test.mutable_actions()) {
    if (!action.has_iterations()) continue;
    Iterations& iterations = *action.mutable_iterations();
    ReplaceQuantities(iterations);
    if (iterations.open_loop_interval_distribution().empty()) {
      iterations.clear_open_loop_interval_distribution();
    }
    if (iterations.has_arrivals()) CanonicalizeArrivals(iterations);
  }
  for (ServerFault& fault : *test.mutable_server_faults()) {
    ReplaceQuantities(fault);
  }
  for (const auto& [name, part] : base::Plugins<LanguagePart>::All()) {
    part->Canonicalize(test);
  }
}

// A product that is linked into this program brings its rules.
bool HasProduct(absl::string_view name) {
  return base::Plugins<LanguagePart>::Find(name) != nullptr;
}

void ValidateTest(const DistributedSystemDescription& test, const Path& path,
                  Problems& problems) {
  const TestValidation validation(test, path, problems);
  ValidateProducts(validation, HasProduct);
  ValidateEncoding(validation);
  ValidateTestSettings(validation);
  ValidateNames(validation);
  ValidateServices(validation);
  ValidateBindings(validation);
  ValidateChannels(validation);
  ValidatePlacement(validation);
  ValidateDrivers(validation);
  ValidatePayloads(validation);
  ValidateDistributions(validation);
  ValidateRpcs(validation);
  ValidateActions(validation);
  ValidateActionLists(validation);
  ValidateFlow(validation);
  ValidateActivities(validation);
  ValidateReplayTraces(validation);
  ValidateAdmission(validation);
  ValidateServerFaults(validation);
  ValidateObjectives(validation);
  for (const auto& [name, part] : base::Plugins<LanguagePart>::All()) {
    part->Validate(validation);
  }
}

}  // namespace

absl::StatusOr<TestSequence> CheckTestSequence(TestSequence sequence) {
  Canonicalize(sequence);
  absl::Status status = ToStatus(Validate(sequence));
  if (!status.ok()) return status;
  return sequence;
}

void Canonicalize(TestSequence& sequence) {
  for (DistributedSystemDescription& test : *sequence.mutable_tests()) {
    CanonicalizeTest(test);
  }
}

std::vector<Problem> Validate(const TestSequence& sequence) {
  Problems problems;
  const Path tests("tests");
  if (sequence.tests().empty()) {
    problems.Add(tests, "there are none; add at least one");
  }
  for (int i = 0; i < sequence.tests_size(); ++i) {
    ValidateTest(sequence.tests(i), tests.At(i), problems);
  }
  return std::move(problems).Take();
}

}  // namespace distbench::config
