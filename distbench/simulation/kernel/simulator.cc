#include "distbench/simulation/kernel/simulator.h"

#include <algorithm>
#include <atomic>
#include <limits>
#include <thread>
#include <utility>

#include "distbench/simulation/kernel/spin_barrier.h"
#include "glog/logging.h"

namespace distbench {
namespace {

constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

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
      : clock_(options.start_ns, options.start_unix_ns - options.start_ns),
        sent_(options.threads) {}

  void Add(const Scheduled& scheduled) {
    heap_.push_back(scheduled);
    std::push_heap(heap_.begin(), heap_.end());
  }

  // For another partition, which takes it between two windows.
  void Send(int partition, const Scheduled& scheduled) {
    sent_[partition].push_back(scheduled);
  }

  void TakeFrom(Partition& other, int own_index) {
    for (const Scheduled& scheduled : other.sent_[own_index]) Add(scheduled);
    other.sent_[own_index].clear();
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

  int64_t next_ns() const {
    return heap_.empty() ? kNever : heap_.front().time_ns;
  }
  ManualClock& clock() { return clock_; }
  uint64_t event_count() const { return event_count_; }

 private:
  ManualClock clock_;
  std::vector<Scheduled> heap_;
  std::vector<std::vector<Scheduled>> sent_;  // by partition
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

int64_t Simulator::Run(int64_t end_ns, const std::function<bool()>& is_over) {
  const int threads = options_.threads;
  SpinBarrier barrier(threads);
  std::vector<int64_t> next_ns(threads, kNever);
  int64_t window_end_ns = 0;
  bool done = false;

  // What one thread decides for all, between two windows.
  const auto plan_window = [&] {
    const int64_t first_ns = *std::min_element(next_ns.begin(), next_ns.end());
    done = first_ns > end_ns || first_ns == kNever || is_over();
    window_end_ns = first_ns > kNever - options_.lookahead_ns
                        ? kNever
                        : first_ns + options_.lookahead_ns;
    if (end_ns < kNever) window_end_ns = std::min(window_end_ns, end_ns + 1);
  };
  const auto run = [&](int index) {
    Partition& own = *partitions_[index];
    while (true) {
      for (const auto& other : partitions_) own.TakeFrom(*other, index);
      next_ns[index] = own.next_ns();
      barrier.Wait();
      if (index == 0) plan_window();
      barrier.Wait();
      if (done) return;
      own.RunWindow(window_end_ns);
      barrier.Wait();
    }
  };

  std::vector<std::thread> others;
  for (int i = 1; i < threads; ++i) others.emplace_back(run, i);
  run(0);
  for (std::thread& thread : others) thread.join();
  return *std::min_element(next_ns.begin(), next_ns.end());
}

}  // namespace distbench
