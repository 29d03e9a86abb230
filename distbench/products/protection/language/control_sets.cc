// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/protection/language/control_sets.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "distbench/base/index_list.h"
#include "distbench/base/text_scanner.h"
#include "distbench/config/catalogs/driver_resolution.h"
#include "distbench/config/problems/suggest.h"
#include "distbench/config/syntax/constraints.h"
#include "distbench/config/syntax/quantity.h"
#include "distbench/config/validate/test_validation.h"

namespace distbench::protection {
namespace {

// ---- Whom a group is for ----------------------------------------------------

std::string WithoutWildcards(std::string glob) {
  glob.erase(std::remove_if(glob.begin(), glob.end(),
                            [](char c) { return c == '*' || c == '?'; }),
             glob.end());
  return glob;
}

// Attributes services to the groups of one set.
class Members {
 public:
  Members(absl::Span<const std::string> services, config::Problems& problems)
      : services_(services, problems), problems_(problems) {}

  void Add(const ControlGroup& group, int number, const config::Path& path) {
    if (group.everything_else()) AddEverythingElse(number, path);
    for (int i = 0; i < group.services_size(); ++i) {
      const config::Path place = path.Field("services").At(i);
      for (const std::string& each : services_.Find(group.services(i), place)) {
        AddService(each, number, place);
      }
    }
  }

 private:
  void AddEverythingElse(int number, const config::Path& path) {
    if (everything_else_ == config::kNone) {
      everything_else_ = number;
      return;
    }
    problems_.Add(path.Field("everything_else"), "groups[", everything_else_,
                  "] is for everything else, too; make them one");
  }

  void AddService(const std::string& service, int number,
                  const config::Path& path) {
    const auto [it, is_new] = group_of_.emplace(service, number);
    if (is_new) return;
    problems_.Add(path,
                  it->second == number
                      ? absl::StrCat(config::Quoted(service),
                                     " is already in this group; name it once")
                      : absl::StrCat(config::Quoted(service),
                                     " is already in groups[", it->second,
                                     "]; an instance runs in one group only"));
  }

  ServiceGlobs services_;
  config::Problems& problems_;
  std::map<std::string, int> group_of_;
  int everything_else_ = config::kNone;
};

// ---- Settings of groups -----------------------------------------------------

// A limit of memory, and its name.
struct NamedAmount {
  const char* field;
  config::HostAmount amount;
};

// Whether the first is above the second on any host.
bool IsAbove(const config::HostAmount& a, const config::HostAmount& b) {
  using Kind = config::HostAmount::Kind;
  if (a.kind == b.kind) return a.value > b.value;
  return a.kind == Kind::kUnlimited;
}

// Each amount is compared with all that follow, because its neighbour may be a
// share.
void CheckOrder(const std::vector<NamedAmount>& ascending,
                const config::Path& path, config::Problems& problems) {
  for (auto lower = ascending.begin(); lower != ascending.end(); ++lower) {
    const auto upper =
        std::find_if(lower, ascending.end(), [&](const NamedAmount& each) {
          return IsAbove(lower->amount, each.amount);
        });
    if (upper == ascending.end()) continue;
    problems.Add(path.Field(lower->field),
                 config::FormatMemoryAmount(lower->amount), " is above ",
                 upper->field, ", ", config::FormatMemoryAmount(upper->amount),
                 "; they must not descend from min over low and high to max");
  }
}

void CheckMemory(const ControlGroup& group, const config::Path& path,
                 config::Problems& problems) {
  std::vector<NamedAmount> ascending;
  const auto add = [&](const char* field, const std::string& text) {
    const auto amount = config::ParseMemoryAmount(text);
    if (amount.ok()) ascending.push_back({field, *amount});
  };
  add("memory_min", group.memory_min());
  add("memory_low", group.memory_low());
  add("memory_high", group.memory_high());
  add("memory_max", group.memory_max());
  CheckOrder(ascending, path, problems);
}

// The longest name that the kernel gives a disk.
constexpr size_t kMaxDeviceNameLength = 31;

// Major and minor numbers have 12 and 20 bits.
constexpr uint32_t kMaxMajor = (1u << 12) - 1;
constexpr uint32_t kMaxMinor = (1u << 20) - 1;

// Of entries that are for a device each.
template <typename Entries>
void CheckBlockDevices(const Entries& entries, const config::Path& path,
                       config::Problems& problems) {
  std::set<std::string> devices;
  for (int i = 0; i < entries.size(); ++i) {
    const std::string& device = entries[i].device();
    const config::Path place = path.At(i).Field("device");
    if (device.empty()) continue;
    if (!IsBlockDevice(device)) {
      problems.Add(place, config::Quoted(device),
                   " cannot be a block device; write its name such as nvme0n1, "
                   "or its numbers such as 259:0");
    } else if (!devices.insert(device).second) {
      problems.Add(place, config::Quoted(device),
                   " is listed more than once; make the entries one");
    }
  }
}

}  // namespace

bool IsBlockDevice(absl::string_view text) {
  base::TextScanner in(text);
  const absl::string_view major = in.TakeUntil(":");
  if (in.Take(":") && base::ParseWhole(major, kMaxMajor) &&
      base::ParseWhole(in.rest(), kMaxMinor)) {
    return true;
  }
  // Some names contain '!' in place of '/', as "cciss!c0d0".
  return !text.empty() && text.size() <= kMaxDeviceNameLength &&
         absl::ascii_isalpha(text[0]) &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return absl::ascii_isalnum(c) || c == '-' || c == '_' || c == '.' ||
                  c == '!';
         });
}

