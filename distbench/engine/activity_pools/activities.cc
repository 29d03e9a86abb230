// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/engine/activity_pools/activities.h"

#include <algorithm>
#include <set>
#include <utility>

#include "distbench/activity/registry.h"
#include "distbench/base/work_random.h"
#include "distbench/engine/activity_pools/activity_pool.h"

namespace distbench::engine {
namespace {

// Of recording_memory_bytes, if the instance has activities. A second of an
// activity takes less memory than one of an RPC.
constexpr int64_t kShareOfActivities = 4;

// Visits action lists, each of them once.
class ListWalk {
 public:
  explicit ListWalk(const config::Plan& plan)
      : plan_(plan),
        seen_(plan.lists.size()),
        activities_(plan.activities.size()) {}

  void Visit(int list) {
    if (list == config::kNone || seen_[list]) return;
    seen_[list] = true;
    for (const config::ActionPlan& action : plan_.lists[list].actions) {
      if (action.kind == config::ActionPlan::Kind::kList) Visit(action.target);
      if (action.kind == config::ActionPlan::Kind::kActivity) {
        activities_[action.target] = true;
      }
    }
  }

  std::vector<bool> activities() && { return std::move(activities_); }

 private:
  const config::Plan& plan_;
  std::vector<bool> seen_;
  std::vector<bool> activities_;
};

// The default pool comes after those of the plan.
int PoolOf(const config::Plan& plan, int activity) {
  const int pool = plan.activities[activity].pool;
  return pool == config::kNone ? static_cast<int>(plan.activity_pools.size())
                               : pool;
}

// If the default pool has 0 threads, no pool has any.
int ThreadsOfPool(const config::Plan& plan, int pool, int default_threads) {
  const bool is_default = pool == static_cast<int>(plan.activity_pools.size());
  return is_default || default_threads == 0 ? default_threads
                                            : plan.activity_pools[pool].size;
}

}  // namespace

std::vector<bool> ActivitiesOfInstance(const config::Plan& plan, int instance) {
  const int service = plan.instances[instance].service;
  ListWalk walk(plan);
  walk.Visit(plan.services[service].main_list);
  for (const config::RpcPlan& rpc : plan.rpcs) {
    if (rpc.server_service == service) walk.Visit(rpc.handler_list);
  }
  return std::move(walk).activities();
}

int64_t ActivityRecordingBytes(const config::Plan& plan, int instance) {
  const std::vector<bool> is_used = ActivitiesOfInstance(plan, instance);
  const bool has_any =
      std::find(is_used.begin(), is_used.end(), true) != is_used.end();
  return has_any ? plan.recording_memory_bytes / kShareOfActivities : 0;
}

int64_t ActivityThreads(const config::Plan& plan, int instance,
                        int default_threads) {
  std::set<int> pools;
  const std::vector<bool> is_used = ActivitiesOfInstance(plan, instance);
  for (int i = 0; i < static_cast<int>(is_used.size()); ++i) {
    const bool computes =
        is_used[i] &&
        !activity::WaitTimeOf(plan.activities[i], /*seed=*/0).has_value();
    if (computes) pools.insert(PoolOf(plan, i));
  }
  int64_t threads = 0;
  for (const int pool : pools) {
    threads += ThreadsOfPool(plan, pool, default_threads);
  }
  return threads;
}

bool WaitPlaces::TryTakePlace(PlaceSeeker& seeker) {
  absl::MutexLock lock(&mutex_);
  if (free_ > 0) {
    --free_;
    return true;
  }
  seeker.queued = true;
  queue_.Push(seeker);
  return false;
}

bool WaitPlaces::StopWaiting(PlaceSeeker& seeker) {
  absl::MutexLock lock(&mutex_);
  if (!seeker.queued) return false;
  seeker.queued = false;
  queue_.Remove(seeker);
  return true;
}

PlaceSeeker* WaitPlaces::Free() {
  absl::MutexLock lock(&mutex_);
  PlaceSeeker* const next = queue_.front();
  if (next == nullptr) {
    ++free_;
  } else {
    next->queued = false;
    queue_.Remove(*next);
  }
  return next;
}

Activities::Activities(const EngineState& engine, const Options& options)
    : engine_(engine),
      plan_(engine.plan()),
      recorder_({.activity_count = static_cast<int>(plan_.activities.size()),
                 .recording_memory_bytes =
                     ActivityRecordingBytes(plan_, engine.instance()),
                 .unix_offset_ns = engine.unix_offset_ns()}),
      waits_(plan_.activities.size()),
      places_(plan_.activity_pools.size()),
      pool_of_(plan_.activities.size()) {
  AddWaits(options);
  AddPools(options);
}

void Activities::AddWaits(const Options& options) {
  for (size_t i = 0; i < plan_.activities.size(); ++i) {
    const config::ActivityPlan& activity = plan_.activities[i];
    const auto time =
        activity::WaitTimeOf(activity, base::WorkRandom::Mix(options.seed + i));
    if (!time.has_value()) continue;
    waits_[i] = std::make_unique<Waits>(*time);
    if (activity.pool == config::kNone) continue;
    std::unique_ptr<WaitPlaces>& places = places_[activity.pool];
    if (places == nullptr) {
      places = std::make_unique<WaitPlaces>(
          plan_.activity_pools[activity.pool].size);
    }
    waits_[i]->places = places.get();
  }
}

void Activities::AddPools(const Options& options) {
  const auto pool_count = static_cast<int>(plan_.activity_pools.size()) + 1;
  std::vector<std::vector<int>> activities(pool_count);
  const std::vector<bool> is_used =
      ActivitiesOfInstance(plan_, engine_.instance());
  for (int i = 0; i < static_cast<int>(is_used.size()); ++i) {
    if (is_used[i] && !waits(i)) activities[PoolOf(plan_, i)].push_back(i);
  }
  for (int i = 0; i < pool_count; ++i) {
    if (activities[i].empty()) continue;
    IterationPoolOptions pool = {
        .plan = &plan_,
        .activities = activities[i],
        .seed = options.seed,
        .thread_count = ThreadsOfPool(plan_, i, options.default_threads),
        .clock = &engine_.clock(),
        .recorder = &recorder_};
    pools_.push_back(options.make_pool != nullptr
                         ? options.make_pool(std::move(pool))
                         : std::make_unique<ActivityPool>(std::move(pool)));
    for (const int activity : activities[i]) {
      pool_of_[activity] = pools_.back().get();
    }
  }
}

absl::Status Activities::started() const {
  for (const auto& pool : pools_) {
    if (!pool->started().ok()) return pool->started();
  }
  return absl::OkStatus();
}

absl::Status Activities::WaitUntilReady(absl::Time deadline) {
  for (const auto& pool : pools_) {
    const absl::Status ready = pool->WaitUntilReady(deadline);
    if (!ready.ok()) return ready;
  }
  return absl::OkStatus();
}

void Activities::Submit(int activity, Iteration& iteration,
                        ActivityListener& listener) {
  pool_of_[activity]->Submit(activity, iteration, listener);
}

void Activities::DropWaiting() {
  for (const auto& pool : pools_) pool->DropWaiting();
}

void Activities::Release() {
  for (const auto& pool : pools_) pool->Release();
}

void Activities::Shutdown() {
  for (const auto& pool : pools_) pool->Shutdown();
}

int64_t Activities::NextWaitNs(int activity) {
  Waits& waits = *waits_[activity];
  return waits.time.Ns(waits.next_number++);
}

void Activities::AddWait(int activity, int64_t requested_ns, int64_t started_ns,
                         int64_t done_ns) {
  recorder_.CountDone(activity, done_ns, /*work=*/{});
  Waits& waits = *waits_[activity];
  absl::MutexLock lock(&waits.mutex);
  waits.record.Add(requested_ns, started_ns, done_ns);
}

std::vector<ActivityRecord> Activities::Records() {
  std::vector<ActivityRecord> records(plan_.activities.size());
  for (const auto& pool : pools_) pool->AddTo(records);
  for (size_t i = 0; i < waits_.size(); ++i) {
    if (waits_[i] == nullptr) continue;
    absl::MutexLock lock(&waits_[i]->mutex);
    records[i] = waits_[i]->record;
  }
  return records;
}

}  // namespace distbench::engine
