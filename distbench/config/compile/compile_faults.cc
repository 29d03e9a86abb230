#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "distbench/config/compile/compile_context.h"
#include "distbench/config/syntax/quantity.h"

namespace distbench::config {
namespace {

// Clients' reports show the message, which must not be taken for a failure that
// nobody planned.
std::string ErrorOf(const ServerFault& fault) {
  return absl::StrCat(fault.error_code(), ": planned fault \"", fault.name(),
                      "\"");
}

FaultPlan CompileFault(const CompileContext& context,
                       const ServerFault& fault) {
  FaultPlan plan;
  plan.name = fault.name();
  plan.service = context.names().services.Find(fault.service());
  plan.instances.assign(fault.instances().begin(), fault.instances().end());
  plan.rpc = context.names().rpcs.Find(fault.rpc_name());
  plan.start_ns = fault.start_ns();
  if (fault.has_duration_ns()) plan.duration_ns = fault.duration_ns();
  plan.repeat_ns = fault.repeat_ns();
  plan.probability = fault.probability();
  switch (fault.fault_case()) {
    case ServerFault::kErrorCode:
      plan.kind = FaultPlan::Kind::kError;
      plan.error = ErrorOf(fault);
      break;
    case ServerFault::kExtraLatency:
      plan.kind = FaultPlan::Kind::kExtraLatency;
      plan.extra_latency.fixed_ns = absl::ToInt64Nanoseconds(
          ParseDurationWithUnit(fault.extra_latency()).value());
      break;
    case ServerFault::kExtraLatencyDistribution:
      plan.kind = FaultPlan::Kind::kExtraLatency;
      plan.extra_latency.distribution =
          context.DelayDistribution(fault.extra_latency_distribution());
      break;
    case ServerFault::kFreeze:
      plan.kind = FaultPlan::Kind::kFreeze;
      break;
    case ServerFault::kResetConnections:
      plan.kind = FaultPlan::Kind::kResetConnections;
      plan.duration_ns = 0;
      break;
    case ServerFault::FAULT_NOT_SET:
      break;
  }
  return plan;
}

}  // namespace

std::vector<FaultPlan> CompileFaults(const CompileContext& context) {
  std::vector<FaultPlan> faults;
  for (const ServerFault& fault : context.test().server_faults()) {
    faults.push_back(CompileFault(context, fault));
  }
  return faults;
}

}  // namespace distbench::config
