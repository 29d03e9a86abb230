#include "distbench/products/protection/control_groups/recovery.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "distbench/products/protection/control_groups/journal.h"
#include "distbench/products/protection/control_groups/state_folder.h"
#include "distbench/products/protection/control_groups/undo.h"

namespace distbench::protection {
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
