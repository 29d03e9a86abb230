#include "distbench/products/protection/language/control_sets.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "distbench/base/index_list.h"
#include "distbench/config/catalogs/driver_resolution.h"
#include "distbench/config/problems/suggest.h"
#include "distbench/config/rules/field_rules.h"
#include "distbench/config/syntax/constraints.h"
#include "distbench/config/syntax/quantity.h"
#include "distbench/config/validate/test_validation.h"
#include "distbench/products/protection/language/control_amounts.h"

namespace distbench::protection {
namespace {

// ---- Canonical form ---------------------------------------------------------

void CanonicalizeMemory(std::string& text) {
  const auto amount = ParseMemoryAmount(text);
  if (amount.ok()) text = FormatMemoryAmount(*amount);
}

void CanonicalizeSize(std::string& text) {
  const auto bytes = config::ParseSizeWithUnit(text);
  if (bytes.ok()) text = config::FormatSizeWithUnit(*bytes);
}

void CanonicalizeList(std::string& text) {
  const auto indices = base::ParseIndexList(text);
  if (indices.ok()) text = base::FormatIndexList(*indices);
}

void CanonicalizeCpus(std::string& text) {
  const auto amount = ParseCpuAmount(text);
  if (amount.ok()) text = FormatCpuAmount(*amount);
}

void CanonicalizeGroup(ControlGroup& group) {
  if (!group.everything_else()) group.clear_everything_else();
  if (group.has_cpu_max()) CanonicalizeCpus(*group.mutable_cpu_max());
  if (group.has_cpuset_cpus()) CanonicalizeList(*group.mutable_cpuset_cpus());
  if (group.has_cpuset_mems()) CanonicalizeList(*group.mutable_cpuset_mems());
  if (group.has_memory_min()) CanonicalizeMemory(*group.mutable_memory_min());
  if (group.has_memory_low()) CanonicalizeMemory(*group.mutable_memory_low());
  if (group.has_memory_high()) CanonicalizeMemory(*group.mutable_memory_high());
  if (group.has_memory_max()) CanonicalizeMemory(*group.mutable_memory_max());
  if (group.has_memory_swap_max()) {
    CanonicalizeMemory(*group.mutable_memory_swap_max());
  }
  for (IoLimit& limit : *group.mutable_io_max()) {
    if (limit.has_read_bytes()) CanonicalizeSize(*limit.mutable_read_bytes());
    if (limit.has_write_bytes()) CanonicalizeSize(*limit.mutable_write_bytes());
  }
}

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
    problems_.Add(path.Field("everything_else"),
                  absl::StrCat("groups[", everything_else_,
                               "] is for everything else, too; make them one"));
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
  ControlAmount amount;
};

// Whether the first is above the second on any host.
bool IsAbove(const ControlAmount& a, const ControlAmount& b) {
  using Kind = ControlAmount::Kind;
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
    problems.Add(
        path.Field(lower->field),
        absl::StrCat(FormatMemoryAmount(lower->amount), " is above ",
                     upper->field, ", ", FormatMemoryAmount(upper->amount),
                     "; they must not descend from min over low and high to "
                     "max"));
  }
}

void CheckMemory(const ControlGroup& group, const config::Path& path,
                 config::Problems& problems) {
  std::vector<NamedAmount> ascending;
  const auto check = [&](const char* field, bool is_present,
                         const std::string& text) {
    if (!is_present) return;
    const absl::StatusOr<ControlAmount> amount = ParseMemoryAmount(text);
    if (amount.ok()) {
      ascending.push_back({field, *amount});
    } else {
      problems.Add(path.Field(field), std::string(amount.status().message()));
    }
  };
  check("memory_min", group.has_memory_min(), group.memory_min());
  check("memory_low", group.has_memory_low(), group.memory_low());
  check("memory_high", group.has_memory_high(), group.memory_high());
  check("memory_max", group.has_memory_max(), group.memory_max());
  CheckOrder(ascending, path, problems);
  if (!group.has_memory_swap_max()) return;
  const auto swap = ParseMemoryAmount(group.memory_swap_max());
  if (swap.ok()) return;
  problems.Add(path.Field("memory_swap_max"),
               std::string(swap.status().message()));
}

// Adds the device to those of the same list.
void CheckBlockDevice(const std::string& device, const config::Path& path,
                      std::set<std::string>& devices,
                      config::Problems& problems) {
  const config::Path place = path.Field("device");
  if (device.empty()) {
    problems.Add(place, "is missing; name the block device, as `lsblk` does");
  } else if (!IsBlockDevice(device)) {
    problems.Add(place, absl::StrCat(config::Quoted(device),
                                     " cannot be a block device; write its "
                                     "name such as nvme0n1, or its numbers "
                                     "such as 259:0"));
  } else if (!devices.insert(device).second) {
    problems.Add(place, absl::StrCat(config::Quoted(device),
                                     " is listed more than once; make the "
                                     "entries one"));
  }
}

void CheckBytesPerSecond(const config::Path& path, bool is_present,
                         const std::string& text, config::Problems& problems) {
  if (!is_present) return;
  const absl::StatusOr<int64_t> bytes = config::ParseSizeWithUnit(text);
  if (!bytes.ok()) {
    problems.Add(path, std::string(bytes.status().message()));
  } else if (*bytes == 0) {
    problems.Add(path, absl::StrCat(config::Quoted(text),
                                    " would stop the device; must be above 0"));
  }
}

