#ifndef DISTBENCH_PRODUCTS_DASHBOARD_SEQUENCER_LIVE_H_
#define DISTBENCH_PRODUCTS_DASHBOARD_SEQUENCER_LIVE_H_

#include <string>

#include "distbench/products/dashboard/live_feed.h"
#include "distbench/sequencer/serving/sequencer_server.h"

namespace distbench::dashboard {

// What goes on in a sequencer of this process, which must outlive this object.
class SequencerLive final : public LiveSource {
 public:
  explicit SequencerLive(sequencer::SequencerServer& sequencer)
      : sequencer_(sequencer) {}

  // LiveSource:
  LiveStatus Look() const override {
    return {sequencer_.Status(), sequencer_.UnfinishedRuns()};
  }
  bool IsBusy() const override { return sequencer_.IsTestRunning(); }
  absl::Status Cancel(const std::string& run_id,
                      const std::string& who) override {
    return sequencer_.CancelRun(run_id, who);
  }

 private:
  sequencer::SequencerServer& sequencer_;
};

}  // namespace distbench::dashboard

#endif  // DISTBENCH_PRODUCTS_DASHBOARD_SEQUENCER_LIVE_H_
