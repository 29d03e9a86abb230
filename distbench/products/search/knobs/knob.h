// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Knobs: what a search varies. Each probe of a search is a test with the knob
// turned, adapted to run as a probe.

#ifndef DISTBENCH_PRODUCTS_SEARCH_KNOBS_KNOB_H_
#define DISTBENCH_PRODUCTS_SEARCH_KNOBS_KNOB_H_

#include <functional>
#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "distbench/products/search/knobs/knob_name.h"
#include "proto/results.pb.h"
#include "proto/traffic_config.pb.h"

namespace distbench::search {

struct ProbeTiming {
  absl::Duration warmup;
  absl::Duration measured;  // after the warm-up
};

// Makes the loops of main lists last for the warm-up and the measured time:
// open loops, closed loops with a time limit or no limit, and loops for which
// `is_turned` is true. Closed loops that end by a count, for example during
// set-up, stay as they are, unless there are no other loops. Sets the test's
// timeout, disables samples, which a search does not use, and removes the
// config's `search`.
void TimeProbe(const ProbeTiming& timing,
               const std::function<bool(const Action& action)>& is_turned,
               DistributedSystemDescription& test);

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

  // Whether more load is more RPCs per second, as far as the system carries it.
  virtual bool raises_rate() const { return is_rate(); }

  // Whether the search is for the lowest load that meets, because the less of
  // it there is, the harder it is.
  virtual bool finds_lowest() const { return false; }

  // Adds to the result of a probe what the knob knows about it. `result` is
  // that of At() with this timing.
  virtual void Label(const ProbeTiming& /*timing*/,
                     TestResult& /*result*/) const {}

  // The test at this load, ready to run. INVALID_ARGUMENT if there is no such
  // test.
  virtual absl::StatusOr<DistributedSystemDescription> At(
      double load, const ProbeTiming& timing) const = 0;
};

// Makes knobs of settings in the controls of a test's experiment, which another
// product knows: it adds a base::Plugin<search::ControlKnobs>.
class ControlKnobs {
 public:
  virtual ~ControlKnobs() = default;

  // INVALID_ARGUMENT if the canonical test's set of controls does not have this
  // setting once, or if it cannot be varied.
  virtual absl::StatusOr<std::unique_ptr<Knob>> Make(
      absl::string_view control_set, absl::string_view setting,
      const DistributedSystemDescription& test) const = 0;
};

// Makes a kControl knob. Fails also if nothing in this program can.
absl::StatusOr<std::unique_ptr<Knob>> MakeControlKnob(
    const KnobName& name, const DistributedSystemDescription& test);

// Makes the named knob for a canonical test. A kBuilder knob generates its own
// tests and ignores `test`. INVALID_ARGUMENT as in CheckKnob().
absl::StatusOr<std::unique_ptr<Knob>> MakeKnob(
    const KnobName& name, DistributedSystemDescription test);

}  // namespace distbench::search

#endif  // DISTBENCH_PRODUCTS_SEARCH_KNOBS_KNOB_H_
