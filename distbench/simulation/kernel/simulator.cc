#include "distbench/simulation/kernel/simulator.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <utility>

#include "distbench/simulation/kernel/window_threads.h"
#include "glog/logging.h"

namespace distbench {
namespace {

constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

// With fewer events, the threads would wait for each other most of the time.
constexpr uint64_t kEventsWorthThreads = 200;

// Orders the events of a time by the nodes that scheduled them; 2^40 events of
// each are enough for weeks of real time.
constexpr int kNodeShift = 40;

struct Scheduled {
  int64_t time_ns;
  uint64_t order;
  SimulatedEventHandler* handler;
  SimulatedEvent event;

  // For heaps, whose first element is the largest: the earliest is first.
  bool operator<(const Scheduled& other) const {
    if (time_ns != other.time_ns) return time_ns > other.time_ns;
    return order > other.order;
  }
};

}  // namespace

// The nodes of one thread, and their events.
class Simulator::Partition {
 public:
  explicit Partition(const SimulatorOptions& options)
      : clock_(options.start_ns, options.start_unix_ns - options.start_ns) {
    for (auto& sent : sent_) sent.resize(options.threads);
  }

  void Add(const Scheduled& scheduled) {
    heap_.push_back(scheduled);
    std::push_heap(heap_.begin(), heap_.end());
  }

  // For another partition, which takes it in the next window.
  void Send(int partition, const Scheduled& scheduled) {
    sent_[sending_][partition].push_back(scheduled);
    first_sent_ns_ = std::min(first_sent_ns_, scheduled.time_ns);
  }

  // Between two windows: what was sent can be taken from now on.
  void EndSending() {
    sending_ = 1 - sending_;
    first_sent_ns_ = kNever;
  }

  void TakeFrom(Partition& other, int own_index) {
    std::vector<Scheduled>& sent = other.sent_[1 - other.sending_][own_index];
    for (const Scheduled& scheduled : sent) Add(scheduled);
    sent.clear();
  }

  void RunWindow(int64_t end_ns) {
    while (!heap_.empty() && heap_.front().time_ns < end_ns) {
      std::pop_heap(heap_.begin(), heap_.end());
      const Scheduled next = heap_.back();
      heap_.pop_back();
      // The next event is mostly one of another node, whose state is not in the
      // cache if there are thousands.
      if (!heap_.empty()) {
        __builtin_prefetch(heap_.front().handler);
        __builtin_prefetch(heap_.front().event.content);
      }
      clock_.SetMonotonicNs(next.time_ns);
      ++event_count_;
      next.handler->OnEvent(next.event);
    }
    clock_.SetMonotonicNs(end_ns);
  }

  // Time in which nothing happens.
  void PassUntil(int64_t time_ns) {
    clock_.SetMonotonicNs(std::max(clock_.MonotonicNs(), time_ns));
  }

  // Of its own events, and of those that it has sent.
  int64_t next_ns() const {
    return heap_.empty() ? first_sent_ns_
                         : std::min(first_sent_ns_, heap_.front().time_ns);
  }
  ManualClock& clock() { return clock_; }
  uint64_t event_count() const { return event_count_; }

 private:
  ManualClock clock_;
  std::vector<Scheduled> heap_;
  // By partition, in turns: in those of this window and those of the last.
  std::array<std::vector<std::vector<Scheduled>>, 2> sent_;
  int sending_ = 0;
  int64_t first_sent_ns_ = kNever;
  uint64_t event_count_ = 0;
};

Simulator::Simulator(SimulatorOptions options)
    : options_(std::move(options)),
      next_order_(options_.thread_of_node.size(), 0) {
  CHECK_GT(options_.lookahead_ns, 0);
  for (int i = 0; i < options_.threads; ++i) {
    partitions_.push_back(std::make_unique<Partition>(options_));
  }
}

Simulator::~Simulator() = default;

void Simulator::Schedule(int from, int to, int64_t time_ns,
                         SimulatedEventHandler& handler,
                         const SimulatedEvent& event) {
  const Scheduled scheduled = {
      time_ns,
      (uint64_t{static_cast<uint32_t>(from)} << kNodeShift) |
          next_order_[from]++,
      &handler, event};
  const int own = options_.thread_of_node[from];
  const int target = options_.thread_of_node[to];
  if (own == target) {
    partitions_[own]->Add(scheduled);
  } else {
    partitions_[own]->Send(target, scheduled);
  }
}

const ManualClock& Simulator::clock(int node) const {
  return partitions_[options_.thread_of_node[node]]->clock();
}

uint64_t Simulator::event_count() const {
  uint64_t count = 0;
  for (const auto& partition : partitions_) count += partition->event_count();
  return count;
}

int64_t Simulator::next_ns() const {
  int64_t next_ns = kNever;
  for (const auto& partition : partitions_) {
    next_ns = std::min(next_ns, partition->next_ns());
  }
  return next_ns;
}

int64_t Simulator::Run(int64_t end_ns, const std::function<bool()>& is_over) {
  const int count = options_.threads;
  int64_t window_end_ns = 0;
  const auto run_window = [&](int index) {
    Partition& own = *partitions_[index];
    for (const auto& other : partitions_) own.TakeFrom(*other, index);
    own.RunWindow(window_end_ns);
  };
  std::optional<WindowThreads> threads;
  uint64_t events_before = event_count();
  uint64_t window_events = 0;

  while (true) {
    // The last event of all may have ended it.
    if (is_over()) return next_ns();
    const int64_t first_ns = next_ns();
    if (first_ns > end_ns || first_ns == kNever) break;
    window_end_ns = first_ns > kNever - options_.lookahead_ns
                        ? kNever
                        : first_ns + options_.lookahead_ns;
    if (end_ns < kNever) window_end_ns = std::min(window_end_ns, end_ns + 1);
    for (const auto& partition : partitions_) partition->EndSending();
    if (count == 1 || window_events < kEventsWorthThreads) {
      for (int i = 0; i < count; ++i) run_window(i);
    } else {
      if (!threads.has_value()) threads.emplace(count, run_window);
      threads->Run();
    }
    window_events = event_count() - events_before;
    events_before += window_events;
  }
  if (end_ns < kNever) {
    for (const auto& partition : partitions_) partition->PassUntil(end_ns);
  }
  return next_ns();
}

}  // namespace distbench
