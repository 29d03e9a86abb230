// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "distbench/config/catalogs/driver_resolution.h"
#include "distbench/config/problems/suggest.h"
#include "distbench/config/syntax/instance_names.h"
#include "distbench/config/validate/validators.h"

namespace distbench::config {
namespace {

// ---- Counts and sizes -------------------------------------------------------

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
  validation.Add(path.Field("count"), service.count(), " is not ", product,
                 ", the product of the sizes; leave it out or make them agree");
}

// Each worker runs at least one request. That services outside of the test have
// no admission is a rule of its field.
void CheckAdmission(const TestValidation& validation,
                    const ServiceSpec& service, const Path& path) {
  const int workers = validation.test().workers_per_instance();
  const int running = service.admission().max_running();
  if (IsOutside(service) || running < 1 || workers <= running) return;
  validation.Add(path.Field("admission").Field("max_running"), running,
                 " cannot be shared by ", workers,
                 " workers, each of which runs at least one request; raise it, "
                 "or lower workers_per_instance");
}

// ---- Channels ---------------------------------------------------------------

void CheckMembers(const TestValidation& validation, const Path& path,
                  const MultiServerChannel& channel, const Grid& grid,
                  bool try_constraints) {
  const int64_t problems_before = validation.problems().count();
  for (int i = 0; i < channel.selected_instances_size(); ++i) {
    validation.CheckRange(path.Field("selected_instances").At(i),
                          channel.selected_instances(i), 0, grid.Count() - 1);
  }
  ValidateConstraints(path.Field("constraints"), channel.constraints(),
                      InstanceAttributeNames(grid), validation.problems());
  const bool sound = validation.problems().count() == problems_before &&
                     IsRight(channel, "constraints");
  // Members that depend on the placement can only be checked there.
  if (sound && try_constraints && !DependsOnPlacement(channel, grid) &&
      MembersOf(channel, grid).empty()) {
    validation.Add(path,
                   "has no members; list selected_instances, or constraints "
                   "that some instance satisfies");
  }
}

void CheckSettings(const TestValidation& validation, const Path& path,
                   const ServiceSpec& service,
                   const MultiServerChannel& channel) {
  const auto drivers =
      DriversOf(validation.test(), validation.names(), service);
  if (drivers.empty()) return;
  const DriverDeclaration& driver = *drivers.back().driver;
  const std::string owner = absl::StrCat("driver ", Quoted(driver.name));
  ValidateSettings(path.Field("channel_settings"), channel.channel_settings(),
                   driver.channel_settings, owner, validation.problems());
}

// The number of conditions in a constraint list; at least one.
int64_t ConditionsOf(const ConstraintList& constraints) {
  int64_t conditions = 1;
  for (const ConstraintSet& set : constraints.constraint_sets()) {
    for (const Constraint& constraint : set.constraints()) {
      conditions +=
          constraint.string_values_size() + constraint.int64_values_size();
    }
  }
  return conditions;
}

// Whether trying every constraint on every instance of its service is cheap
// enough.
bool CheckConstraintCount(const TestValidation& validation) {
  if (validation.InstanceCount() > kMaxInstances) return false;
  int64_t tries = 0;
  for (const ServiceSpec& service : validation.test().services()) {
    int64_t conditions = 0;
    for (const MultiServerChannel& channel : service.multi_server_channels()) {
      if (channel.has_constraints()) {
        conditions += ConditionsOf(channel.constraints());
      }
    }
    tries += conditions * GridOf(service).Count();
  }
  if (tries <= kMaxConditionsTried) return true;
  validation.Add(validation.path().Field("services"),
                 "checking the values of the channels' constraints on all "
                 "instances takes ", tries, " tries, and ", kMaxConditionsTried,
                 " are allowed; use fewer channels, or selected_instances");
  return false;
}

void CheckChannelsOf(const TestValidation& validation, const Path& service_path,
                     const ServiceSpec& service, const Grid& grid,
                     bool try_constraints) {
  const NameIndex names(service.multi_server_channels());
  for (int i = 0; i < names.names().size(); ++i) {
    const Path path =
        ElementPath(service_path.Field("multi_server_channels"), names, i);
    const MultiServerChannel& channel = service.multi_server_channels(i);
    CheckMembers(validation, path, channel, grid, try_constraints);
    CheckSettings(validation, path, service, channel);
  }
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
    validation.Add(validation.path().Field("services"), "there are more than ",
                   kMaxInstances, " instances in all; reduce counts and sizes");
  }
}

void ValidateChannels(const TestValidation& validation) {
  const bool try_constraints = CheckConstraintCount(validation);
  for (int i = 0; i < validation.test().services_size(); ++i) {
    const ServiceSpec& service = validation.test().services(i);
    const Grid grid = GridOf(service);
    // Too many instances to enumerate, which is reported elsewhere.
    if (grid.Count() > kMaxInstances) continue;
    CheckChannelsOf(validation, validation.Service(i), service, grid,
                    try_constraints);
  }
}

}  // namespace distbench::config
