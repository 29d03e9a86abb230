// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Discrete events on simulated time, on one or more threads, with the same
// outcome whatever the number of threads.
//
// What is simulated consists of nodes, which are hosts. The state of a node
// changes only in its own events, and a node affects another one only by
// scheduling an event for it, at least `lookahead_ns` later. So all nodes may
// run independently for a window of that length, after which the threads
// exchange the events that they have scheduled for each other's nodes:
//
//   window [t, t + lookahead):  thread 0: events of its nodes, in order
//                               thread 1: events of its nodes, in order
//   exchange, next t = the earliest event of all
//
// Windows with few events are run by one thread: the others would wait for each
// other longer than they work.
//
// Events of a node run in the order of their time; among those of the same
// time, in the order of the nodes that scheduled them, and of those of one node
// in the order in which it scheduled them. None of this depends on threads.

#ifndef DISTBENCH_PRODUCTS_SIMULATION_KERNEL_SIMULATOR_H_
#define DISTBENCH_PRODUCTS_SIMULATION_KERNEL_SIMULATOR_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "distbench/base/clock.h"
#include "distbench/products/simulation/kernel/event_queue.h"

namespace distbench::simulation {

struct SimulatorOptions {
  int nodes = 1;
  int threads = 1;

  // How much later than now a node may schedule an event for another node, at
  // least. Positive.
  int64_t lookahead_ns = 1;

  int64_t start_ns = 0;

  // What the time of day is at start_ns, in Unix nanoseconds.
  int64_t start_unix_ns = 0;
};

class Simulator {
 public:
  explicit Simulator(const SimulatorOptions& options);
  ~Simulator();

  int thread_count() const { return static_cast<int>(partitions_.size()); }

  // By node: which thread runs it, numbered from 0, instead of the first one.
  // Nodes that schedule events for each other are best run by the same thread.
  // At most once, before the first Run().
  void AssignThreads(std::vector<int> thread_of_node);

  // Schedules an event of node `to`. Call this from an event of node `from`, or
  // while Run() does not run. time_ns must not be before now and, if the nodes
  // differ and Run() runs, not before now plus the lookahead. `handler` must
  // live until the event has run.
  void Schedule(int from, int to, int64_t time_ns,
                SimulatedEventHandler& handler, const SimulatedEvent& event);

  // Runs events until there are none, until the next one is due after end_ns,
  // or until `is_over`, which is asked between windows while no event runs,
  // says so. Without such an end, time has passed up to end_ns. Returns the
  // time of the next event, or the largest int64.
  int64_t Run(int64_t end_ns, const std::function<bool()>& is_over);

  // The time of the node's current event; while Run() does not run, that of its
  // end. May be read on the node's thread only.
  int64_t now_ns(int node) const { return nodes_[node].clock.MonotonicNs(); }
  const base::Clock& clock(int node) const { return nodes_[node].clock; }

  // Between windows, and while Run() does not run: up to when all is done.
  int64_t now_ns() const { return now_ns_; }

  // While Run() does not run.
  uint64_t event_count() const;

 private:
  class Partition;

  class NodeClock final : public base::Clock {
   public:
    int64_t MonotonicNs() const override { return now_ns; }
    int64_t UnixNs() const override { return now_ns + unix_offset_ns; }

    int64_t now_ns = 0;
    int64_t unix_offset_ns = 0;
  };
  // Changed by the node's events only, thus away from those of other threads.
  struct alignas(64) Node {
    NodeClock clock;
    uint64_t next_order = 0;
  };

  int64_t next_ns();

  const int64_t lookahead_ns_;
  std::vector<Node> nodes_;
  std::vector<int> thread_of_node_;
  std::vector<std::unique_ptr<Partition>> partitions_;  // by thread
  int64_t now_ns_;
};

}  // namespace distbench::simulation

#endif  // DISTBENCH_PRODUCTS_SIMULATION_KERNEL_SIMULATOR_H_
