#include "distbench/config/syntax/words.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "distbench/config/problems/suggest.h"

namespace distbench::config {
namespace {

// gRPC's codes have the numbers of Abseil's; 0 is success.
constexpr int kLastErrorCode = 16;

std::vector<std::string> ErrorCodeNames() {
  std::vector<std::string> names;
  for (int code = 1; code <= kLastErrorCode; ++code) {
    names.push_back(
        absl::StatusCodeToString(static_cast<absl::StatusCode>(code)));
  }
  return names;
}

}  // namespace

absl::Status CheckErrorCode(absl::string_view text) {
  const std::vector<std::string> names = ErrorCodeNames();
  if (std::count(names.begin(), names.end(), text) > 0) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      Quoted(text), " is not the code of an error; ", Suggestion(text, names)));
}

namespace {

template <typename Value>
struct PolicyWord {
  const char* text;
  Value value;
};

template <typename Value>
absl::StatusOr<Value> FindWord(absl::string_view text,
                               absl::Span<const PolicyWord<Value>> words) {
  std::vector<std::string> texts;
  for (const PolicyWord<Value>& word : words) {
    if (word.text == text) return word.value;
    texts.push_back(word.text);
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "there is no ", Quoted(text), "; ", Suggestion(text, texts)));
}

constexpr PolicyWord<LoadBalancing> kLoadBalancing[] = {
    {"round_robin", LoadBalancing::kRoundRobin},
    {"random", LoadBalancing::kRandom},
    {"two_choices", LoadBalancing::kTwoChoices},
    {"least_in_flight", LoadBalancing::kLeastInFlight}};

constexpr PolicyWord<RetryPlan::Jitter> kJitter[] = {
    {"full", RetryPlan::Jitter::kFull},
    {"equal", RetryPlan::Jitter::kEqual},
    {"none", RetryPlan::Jitter::kNone}};

constexpr PolicyWord<ConcurrencyLimitPlan::Kind> kLimitKinds[] = {
    {"fixed", ConcurrencyLimitPlan::Kind::kFixed},
    {"aimd", ConcurrencyLimitPlan::Kind::kAimd},
    {"gradient", ConcurrencyLimitPlan::Kind::kGradient}};

constexpr PolicyWord<bool> kRests[] = {{"cancel", true}, {"ignore", false}};

}  // namespace

absl::StatusOr<LoadBalancing> ParseLoadBalancing(absl::string_view text) {
  return FindWord<LoadBalancing>(text, kLoadBalancing);
}

absl::StatusOr<RetryPlan::Jitter> ParseJitter(absl::string_view text) {
  return FindWord<RetryPlan::Jitter>(text, kJitter);
}

absl::StatusOr<ConcurrencyLimitPlan::Kind> ParseLimitKind(
    absl::string_view text) {
  return FindWord<ConcurrencyLimitPlan::Kind>(text, kLimitKinds);
}

absl::StatusOr<bool> ParseRestOfQuorum(absl::string_view text) {
  return FindWord<bool>(text, kRests);
}

absl::StatusOr<StreamPlan::Start> ParseResponseStart(absl::string_view text) {
  if (text == "on_first_request") return StreamPlan::Start::kOnFirstRequest;
  if (text == "on_last_request") return StreamPlan::Start::kOnLastRequest;
  if (text == "echo") return StreamPlan::Start::kEcho;
  return absl::InvalidArgumentError(
      absl::StrCat(Quoted(text),
                   " is not a way to start; must be \"on_first_request\", "
                   "\"on_last_request\" or \"echo\""));
}

}  // namespace distbench::config
