#include <algorithm>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "distbench/config/problems/suggest.h"
#include "distbench/config/validate/validators.h"

namespace distbench {
namespace {

bool IsLegible(const std::string& name) {
  return std::none_of(name.begin(), name.end(),
                      [](unsigned char c) { return absl::ascii_iscntrl(c); });
}

bool IsServiceName(const std::string& name) {
  return std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return absl::ascii_isalnum(c) || c == '_' || c == '-' || c == '.';
  });
}

void CheckNames(const TestValidation& validation, absl::string_view field,
                const NameIndex& index) {
  const Path elements = validation.path().Field(field);
  for (int i = 0; i < index.names().size(); ++i) {
    const std::string& name = index.names()[i];
    const int first = index.Find(name);
    const Path path = elements.At(i).Field("name");
    if (name.empty()) {
      validation.Add(path, "is missing; give it a name");
    } else if (first != i) {
      validation.Add(path,
                     absl::StrCat(Quoted(name), " is the name of ", field, "[",
                                  first, "] as well; names must be unique"));
    } else if (name.size() > kMaxNameLength) {
      validation.Add(path, absl::StrCat("is longer than ", kMaxNameLength,
                                        " characters; shorten it"));
    } else if (!IsLegible(name)) {
      validation.Add(
          path,
          absl::StrCat(Quoted(name), " has control characters; remove them"));
    }
  }
}

}  // namespace

void ValidateNames(const TestValidation& validation) {
  const TestNames& names = validation.names();
  CheckNames(validation, "services", names.services);
  CheckNames(validation, "payload_descriptions", names.payloads);
  CheckNames(validation, "rpc_descriptions", names.rpcs);
  CheckNames(validation, "actions", names.actions);
  CheckNames(validation, "action_lists", names.lists);
  CheckNames(validation, "protocol_driver_options", names.driver_options);
  CheckNames(validation, "activity_configs", names.activities);
  CheckNames(validation, "activity_pools", names.activity_pools);
  CheckNames(validation, "distribution_config", names.joint_distributions);
  CheckNames(validation, "delay_distribution_configs",
             names.delay_distributions);
  CheckNames(validation, "size_distribution_configs", names.size_distributions);
  CheckNames(validation, "rpc_replay_traces", names.replay_traces);

  const auto& services = names.services.names();
  for (int i = 0; i < services.size(); ++i) {
    // Other characters could be separators or wildcards in instance names and
    // globs.
    if (IsLegible(services[i]) && !IsServiceName(services[i])) {
      validation.Add(
          validation.path().Field("services").At(i).Field("name"),
          absl::StrCat(Quoted(services[i]),
                       " has characters that no service name may have; use "
                       "letters, digits, '_', '-' and '.'"));
    }
  }
}

}  // namespace distbench
