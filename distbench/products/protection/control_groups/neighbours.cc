#include "distbench/products/protection/control_groups/neighbours.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace distbench::protection {
namespace {

// What all groups of ours begin with.
constexpr char kOwnPrefix[] = "distbench.";

absl::Status AddChildren(const GroupHierarchy& hierarchy,
                         const std::string& parent, const std::string& without,
                         const GroupFiles& files,
                         std::vector<std::string>& paths) {
  const auto names = files.Children(hierarchy.Folder(parent));
  if (!names.ok()) return names.status();
  for (const std::string& name : *names) {
    if (name == without) continue;
    paths.push_back(absl::StrCat(parent == "/" ? "" : parent, "/", name));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<std::string>> NeighbourPaths(
    const GroupHierarchy& hierarchy, const GroupFiles& files) {
  std::vector<std::string> paths;
  std::string path = hierarchy.delegated_path;
  if (path == "/") {
    absl::Status status = AddChildren(hierarchy, "/", "", files, paths);
    if (!status.ok()) return status;
    std::erase_if(paths, [](const std::string& child) {
      return absl::StartsWith(child, absl::StrCat("/", kOwnPrefix));
    });
    return paths;
  }
  while (path != "/") {
    const size_t slash = path.rfind('/');
    const std::string parent = slash == 0 ? "/" : path.substr(0, slash);
    absl::Status status =
        AddChildren(hierarchy, parent, path.substr(slash + 1), files, paths);
    if (!status.ok()) return status;
    path = parent;
  }
  return paths;
}

}  // namespace distbench::protection
