#include "distbench/fuzzing/kept_corpus.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace distbench {

std::vector<std::string> KeptCorpus(absl::string_view name) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(
           absl::StrCat("tests/corpus/", name))) {
    paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<std::string> inputs;
  for (const std::filesystem::path& path : paths) {
    std::ifstream file(path, std::ios::binary);
    EXPECT_TRUE(file) << path;
    inputs.emplace_back(std::istreambuf_iterator<char>(file),
                        std::istreambuf_iterator<char>());
  }
  EXPECT_FALSE(inputs.empty()) << "no inputs for " << std::string(name);
  return inputs;
}

}  // namespace distbench
