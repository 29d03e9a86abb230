// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/simulation/kernel/simulator.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <limits>
#include <optional>
#include <thread>
#include <utility>

#include "distbench/products/simulation/kernel/event_queue.h"
#include "glog/logging.h"

namespace distbench::simulation {
namespace {

constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

// With fewer events, the threads would wait for each other most of the time.
constexpr uint64_t kEventsWorthThreads = 200;

// Orders the events of a time by the nodes that scheduled them; 2^40 events of
// each are enough for weeks of real time.
constexpr int kNodeShift = 40;

// Some tens of microseconds: more than it takes to wake a thread that sleeps.
constexpr int kSpins = 2000;

// Where threads wait for each other that work for a few microseconds in
// between. They spin, and sleep when that lasts: then others get the CPU.
class SpinningBarrier {
 public:
  explicit SpinningBarrier(int threads) : threads_(threads) {}

  // Each thread sees what the others did before.
  void Wait() {
    const uint32_t round = round_.load(std::memory_order_relaxed);
    if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == threads_) {
      arrived_.store(0, std::memory_order_relaxed);
      round_.store(round + 1, std::memory_order_release);
      round_.notify_all();
      return;
    }
    for (int i = 0; i < kSpins; ++i) {
      if (round_.load(std::memory_order_acquire) != round) return;
#if defined(__x86_64__)
      __builtin_ia32_pause();
#elif defined(__aarch64__)
      asm volatile("yield");
#endif
    }
    round_.wait(round, std::memory_order_acquire);
  }

 private:
  const int threads_;
  std::atomic<int> arrived_ = 0;
  std::atomic<uint32_t> round_ = 0;
};

// Threads that work side by side, again and again.
class WindowThreads {
 public:
  // work(i) is what thread i does; thread 0 is the one that calls Run().
  WindowThreads(int threads, const std::function<void(int)>& work)
      : work_(work), barrier_(threads) {
    for (int i = 1; i < threads; ++i) {
      others_.emplace_back([this, i] {
        for (barrier_.Wait(); !is_over_; barrier_.Wait()) Work(i);
      });
    }
  }

  ~WindowThreads() {
    is_over_ = true;
    barrier_.Wait();
    for (std::thread& thread : others_) thread.join();
  }

  // Does all of the work once.
  void Run() {
    barrier_.Wait();
    Work(0);
  }

 private:
  void Work(int index) {
    work_(index);
    barrier_.Wait();
  }

  const std::function<void(int)>& work_;
  SpinningBarrier barrier_;
  bool is_over_ = false;  // read between two rounds
  std::vector<std::thread> others_;
};

}  // namespace

// The events of one thread's nodes.
class Simulator::Partition {
 public:
  explicit Partition(int threads) {
    for (auto& sent : sent_) sent.resize(threads);
  }

  EventQueue& queue() { return queue_; }

  // For another partition, which takes it in the next window.
  void Send(int partition, const ScheduledEvent& event) {
    sent_[sending_][partition].push_back(event);
    first_sent_ns_ = std::min(first_sent_ns_, event.time_ns);
  }

  // Between two windows: what was sent can be taken from now on.
  void EndSending() {
    sending_ = 1 - sending_;
    first_sent_ns_ = kNever;
  }

  void TakeFrom(Partition& other, int own_index) {
    std::vector<ScheduledEvent>& sent =
        other.sent_[1 - other.sending_][own_index];
    for (const ScheduledEvent& event : sent) queue_.Add(event);
    sent.clear();
  }

  void RunWindow(int64_t end_ns, std::vector<Node>& nodes) {
    for (const ScheduledEvent* first = queue_.First();
         first != nullptr && first->time_ns < end_ns; first = queue_.First()) {
      const ScheduledEvent event = queue_.TakeFirst();
      queue_.PrefetchNext();
      nodes[event.event.node].clock.now_ns = event.time_ns;
      ++event_count_;
      event.handler->OnEvent(event.event);
    }
  }

