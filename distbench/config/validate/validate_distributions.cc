// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "distbench/config/distributions/distribution.h"
#include "distbench/config/problems/suggest.h"
#include "distbench/config/syntax/fanout_filter.h"
#include "distbench/config/validate/validators.h"

namespace distbench::config {
namespace {

// Requirements on the distributions of one purpose.
struct Use {
  int max_dimensions;
  const char* single_field;  // the field of a one-dimensional distribution
  int64_t max_value;         // values are at least 0
};

class DistributionValidation {
 public:
  DistributionValidation(const DistributionConfig& config, const Use& use,
                         const Path& path, Problems& problems)
      : config_(config), use_(use), path_(path), problems_(problems) {}

  void Validate() {
    const bool has_pmf = !config_.pmf_points().empty();
    const bool has_cdf = !config_.cdf_points().empty();
    if (has_pmf == has_cdf || !CheckFields()) return;
    has_pmf ? CheckPmf() : CheckCdf();
  }

 private:
  // Returns whether the dimensions are valid.
  bool CheckFields() {
    const auto& names = config_.field_names();
    const int dimensions = DimensionsOf(config_);
    if (dimensions < 1 || dimensions > use_.max_dimensions) {
      problems_.Add(path_, "has ", dimensions, " dimensions; ", RightFields());
      return false;
    }
    if (names.empty()) return true;
    const bool single = dimensions == 1 && names[0] == use_.single_field;
    const bool joint = dimensions == 2 && names[0] != names[1] &&
                       IsJointField(names[0]) && IsJointField(names[1]);
    if (single || joint) return true;
    problems_.Add(
        path_.Field("field_names"),
        QuotedList(std::vector<std::string>(names.begin(), names.end())),
        dimensions == 1 ? " does" : " do", " not fit here; ", RightFields());
    return false;
  }

  static bool IsJointField(const std::string& name) {
    return name == kRequestSizeField || name == kResponseSizeField;
  }

  std::string RightFields() const {
    const std::string single =
        absl::StrCat("must be one field, ", Quoted(use_.single_field));
    if (use_.max_dimensions == 1) return single;
    return absl::StrCat(single, ", or two, ", Quoted(kRequestSizeField),
                        " and ", Quoted(kResponseSizeField));
  }

  void CheckPmf() {
    double sum = 0;
    bool are_right = true;
    for (int i = 0; i < config_.pmf_points_size(); ++i) {
      const PmfPoint& point = config_.pmf_points(i);
      are_right = are_right && IsRight(point, "pmf");
      sum += point.pmf();
      CheckDataPoints(point, i);
    }
    if (are_right && std::abs(sum - 1) > kProbabilitySumTolerance) {
      problems_.Add(path_.Field("pmf_points"), "the probabilities sum to ", sum,
                    "; they must sum to 1");
    }
  }

  void CheckDataPoints(const PmfPoint& point, int index) {
    const int dimensions = DimensionsOf(config_);
    if (point.data_points_size() != dimensions) {
      problems_.Add(PointPath("pmf_points", index).Field("data_points"),
                    "there are ", point.data_points_size(), "; must be ",
                    dimensions, ", one for each field");
    }
    for (int i = 0; i < point.data_points_size(); ++i) {
      CheckDataPoint(point.data_points(i), index, i);
    }
  }

  void CheckDataPoint(const DataPoint& point, int pmf_index, int index) {
    for (const int64_t value : {point.exact(), point.lower(), point.upper()}) {
      if (IsValue(value)) continue;
      CheckRange(
          PointPath("pmf_points", pmf_index).Field("data_points").At(index),
          value, 0, use_.max_value, problems_);
      return;
    }
  }

  // Up to the first point that is wrong by itself.
  void CheckCdf() {
    const auto& points = config_.cdf_points();
    for (int i = 0; i < points.size(); ++i) {
      if (!IsRight(points[i], "cdf") || !IsRight(points[i], "value")) return;
      const auto path = [&] { return PointPath("cdf_points", i); };
      if (!IsValue(points[i].value())) {
        CheckRange(path().Field("value"), points[i].value(), 0, use_.max_value,
                   problems_);
      }
      if (i == 0) continue;
      if (points[i].value() <= points[i - 1].value()) {
        problems_.Add(path().Field("value"), points[i].value(), " follows ",
                      points[i - 1].value(), "; values must increase");
      }
      if (points[i].cdf() < points[i - 1].cdf()) {
        problems_.Add(path().Field("cdf"), points[i].cdf(), " follows ",
                      points[i - 1].cdf(), "; probabilities must not decrease");
      }
    }
    if (points[points.size() - 1].cdf() != 1) {
      problems_.Add(PointPath("cdf_points", points.size() - 1).Field("cdf"),
                    "is ", points[points.size() - 1].cdf(),
                    "; the last one must be 1");
    }
  }

  bool IsValue(int64_t value) const {
    return value >= 0 && value <= use_.max_value;
  }

  Path PointPath(const char* points, int index) const {
    return path_.Field(points).At(index);
  }

  const DistributionConfig& config_;
  const Use& use_;
  const Path path_;
  Problems& problems_;
};

void ValidateAll(
    const TestValidation& validation, const char* field, const NameIndex& index,
    const google::protobuf::RepeatedPtrField<DistributionConfig>& configs,
    const Use& use) {
  for (int i = 0; i < configs.size(); ++i) {
    DistributionValidation(configs[i], use, validation.Element(field, index, i),
                           validation.problems())
        .Validate();
  }
}

}  // namespace

void ValidateDistributions(const TestValidation& validation) {
  const DistributedSystemDescription& test = validation.test();
  const TestNames& names = validation.names();
  ValidateAll(validation, "distribution_config", names.joint_distributions,
              test.distribution_config(),
              {.max_dimensions = 2,
               .single_field = kPayloadSizeField,
               .max_value = kMaxSizeBytes});
  ValidateAll(validation, "size_distribution_configs", names.size_distributions,
              test.size_distribution_configs(),
              {.max_dimensions = 1,
               .single_field = kPayloadSizeField,
               .max_value = kMaxSizeBytes});
  ValidateAll(validation, "delay_distribution_configs",
              names.delay_distributions, test.delay_distribution_configs(),
              {.max_dimensions = 1,
               .single_field = kDelayField,
               .max_value = kMaxDelayNs});
}

}  // namespace distbench::config
