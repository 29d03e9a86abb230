// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/cli/named_files.h"

#include <sys/stat.h>

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "distbench/cli/input.h"
#include "distbench/flags/flags.h"

namespace distbench::cli {
namespace {

// Device and inode of a file, and an empty name. Of a file that there is not
// yet: those of its folder, and its name.
using Identity = std::tuple<dev_t, ino_t, std::string>;

// Nothing if no file can be lost there.
std::optional<Identity> IdentityOf(const std::string& path) {
  // They go on where they are; see results::OutputFile.
  if (path.empty() || path == "/dev/stdout" || path == "/dev/stderr") {
    return std::nullopt;
  }
  struct stat status;
  if (stat(path.c_str(), &status) == 0) {
    if (!S_ISREG(status.st_mode)) return std::nullopt;
    return Identity(status.st_dev, status.st_ino, "");
  }
  const std::filesystem::path file(path);
  const std::filesystem::path folder =
      file.has_parent_path() ? file.parent_path() : ".";
  if (stat(folder.c_str(), &status) != 0) return std::nullopt;
  return Identity(status.st_dev, status.st_ino, file.filename().string());
}

// What is read, by its identity.
using Files = std::map<Identity, flags::NamedFile>;

void AddFile(const flags::NamedFile& file, Files& files) {
  if (const std::optional<Identity> identity = IdentityOf(file.path)) {
    files.emplace(*identity, file);
  }
}

void AddInput(const flags::NamedFile& input, Files& files) {
  if (input.path == "-") return;  // is there already
  const absl::StatusOr<std::vector<std::string>> paths =
      ResultFilesAt(input.path);
  if (!paths.ok()) return;  // as the command will say
  for (const std::string& path : *paths) {
    AddFile({.flag = input.flag, .path = path}, files);
  }
}

absl::Status Refused(const flags::NamedFile& output,
                     const flags::NamedFile& other) {
  return absl::InvalidArgumentError(absl::StrCat(
      output.flag, " ", output.path, " would overwrite ", other.flag, " ",
      other.path, ", which is the same file; name another file"));
}

}  // namespace

absl::Status CheckNamedFiles(CLI::App& command) {
  const std::vector<flags::NamedFile> named = flags::FilesNamedIn(command);
  Files files;
  AddFile({.flag = "standard input", .path = "/dev/stdin"}, files);
  for (const flags::NamedFile& file : named) {
    if (!file.is_output) AddInput(file, files);
  }
  for (const flags::NamedFile& file : named) {
    if (!file.is_output) continue;
    const std::optional<Identity> identity = IdentityOf(file.path);
    if (!identity) continue;
    const auto [other, is_new] = files.emplace(*identity, file);
    if (!is_new) return Refused(file, other->second);
  }
  return absl::OkStatus();
}

}  // namespace distbench::cli
