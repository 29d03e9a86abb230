// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/protection/control_groups/undo.h"

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "distbench/products/protection/control_groups/journal.h"
#include "distbench/products/protection/control_groups/processes.h"
#include "distbench/products/protection/control_groups/settings.h"

namespace distbench::protection {
namespace {

class Undoing {
 public:
  Undoing(GroupFiles& files, absl::Duration patience)
      : files_(files), deadline_(absl::Now() + patience) {}

  // So that all die at the same time.
  void Kill(const JournalRecord& record) {
    if (record.kind == JournalRecord::Kind::kGroup && Exists(record.folder)) {
      KillGroup(record.folder, files_);
    }
  }

  void Undo(const JournalRecord& record) {
    switch (record.kind) {
      case JournalRecord::Kind::kLease:
        return;
      case JournalRecord::Kind::kManager:
        return Expect(LeaveGroup(record.folder, record.before, files_));
      case JournalRecord::Kind::kControllers:
        return StopPassingOn(record);
      case JournalRecord::Kind::kGroup:
        return Expect(
            EndAndRemoveGroup(record.folder, files_, deadline_ - absl::Now()));
      case JournalRecord::Kind::kValue:
        return RestoreValue(record);
    }
  }

  UndoReport Take() && { return std::move(report_); }

 private:
  void Expect(const absl::Status& status) {
    if (!status.ok()) report_.problems.emplace_back(status.message());
  }

  void StopPassingOn(const JournalRecord& record) {
    const std::string file = record.folder + "/cgroup.subtree_control";
    const auto text = files_.Read(file);
    if (absl::IsNotFound(text.status())) return;
    if (!text.ok()) return Expect(text.status());
    const std::set<absl::string_view> passed_on =
        absl::StrSplit(absl::StripAsciiWhitespace(*text), ' ');
    std::vector<std::string> words;
    for (absl::string_view name : absl::StrSplit(record.value, ' ')) {
      if (passed_on.count(name) > 0) words.push_back(absl::StrCat("-", name));
    }
    if (!words.empty()) Expect(files_.Write(file, absl::StrJoin(words, " ")));
  }

  void RestoreValue(const JournalRecord& record) {
    const std::string file = absl::StrCat(record.folder, "/", record.file);
    const auto text = files_.Read(file);
    if (absl::IsNotFound(text.status())) return Note(record, "removed");
    if (!text.ok()) return Expect(text.status());
    // The value may never have been written, or was restored already.
    if (Says(record.file, *text, record.before)) {
      return Note(record, "restored");
    }
    if (!Says(record.file, *text, record.value)) {
      report_.left.push_back(absl::StrCat(
          file, " says \"", RelevantPart(record.file, *text, record.value),
          "\", which this test did not write; it is left so, and was \"",
          record.before, "\" before the test"));
      return Note(record, "left");
    }
    const absl::Status written = files_.Write(file, record.before);
    if (!written.ok()) return Expect(written);
    const auto now = files_.Read(file);
    if (now.ok() && Says(record.file, *now, record.before)) {
      return Note(record, "restored");
    }
    Expect(absl::InternalError(
        absl::StrCat(file, " was not restored: \"", record.before,
                     "\" was written to it, "
                     "and it says \"",
                     now.ok() ? RelevantPart(record.file, *now, record.before)
                              : std::string(now.status().message()),
                     "\"")));
  }

  void Note(const JournalRecord& record, absl::string_view after) {
    report_.values.push_back({.folder = record.folder,
                              .file = record.file,
                              .value = record.value,
                              .after = std::string(after)});
  }

  GroupFiles& files_;
  const absl::Time deadline_;
  UndoReport report_;
};

}  // namespace

UndoReport Undo(absl::Span<const JournalRecord> records, GroupFiles& files,
                absl::Duration patience) {
  Undoing undoing(files, patience);
  for (const JournalRecord& record : records) undoing.Kill(record);
  for (auto record = records.rbegin(); record != records.rend(); ++record) {
    undoing.Undo(*record);
  }
  return std::move(undoing).Take();
}

namespace {

void Append(std::vector<std::string> from, std::vector<std::string>& to) {
  for (std::string& each : from) to.push_back(std::move(each));
}

// The number in the name of a journal, which is when it was created.
absl::string_view CreationTime(absl::string_view path) {
  return path.substr(path.rfind('-') + 1);
}

// The newest first: if an older one could not be undone, the newer ones take
// what it left for the state before.
std::vector<std::string> ListNewestFirst(const std::string& state_folder) {
  std::vector<std::string> paths = ListJournals(state_folder);
  std::sort(paths.begin(), paths.end(), [](const auto& a, const auto& b) {
    return CreationTime(a) > CreationTime(b);
  });
  return paths;
}

std::string RestoredSentence(const UndoneValue& value) {
  return absl::StrCat(value.folder, "/", value.file, " was set to \"",
                      value.value, "\", and is ", value.after);
}

}  // namespace

UndoneJournal UndoJournal(Journal& journal, GroupFiles& files) {
  UndoneJournal undone;
  const auto contents = journal.Read();
  if (!contents.ok()) {
    undone.status = contents.status();
    return undone;
  }
  UndoReport report = Undo(contents->records, files, kUndoPatience);
  for (const UndoneValue& value : report.values) {
    if (value.after != "left") {
      undone.sentences.push_back(RestoredSentence(value));
    }
  }
  Append(std::move(report.left), undone.sentences);
  if (report.problems.empty()) {
    undone.status = journal.Remove();
  } else {
    undone.status = absl::InternalError(absl::StrCat(
        absl::StrJoin(report.problems, "\n"), "\n", journal.path(),
        " has what remains to be undone; the next test with controls, and the "
        "next node manager, try again"));
  }
  return undone;
}

std::vector<std::string> RecoverLocked(const std::string& root,
                                       const std::string& state_folder,
                                       GroupFiles& files) {
  const std::string boot_id = ThisHolder(root).boot_id;
  std::vector<std::string> sentences;
  for (const std::string& path : ListNewestFirst(state_folder)) {
    const std::unique_ptr<Journal> journal = Journal::TakeAbandoned(path);
    if (journal == nullptr) continue;
    const auto contents = journal->Read();
    if (!contents.ok()) {
      sentences.emplace_back(contents.status().message());
      continue;
    }
    if (!contents->holder.has_value() || contents->holder->boot_id != boot_id) {
      // Groups and settings do not outlive a boot, and without a holder nothing
      // was changed.
      const absl::Status removed = journal->Remove();
      if (!removed.ok()) sentences.emplace_back(removed.message());
      continue;
    }
    sentences.push_back(absl::StrCat(contents->holder->ToString(),
                                     " died with control groups of a test; "
                                     "undoing them"));
    UndoneJournal undone = UndoJournal(*journal, files);
    Append(std::move(undone.sentences), sentences);
    if (!undone.status.ok()) sentences.emplace_back(undone.status.message());
  }
  return sentences;
}

std::vector<std::string> RecoverAbandoned(const std::string& root,
                                          const std::string& state_folder,
                                          GroupFiles& files) {
  const std::string folder =
      state_folder.empty() ? StateFolder() : state_folder;
  if (!Exists(folder)) return {};
  absl::Status status = MakeStateFolder(folder);  // checks who may write to it
  if (!status.ok()) return {std::string(status.message())};
  const auto lock = LockStateFolder(folder, kLockPatience);
  if (!lock.ok()) return {std::string(lock.status().message())};
  return RecoverLocked(root, folder, files);
}

}  // namespace distbench::protection
