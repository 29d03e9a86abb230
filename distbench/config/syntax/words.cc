#include "distbench/config/syntax/words.h"

#include <algorithm>
#include <optional>
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
struct KnownWord {
  const char* text;
  Value value;
};

template <typename Value>
std::optional<Value> FindWord(absl::string_view text,
                              absl::Span<const KnownWord<Value>> words) {
  for (const KnownWord<Value>& word : words) {
    if (word.text == text) return word.value;
  }
  return std::nullopt;
}

constexpr KnownWord<LoadBalancing> kLoadBalancing[] = {
    {"round_robin", LoadBalancing::kRoundRobin},
    {"random", LoadBalancing::kRandom},
    {"two_choices", LoadBalancing::kTwoChoices},
    {"least_in_flight", LoadBalancing::kLeastInFlight}};

constexpr KnownWord<RetryPlan::Jitter> kJitter[] = {
    {"full", RetryPlan::Jitter::kFull},
    {"equal", RetryPlan::Jitter::kEqual},
    {"none", RetryPlan::Jitter::kNone}};

constexpr KnownWord<ConcurrencyLimitPlan::Kind> kLimitKinds[] = {
    {"fixed", ConcurrencyLimitPlan::Kind::kFixed},
    {"aimd", ConcurrencyLimitPlan::Kind::kAimd},
    {"gradient", ConcurrencyLimitPlan::Kind::kGradient}};

constexpr KnownWord<bool> kRests[] = {{"cancel", true}, {"ignore", false}};

constexpr KnownWord<StreamPlan::Start> kStarts[] = {
    {"on_first_request", StreamPlan::Start::kOnFirstRequest},
    {"on_last_request", StreamPlan::Start::kOnLastRequest},
    {"echo", StreamPlan::Start::kEcho}};

}  // namespace

std::optional<LoadBalancing> ParseLoadBalancing(absl::string_view text) {
  return FindWord<LoadBalancing>(text, kLoadBalancing);
}

std::optional<RetryPlan::Jitter> ParseJitter(absl::string_view text) {
  return FindWord<RetryPlan::Jitter>(text, kJitter);
}

std::optional<ConcurrencyLimitPlan::Kind> ParseLimitKind(
    absl::string_view text) {
  return FindWord<ConcurrencyLimitPlan::Kind>(text, kLimitKinds);
}

std::optional<bool> ParseRestOfQuorum(absl::string_view text) {
  return FindWord<bool>(text, kRests);
}

std::optional<StreamPlan::Start> ParseResponseStart(absl::string_view text) {
  return FindWord<StreamPlan::Start>(text, kStarts);
}

}  // namespace distbench::config
