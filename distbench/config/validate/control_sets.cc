#include "distbench/config/validate/control_sets.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "distbench/base/index_list.h"
#include "distbench/config/problems/suggest.h"
#include "distbench/config/syntax/constraints.h"
#include "distbench/config/syntax/control_amounts.h"
#include "distbench/config/syntax/quantity.h"
#include "distbench/config/validate/control_group_settings.h"
#include "distbench/config/validate/test_validation.h"

namespace distbench::config {
namespace {

// ---- Canonical form ---------------------------------------------------------

void CanonicalizeMemory(std::string& text) {
  const auto amount = ParseMemoryAmount(text);
  if (amount.ok()) text = FormatMemoryAmount(*amount);
}

void CanonicalizeSize(std::string& text) {
  const auto bytes = ParseSizeWithUnit(text);
  if (bytes.ok()) text = FormatSizeWithUnit(*bytes);
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

bool IsName(const std::string& name) {
  return absl::c_all_of(name, [](unsigned char c) {
    return absl::ascii_isalnum(c) || c == '_' || c == '-' || c == '.';
  });
}

void CheckName(const ControlSet& controls, const Path& path,
               Problems& problems) {
  const std::string& name = controls.name();
  if (name.size() > kMaxNameLength) {
    problems.Add(path.Field("name"),
                 absl::StrCat("is longer than ", kMaxNameLength,
                              " characters; shorten it"));
  } else if (!IsName(name)) {
    problems.Add(path.Field("name"),
                 absl::StrCat(Quoted(name),
                              " has characters that no name of controls may "
                              "have; use letters, digits, '_', '-' and '.'"));
  }
}

std::string WithoutWildcards(std::string glob) {
  glob.erase(std::remove_if(glob.begin(), glob.end(),
                            [](char c) { return c == '*' || c == '?'; }),
             glob.end());
  return glob;
}

// Attributes services to the groups of one set.
class Members {
 public:
  Members(absl::Span<const std::string> services, Problems& problems)
      : services_(services), problems_(problems) {}

  void Add(const ControlGroup& group, int number, const Path& path) {
    if (group.everything_else() == !group.services().empty()) {
      problems_.Add(path, group.everything_else()
                              ? "has both services and everything_else; give "
                                "one, and a group of its own to the other"
                              : "is for nothing; give it services, or "
                                "everything_else: true");
    }
    if (group.everything_else()) AddEverythingElse(number, path);
    for (int i = 0; i < group.services_size(); ++i) {
      AddServices(group.services(i), number, path.Field("services").At(i));
    }
  }

 private:
  void AddEverythingElse(int number, const Path& path) {
    if (everything_else_ == kNone) {
      everything_else_ = number;
      return;
    }
    problems_.Add(path.Field("everything_else"),
                  absl::StrCat("groups[", everything_else_,
                               "] is for everything else, too; make them one"));
  }

  void AddServices(const std::string& glob, int number, const Path& path) {
    if (glob.size() > kMaxGlobLength) {
      problems_.Add(path, absl::StrCat("is longer than ", kMaxGlobLength,
                                       " bytes; shorten it"));
      return;
    }
    tried_ += static_cast<int64_t>(services_.size());
    if (tried_ > kMaxConditionsTried) {
      problems_.Add(path,
                    absl::StrCat("there are too many names to try each "
                                 "on ",
                                 services_.size(), " services; use fewer"));
      return;
    }
    bool is_used = false;
    for (const std::string& service : services_) {
      if (service.size() > kMaxNameLength || !GlobMatches(glob, service)) {
        continue;
      }
      is_used = true;
      AddService(service, number, path);
    }
    if (is_used || problems_.full()) return;
    problems_.Add(
        path,
        absl::StrCat(
            IsGlob(glob) ? "no service matches " : "no service is named ",
            Quoted(glob), "; ", Suggestion(WithoutWildcards(glob), services_)));
  }

  void AddService(const std::string& service, int number, const Path& path) {
    const auto [it, is_new] = group_of_.emplace(service, number);
    if (is_new) return;
    problems_.Add(path,
                  it->second == number
                      ? absl::StrCat(Quoted(service),
                                     " is already in this group; name it once")
                      : absl::StrCat(Quoted(service), " is already in groups[",
                                     it->second,
                                     "]; an instance runs in one group only"));
  }

  const absl::Span<const std::string> services_;
  Problems& problems_;
  std::map<std::string, int> group_of_;
  int everything_else_ = kNone;
  int64_t tried_ = 0;
};

}  // namespace

void CanonicalizeControlSet(ControlSet& controls) {
  if (controls.name().empty()) controls.clear_name();
  for (ControlGroup& group : *controls.mutable_groups()) {
    CanonicalizeGroup(group);
  }
}

void ValidateControlSet(const ControlSet& controls, const Path& path,
                        absl::Span<const std::string> services,
                        Problems& problems) {
  CheckName(controls, path, problems);
  Members members(services, problems);
  for (int i = 0; i < controls.groups_size(); ++i) {
    const ControlGroup& group = controls.groups(i);
    const Path place = path.Field("groups").At(i);
    members.Add(group, i, place);
    CheckGroupSettings(group, place, problems);
  }
  CheckIoCost(controls, path, problems);
}

}  // namespace distbench::config
