// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/hosting/testing/fake_engine.h"

#include <algorithm>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"

namespace distbench::hosting {
namespace {

constexpr absl::Duration kGenerous = absl::Seconds(20);

// Samples that make up about a MiB.
constexpr int kSamplesPerChunk = 50'000;

std::string FakeAddress(const std::string& instance) {
  return absl::StrCat("fake:", instance);
}

bool Contains(const std::vector<int>& values, int value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

// Every instance of the services that the instance's service may call.
std::vector<int> PeersOf(const config::Plan& plan, int instance) {
  const int service = plan.instances[instance].service;
  std::vector<int> peers;
  for (int i = 0; i < plan.instances.size(); ++i) {
    for (const config::RpcPlan& rpc : plan.rpcs) {
      if (Contains(rpc.client_services, service) &&
          rpc.server_service == plan.instances[i].service &&
          !Contains(peers, i)) {
        peers.push_back(i);
      }
    }
  }
  return peers;
}

}  // namespace

class FakeEngine final : public HostedEngine {
 public:
  FakeEngine(engine::EngineOptions options, FakeEngineFactory& factory)
      : options_(std::move(options)),
        factory_(factory),
        name_(options_.plan->instances[options_.instance].name),
        address_(FakeAddress(name_)),
        peers_(PeersOf(*options_.plan, options_.instance)) {}

  ~FakeEngine() override { Shutdown(); }

  const std::string& address() const override { return address_; }
  const std::vector<int>& peers() const override { return peers_; }

  absl::Status Connect(const std::vector<std::string>& addresses,
                       absl::Time) override {
    std::vector<std::string> expected;
    for (int peer : peers_) {
      const config::InstancePlan& instance = options_.plan->instances[peer];
      const bool is_outside =
          !options_.plan->services[instance.service].outside_addresses.empty();
      expected.push_back(is_outside ? "" : FakeAddress(instance.name));
    }
    if (addresses != expected) {
      return absl::InternalError("these are not the peers' addresses");
    }
    return factory_.Reach(name_, EngineStep::kConnect);
  }

  void Start(int64_t) override {
    const bool is_endless = factory_.IsEndless();
    const bool is_overloaded = factory_.IsOverloaded(name_);
    (void)factory_.Reach(name_, EngineStep::kStart);
    traffic_ = std::thread([this, is_endless, is_overloaded] {
      if (is_overloaded) {
        options_.on_overload(absl::ResourceExhaustedError("too much"));
      }
      if (is_endless) stop_.WaitForNotification();
      options_.on_traffic_finished();
    });
  }

  void Stop(absl::string_view reason) override {
    {
      absl::MutexLock lock(&mutex_);
      if (stop_reason_.empty()) stop_reason_ = std::string(reason);
      if (!stop_.HasBeenNotified()) stop_.Notify();
    }
    (void)factory_.Reach(name_, EngineStep::kStop);
  }

  TrafficProgress progress() const override {
    TrafficProgress progress;
    progress.set_succeeded_count(7);
    progress.set_offered_count(9);
    progress.set_open_loop_ended_count(5);
    progress.set_traffic_time_ns(11);
    return progress;
  }

  void TakeRecent(stats::SeriesByRpc& recent) override {
    recent[0].ServiceTimes(0).Record(1000);
  }

  void Shutdown() override {
    if (is_shut_down_) return;
    is_shut_down_ = true;
    (void)factory_.Reach(name_, EngineStep::kShutdown);
    {
      absl::MutexLock lock(&mutex_);
      if (!stop_.HasBeenNotified()) stop_.Notify();
    }
    if (traffic_.joinable()) traffic_.join();
  }

  absl::Status Collect(
      absl::FunctionRef<void(ResultChunk chunk)> emit) override {
    const absl::Status status = factory_.Reach(name_, EngineStep::kCollect);
    ResultChunk head;
    head.set_instance(name_);
    {
      absl::MutexLock lock(&mutex_);
      head.mutable_instance_log()->mutable_error_dictionary();
      if (!stop_reason_.empty()) {
        head.mutable_instance_log()->set_engine_error_message(stop_reason_);
      }
    }
    emit(std::move(head));
    if (peers_.empty()) return status;
    for (int i = 0; i < factory_.chunk_count(); ++i) {
      ResultChunk piece;
      piece.set_instance(name_);
      piece.set_peer(options_.plan->instances[peers_[0]].name);
      piece.set_rpc_index(0);
      RpcPerformanceLog& log = *piece.mutable_rpc_log();
      log.mutable_statistics()->set_succeeded_count(kSamplesPerChunk);
      for (int j = 0; j < kSamplesPerChunk; ++j) {
        log.add_successful_rpc_samples()->set_start_timestamp_ns(INT64_MAX - j);
      }
      emit(std::move(piece));
    }
    return status;
  }

