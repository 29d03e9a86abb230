// A knob that varies a parameter of test_builder.

#ifndef DISTBENCH_PRODUCTS_SEARCH_KNOBS_BUILDER_KNOB_H_
#define DISTBENCH_PRODUCTS_SEARCH_KNOBS_BUILDER_KNOB_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "distbench/products/search/knobs/knob.h"
#include "proto/traffic_config.pb.h"
#include "test_builder/parameters/parameter.h"

namespace distbench::search {

// Builds a new test for each load.
class BuilderKnob final : public Knob {
 public:
  // `config` is a single test, as on test_builder's command line. `parameter`
  // is a numeric parameter of its pattern or protocol. INVALID_ARGUMENT if
  // there is no such test or parameter.
  static absl::StatusOr<std::unique_ptr<BuilderKnob>> Make(
      const std::string& config, const std::string& parameter);

  absl::string_view unit() const override { return parameter_.name; }
  double base_load() const override { return base_load_; }
  double min_load() const override;
  double max_load() const override { return parameter_.range.maximum; }
  bool is_whole() const override {
    return parameter_.type == test_builder::Parameter::Type::kInteger;
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

#endif  // DISTBENCH_PRODUCTS_SEARCH_KNOBS_BUILDER_KNOB_H_
