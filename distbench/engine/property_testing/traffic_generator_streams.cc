// The RPCs that stream of the traffic generator.

#include <cstdint>

#include "distbench/engine/property_testing/traffic_generator.h"

namespace distbench::engine {
namespace {

constexpr char kMessageCounts[] = "message_counts";
constexpr char kMessageIntervals[] = "message_intervals";

}  // namespace

// Decorators do not stream.
bool TrafficGenerator::MayStream() const {
  for (const ProtocolDriverOptions& options : test_.protocol_driver_options()) {
    if (options.protocol_name() != "loopback") return false;
  }
  return test_.default_protocol() == "loopback";
}

// Of few messages, so that RPCs that stream take about as long as others.
void TrafficGenerator::AddStream(RpcSpec& rpc) {
  AddStreamDistributions();
  StreamSpec& stream = *rpc.mutable_stream();
  switch (random_.Between(0, 2)) {
    case 0:
      stream.set_client_messages(random_.Between(1, 4));
      break;
    case 1:
      stream.set_client_messages_distribution(kMessageCounts);
      break;
    default:
      break;
  }
  if (random_.Chance(0.3)) {
    stream.set_client_interval_ns(random_.OneOf<int64_t>({1, 3'000'000}));
  } else if (random_.Chance(0.2)) {
    stream.set_client_interval_distribution(kMessageIntervals);
  }
  if (random_.Chance(0.3)) {
    stream.set_response_starts("echo");
    return;
  }
  if (random_.Chance(0.4)) stream.set_response_starts("on_last_request");
  if (random_.Chance(0.4)) {
    stream.set_server_messages(random_.Between(1, 4));
  } else if (random_.Chance(0.5)) {
    stream.set_server_messages_distribution(kMessageCounts);
  }
  if (random_.Chance(0.3)) {
    stream.set_server_interval_ns(random_.OneOf<int64_t>({1, 3'000'000}));
  } else if (random_.Chance(0.3)) {
    stream.set_server_interval_distribution(kMessageIntervals);
  }
}

void TrafficGenerator::AddStreamDistributions() {
  for (const DistributionConfig& sizes : test_.size_distribution_configs()) {
    if (sizes.name() == kMessageCounts) return;
  }
  const auto fill = [](const char* name, int64_t most,
                       DistributionConfig& distribution) {
    distribution.set_name(name);
    PmfPoint& point = *distribution.add_pmf_points();
    point.set_pmf(1);
    point.add_data_points()->set_lower(0);
    point.mutable_data_points(0)->set_upper(most);
  };
  fill(kMessageCounts, 3, *test_.add_size_distribution_configs());
  fill(kMessageIntervals, 3'000'000, *test_.add_delay_distribution_configs());
}

}  // namespace distbench::engine
