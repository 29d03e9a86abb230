#include <cstdint>

#include "absl/strings/str_cat.h"
#include "distbench/config/syntax/instance_names.h"
#include "distbench/config/validate/validators.h"

namespace distbench {
namespace {

// Returns whether the sizes form a grid.
bool CheckSizes(const TestValidation& validation, const ServiceSpec& service,
                const Path& path) {
  bool good = true;
  const auto check_size = [&](bool present, const char* field, int64_t size) {
    if (!present || (size >= 1 && size <= kMaxInstances)) return;
    validation.CheckRange(path.Field(field), size, 1, kMaxInstances);
    good = false;
  };
  check_size(service.has_x_size(), "x_size", service.x_size());
  check_size(service.has_y_size(), "y_size", service.y_size());
  check_size(service.has_z_size(), "z_size", service.z_size());
  if (service.has_y_size() && !service.has_x_size()) {
    validation.Add(path.Field("y_size"), "needs x_size; add it");
    good = false;
  }
  if (service.has_z_size() && !service.has_y_size()) {
    validation.Add(path.Field("z_size"), "needs y_size; add it");
    good = false;
  }
  return good;
}

void CheckCount(const TestValidation& validation, const ServiceSpec& service,
                const Path& path) {
  if (!service.has_count()) {
    // Canonical services lack a count only if it cannot be derived.
    if (!service.has_x_size()) {
      validation.Add(path.Field("count"),
                     "is missing; give the number of instances");
    }
    return;
  }
  if (service.count() < 1) {
    validation.CheckRange(path.Field("count"), service.count(), 1,
                          kMaxInstances);
    return;
  }
  const int64_t product = GridOf(service).Count();
  if (service.count() == product) return;
  validation.Add(path.Field("count"),
                 absl::StrCat(service.count(), " is not ", product,
                              ", the product of the sizes; leave it out or "
                              "make them agree"));
}

}  // namespace

void ValidateServices(const TestValidation& validation) {
  bool sizes_are_sound = true;
  for (int i = 0; i < validation.test().services_size(); ++i) {
    const ServiceSpec& service = validation.test().services(i);
    const Path path = validation.Service(i);
    if (!CheckSizes(validation, service, path)) {
      sizes_are_sound = false;
      continue;
    }
    CheckCount(validation, service, path);
  }
  if (sizes_are_sound && validation.InstanceCount() > kMaxInstances) {
    validation.Add(validation.path().Field("services"),
                   absl::StrCat("there are more than ", kMaxInstances,
                                " instances in all; reduce counts and sizes"));
  }
}

}  // namespace distbench
