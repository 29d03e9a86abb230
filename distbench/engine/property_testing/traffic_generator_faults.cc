// The faults of servers of the traffic generator, and admission.

#include <algorithm>
#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "distbench/engine/property_testing/traffic_generator.h"

namespace distbench::engine {
namespace {

// Times of faults: within the two seconds that tests last at most, or beyond.
constexpr int64_t kSoonNs = 5'000'000;
constexpr int64_t kLateNs = 10'000'000'000;

void FillTimes(fuzzing::RandomSource& random, ServerFault& fault) {
  if (random.Chance(0.6)) {
    fault.set_start_ns(random.OneOf<int64_t>({0, kSoonNs, kLateNs}));
  }
  if (fault.reset_connections()) {
    if (random.Chance(0.5)) fault.set_repeat_ns(kSoonNs);
    return;
  }
  if (!fault.freeze() && random.Chance(0.3)) return;
  fault.set_duration_ns(random.OneOf<int64_t>({1, kSoonNs}));
  // A server that stands still half of the time still gets on.
  if (random.Chance(0.5)) fault.set_repeat_ns(3 * kSoonNs);
}

}  // namespace

bool TrafficGenerator::Streams(const ServiceSpec& service) const {
  return std::any_of(test_.rpc_descriptions().begin(),
                     test_.rpc_descriptions().end(), [&](const RpcSpec& rpc) {
                       return rpc.server() == service.name() &&
                              rpc.has_stream();
                     });
}

// What happens to single requests is not for streams.
void TrafficGenerator::ChooseFault(ServerFault& fault, bool streams) {
  switch (random_.Between(streams ? 3 : 0, 4)) {
    case 0:
      fault.set_error_code("UNAVAILABLE");
      break;
    case 1:
      fault.set_extra_latency("3ms");
      break;
    case 2:
      if (test_.delay_distribution_configs().empty()) {
        fault.set_extra_latency("1ns");
      } else {
        fault.set_extra_latency_distribution(
            test_.delay_distribution_configs(0).name());
      }
      break;
    case 3:
      fault.set_freeze(true);
      return;
    default:
      fault.set_reset_connections(true);
      return;
  }
  if (random_.Chance(0.5)) fault.set_probability(0.3);
  for (const RpcSpec& rpc : test_.rpc_descriptions()) {
    if (rpc.server() != fault.service() || !random_.Chance(0.5)) continue;
    fault.set_rpc_name(rpc.name());
    break;
  }
}

void TrafficGenerator::AddFaults() {
  for (int64_t i = random_.Between(0, 2); i > 0; --i) {
    const int number =
        static_cast<int>(random_.Between(0, test_.services_size() - 1));
    ServerFault& fault = *test_.add_server_faults();
    fault.set_name(absl::StrCat("fault", i));
    fault.set_service(test_.services(number).name());
    if (random_.Chance(0.3)) {
      fault.add_instances(
          static_cast<int32_t>(random_.Between(0, InstanceCount(number) - 1)));
    }
    ChooseFault(fault, Streams(test_.services(number)));
    FillTimes(random_, fault);
  }
}

// Handlers that call their own service may wait for each other forever.
void TrafficGenerator::AddAdmission() {
  for (ServiceSpec& service : *test_.mutable_services()) {
    if (Streams(service) || !random_.Chance(0.3)) continue;
    AdmissionSpec& admission = *service.mutable_admission();
    admission.set_max_running(static_cast<int32_t>(random_.Between(3, 6)));
    if (random_.Chance(0.7)) {
      admission.set_max_waiting(static_cast<int32_t>(random_.Between(0, 4)));
      if (admission.max_waiting() > 0) {
        admission.set_refuse(random_.OneOf<std::string>({"newest", "oldest"}));
      }
    }
    if (admission.max_waiting() > 0 || !admission.has_max_waiting()) {
      generated_.ends_by_itself = false;
    }
  }
}

}  // namespace distbench::engine
