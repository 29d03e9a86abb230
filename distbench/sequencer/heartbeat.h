#ifndef DISTBENCH_SEQUENCER_HEARTBEAT_H_
#define DISTBENCH_SEQUENCER_HEARTBEAT_H_

#include <thread>

#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "distbench/sequencer/node_registry.h"

namespace distbench {

// Makes all nodes of a registry beat at a steady pace, on a thread of its own,
// until it is destroyed.
class Heartbeat {
 public:
  // `registry` must outlive the heartbeat.
  Heartbeat(absl::Duration interval, NodeRegistry& registry)
      : thread_([this, interval, &registry] {
          while (!stop_.WaitForNotificationWithTimeout(interval)) {
            for (const auto& node : registry.Nodes()) node->Beat();
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

#endif  // DISTBENCH_SEQUENCER_HEARTBEAT_H_
