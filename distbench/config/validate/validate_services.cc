#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "distbench/config/problems/suggest.h"
#include "distbench/config/syntax/instance_names.h"
#include "distbench/config/validate/validators.h"

namespace distbench::config {
namespace {

// Whether the sizes form a grid; if not, that was reported.
bool HasSoundSizes(const ServiceSpec& service) {
  return IsRight(service, "x_size") && IsRight(service, "y_size") &&
         IsRight(service, "z_size");
}

void CheckCount(const TestValidation& validation, const ServiceSpec& service,
                const Path& path) {
  if (!service.has_count()) return;
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

// Each worker runs at least one request. That services outside of the test have
// no admission is a rule of its field.
void CheckAdmission(const TestValidation& validation,
                    const ServiceSpec& service, const Path& path) {
  const int workers = validation.test().workers_per_instance();
  const int running = service.admission().max_running();
  if (IsOutside(service) || running < 1 || workers <= running) return;
  validation.Add(
      path.Field("admission").Field("max_running"),
      absl::StrCat(running, " cannot be shared by ", workers,
                   " workers, each of which runs at least one request; raise "
                   "it, or lower workers_per_instance"));
}

}  // namespace

void ValidateServices(const TestValidation& validation) {
  bool sizes_are_sound = true;
  for (int i = 0; i < validation.test().services_size(); ++i) {
    const ServiceSpec& service = validation.test().services(i);
    const Path path = validation.Service(i);
    CheckAdmission(validation, service, path);
    if (!HasSoundSizes(service)) {
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

}  // namespace distbench::config
