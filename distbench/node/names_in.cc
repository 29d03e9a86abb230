#include "distbench/node/names_in.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

namespace distbench::node {

std::vector<std::string> NamesIn(const std::string& folder) {
  std::error_code error;
  std::vector<std::string> names;
  for (std::filesystem::directory_iterator entry(folder, error), end;
       !error && entry != end; entry.increment(error)) {
    names.push_back(entry->path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace distbench::node
