// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/simulation/network/network.h"

#include <algorithm>

namespace distbench::simulation {
namespace {

// Thirty years: what takes longer never ends, and must not overflow.
constexpr int64_t kLongestNs = 1'000'000'000'000'000'000;

}  // namespace

int64_t LinkTimeline::Transmit(int64_t earliest_ns, int64_t bytes) {
  if (earliest_ns > free_ns_) {
    free_ns_ = earliest_ns;
    fraction_ns_ = 0;
  }
  const double duration_ns =
      std::min(static_cast<double>(bytes) * ns_per_byte_ + fraction_ns_,
               static_cast<double>(kLongestNs));
  const auto whole_ns = static_cast<int64_t>(duration_ns);
  fraction_ns_ = duration_ns - static_cast<double>(whole_ns);
  free_ns_ = std::max(free_ns_, std::min(free_ns_ + whole_ns, 2 * kLongestNs));
  return free_ns_;
}

SimulatedNetwork::SimulatedNetwork(const ClusterModel& model,
                                   Simulator& simulator)
    : model_(model),
      simulator_(simulator),
      hosts_(model.host_links.begin(), model.host_links.end()) {}

int64_t SimulatedNetwork::LookaheadNs(const ClusterModel& model) {
  int64_t shortest_ns = model.host_links[0].delay_ns;
  for (const HostLink& link : model.host_links) {
    shortest_ns = std::min(shortest_ns, link.delay_ns);
  }
  return 2 * shortest_ns;
}

void SimulatedNetwork::Send(SimulatedMessage& message) {
  const int from = message.from_host;
  const int to = message.to_host;
  const int64_t delay_ns =
      model_.host_links[from].delay_ns +
      model_.switch_delay_ns(from, to, message.connection) +
      model_.host_links[to].delay_ns;
  LinkTimeline& link = hosts_[from].out;
  const int64_t start_ns = std::max(simulator_.now_ns(from), link.free_ns());
  const int64_t sent_ns = link.Transmit(start_ns, message.bytes);
  message.first_byte_ns = start_ns + delay_ns;
  simulator_.Schedule(from, to, sent_ns + delay_ns, *this,
                      {.kind = kLastByte, .content = &message});
}

void SimulatedNetwork::OnEvent(const SimulatedEvent& event) {
  auto& message = *static_cast<SimulatedMessage*>(event.content);
  if (event.kind == kLastByte) {
    OnLastByte(message);
  } else {
    Deliver(message);
  }
}

void SimulatedNetwork::OnLastByte(SimulatedMessage& message) {
  Host& host = hosts_[message.to_host];
  const int64_t now_ns = simulator_.now_ns(message.to_host);
  const int64_t passed_on_ns =
      std::max(now_ns, host.in.Transmit(message.first_byte_ns, message.bytes));
  // A message that had to wait until now may still have its event before it.
  if (passed_on_ns == now_ns && host.last_passed_on_ns < now_ns) {
    Deliver(message);
    return;
  }
  host.last_passed_on_ns = passed_on_ns;
  simulator_.Schedule(message.to_host, message.to_host, passed_on_ns, *this,
                      {.kind = kPassedOn, .content = &message});
}

// The receiver may use the message anew.
void SimulatedNetwork::Deliver(SimulatedMessage& message) {
  const SimulatedEvent arrival = message.arrival;
  message.receiver->OnEvent(arrival);
}

}  // namespace distbench::simulation
