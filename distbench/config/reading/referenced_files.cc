// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/config/reading/referenced_files.h"

#include <algorithm>
#include <utility>

#include "absl/status/statusor.h"
#include "distbench/base/files.h"
#include "distbench/base/plugins.h"
#include "distbench/config/plan/test_names.h"
#include "distbench/config/problems/suggest.h"
#include "distbench/config/rules/field_rules.h"
#include "distbench/config/validate/language_part.h"

namespace distbench::config {
namespace {

// Whether a path may lead out of the folder of its config. What somebody else
// has written must not make its reader send away any file.
bool LeavesFolder(const std::filesystem::path& file) {
  return file.is_absolute() ||
         std::find(file.begin(), file.end(), "..") != file.end();
}

// Reads the files of an action's arrivals, which are at `path`.
void ReadArrivals(const Path& path, Arrivals& arrivals, FileReader& files) {
  if (arrivals.recorded().has_file()) {
    files.Fill(path.Field("recorded"), "file", arrivals.recorded().file(),
               *arrivals.mutable_recorded()->mutable_times());
  }
  // Further ones are reported, and not read.
  for (int i = 0; i < arrivals.superposed_size(); ++i) {
    if (!arrivals.superposed(i).recorded().has_file()) continue;
    RecordedArrivals& recorded =
        *arrivals.mutable_superposed(i)->mutable_recorded();
    files.Fill(path.Field("superposed").At(i).Field("recorded"), "file",
               recorded.file(), *recorded.mutable_times());
  }
}

void ReadFiles(const Path& path, DistributedSystemDescription& test,
               FileReader& files) {
  for (const auto& [name, part] : base::Plugins<LanguagePart>::All()) {
    part->ReadFiles(path, test, files);
  }
  const NameIndex names(test.actions());
  for (int i = 0; i < test.actions_size(); ++i) {
    Action& action = *test.mutable_actions(i);
    if (!action.iterations().has_arrivals()) continue;
    ReadArrivals(ElementPath(path.Field("actions"), names, i)
                     .Field("iterations")
                     .Field("arrivals"),
                 *action.mutable_iterations()->mutable_arrivals(), files);
  }
}

}  // namespace

FileReader::FileReader(const std::string& config, Problems& problems)
    : folder_(std::filesystem::path(config).parent_path()),
      problems_(problems) {}

void FileReader::Fill(const Path& path, const char* field,
                      const std::string& file, std::string& content) {
  if (!content.empty()) return;
  if (file.empty() || file == "-") {
    problems_.Add(path.Field(field), "names no file; write its path");
    return;
  }
  if (LeavesFolder(file)) {
    problems_.Add(path.Field(field), Quoted(file),
                  " is outside of the folder of the config, which must not "
                  "name any file of a host; copy it there, or link to it from "
                  "there");
    return;
  }
  absl::StatusOr<std::string> read =
      base::ReadFile((folder_ / file).string(), kMaxReferencedBytes);
  if (read.ok()) {
    content = *std::move(read);
  } else {
    problems_.Add(path.Field(field), read.status().message());
  }
}

std::vector<Problem> ReadReferencedFiles(const std::string& config,
                                         TestSequence& sequence) {
  Problems problems;
  FileReader files(config, problems);
  for (int i = 0; i < sequence.tests_size(); ++i) {
    ReadFiles(Path("tests").At(i), *sequence.mutable_tests(i), files);
  }
  return std::move(problems).Take();
}

}  // namespace distbench::config
