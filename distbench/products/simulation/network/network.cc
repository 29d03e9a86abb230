#include "distbench/products/simulation/network/network.h"

#include <algorithm>

namespace distbench::simulation {
namespace {

// Thirty years: what takes longer never ends, and must not overflow.
constexpr int64_t kLongestNs = 1'000'000'000'000'000'000;

constexpr size_t kFirstBlock = 16;
constexpr size_t kLargestBlock = 4096;

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

FlightPool::Flight* FlightPool::Get() {
  if (free_ == nullptr) {
    free_ = returned_.exchange(nullptr, std::memory_order_acquire);
    if (free_ == nullptr) Grow();
  }
  Flight* const flight = free_;
  free_ = flight->next;
  return flight;
}

// Takers empty the whole list, so the exchange cannot mistake one state of it
// for another one.
void FlightPool::Return(Flight* flight) {
  std::atomic<Flight*>& list = flight->owner->returned_;
  Flight* first = list.load(std::memory_order_relaxed);
  do {
    flight->next = first;
  } while (!list.compare_exchange_weak(first, flight, std::memory_order_release,
                                       std::memory_order_relaxed));
}

void FlightPool::Grow() {
  const size_t count = std::clamp(size_, kFirstBlock, kLargestBlock);
  blocks_.push_back(std::make_unique<Flight[]>(count));
  size_ += count;
  for (size_t i = count; i-- > 0;) {
    Flight& flight = blocks_.back()[i];
    flight.owner = this;
    flight.next = free_;
    free_ = &flight;
  }
}

SimulatedNetwork::SimulatedNetwork(const ClusterModel& model,
                                   Simulator& simulator)
    : model_(model), simulator_(simulator), hosts_(model.host_count) {
  for (const LinkModel& link : model.links) {
    links_.emplace_back(link.bytes_per_ns);
  }
}

void SimulatedNetwork::Send(const SimulatedMessage& message) {
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

void SimulatedNetwork::OnEvent(const SimulatedEvent& event) {
  Flight& flight = *static_cast<Flight*>(event.content);
  if (event.kind == kLastByte) {
    OnLastByte(flight);
  } else {
    Deliver(flight);
  }
}

void SimulatedNetwork::OnLastByte(Flight& flight) {
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
                      {.kind = kPassedOn, .content = &flight});
}

void SimulatedNetwork::Deliver(Flight& flight) {
  SimulatedEventHandler& receiver = *flight.receiver;
  const SimulatedEvent arrival = flight.arrival;
  FlightPool::Return(&flight);
  receiver.OnEvent(arrival);
}

}  // namespace distbench::simulation
