#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>

#include "absl/strings/str_cat.h"
#include "distbench/config/syntax/fanout_filter.h"
#include "distbench/config/syntax/words.h"
#include "distbench/config/validate/quantities.h"
#include "distbench/config/validate/validators.h"

namespace distbench::config {
namespace {

constexpr int64_t kMinAttempts = 2;
constexpr int64_t kMaxAttempts = 100;
constexpr int64_t kMaxLimit = 1'000'000;
constexpr double kMaxMultiplier = 1000;
constexpr double kMaxPerSecond = 1e9;

class PolicyValidation {
 public:
  PolicyValidation(const TestValidation& validation, const Path& rpc_path,
                   const RpcSpec& rpc)
      : validation_(validation),
        rpc_(rpc),
        policy_(rpc.policy()),
        path_(rpc_path.Field("policy")) {}

  void Validate() const {
    CheckUnits(policy_, path_);
    if (policy_.has_attempt_deadline_ns()) {
      CheckTime(path_, "attempt_deadline_ns", policy_.attempt_deadline_ns(), 1);
    }
    if (rpc_.has_stream()) {
      validation_.Add(path_,
                      "does not go together with stream; remove one of them");
    }
    if (policy_.has_load_balancing()) CheckLoadBalancing();
    if (policy_.has_retry()) CheckRetry(path_.Field("retry"), policy_.retry());
    if (policy_.has_hedging()) {
      CheckHedging(path_.Field("hedging"), policy_.hedging());
    }
    if (policy_.has_retry() && policy_.has_hedging()) {
      validation_.Add(path_, "has both retry and hedging; give one");
    }
    if (policy_.has_quorum()) CheckQuorum();
    if (policy_.has_circuit_breaker()) {
      CheckCircuitBreaker(path_.Field("circuit_breaker"),
                          policy_.circuit_breaker());
    }
    if (policy_.has_concurrency_limit()) {
      CheckLimit(path_.Field("concurrency_limit"), policy_.concurrency_limit());
    }
  }

 private:
  void CheckUnits(const google::protobuf::Message& message,
                  const Path& path) const {
    CheckQuantities(message, path, validation_.problems());
  }

  void CheckTime(const Path& path, const char* field, int64_t value_ns,
                 int64_t minimum_ns) const {
    validation_.CheckRange(path.Field(field), value_ns, minimum_ns, kMaxTimeNs);
  }

  // Also refuses numbers that are not finite.
  void CheckNumber(const Path& path, double value, bool is_right,
                   const char* right) const {
    if (is_right) return;
    validation_.Add(path,
                    absl::StrCat(value, " is out of range; must be ", right));
  }

  template <typename Word>
  void CheckWord(const Path& path, const absl::StatusOr<Word>& word) const {
    if (!word.ok()) validation_.Add(path, std::string(word.status().message()));
  }

  void CheckLoadBalancing() const {
    const Path path = path_.Field("load_balancing");
    CheckWord(path, ParseLoadBalancing(policy_.load_balancing()));
    const auto refuse = [&](const char* field) {
      validation_.Add(path, absl::StrCat("does not go together with ", field,
                                         ", which chooses servers, too; remove "
                                         "one of them"));
    };
    if (rpc_.fanout_filter() != "all") refuse("fanout_filter");
    if (!rpc_.multi_server_channel_name().empty()) {
      refuse("multi_server_channel_name");
    }
    if (policy_.has_quorum()) {
      validation_.Add(path,
                      "sends one request in each iteration, of which a quorum "
                      "can need no part; remove load_balancing or quorum");
    }
  }

