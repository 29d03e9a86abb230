#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "distbench/config/problems/suggest.h"
#include "distbench/config/syntax/instance_names.h"
#include "distbench/config/validate/validators.h"

namespace distbench::config {
namespace {

// ---- Sizes and counts -------------------------------------------------------

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

// ---- Admission --------------------------------------------------------------

void CheckAdmissionLimits(const TestValidation& validation,
                          const AdmissionSpec& admission, const Path& path) {
  // Each worker runs at least one request.
  const int workers = validation.test().workers_per_instance();
  if (admission.max_running() >= 1 && workers > admission.max_running()) {
    validation.Add(
        path.Field("max_running"),
        absl::StrCat(admission.max_running(), " cannot be shared by ", workers,
                     " workers, each of which runs at least one request; raise "
                     "it, or lower workers_per_instance"));
  }
}

// A stream takes a place for as long as its client likes.
void CheckAdmittedRpcs(const TestValidation& validation,
                       const std::string& service, const Path& path) {
  for (const RpcSpec& rpc : validation.test().rpc_descriptions()) {
    if (rpc.server() != service || !rpc.has_stream()) continue;
    validation.Add(
        path,
        absl::StrCat("does not apply to RPCs that stream, such as ",
                     Quoted(rpc.name()), "; let another service handle them"));
    return;
  }
}

}  // namespace

void ValidateServices(const TestValidation& validation) {
  bool sizes_are_sound = true;
  for (int i = 0; i < validation.test().services_size(); ++i) {
    const ServiceSpec& service = validation.test().services(i);
    const Path path = validation.Service(i);
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

void ValidateAdmission(const TestValidation& validation) {
  for (int i = 0; i < validation.test().services_size(); ++i) {
    const ServiceSpec& service = validation.test().services(i);
    // Those outside of the test have none, as their product checks.
    if (!service.has_admission() || IsOutside(service)) continue;
    const Path path = validation.Service(i).Field("admission");
    CheckAdmissionLimits(validation, service.admission(), path);
    CheckAdmittedRpcs(validation, service.name(), path);
  }
}

}  // namespace distbench::config
