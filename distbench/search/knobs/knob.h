// Knobs: what a search varies.

#ifndef DISTBENCH_SEARCH_KNOBS_KNOB_H_
#define DISTBENCH_SEARCH_KNOBS_KNOB_H_

#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "distbench/config/search/knob_name.h"
#include "distbench/search/knobs/probe_config.h"
#include "proto/traffic_config.pb.h"

namespace distbench {

// Varies one aspect of one test. Immutable.
class Knob {
 public:
  virtual ~Knob() = default;

  // The unit of the load, such as "iterations per second".
  virtual absl::string_view unit() const = 0;

  // The test's own load, and the default range of the search.
  virtual double base_load() const = 0;
  virtual double min_load() const { return 1; }
  virtual double max_load() const = 0;

  // Whether loads are integers.
  virtual bool is_whole() const { return true; }

  // Whether loads are iterations per second. Rates of several systems that run
  // side by side add up; other loads apply to each system.
  virtual bool is_rate() const { return false; }

  // The test at this load, ready to run. INVALID_ARGUMENT if there is no such
  // test.
  virtual absl::StatusOr<DistributedSystemDescription> At(
      double load, const ProbeTiming& timing) const = 0;
};

// Makes the named knob for a canonical test. A kBuilder knob generates its own
// tests and ignores `test`. INVALID_ARGUMENT as in CheckKnob().
absl::StatusOr<std::unique_ptr<Knob>> MakeKnob(
    const KnobName& name, DistributedSystemDescription test);

}  // namespace distbench

#endif  // DISTBENCH_SEARCH_KNOBS_KNOB_H_
