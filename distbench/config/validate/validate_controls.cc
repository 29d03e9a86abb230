#include <set>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "distbench/config/catalogs/driver_resolution.h"
#include "distbench/config/problems/suggest.h"
#include "distbench/config/syntax/constraints.h"
#include "distbench/config/validate/control_sets.h"
#include "distbench/config/validate/validators.h"

namespace distbench::config {
namespace {

// The group that names the service; kNone if there is none.
int GroupOf(const ControlSet& controls, const std::string& service) {
  for (int i = 0; i < controls.groups_size(); ++i) {
    const auto& globs = controls.groups(i).services();
    if (absl::c_any_of(globs, [&](const std::string& glob) {
          return GlobMatches(glob, service);
        })) {
      return i;
    }
  }
  return kNone;
}

std::string DescribeGroup(int group) {
  return group == kNone ? "no group" : absl::StrCat("groups[", group, "]");
}

// A process is in one group.
void CheckSharedProcess(const TestValidation& validation,
                        const std::set<std::string>& services) {
  const ControlSet& controls = validation.test().controls();
  const std::string& first = *services.begin();
  const int group_of_first = GroupOf(controls, first);
  for (const std::string& service : services) {
    const int group = GroupOf(controls, service);
    if (group == group_of_first) continue;
    validation.Add(
        validation.path().Field("controls").Field("groups"),
        absl::StrCat(Quoted(first), " is in ", DescribeGroup(group_of_first),
                     " and ", Quoted(service), " in ", DescribeGroup(group),
                     ", but their protocol, loopback, makes them share a "
                     "process, which is in one group; put both into the same "
                     "group, or use another protocol"));
    return;
  }
}

}  // namespace

void ValidateControls(const TestValidation& validation) {
  if (!validation.test().has_controls()) return;
  const int64_t problems_before = validation.problems().count();
  ValidateControlSet(
      validation.test().controls(), validation.path().Field("controls"),
      validation.names().services.names(), validation.problems());
  // Names that are too long or too many would be tried again.
  if (validation.problems().count() > problems_before) return;
  const std::set<std::string> services =
      ServicesInOneProcess(validation.test());
  if (!services.empty()) CheckSharedProcess(validation, services);
}

}  // namespace distbench::config
