#include "distbench/config/validate/test_validation.h"

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "distbench/config/problems/suggest.h"

namespace distbench::config {

Path TestValidation::Element(absl::string_view field, const NameIndex& index,
                             int position) const {
  const std::string& name = index.names()[position];
  const Path all = path_.Field(field);
  const bool has_own_name = !name.empty() && index.Find(name) == position;
  return has_own_name ? all.At(name) : all.At(position);
}

int TestValidation::Resolve(const Path& path, absl::string_view kind,
                            const std::string& name,
                            const NameIndex& index) const {
  const int position = name.empty() ? kNone : index.Find(name);
  // Skip the search for suggestions, which is expensive.
  if (position != kNone || problems_.full()) return position;
  if (name.empty()) {
    Add(path, absl::StrCat("is missing; name the ", kind));
  } else {
    Add(path, absl::StrCat("no ", kind, " is named ", Quoted(name), "; ",
                           Suggestion(name, index.names())));
  }
  return kNone;
}

void TestValidation::ResolveOptional(const Path& path, absl::string_view kind,
                                     const std::string& name,
                                     const NameIndex& index) const {
  if (!name.empty()) Resolve(path, kind, name, index);
}

std::optional<TestValidation::ServiceGrid> TestValidation::FindService(
    const std::string& name) const {
  const int position = names_.services.Find(name);
  if (position == kNone) return std::nullopt;
  const ServiceSpec& service = test_.services(position);
  const Grid grid = GridOf(service);
  if (grid.Count() > kMaxInstances) return std::nullopt;
  return ServiceGrid{&service, grid};
}

int64_t TestValidation::InstanceCount() const {
  int64_t total = 0;
  for (const ServiceSpec& service : test_.services()) {
    const int64_t count = GridOf(service).Count();
    if (count > kMaxInstances - total) return kMaxInstances + 1;
    total += count;
  }
  return total;
}

void TestValidation::CheckDistinct(
    const Path& path,
    const google::protobuf::RepeatedPtrField<std::string>& strings) const {
  absl::flat_hash_set<std::string> seen;
  for (int i = 0; i < strings.size(); ++i) {
    if (seen.insert(strings[i]).second) continue;
    Add(path.At(i), absl::StrCat(Quoted(strings[i]),
                                 " is listed more than once; remove one"));
  }
}

}  // namespace distbench::config