void ValidateControlSet(const ControlSet& controls, const config::Path& path,
                        absl::Span<const std::string> services,
                        config::Problems& problems) {
  Members members(services, problems);
  for (int i = 0; i < controls.groups_size(); ++i) {
    const ControlGroup& group = controls.groups(i);
    const config::Path place = path.Field("groups").At(i);
    members.Add(group, i, place);
    CheckMemory(group, place, problems);
    CheckBlockDevices(group.io_max(), place.Field("io_max"), problems);
    if (!HasSettings(group)) {
      problems.Add(place, "changes nothing; give it a setting");
    }
  }
  CheckBlockDevices(controls.io_cost(), path.Field("io_cost"), problems);
}

std::vector<std::string> ServiceGlobs::Find(const std::string& glob,
                                            const config::Path& path) {
  if (glob.size() > config::kMaxGlobLength) {
    problems_.Add(path, "is longer than ", config::kMaxGlobLength,
                  " bytes; shorten it");
    return {};
  }
  tried_ += static_cast<int64_t>(services_.size());
  if (tried_ > config::kMaxConditionsTried) {
    problems_.Add(path, "there are too many names to try each on ",
                  services_.size(), " services; use fewer");
    return {};
  }
  std::vector<std::string> found;
  absl::c_copy_if(services_, std::back_inserter(found),
                  [&](const std::string& service) {
                    return service.size() <= config::kMaxNameLength &&
                           config::GlobMatches(glob, service);
                  });
  if (!found.empty() || problems_.full()) return found;
  problems_.Add(
      path,
      config::IsGlob(glob) ? "no service matches " : "no service is named ",
      config::Quoted(glob), "; ",
      config::Suggestion(WithoutWildcards(glob), services_));
  return found;
}

bool HasSettings(ControlGroup group) {
  group.clear_services();
  group.clear_everything_else();
  return group.ByteSizeLong() > 0;
}