  void CheckRetry(const Path& path, const RetryPolicy& retry) const {
    CheckUnits(retry, path);
    validation_.CheckRange(path.Field("max_attempts"), retry.max_attempts(),
                           kMinAttempts, kMaxAttempts);
    const RetryPlan defaults;
    const int64_t initial_ns = retry.has_initial_backoff_ns()
                                   ? retry.initial_backoff_ns()
                                   : defaults.initial_backoff_ns;
    const int64_t max_ns = retry.has_max_backoff_ns() ? retry.max_backoff_ns()
                                                      : defaults.max_backoff_ns;
    CheckTime(path, "initial_backoff_ns", initial_ns, 0);
    CheckTime(path, "max_backoff_ns", max_ns, 0);
    if (initial_ns > max_ns) {
      validation_.Add(
          path.Field("initial_backoff"),
          absl::StrCat(initial_ns, " ns is above max_backoff, ", max_ns,
                       " ns; lower it or raise max_backoff"));
    }
    CheckNumber(path.Field("multiplier"), retry.multiplier(),
                retry.multiplier() >= 1 && retry.multiplier() <= kMaxMultiplier,
                "from 1 to 1000");
    CheckWord(path.Field("jitter"), ParseJitter(retry.jitter()));
    CheckCodes(path.Field("codes"), retry);
    if (retry.has_budget()) CheckBudget(path.Field("budget"), retry.budget());
  }

  void CheckCodes(const Path& path, const RetryPolicy& retry) const {
    for (int i = 0; i < retry.codes_size(); ++i) {
      const absl::Status status = CheckErrorCode(retry.codes(i));
      if (!status.ok()) {
        validation_.Add(path.At(i), std::string(status.message()));
      }
    }
    validation_.CheckDistinct(path, retry.codes());
  }

  void CheckBudget(const Path& path, const RetryBudget& budget) const {
    CheckUnits(budget, path);
    CheckNumber(path.Field("ratio"), budget.ratio(),
                budget.ratio() >= 0 && budget.ratio() <= kMaxAttempts,
                "from 0 to 100");
    CheckNumber(path.Field("min_per_second"), budget.min_per_second(),
                budget.min_per_second() >= 0 &&
                    budget.min_per_second() <= kMaxPerSecond,
                "from 0 to 1e9");
    if (budget.has_window_ns()) {
      CheckTime(path, "window_ns", budget.window_ns(), 1);
    }
  }

  void CheckHedging(const Path& path, const HedgingPolicy& hedging) const {
    CheckUnits(hedging, path);
    validation_.CheckRange(path.Field("max_attempts"), hedging.max_attempts(),
                           kMinAttempts, kMaxAttempts);
    if (hedging.has_delay_ns()) {
      CheckTime(path, "delay_ns", hedging.delay_ns(), 0);
    }
    if (hedging.has_percentile()) {
      CheckNumber(path.Field("percentile"), hedging.percentile(),
                  hedging.percentile() > 0 && hedging.percentile() < 100,
                  "above 0 and below 100");
    }
    // A delay that is left as text is wrong, which was reported.
    const bool has_delay = hedging.has_delay_ns() || hedging.has_delay();
    if (has_delay == hedging.has_percentile()) {
      validation_.Add(path, has_delay
                                ? "has both delay and percentile; give one"
                                : "has no time between attempts; give delay "
                                  "or percentile");
    }
    if (hedging.has_budget()) {
      CheckBudget(path.Field("budget"), hedging.budget());
    }
  }

  void CheckQuorum() const {
    const Path path = path_.Field("quorum");
    const QuorumPolicy& quorum = policy_.quorum();
    CheckWord(path.Field("rest"), ParseRestOfQuorum(quorum.rest()));
    const Path answers = path.Field("answers");
    if (!quorum.has_answers()) {
      validation_.Add(answers,
                      "is missing; give the number of answers that are needed");
      return;
    }
    if (quorum.answers() < 1) {
      validation_.CheckRange(answers, quorum.answers(), 1,
                             std::numeric_limits<int32_t>::max());
      return;
    }
    const int64_t targets = FewestTargets();
    if (quorum.answers() <= targets) return;
    validation_.Add(answers,
                    absl::StrCat(quorum.answers(),
                                 " answers are more than an iteration "
                                 "can get; it may have only ",
                                 targets, " target", targets == 1 ? "" : "s"));
  }

