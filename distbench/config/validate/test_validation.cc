// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/config/validate/test_validation.h"

namespace distbench::config {

int TestValidation::Resolve(const Path& path, absl::string_view kind,
                            const std::string& name,
                            const NameIndex& index) const {
  const int position = name.empty() ? kNone : index.Find(name);
  if (position == kNone) {
    problems_.Add([&] {
      return Problem{path.text(), UnknownName(kind, name, index)};
    });
  }
  return position;
}

std::optional<TestValidation::ServiceGrid> TestValidation::FindService(
    const std::string& name) const {
  const int position = names_.services.Find(name);
  if (position == kNone) return std::nullopt;
  const ServiceSpec& service = test_.services(position);
  const Grid grid = GridOf(service);
  if (grid.Count() > kMaxInstances) return std::nullopt;
  return ServiceGrid{&service, grid};
}

std::vector<ResolvedDriver> TestValidation::DriversOf(
    const std::string& name) const {
  const int position = names_.services.Find(name);
  if (position == kNone) return {};
  return config::DriversOf(test_, names_, test_.services(position));
}

int64_t TestValidation::InstanceCount() const {
  int64_t total = 0;
  for (const ServiceSpec& service : test_.services()) {
    const int64_t count = GridOf(service).Count();
    if (count > kMaxInstances - total) return kMaxInstances + 1;
    total += count;
  }
  return total;
}

}  // namespace distbench::config
