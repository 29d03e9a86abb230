// What a search turns up and down.

#ifndef DISTBENCH_SEARCH_KNOBS_KNOB_H_
#define DISTBENCH_SEARCH_KNOBS_KNOB_H_

#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "distbench/config/search/knob_name.h"
#include "distbench/search/knobs/probe_config.h"
#include "proto/traffic_config.pb.h"

namespace distbench {

// Turns one thing of one test. Immutable.
class Knob {
 public:
  virtual ~Knob() = default;

  // What a load is, such as "iterations per second".
  virtual absl::string_view unit() const = 0;

  // Of the test as it is, and the loads between which a search stays unless it
  // is told otherwise.
  virtual double base_load() const = 0;
  virtual double min_load() const { return 1; }
  virtual double max_load() const = 0;

  // Loads are whole numbers.
  virtual bool is_whole() const { return true; }

  // Loads are iterations per second. Those of several systems that run side by
  // side add up; other loads are each system's own.
  virtual bool is_rate() const { return false; }

  // The test at that load, ready to run. INVALID_ARGUMENT if there is no such
  // test.
  virtual absl::StatusOr<DistributedSystemDescription> At(
      double load, const ProbeTiming& timing) const = 0;
};

// The knob of that name for a canonical test; kBuilder makes tests of its own
// and has no use for `test`. INVALID_ARGUMENT as CheckKnob().
absl::StatusOr<std::unique_ptr<Knob>> MakeKnob(
    const KnobName& name, DistributedSystemDescription test);

}  // namespace distbench

#endif  // DISTBENCH_SEARCH_KNOBS_KNOB_H_
