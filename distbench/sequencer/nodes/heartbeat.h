#ifndef DISTBENCH_SEQUENCER_NODES_HEARTBEAT_H_
#define DISTBENCH_SEQUENCER_NODES_HEARTBEAT_H_

#include <thread>

#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "distbench/sequencer/nodes/node_registry.h"
#include "distbench/sequencer/nodes/unregistered_streams.h"

namespace distbench {

// Calls Beat() at a steady pace for all nodes of a registry, and for the
// streams that have not registered yet, on its own thread, until it is
// destroyed.
class Heartbeat {
 public:
  // `registry` and `unregistered` must outlive the heartbeat.
  Heartbeat(absl::Duration interval, NodeRegistry& registry,
            UnregisteredStreams& unregistered)
      : thread_([this, interval, &registry, &unregistered] {
          while (!stop_.WaitForNotificationWithTimeout(interval)) {
            for (const auto& node : registry.Nodes()) node->Beat();
            unregistered.Beat();
          }
        }) {}

  ~Heartbeat() {
    stop_.Notify();
    thread_.join();
  }

  Heartbeat(const Heartbeat&) = delete;
  Heartbeat& operator=(const Heartbeat&) = delete;

 private:
  absl::Notification stop_;
  std::thread thread_;
};

}  // namespace distbench

#endif  // DISTBENCH_SEQUENCER_NODES_HEARTBEAT_H_
