#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>

#include "absl/strings/str_cat.h"
#include "distbench/config/syntax/fanout_filter.h"
#include "distbench/config/validate/validators.h"

namespace distbench::config {
namespace {

class PolicyValidation {
 public:
  PolicyValidation(const TestValidation& validation, const Path& rpc_path,
                   const RpcSpec& rpc)
      : validation_(validation),
        rpc_(rpc),
        policy_(rpc.policy()),
        path_(rpc_path.Field("policy")) {}

  void Validate() const {
    if (policy_.has_load_balancing()) CheckLoadBalancing();
    if (policy_.has_retry()) CheckRetry(path_.Field("retry"), policy_.retry());
    if (policy_.quorum().answers() >= 1) CheckQuorum();
    if (policy_.has_concurrency_limit()) {
      CheckLimit(path_.Field("concurrency_limit"), policy_.concurrency_limit());
    }
  }

 private:
  void CheckLoadBalancing() const {
    const Path path = path_.Field("load_balancing");
    const auto refuse = [&](const char* field) {
      validation_.Add(path, absl::StrCat("does not go together with ", field,
                                         ", which chooses servers, too; remove "
                                         "one of them"));
    };
    if (rpc_.fanout_filter() != "all") refuse("fanout_filter");
    if (!rpc_.multi_server_channel_name().empty()) {
      refuse("multi_server_channel_name");
    }
  }

  void CheckRetry(const Path& path, const RetryPolicy& retry) const {
    if (retry.initial_backoff_ns() <= retry.max_backoff_ns()) return;
    validation_.Add(
        path.Field("initial_backoff"),
        absl::StrCat(retry.initial_backoff_ns(), " ns is above max_backoff, ",
                     retry.max_backoff_ns(),
                     " ns; lower it or raise max_backoff"));
  }

  void CheckQuorum() const {
    const int answers = policy_.quorum().answers();
    const int64_t targets = FewestTargets();
    if (answers <= targets) return;
    validation_.Add(path_.Field("quorum").Field("answers"),
                    absl::StrCat(answers,
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
    Grid peers = server->grid;
    for (const int axis : fanout->axes) peers.sizes[axis] = 1;
    int64_t targets = peers.Count() - (CallsOwnService(rpc_) ? 1 : 0);
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

  // Only a limit that changes has a range, of kinds that are right.
  void CheckLimit(const Path& path, const ConcurrencyLimitPolicy& limit) const {
    if (!IsRight(limit, "kind") || limit.kind() == "fixed" ||
        (limit.limit() >= limit.min_limit() &&
         limit.limit() <= limit.max_limit())) {
      return;
    }
    validation_.Add(
        path.Field("limit"),
        absl::StrCat(limit.limit(), " is not from min_limit, ",
                     limit.min_limit(), ", to max_limit, ", limit.max_limit()));
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
