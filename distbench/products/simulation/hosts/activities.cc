#include "distbench/products/simulation/hosts/activities.h"

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_join.h"
#include "distbench/config/catalogs/activity_catalog.h"
#include "distbench/engine/activity_pools/activities.h"
#include "distbench/products/simulation/model/fabric.h"

namespace distbench::simulation {
namespace {

// By Plan::activities: whether any instance may run it.
std::vector<bool> ActivitiesInUse(const config::Plan& plan) {
  std::vector<bool> in_use(plan.activities.size());
  std::vector<bool> seen(plan.services.size());
  for (size_t i = 0; i < plan.instances.size(); ++i) {
    // Instances of one service run the same.
    const int service = plan.instances[i].service;
    if (seen[service]) continue;
    seen[service] = true;
    const std::vector<bool> of_one =
        engine::ActivitiesOfInstance(plan, static_cast<int>(i));
    for (size_t k = 0; k < of_one.size(); ++k) {
      if (of_one[k]) in_use[k] = true;
    }
  }
  return in_use;
}

}  // namespace

absl::StatusOr<CostsByActivity> CostsOfActivities(const SimulatedFabric& fabric,
                                                  const config::Plan& plan) {
  CostsByActivity costs(plan.activities.size());
  std::vector<std::string> problems;
  const std::vector<bool> in_use = ActivitiesInUse(plan);
  for (size_t i = 0; i < costs.size(); ++i) {
    const config::ActivityPlan& activity = plan.activities[i];
    if (!in_use[i] || config::FindActivity(activity.function)->waits) continue;
    const absl::StatusOr<ActivityCosts> found =
        CostsOfActivity(fabric, activity.function, activity.name);
    if (found.ok()) {
      costs[i] = std::make_unique<IterationCosts>(*found);
    } else {
      problems.emplace_back(found.status().message());
    }
  }
  if (problems.empty()) return costs;
  return absl::FailedPreconditionError(absl::StrJoin(problems, "\n"));
}

class SimulatedActivities::Thread final : public ActivityThread,
                                          private SimulatedThread {
 public:
  Thread(SimulatedActivities& activities, Listener& listener)
      : SimulatedThread(activities.used_ns_),
        activities_(activities),
        listener_(listener) {}

  void Start(int activity) override {
    const IterationCosts& costs = *activities_.costs_[activity];
    const double work_ns =
        costs.cpu_ns * costs.variation.Draw(activities_.random_);
    activities_.cpus_.Submit(*this, work_ns);
  }

 private:
  void OnCpuDone() override { listener_.OnIterationOver(); }

  SimulatedActivities& activities_;
  Listener& listener_;
};

std::unique_ptr<engine::IterationPool> SimulatedActivities::MakePool(
    const engine::IterationPoolOptions& options) {
  return std::make_unique<SimulatedPool>(
      options, [this](ActivityThread::Listener& listener) {
        return std::make_unique<Thread>(*this, listener);
      });
}

// One thread of the pool, with the iteration that it runs.
class SimulatedPool::Runner final : private ActivityThread::Listener {
 public:
  explicit Runner(SimulatedPool& pool)
      : pool_(pool), thread_(pool.make_thread_(*this)) {}

  void Run(const Request& request, int64_t now_ns) {
    request_ = request;
    started_ns_ = now_ns;
    is_running_ = true;
    thread_->Start(request.activity);
  }

  // Its end is then ignored.
  void Abandon() { is_running_ = false; }

  bool is_running() const { return is_running_; }
  const Request& request() const { return request_; }
  int64_t started_ns() const { return started_ns_; }

 private:
  void OnIterationOver() override {
    if (std::exchange(is_running_, false)) pool_.OnOver(*this);
  }

  SimulatedPool& pool_;
  Request request_ = {};
  int64_t started_ns_ = 0;
  bool is_running_ = false;
  const std::unique_ptr<ActivityThread> thread_;
};

SimulatedPool::SimulatedPool(const engine::IterationPoolOptions& options,
                             ActivityThreadMaker make_thread)
    : thread_count_(options.thread_count),
      clock_(*options.clock),
      recorder_(*options.recorder),
      make_thread_(std::move(make_thread)),
      records_(options.plan->activities.size()) {
  for (engine::ActivityRecord& record : records_) record.is_simulated = true;
}

SimulatedPool::~SimulatedPool() = default;

void SimulatedPool::Submit(int activity, engine::Iteration& iteration,
                           engine::ActivityListener& listener) {
  if (dropping_) {
    listener.OnActivityDone(iteration);
    return;
  }
  const int64_t now_ns = clock_.MonotonicNs();
  const Request request = {activity, &iteration, &listener, now_ns};
  Runner* const runner = FreeRunner();
  if (runner == nullptr) {
    waiting_.push_back(request);
  } else {
    runner->Run(request, now_ns);
  }
}

// Returns null if all threads are busy.
SimulatedPool::Runner* SimulatedPool::FreeRunner() {
  if (!free_.empty()) {
    Runner* const runner = free_.back();
    free_.pop_back();
    return runner;
  }
  if (static_cast<int>(runners_.size()) == thread_count_) {
    return nullptr;
  }
  runners_.push_back(std::make_unique<Runner>(*this));
  return runners_.back().get();
}

void SimulatedPool::OnOver(Runner& runner) {
  const Request done = runner.request();
  const int64_t now_ns = clock_.MonotonicNs();
  records_[done.activity].Add(done.requested_ns, runner.started_ns(), now_ns);
  recorder_.CountDone(done.activity, now_ns, /*work=*/{});
  if (waiting_.empty()) {
    free_.push_back(&runner);
  } else {
    const Request next = waiting_.front();
    waiting_.pop_front();
    runner.Run(next, now_ns);
  }
  done.listener->OnActivityDone(*done.iteration);
}

void SimulatedPool::DropWaiting() {
  for (const Request& request : Abandon()) {
    request.listener->OnActivityDone(*request.iteration);
  }
}

// Returns the requests that were running or waiting.
std::vector<SimulatedPool::Request> SimulatedPool::Abandon() {
  dropping_ = true;
  std::vector<Request> abandoned;
  for (const auto& runner : runners_) {
    if (runner->is_running()) abandoned.push_back(runner->request());
    runner->Abandon();
  }
  abandoned.insert(abandoned.end(), waiting_.begin(), waiting_.end());
  waiting_.clear();
  return abandoned;
}

void SimulatedPool::AddTo(std::vector<engine::ActivityRecord>& records) {
  for (size_t i = 0; i < records_.size(); ++i) {
    if (records_[i].iteration_count > 0) records[i].Merge(records_[i]);
  }
}

}  // namespace distbench::simulation
