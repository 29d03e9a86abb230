#include "distbench/cli/result_input.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "distbench/report/findings/verdict.h"
#include "distbench/results/result_file.h"

namespace distbench {
namespace {

namespace fs = std::filesystem;

absl::StatusOr<std::vector<std::string>> ResultsIn(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string path = entry->path().string();
    if (absl::EndsWith(path, ".pb") || absl::EndsWith(path, ".pb.gz")) {
      files.push_back(path);
    }
  }
  if (error) {
    return absl::UnknownError(
        absl::StrCat("cannot list ", folder, ": ", error.message()));
  }
  if (files.empty()) {
    return absl::NotFoundError(
        absl::StrCat(folder, " holds no results (*.pb or *.pb.gz)"));
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

absl::StatusOr<std::vector<SourcedResults>> ReadResultFiles(
    const std::vector<std::string>& paths) {
  std::vector<SourcedResults> all;
  for (const std::string& path : paths) {
    std::vector<std::string> files = {path};
    std::error_code ignored;
    if (fs::is_directory(path, ignored)) {
      absl::StatusOr<std::vector<std::string>> found = ResultsIn(path);
      if (!found.ok()) return found.status();
      files = *std::move(found);
    }
    for (const std::string& file : files) {
      absl::StatusOr<TestSequenceResults> results = ReadResults(file);
      if (!results.ok()) return results.status();
      all.push_back({file, *std::move(results)});
    }
  }
  return all;
}

int ExitCodeForAll(const std::vector<SourcedResults>& results) {
  int exit_code = kExitOk;
  for (const SourcedResults& sourced : results) {
    exit_code = std::max(exit_code, ExitCodeFor(sourced.results));
    for (const SearchReport& search : sourced.results.searches()) {
      if (search.verdict() == "invalid") exit_code = kExitRunFailed;
    }
  }
  return exit_code;
}

}  // namespace distbench