  // Of its own events, and of those that it has sent.
  int64_t next_ns() {
    const ScheduledEvent* const first = queue_.First();
    return first == nullptr ? first_sent_ns_
                            : std::min(first_sent_ns_, first->time_ns);
  }
  uint64_t event_count() const { return event_count_; }

 private:
  EventQueue queue_;
  // By partition, in turns: in those of this window and those of the last.
  std::array<std::vector<std::vector<ScheduledEvent>>, 2> sent_;
  int sending_ = 0;
  int64_t first_sent_ns_ = kNever;
  uint64_t event_count_ = 0;
};

Simulator::Simulator(const SimulatorOptions& options)
    : lookahead_ns_(options.lookahead_ns),
      nodes_(options.nodes),
      thread_of_node_(options.nodes),
      now_ns_(options.start_ns) {
  CHECK_GT(lookahead_ns_, 0);
  for (Node& node : nodes_) {
    node.clock.now_ns = options.start_ns;
    node.clock.unix_offset_ns = options.start_unix_ns - options.start_ns;
  }
  for (int i = 0; i < options.threads; ++i) {
    partitions_.push_back(std::make_unique<Partition>(options.threads));
  }
}

Simulator::~Simulator() = default;

void Simulator::AssignThreads(std::vector<int> thread_of_node) {
  CHECK_EQ(thread_of_node.size(), nodes_.size());
  CHECK_EQ(event_count(), 0u) << "after Run()";
  thread_of_node_ = std::move(thread_of_node);
  // So far, the first thread has all events.
  EventQueue events = std::exchange(partitions_[0]->queue(), {});
  while (events.First() != nullptr) {
    const ScheduledEvent event = events.TakeFirst();
    partitions_[thread_of_node_[event.event.node]]->queue().Add(event);
  }
}

void Simulator::Schedule(int from, int to, int64_t time_ns,
                         SimulatedEventHandler& handler,
                         const SimulatedEvent& event) {
  ScheduledEvent scheduled = {
      .time_ns = time_ns,
      .order = (uint64_t{static_cast<uint32_t>(from)} << kNodeShift) |
               nodes_[from].next_order++,
      .handler = &handler,
      .event = event};
  scheduled.event.node = to;
  const int own = thread_of_node_[from];
  const int target = thread_of_node_[to];
  if (own == target) {
    partitions_[own]->queue().Add(scheduled);
  } else {
    partitions_[own]->Send(target, scheduled);
  }
}

uint64_t Simulator::event_count() const {
  uint64_t count = 0;
  for (const auto& partition : partitions_) count += partition->event_count();
  return count;
}

int64_t Simulator::next_ns() {
  int64_t next_ns = kNever;
  for (const auto& partition : partitions_) {
    next_ns = std::min(next_ns, partition->next_ns());
  }
  return next_ns;
}

int64_t Simulator::Run(int64_t end_ns, const std::function<bool()>& is_over) {
  const int count = static_cast<int>(partitions_.size());
  const std::function<void(int)> run_window = [&](int index) {
    Partition& own = *partitions_[index];
    for (const auto& other : partitions_) own.TakeFrom(*other, index);
    own.RunWindow(now_ns_, nodes_);
  };
  std::optional<WindowThreads> threads;
  uint64_t window_events = 0;

  // The last event of all may have ended it.
  while (!is_over()) {
    const int64_t first_ns = next_ns();
    if (first_ns > end_ns || first_ns == kNever) {
      if (end_ns < kNever) now_ns_ = std::max(now_ns_, end_ns);
      break;
    }
    now_ns_ = first_ns + std::min(lookahead_ns_, kNever - first_ns);
    if (end_ns < kNever) now_ns_ = std::min(now_ns_, end_ns + 1);
    for (const auto& partition : partitions_) partition->EndSending();
    const uint64_t events_before = event_count();
    if (count == 1 || window_events < kEventsWorthThreads) {
      for (int i = 0; i < count; ++i) run_window(i);
    } else {
      if (!threads.has_value()) threads.emplace(count, run_window);
      threads->Run();
    }
    window_events = event_count() - events_before;
  }
  for (Node& node : nodes_) node.clock.now_ns = now_ns_;
  return next_ns();
}

}  // namespace distbench::simulation