namespace {

bool IsFor(const ControlGroup& group, const std::string& service) {
  return absl::c_any_of(group.services(), [&](const std::string& glob) {
    return config::GlobMatches(glob, service);
  });
}

// The group that names the service; kNone if there is none.
int GroupOf(const ControlSet& controls, const std::string& service) {
  for (int i = 0; i < controls.groups_size(); ++i) {
    if (IsFor(controls.groups(i), service)) return i;
  }
  return config::kNone;
}

std::string DescribeGroup(int group) {
  return group == config::kNone ? "no group"
                                : absl::StrCat("groups[", group, "]");
}

// A process is in one group.
void CheckSharedProcess(const config::TestValidation& validation,
                        const std::set<std::string>& services) {
  const ControlSet& controls = validation.test().controls();
  const std::string& first = *services.begin();
  const int group_of_first = GroupOf(controls, first);
  for (const std::string& service : services) {
    const int group = GroupOf(controls, service);
    if (group == group_of_first) continue;
    validation.Add(
        validation.path().Field("controls").Field("groups"),
        config::Quoted(first), " is in ", DescribeGroup(group_of_first),
        " and ", config::Quoted(service), " in ", DescribeGroup(group),
        ", but their protocol, loopback, makes them share a process, which is "
        "in one group; put both into the same group, or use another protocol");
    return;
  }
}

// ---- Warnings ---------------------------------------------------------------

// 0 if it is not a share.
double PercentOf(const std::string& text) {
  const auto amount = config::ParseMemoryAmount(text);
  const bool is_share =
      amount.ok() && amount->kind == config::HostAmount::Kind::kPercentOfHost;
  return is_share ? amount->value : 0;
}

void WarnOfMuchMemory(const ControlSet& controls, const config::Path& path,
                      config::Problems& warnings) {
  double percent = 0;
  for (const ControlGroup& group : controls.groups()) {
    percent +=
        std::max(PercentOf(group.memory_min()), PercentOf(group.memory_low()));
  }
  if (percent <= 100) return;
  warnings.Add(path.Field("groups"), "memory_min and memory_low protect ",
               percent,
               "% of a host's memory, if one has instances of all groups; the "
               "kernel then protects each group in part. Lower them");
}

void WarnOfWeights(const ControlSet& controls, const config::Path& path,
                   config::Problems& warnings) {
  const bool has_io_cost = absl::c_any_of(
      controls.io_cost(),
      [](const IoCostSettings& settings) { return settings.enable(); });
  if (has_io_cost) return;
  for (int i = 0; i < controls.groups_size(); ++i) {
    if (!controls.groups(i).has_io_weight()) continue;
    warnings.Add(path.Field("groups").At(i).Field("io_weight"),
                 "is respected only by io.cost and the scheduler bfq; enable "
                 "io_cost for the device, or see to it that its host does");
    return;
  }
}

void WarnOfBindings(const DistributedSystemDescription& test,
                    const config::Path& path, config::Problems& warnings) {
  for (const ServiceSpec& service : test.services()) {
    if (!service.numa_binding().has_cpus()) continue;
    const auto bound = base::ParseIndexList(service.numa_binding().cpus());
    for (const ControlGroup& group : test.controls().groups()) {
      if (!group.has_cpuset_cpus() || !IsFor(group, service.name())) continue;
      const auto allowed = base::ParseIndexList(group.cpuset_cpus());
      if (!bound.ok() || !allowed.ok()) continue;
      const base::IndexSet outside = base::Without(*bound, *allowed);
      if (outside.empty()) continue;
      warnings.Add(
          path.Field("services").At(service.name()).Field("numa_binding"),
          "has CPUs ", base::FormatIndexList(outside),
          ", which cpuset_cpus of its control group leaves out; make them "
          "agree");
    }
  }
}

}  // namespace

void ValidateControls(const config::TestValidation& validation) {
  if (!validation.test().has_controls()) return;
  const int64_t problems_before = validation.problems().count();
  ValidateControlSet(
      validation.test().controls(), validation.path().Field("controls"),
      validation.names().services.names(), validation.problems());
  // Names that are too long or too many would be tried again.
  if (validation.problems().count() > problems_before) return;
  const std::set<std::string> services =
      config::ServicesInOneProcess(validation.test());
  if (!services.empty()) CheckSharedProcess(validation, services);
}

void WarnOfControls(const DistributedSystemDescription& test,
                    const config::Path& path, config::Problems& warnings) {
  if (!test.has_controls()) return;
  const config::Path place = path.Field("controls");
  WarnOfMuchMemory(test.controls(), place, warnings);
  WarnOfWeights(test.controls(), place, warnings);
  WarnOfBindings(test, path, warnings);
}

}  // namespace distbench::protection
