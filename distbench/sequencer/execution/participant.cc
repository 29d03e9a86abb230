#include "distbench/sequencer/execution/participant.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace distbench {

absl::string_view DeedOf(Step step) {
  switch (step) {
    case Step::kPrepare:
      return "prepare its instances";
    case Step::kConnect:
      return "connect its instances to their peers";
    case Step::kStart:
      return "start its traffic";
    case Step::kTraffic:
      return "end its traffic";
    case Step::kCollect:
      return "hand over its results";
    case Step::kRelease:
      return "get ready for the next test";
  }
  return "";
}

absl::string_view WhenIs(Step step) {
  switch (step) {
    case Step::kPrepare:
      return "while the test was prepared";
    case Step::kConnect:
      return "while the instances were connected";
    case Step::kStart:
      return "while the traffic was started";
    case Step::kTraffic:
      return "during the traffic";
    case Step::kCollect:
      return "while results were collected";
    case Step::kRelease:
      return "at the end of the test";
  }
  return "";
}

std::string Participant::Name() const {
  return absl::StrCat(share.node->alias(), " (host ",
                      share.node->registration().hostname(), ")");
}

std::string JoinNames(const std::vector<std::string>& names) {
  constexpr int kMaxListed = 10;
  const int listed = std::min<int>(names.size(), kMaxListed);
  std::string joined =
      absl::StrJoin(names.begin(), names.begin() + listed, ", ");
  if (listed < names.size()) {
    absl::StrAppend(&joined, " and ", names.size() - listed, " more");
  }
  return joined;
}

std::string WhoAwaits(Step step, const std::vector<Participant>& participants) {
  std::vector<std::string> names;
  for (const Participant& participant : participants) {
    if (participant.Awaits(step)) names.push_back(participant.Name());
  }
  return JoinNames(names);
}

std::string LateMessage(Step step, absl::Duration timeout,
                        const std::vector<Participant>& participants) {
  return absl::StrCat(WhoAwaits(step, participants), " did not ", DeedOf(step),
                      " within ", absl::FormatDuration(timeout));
}

int CountAwaiting(Step step, const std::vector<Participant>& participants) {
  return std::count_if(participants.begin(), participants.end(),
                       [step](const Participant& p) { return p.Awaits(step); });
}

bool AllAreLocal(const std::vector<Participant>& participants) {
  return std::all_of(
      participants.begin(), participants.end(),
      [](const Participant& p) { return p.share.node->is_local(); });
}

Participant* FindParticipant(const NodeHandle* node,
                             std::vector<Participant>& participants) {
  const auto it = std::find_if(
      participants.begin(), participants.end(),
      [node](const Participant& p) { return p.share.node.get() == node; });
  return it == participants.end() ? nullptr : &*it;
}

}  // namespace distbench