  // The targets of an iteration that has any, as far as they are known.
  int64_t FewestTargets() const {
    if (!rpc_.multi_server_channel_name().empty()) return 1;
    const auto server = validation_.FindService(rpc_.server());
    const auto fanout = ParseFanoutFilter(rpc_.fanout_filter());
    if (!server.has_value() || !fanout.ok()) {  // reported elsewhere
      return std::numeric_limits<int64_t>::max();
    }
    const bool among_peers =
        std::find(rpc_.client().begin(), rpc_.client().end(), rpc_.server()) !=
        rpc_.client().end();
    Grid peers = server->grid;
    for (const int axis : fanout->axes) peers.sizes[axis] = 1;
    int64_t targets = peers.Count() - (among_peers ? 1 : 0);
    switch (fanout->kind) {
      case FanoutPlan::Kind::kAll:
      case FanoutPlan::Kind::kSameCoordinates:
        break;
      case FanoutPlan::Kind::kStochastic:
        for (const FanoutPlan::Choice& choice : fanout->choices) {
          if (choice.target_count == 0) continue;
          targets = std::min<int64_t>(targets, choice.target_count);
        }
        break;
      default:
        targets = std::min<int64_t>(targets, 1);
    }
    return targets;
  }

  void CheckCircuitBreaker(const Path& path,
                           const CircuitBreakerPolicy& breaker) const {
    CheckUnits(breaker, path);
    CheckNumber(path.Field("failure_ratio"), breaker.failure_ratio(),
                breaker.failure_ratio() > 0 && breaker.failure_ratio() <= 1,
                "above 0 and at most 1");
    validation_.CheckRange(path.Field("min_attempts"), breaker.min_attempts(),
                           1, std::numeric_limits<int32_t>::max());
    if (breaker.has_window_ns()) {
      CheckTime(path, "window_ns", breaker.window_ns(), 1);
    }
    if (breaker.has_open_ns()) CheckTime(path, "open_ns", breaker.open_ns(), 1);
  }

  void CheckLimit(const Path& path, const ConcurrencyLimitPolicy& limit) const {
    validation_.CheckRange(path.Field("limit"), limit.limit(), 1, kMaxLimit);
    validation_.CheckRange(path.Field("min_limit"), limit.min_limit(), 1,
                           kMaxLimit);
    validation_.CheckRange(path.Field("max_limit"), limit.max_limit(), 1,
                           kMaxLimit);
    CheckNumber(path.Field("backoff_ratio"), limit.backoff_ratio(),
                limit.backoff_ratio() > 0 && limit.backoff_ratio() < 1,
                "above 0 and below 1");
    const auto kind = ParseLimitKind(limit.kind());
    CheckWord(path.Field("kind"), kind);
    if (!kind.ok()) return;
    if (*kind == ConcurrencyLimitPlan::Kind::kFixed) {
      if (limit.has_min_limit() || limit.has_max_limit()) {
        validation_.Add(path,
                        "has a range, but a fixed limit does not change; "
                        "remove min_limit and max_limit, or choose "
                        "another kind");
      }
    } else if (limit.limit() < limit.min_limit() ||
               limit.limit() > limit.max_limit()) {
      validation_.Add(path.Field("limit"),
                      absl::StrCat(limit.limit(), " is not from min_limit, ",
                                   limit.min_limit(), ", to max_limit, ",
                                   limit.max_limit()));
    }
    if (limit.has_backoff_ratio() &&
        *kind != ConcurrencyLimitPlan::Kind::kAimd) {
      validation_.Add(path.Field("backoff_ratio"),
                      "belongs to kind \"aimd\"; remove it");
    }
  }

  const TestValidation& validation_;
  const RpcSpec& rpc_;
  const CallPolicy& policy_;
  const Path path_;
};

}  // namespace

void ValidatePolicy(const TestValidation& validation, const Path& path,
                    const RpcSpec& rpc) {
  PolicyValidation(validation, path, rpc).Validate();
}

}  // namespace distbench::config
