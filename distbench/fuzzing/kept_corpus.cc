// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/fuzzing/kept_corpus.h"

#include <algorithm>
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "distbench/base/files.h"
#include "gtest/gtest.h"

namespace distbench::fuzzing {

std::vector<std::string> KeptCorpus(absl::string_view name) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(
           absl::StrCat("tests/corpus/", name))) {
    paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<std::string> inputs;
  for (const std::filesystem::path& path : paths) {
    inputs.push_back(base::ReadFile(path).value());
  }
  EXPECT_FALSE(inputs.empty()) << "no inputs for " << std::string(name);
  return inputs;
}

}  // namespace distbench::fuzzing
