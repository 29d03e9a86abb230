// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The knobs that there are: values of a test's config, and parameters of
// test_builder.

#ifndef DISTBENCH_PRODUCTS_SEARCH_KNOBS_KNOBS_H_
#define DISTBENCH_PRODUCTS_SEARCH_KNOBS_KNOBS_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "distbench/products/search/knobs/knob.h"
#include "proto/traffic_config.pb.h"
#include "test_builder/parameters/parameter.h"

namespace distbench::search {

// Knobs that change values in a test's config.

// Scales all open-loop rates of a test by a common factor. The load is the
// number of iterations per second that the open loops of all
// instances' main lists start in total.
class RateKnob final : public Knob {
 public:
  // `test` must be canonical. INVALID_ARGUMENT if no main list has an open
  // loop.
  static absl::StatusOr<RateKnob> Make(DistributedSystemDescription test);

  absl::string_view unit() const override { return "iterations per second"; }
  double base_load() const override { return base_load_; }
  double min_load() const override { return 0.001; }
  double max_load() const override { return 1e9; }
  bool is_whole() const override { return false; }
  bool is_rate() const override { return true; }

  // Intervals are rounded to whole nanoseconds.
  absl::StatusOr<DistributedSystemDescription> At(
      double load, const ProbeTiming& timing) const override;

 private:
  RateKnob(DistributedSystemDescription test, double base_load);

  DistributedSystemDescription test_;
  double base_load_;
};

// Varies max_parallel_iterations, the iterations in flight per instance, of one
// action of a main list or of all closed loops in main lists.
class ConcurrencyKnob final : public Knob {
 public:
  // Like the other knobs, requires that CheckKnob() succeeds. An empty `action`
  // means all closed loops.
  ConcurrencyKnob(DistributedSystemDescription test, std::string action);

  absl::string_view unit() const override {
    return "iterations in flight of each client";
  }
  double base_load() const override { return base_load_; }
  double max_load() const override;
  bool raises_rate() const override { return true; }
  absl::StatusOr<DistributedSystemDescription> At(
      double load, const ProbeTiming& timing) const override;

 private:
  bool IsTurned(const Action& action) const;

  const DistributedSystemDescription test_;
  const std::string action_;
  double base_load_ = 1;
};

// Varies the size of a payload description.
class PayloadKnob final : public Knob {
 public:
  PayloadKnob(DistributedSystemDescription test, std::string payload);

  absl::string_view unit() const override { return "bytes"; }
  double base_load() const override { return base_load_; }
  double max_load() const override;
  absl::StatusOr<DistributedSystemDescription> At(
      double load, const ProbeTiming& timing) const override;

 private:
  const DistributedSystemDescription test_;
  const std::string payload_;
  double base_load_ = 1;
};

// Varies the number of targets of an RPC whose fanout_filter is
// stochastic{1:N}.
class FanoutKnob final : public Knob {
 public:
  FanoutKnob(DistributedSystemDescription test, std::string rpc);

  absl::string_view unit() const override { return "targets of an iteration"; }
  double base_load() const override { return base_load_; }

  // The number of instances of the RPC's server.
  double max_load() const override { return max_load_; }
  absl::StatusOr<DistributedSystemDescription> At(
      double load, const ProbeTiming& timing) const override;

 private:
  const DistributedSystemDescription test_;
  const std::string rpc_;
  double base_load_ = 1;
  double max_load_ = 1;
};

// A knob that varies a parameter of test_builder.

// Builds a new test for each load.
class BuilderKnob final : public Knob {
 public:
  // `config` is a single test, as on test_builder's command line. `parameter`
  // is a numeric parameter of its pattern or protocol. INVALID_ARGUMENT if
  // there is no such test or parameter.
  static absl::StatusOr<std::unique_ptr<BuilderKnob>> Make(
      const std::string& config, const std::string& parameter);

  absl::string_view unit() const override { return parameter_.name(); }
  double base_load() const override { return base_load_; }
  double min_load() const override;
  double max_load() const override { return parameter_.maximum(); }
  bool is_whole() const override {
    return parameter_.type() == test_builder::Parameter::INTEGER;
  }
  absl::StatusOr<DistributedSystemDescription> At(
      double load, const ProbeTiming& timing) const override;

 private:
  BuilderKnob(test_builder::ValueMap settings, std::string label,
              test_builder::Parameter parameter, double base_load);

  absl::StatusOr<DistributedSystemDescription> Build(double load) const;

  const test_builder::ValueMap settings_;
  const std::string label_;
  const test_builder::Parameter parameter_;
  const double base_load_;
};

}  // namespace distbench::search

#endif  // DISTBENCH_PRODUCTS_SEARCH_KNOBS_KNOBS_H_
