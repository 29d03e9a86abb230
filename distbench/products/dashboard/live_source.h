// What is going on now, for the dashboard.

#ifndef DISTBENCH_PRODUCTS_DASHBOARD_LIVE_SOURCE_H_
#define DISTBENCH_PRODUCTS_DASHBOARD_LIVE_SOURCE_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "proto/control.pb.h"

namespace distbench::dashboard {

struct LiveStatus {
  // The nodes and the running test.
  GetStatusResponse sequencer;

  // Runs that have not ended, oldest first.
  std::vector<RunDescription> runs;
};

// Thread-safe.
class LiveSource {
 public:
  virtual ~LiveSource() = default;

  // Must not wait for a disk, or for what a running test waits for.
  virtual LiveStatus Look() const = 0;

  // Whether a test is running.
  virtual bool IsBusy() const = 0;

  // Ends a waiting or running run. The error says why it cannot.
  virtual absl::Status Cancel(const std::string& run_id,
                              const std::string& who) = 0;
};

}  // namespace distbench::dashboard

#endif  // DISTBENCH_PRODUCTS_DASHBOARD_LIVE_SOURCE_H_
