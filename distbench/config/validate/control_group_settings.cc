#include "distbench/config/validate/control_group_settings.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "distbench/base/index_list.h"
#include "distbench/config/problems/suggest.h"
#include "distbench/config/syntax/control_amounts.h"
#include "distbench/config/syntax/quantity.h"

namespace distbench::config {
namespace {

// The kernel's range of cpu.weight and io.weight.
constexpr int64_t kMaxWeight = 10'000;

constexpr int64_t kMaxCount = std::numeric_limits<int64_t>::max();

const std::vector<std::string>& PriorityClasses() {
  static const auto* const classes = new std::vector<std::string>{
      "no-change", "promote-to-rt", "restrict-to-be", "idle"};
  return *classes;
}

// ---- Groups -----------------------------------------------------------------

void CheckList(const Path& path, bool is_present, const std::string& list,
               Problems& problems) {
  if (!is_present) return;
  const absl::StatusOr<base::IndexSet> indices = base::ParseIndexList(list);
  if (!indices.ok()) {
    problems.Add(path, std::string(indices.status().message()));
  } else if (indices->empty()) {
    problems.Add(path,
                 "is an empty list; leave it out, or write one such as 0-3,8");
  }
}

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
void CheckOrder(const std::vector<NamedAmount>& ascending, const Path& path,
                Problems& problems) {
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

void CheckMemory(const ControlGroup& group, const Path& path,
                 Problems& problems) {
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
void CheckBlockDevice(const std::string& device, const Path& path,
                      std::set<std::string>& devices, Problems& problems) {
  const Path place = path.Field("device");
  if (device.empty()) {
    problems.Add(place, "is missing; name the block device, as `lsblk` does");
  } else if (!IsBlockDevice(device)) {
    problems.Add(place, absl::StrCat(Quoted(device),
                                     " cannot be a block device; write its "
                                     "name such as nvme0n1, or its numbers "
                                     "such as 259:0"));
  } else if (!devices.insert(device).second) {
    problems.Add(place, absl::StrCat(Quoted(device),
                                     " is listed more than once; make the "
                                     "entries one"));
  }
}

void CheckBytesPerSecond(const Path& path, bool is_present,
                         const std::string& text, Problems& problems) {
  if (!is_present) return;
  const absl::StatusOr<int64_t> bytes = ParseSizeWithUnit(text);
  if (!bytes.ok()) {
    problems.Add(path, std::string(bytes.status().message()));
  } else if (*bytes == 0) {
    problems.Add(path, absl::StrCat(Quoted(text),
                                    " would stop the device; must be above 0"));
  }
}

void CheckIoLimits(const ControlGroup& group, const Path& path,
                   Problems& problems) {
  std::set<std::string> devices;
  for (int i = 0; i < group.io_max_size(); ++i) {
    const IoLimit& limit = group.io_max(i);
    const Path place = path.Field("io_max").At(i);
    CheckBlockDevice(limit.device(), place, devices, problems);
    CheckBytesPerSecond(place.Field("read_bytes"), limit.has_read_bytes(),
                        limit.read_bytes(), problems);
    CheckBytesPerSecond(place.Field("write_bytes"), limit.has_write_bytes(),
                        limit.write_bytes(), problems);
    if (limit.has_read_operations()) {
      CheckRange(place.Field("read_operations"), limit.read_operations(), 1,
                 kMaxCount, problems);
    }
    if (limit.has_write_operations()) {
      CheckRange(place.Field("write_operations"), limit.write_operations(), 1,
                 kMaxCount, problems);
    }
    if (limit.has_read_bytes() || limit.has_write_bytes() ||
        limit.has_read_operations() || limit.has_write_operations()) {
      continue;
    }
    problems.Add(place,
                 "limits nothing; give read_bytes, write_bytes, "
                 "read_operations or write_operations");
  }
}

bool HasSettings(ControlGroup group) {
  group.clear_services();
  group.clear_everything_else();
  return group.ByteSizeLong() > 0;
}

void CheckIoPriority(const ControlGroup& group, const Path& path,
                     Problems& problems) {
  const std::string& chosen = group.io_priority_class();
  if (!group.has_io_priority_class() ||
      absl::c_linear_search(PriorityClasses(), chosen)) {
    return;
  }
  problems.Add(path.Field("io_priority_class"),
               absl::StrCat(Quoted(chosen), " is not a class; ",
                            Suggestion(chosen, PriorityClasses())));
}

void CheckCpu(const ControlGroup& group, const Path& path, Problems& problems) {
  if (group.has_cpu_weight()) {
    CheckRange(path.Field("cpu_weight"), group.cpu_weight(), 1, kMaxWeight,
               problems);
  }
  if (group.has_cpu_max()) {
    const auto cpus = ParseCpuAmount(group.cpu_max());
    if (!cpus.ok()) {
      problems.Add(path.Field("cpu_max"), std::string(cpus.status().message()));
    }
  }
  CheckList(path.Field("cpuset_cpus"), group.has_cpuset_cpus(),
            group.cpuset_cpus(), problems);
  CheckList(path.Field("cpuset_mems"), group.has_cpuset_mems(),
            group.cpuset_mems(), problems);
}

// ---- io.cost ----------------------------------------------------------------

// The kernel's range of the scaling of a device's rate, in percent.
constexpr double kMinScaling = 1;
constexpr double kMaxScaling = 10'000;

constexpr int64_t kMaxLatencyUs = 1'000'000'000;

void CheckBetween(const Path& path, bool is_present, double value,
                  double minimum, double maximum, Problems& problems) {
  // Written so that NaN is out of range.
  if (!is_present || (value >= minimum && value <= maximum)) return;
  problems.Add(path, absl::StrCat(value, " is out of range; must be from ",
                                  minimum, " to ", maximum));
}

void CheckModel(const IoCostModel& model, const Path& path,
                Problems& problems) {
  const auto check = [&](const char* field, bool is_present, int64_t value) {
    if (is_present)
      CheckRange(path.Field(field), value, 1, kMaxCount, problems);
  };
  check("rbps", model.has_rbps(), model.rbps());
  check("rseqiops", model.has_rseqiops(), model.rseqiops());
  check("rrandiops", model.has_rrandiops(), model.rrandiops());
  check("wbps", model.has_wbps(), model.wbps());
  check("wseqiops", model.has_wseqiops(), model.wseqiops());
  check("wrandiops", model.has_wrandiops(), model.wrandiops());
  if (model.ByteSizeLong() == 0) problems.Add(path, "is empty; leave it out");
}

void CheckQos(const IoCostQos& qos, const Path& path, Problems& problems) {
  CheckBetween(path.Field("rpct"), qos.has_rpct(), qos.rpct(), 0, 100,
               problems);
  CheckBetween(path.Field("wpct"), qos.has_wpct(), qos.wpct(), 0, 100,
               problems);
  CheckBetween(path.Field("min"), qos.has_min(), qos.min(), kMinScaling,
               kMaxScaling, problems);
  CheckBetween(path.Field("max"), qos.has_max(), qos.max(), kMinScaling,
               kMaxScaling, problems);
  if (qos.has_rlat()) {
    CheckRange(path.Field("rlat"), qos.rlat(), 0, kMaxLatencyUs, problems);
  }
  if (qos.has_wlat()) {
    CheckRange(path.Field("wlat"), qos.wlat(), 0, kMaxLatencyUs, problems);
  }
  if (qos.has_min() && qos.has_max() && qos.min() > qos.max()) {
    problems.Add(path.Field("min"), absl::StrCat(qos.min(), " is above max, ",
                                                 qos.max(), "; exchange them"));
  }
  if (qos.ByteSizeLong() == 0) problems.Add(path, "is empty; leave it out");
}

}  // namespace

void CheckGroupSettings(const ControlGroup& group, const Path& path,
                        Problems& problems) {
  CheckCpu(group, path, problems);
  CheckMemory(group, path, problems);
  if (group.has_io_weight()) {
    CheckRange(path.Field("io_weight"), group.io_weight(), 1, kMaxWeight,
               problems);
  }
  CheckIoLimits(group, path, problems);
  CheckIoPriority(group, path, problems);
  if (!HasSettings(group)) {
    problems.Add(path, "changes nothing; give it a setting");
  }
}

void CheckIoCost(const ControlSet& controls, const Path& path,
                 Problems& problems) {
  std::set<std::string> devices;
  for (int i = 0; i < controls.io_cost_size(); ++i) {
    const IoCostSettings& settings = controls.io_cost(i);
    const Path place = path.Field("io_cost").At(i);
    CheckBlockDevice(settings.device(), place, devices, problems);
    if (settings.has_model()) {
      CheckModel(settings.model(), place.Field("model"), problems);
    }
    if (settings.has_qos()) {
      CheckQos(settings.qos(), place.Field("qos"), problems);
    }
    if (!settings.has_enable() && !settings.has_model() &&
        !settings.has_qos()) {
      problems.Add(place, "changes nothing; give it enable, model or qos");
    }
  }
}

}  // namespace distbench::config