 private:
  const engine::EngineOptions options_;
  FakeEngineFactory& factory_;
  const std::string name_;
  const std::string address_;
  const std::vector<int> peers_;
  bool is_shut_down_ = false;
  std::thread traffic_;
  absl::Mutex mutex_;
  std::string stop_reason_ ABSL_GUARDED_BY(mutex_);
  absl::Notification stop_;
};

void FakeEngineFactory::BlockAt(const std::string& instance, EngineStep step) {
  absl::MutexLock lock(&mutex_);
  blocked_.insert({instance, step});
}

void FakeEngineFactory::Unblock() {
  absl::MutexLock lock(&mutex_);
  blocked_.clear();
}

void FakeEngineFactory::FailAt(const std::string& instance, EngineStep step,
                               absl::Status status) {
  absl::MutexLock lock(&mutex_);
  failures_[{instance, step}] = std::move(status);
}

void FakeEngineFactory::SetEndless(bool is_endless) {
  absl::MutexLock lock(&mutex_);
  is_endless_ = is_endless;
}

void FakeEngineFactory::OverloadAt(const std::string& instance) {
  absl::MutexLock lock(&mutex_);
  overloaded_.insert(instance);
}

void FakeEngineFactory::SetLimits(const EngineLimits& limits) {
  absl::MutexLock lock(&mutex_);
  limits_ = limits;
}

EngineLimits FakeEngineFactory::limits() const {
  absl::MutexLock lock(&mutex_);
  return limits_;
}

void FakeEngineFactory::SetChunkCount(int chunk_count) {
  absl::MutexLock lock(&mutex_);
  chunk_count_ = chunk_count;
}

bool FakeEngineFactory::WaitFor(const std::string& instance, EngineStep step) {
  absl::MutexLock lock(&mutex_);
  const auto is_there = [&]() ABSL_SHARED_LOCKS_REQUIRED(mutex_) {
    return counts_.count({instance, step}) > 0;
  };
  return mutex_.AwaitWithTimeout(absl::Condition(&is_there), kGenerous);
}

int FakeEngineFactory::Count(const std::string& instance,
                             EngineStep step) const {
  absl::MutexLock lock(&mutex_);
  const auto it = counts_.find({instance, step});
  return it == counts_.end() ? 0 : it->second;
}

int FakeEngineFactory::worker_count(const std::string& instance) const {
  absl::MutexLock lock(&mutex_);
  return worker_counts_.at(instance);
}

int64_t FakeEngineFactory::sample_memory_bytes(
    const std::string& instance) const {
  absl::MutexLock lock(&mutex_);
  return sample_memory_bytes_.at(instance);
}

protocol::DriverEnvironment FakeEngineFactory::environment(
    const std::string& instance) const {
  absl::MutexLock lock(&mutex_);
  return environments_.at(instance);
}

int FakeEngineFactory::group(const std::string& instance) const {
  absl::MutexLock lock(&mutex_);
  return groups_.at(instance);
}

security::InstanceLimits FakeEngineFactory::limits_of(
    const std::string& instance) const {
  absl::MutexLock lock(&mutex_);
  return instance_limits_.at(instance);
}

absl::StatusOr<std::unique_ptr<HostedEngine>> FakeEngineFactory::Make(
    EngineRequest request) {
  engine::EngineOptions& options = request.options;
  const std::string name = options.plan->instances[options.instance].name;
  {
    absl::MutexLock lock(&mutex_);
    worker_counts_[name] = options.worker_count;
    sample_memory_bytes_[name] = options.sample_memory_bytes;
    environments_[name] = std::move(request.environment);
    groups_[name] = request.group;
    instance_limits_[name] = request.limits;
  }
  absl::Status status = Reach(name, EngineStep::kMake);
  if (!status.ok()) return status;
  return std::make_unique<FakeEngine>(std::move(options), *this);
}

absl::Status FakeEngineFactory::Reach(const std::string& instance,
                                      EngineStep step) {
  absl::MutexLock lock(&mutex_);
  const Place place(instance, step);
  ++counts_[place];
  const auto may_go = [&]() ABSL_SHARED_LOCKS_REQUIRED(mutex_) {
    return blocked_.count(place) == 0;
  };
  mutex_.AwaitWithTimeout(absl::Condition(&may_go), kGenerous);
  const auto it = failures_.find(place);
  return it == failures_.end() ? absl::OkStatus() : it->second;
}

bool FakeEngineFactory::IsEndless() const {
  absl::MutexLock lock(&mutex_);
  return is_endless_;
}

bool FakeEngineFactory::IsOverloaded(const std::string& instance) const {
  absl::MutexLock lock(&mutex_);
  return overloaded_.count(instance) > 0;
}

int FakeEngineFactory::chunk_count() const {
  absl::MutexLock lock(&mutex_);
  return chunk_count_;
}

}  // namespace distbench::hosting