void CheckIoLimits(const ControlGroup& group, const config::Path& path,
                   config::Problems& problems) {
  std::set<std::string> devices;
  for (int i = 0; i < group.io_max_size(); ++i) {
    const IoLimit& limit = group.io_max(i);
    const config::Path place = path.Field("io_max").At(i);
    CheckBlockDevice(limit.device(), place, devices, problems);
    CheckBytesPerSecond(place.Field("read_bytes"), limit.has_read_bytes(),
                        limit.read_bytes(), problems);
    CheckBytesPerSecond(place.Field("write_bytes"), limit.has_write_bytes(),
                        limit.write_bytes(), problems);
    config::CheckOwnFields(limit, place, nullptr, problems);
  }
}

void CheckCpuTime(const ControlGroup& group, const config::Path& path,
                  config::Problems& problems) {
  if (!group.has_cpu_max()) return;
  const auto cpus = ParseCpuAmount(group.cpu_max());
  if (cpus.ok()) return;
  problems.Add(path.Field("cpu_max"), std::string(cpus.status().message()));
}

// ---- io.cost ----------------------------------------------------------------

void CheckModel(const IoCostModel& model, const config::Path& path,
                config::Problems& problems) {
  config::CheckOwnFields(model, path, nullptr, problems);
  if (model.ByteSizeLong() == 0) problems.Add(path, "is empty; leave it out");
}

void CheckQos(const IoCostQos& qos, const config::Path& path,
              config::Problems& problems) {
  config::CheckOwnFields(qos, path, nullptr, problems);
  if (qos.ByteSizeLong() == 0) problems.Add(path, "is empty; leave it out");
}

void CheckGroupSettings(const ControlGroup& group, const config::Path& path,
                        config::Problems& problems) {
  config::CheckOwnFields(group, path, nullptr, problems);
  CheckCpuTime(group, path, problems);
  CheckMemory(group, path, problems);
  CheckIoLimits(group, path, problems);
  if (!HasSettings(group)) {
    problems.Add(path, "changes nothing; give it a setting");
  }
}

void CheckIoCost(const ControlSet& controls, const config::Path& path,
                 config::Problems& problems) {
  std::set<std::string> devices;
  for (int i = 0; i < controls.io_cost_size(); ++i) {
    const IoCostSettings& settings = controls.io_cost(i);
    const config::Path place = path.Field("io_cost").At(i);
    CheckBlockDevice(settings.device(), place, devices, problems);
    if (settings.has_model()) {
      CheckModel(settings.model(), place.Field("model"), problems);
    }
    if (settings.has_qos()) {
      CheckQos(settings.qos(), place.Field("qos"), problems);
    }
    config::CheckOwnFields(settings, place, nullptr, problems);
  }
}

}  // namespace

void CanonicalizeControlSet(ControlSet& controls) {
  config::CanonicalizeFields(controls);
  for (ControlGroup& group : *controls.mutable_groups()) {
    CanonicalizeGroup(group);
  }
}

void ValidateControlSet(const ControlSet& controls, const config::Path& path,
                        absl::Span<const std::string> services,
                        config::Problems& problems) {
  config::CheckOwnFields(controls, path, nullptr, problems);
  Members members(services, problems);
  for (int i = 0; i < controls.groups_size(); ++i) {
    const ControlGroup& group = controls.groups(i);
    const config::Path place = path.Field("groups").At(i);
    members.Add(group, i, place);
    CheckGroupSettings(group, place, problems);
  }
  CheckIoCost(controls, path, problems);
}

std::vector<std::string> ServiceGlobs::Find(const std::string& glob,
                                            const config::Path& path) {
  if (glob.size() > config::kMaxGlobLength) {
    problems_.Add(path, absl::StrCat("is longer than ", config::kMaxGlobLength,
                                     " bytes; shorten it"));
    return {};
  }
  tried_ += static_cast<int64_t>(services_.size());
  if (tried_ > config::kMaxConditionsTried) {
    problems_.Add(path, absl::StrCat("there are too many names to try each on ",
                                     services_.size(), " services; use fewer"));
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
      absl::StrCat(
          config::IsGlob(glob) ? "no service matches " : "no service is named ",
          config::Quoted(glob), "; ",
          config::Suggestion(WithoutWildcards(glob), services_)));
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
        absl::StrCat(config::Quoted(first), " is in ",
                     DescribeGroup(group_of_first), " and ",
                     config::Quoted(service), " in ", DescribeGroup(group),
                     ", but their protocol, loopback, makes them share a "
                     "process, which is in one group; put both into the same "
                     "group, or use another protocol"));
    return;
  }
}

// ---- Warnings ---------------------------------------------------------------

// 0 if it is not a share.
double PercentOf(const std::string& text) {
  const auto amount = ParseMemoryAmount(text);
  const bool is_share =
      amount.ok() && amount->kind == ControlAmount::Kind::kPercentOfHost;
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
  warnings.Add(path.Field("groups"),
               absl::StrCat("memory_min and memory_low protect ", percent,
                            "% of a host's memory, if one has instances of "
                            "all groups; the kernel then protects each group "
                            "in part. Lower them"));
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
          absl::StrCat("has CPUs ", base::FormatIndexList(outside),
                       ", which cpuset_cpus of its control group leaves out; "
                       "make them agree"));
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
