// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The CPUs of a simulated host, and the threads that share them.

#ifndef DISTBENCH_PRODUCTS_SIMULATION_HOSTS_CPUS_H_
#define DISTBENCH_PRODUCTS_SIMULATION_HOSTS_CPUS_H_

#include <cstdint>
#include <deque>
#include <vector>

#include "distbench/base/work_random.h"
#include "distbench/products/simulation/kernel/simulator.h"
#include "proto/simulation.pb.h"

namespace distbench::simulation {

// The times of events that let something look whether it has anything to do.
// Events cannot be taken back, so that an earlier one than needed stays, finds
// nothing, and asks for the next. Those that were scheduled for later stay
// known: otherwise, each short wait would leave another event for the end of a
// long one.
class Alarms {
 public:
  // Returns whether an event has to be scheduled for this time, because none
  // comes by then.
  bool Add(int64_t due_ns) {
    if (!times_ns_.empty() && times_ns_.back() <= due_ns) return false;
    times_ns_.push_back(due_ns);
    return true;
  }

  // To be called in each event.
  void OnEvent() { times_ns_.pop_back(); }

 private:
  std::vector<int64_t> times_ns_;  // each earlier than the one before it
};

// Something that runs on a CPU: one job at a time.
class SimulatedThread {
 public:
  // The CPU time that its jobs use, slowness included, is added to `used_ns`,
  // which must outlive this.
  explicit SimulatedThread(double& used_ns) : used_ns_(used_ns) {}
  virtual ~SimulatedThread() = default;

  // The job that was submitted is done. May submit the next one: then the
  // thread has not left its CPU in between.
  virtual void OnCpuDone() = 0;

 private:
  friend class SimulatedCpus;
  double& used_ns_;
};

// Jobs proceed in virtual time, which passes at the rate of one thread's share:
// a job of w ns that begins at v ends at v + w, whatever begins and ends
// meanwhile. Used in events of the node only.
class SimulatedCpus final : private SimulatedEventHandler {
 public:
  // Every job takes `slowness` times as long as it says. The seed decides when
  // the host stalls. `simulator` and `host` must outlive this.
  SimulatedCpus(Simulator& simulator, int node, const SimulatedHost& host,
                double slowness, uint64_t seed);

  // Gives a thread that has no job one that needs `work_ns` of a CPU, before
  // slowness.
  void Submit(SimulatedThread& thread, double work_ns);

  double slowness() const { return slowness_; }

  bool has_idle_cpu() const { return running_ < host_.cpus(); }

  // Corrects the CPU time that threads have used, which has what running jobs
  // will use: what is left of them does not count. While no event runs.
  void SettleUsed();

 private:
  enum EventKind { kCheck, kStall };  // a stall begins or ends

  struct Job {
    double end;  // in virtual time
    uint64_t order;
    SimulatedThread* thread;
    bool operator<(const Job& other) const {  // the earliest is first in heaps
      return end != other.end ? end > other.end : order > other.order;
    }
  };
  struct Waiting {
    SimulatedThread* thread;
    double work_ns;
  };

  void OnEvent(const SimulatedEvent& event) override;
  void Advance();
  double Rate() const;
  void Begin(SimulatedThread& thread, double work_ns);
  void EndJobs();
  void End(SimulatedThread& thread);
  void ScheduleCheck();
  void ScheduleStall();

  Simulator& simulator_;
  const int node_;
  const SimulatedHost& host_;
  const double slowness_;
  base::WorkRandom random_;
  std::vector<Job> jobs_;              // a heap: those that have a share
  std::deque<Waiting> waiting_;        // for a CPU
  int running_ = 0;                    // threads that have a share
  SimulatedThread* ending_ = nullptr;  // in its OnCpuDone()
  bool goes_on_ = false;               // it has submitted its next job
  double virtual_ns_ = 0;
  int64_t advanced_ns_ = 0;  // the time that virtual_ns_ belongs to
  uint64_t next_order_ = 0;
  Alarms checks_;  // events of kind kCheck
  bool is_stalled_ = false;
};

}  // namespace distbench::simulation

#endif  // DISTBENCH_PRODUCTS_SIMULATION_HOSTS_CPUS_H_
