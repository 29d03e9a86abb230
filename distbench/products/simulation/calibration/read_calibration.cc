#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "distbench/products/simulation/calibration/calibrate.h"
#include "distbench/products/simulation/model/cluster_model.h"
#include "distbench/results/result_file.h"

namespace distbench::simulation {

absl::StatusOr<SimulatedFabric> ReadCalibration(const std::string& path) {
  const auto at_path = [&](const absl::Status& status) {
    return absl::Status(status.code(),
                        absl::StrCat(path, ": ", status.message()));
  };
  const absl::StatusOr<TestSequenceResults> results =
      results::ReadResults(path);
  if (results.ok()) {
    absl::StatusOr<SimulatedFabric> fabric = Calibrate(*results);
    return fabric.ok() ? std::move(fabric) : at_path(fabric.status());
  }
  // Results and fabrics have no field in common.
  absl::StatusOr<SimulatedFabric> fabric = ReadFabric(path);
  if (!fabric.ok()) {
    return absl::InvalidArgumentError(absl::StrCat(
        path, ": is neither a result (", results.status().message(),
        ") nor a fabric (", fabric.status().message(), ")"));
  }
  if (fabric->stacks().empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        path,
        ": has no costs of any driver (stacks); give the result of "
        "workloads/calibration.config, or a file kept from one"));
  }
  return fabric;
}

}  // namespace distbench::simulation
