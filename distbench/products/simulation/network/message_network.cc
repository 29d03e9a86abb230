#include "distbench/products/simulation/network/message_network.h"

#include <algorithm>

namespace distbench::simulation {

MessageNetwork::MessageNetwork(const ClusterModel& model, Simulator& simulator)
    : model_(model), simulator_(simulator), hosts_(model.host_count) {
  for (const LinkModel& link : model.links) {
    links_.emplace_back(link.bytes_per_ns);
  }
}

void MessageNetwork::Send(const SimulatedMessage& message) {
  Host& host = hosts_[message.from_host];
  model_.paths->Find(message.from_host, message.to_host, message.connection,
                     host.path);
  int64_t delay_ns = 0;
  for (const int link : host.path) delay_ns += model_.links[link].delay_ns;

  LinkTimeline& first_link = links_[host.path.front()];
  const int64_t start_ns =
      std::max(simulator_.now_ns(message.from_host), first_link.free_ns());
  const int64_t sent_ns = first_link.Transmit(start_ns, message.bytes);

  Flight& flight = *host.flights.Get();
  flight.receiver = message.receiver;
  flight.arrival = message.arrival;
  flight.first_byte_ns = start_ns + delay_ns;
  flight.bytes = message.bytes;
  flight.to_host = message.to_host;
  flight.last_link = host.path.back();
  simulator_.Schedule(message.from_host, message.to_host, sent_ns + delay_ns,
                      *this, {.kind = kLastByte, .content = &flight});
}

void MessageNetwork::OnEvent(const SimulatedEvent& event) {
  Flight& flight = *static_cast<Flight*>(event.content);
  if (event.kind == kLastByte) {
    OnLastByte(flight, event);
  } else {
    Deliver(flight);
  }
}

void MessageNetwork::OnLastByte(Flight& flight, const SimulatedEvent& event) {
  Host& host = hosts_[flight.to_host];
  const int64_t now_ns = simulator_.now_ns(flight.to_host);
  const int64_t passed_on_ns = std::max(
      now_ns,
      links_[flight.last_link].Transmit(flight.first_byte_ns, flight.bytes));
  // A message that had to wait until now may still have its event before it.
  if (passed_on_ns == now_ns && host.last_passed_on_ns < now_ns) {
    Deliver(flight);
    return;
  }
  host.last_passed_on_ns = passed_on_ns;
  simulator_.Schedule(flight.to_host, flight.to_host, passed_on_ns, *this,
                      {.kind = kPassedOn, .content = event.content});
}

void MessageNetwork::Deliver(Flight& flight) {
  SimulatedEventHandler& receiver = *flight.receiver;
  const SimulatedEvent arrival = flight.arrival;
  ReturningPool<Flight>::Return(&flight);
  receiver.OnEvent(arrival);
}

}  // namespace distbench::simulation
