// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/engine/virtual_time/virtual_time_system.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "distbench/config/compile/compile.h"
#include "distbench/config/validate/check.h"
#include "distbench/protocol/decorators/decorators.h"
#include "distbench/protocol/loopback/loopback_driver.h"
#include "distbench/results/merge.h"
#include "glog/logging.h"
#include "google/protobuf/text_format.h"

namespace distbench::engine {
namespace {

std::shared_ptr<const config::Plan> CompileTest(
    DistributedSystemDescription test) {
  TestSequence sequence;
  *sequence.add_tests() = std::move(test);
  absl::StatusOr<TestSequence> checked = config::CheckTestSequence(sequence);
  CHECK(checked.ok()) << checked.status();
  return std::make_shared<const config::Plan>(
      config::Compile(checked->tests(0)));
}

// The loopback driver, inside the decorators that the options name.
std::unique_ptr<protocol::ProtocolDriver> MakeDriver(
    const config::DriverOptions& options, const base::Clock& clock,
    bool measures_time_parts) {
  const auto inner = [&] {
    return MakeDriver(options.decorated.at(0), clock, measures_time_parts);
  };
  if (options.driver == "double_barrel")
    return protocol::MakeDoubleBarrelDriver(inner());
  if (options.driver == "composable_rpc_counter") {
    return protocol::MakeRpcCounterDriver(inner());
  }
  CHECK(options.decorated.empty()) << options.driver;
  return protocol::MakeLoopbackDriver(clock, /*test_nonce=*/"",
                                      measures_time_parts);
}

}  // namespace

DistributedSystemDescription ParseTest(absl::string_view config) {
  DistributedSystemDescription test;
  CHECK(
      google::protobuf::TextFormat::ParseFromString(std::string(config), &test))
      << config;
  return test;
}

VirtualTimeSystem::VirtualTimeSystem(absl::string_view config, int workers)
    : VirtualTimeSystem(ParseTest(config), workers) {}

VirtualTimeSystem::VirtualTimeSystem(const DistributedSystemDescription& test,
                                     int workers)
    : VirtualTimeSystem(test, VirtualTimeOptions{.workers = workers}) {}

VirtualTimeSystem::VirtualTimeSystem(const DistributedSystemDescription& test,
                                     VirtualTimeOptions virtual_time)
    : options_(std::move(virtual_time)),
      turns_left_(options_.max_turns),
      clock_(1'000'000'000),
      plan_(CompileTest(test)) {
  unfinished_ = static_cast<int>(plan_->instances.size());
  for (size_t i = 0; i < plan_->instances.size(); ++i) {
    EngineOptions options;
    options.plan = plan_;
    options.instance = static_cast<int>(i);
    options.worker_count = options_.workers;
    options.clock = &clock_;
    options.sample_memory_bytes = options_.sample_memory_bytes;
    options.on_traffic_finished = [this] { --unfinished_; };
    options.on_overload = [this](absl::Status status) {
      StopAll(status.ToString());
      overloads_.push_back(std::move(status));
    };
    options.start_threads = false;
    const config::InstancePlan& instance = plan_->instances[i];
    absl::StatusOr<std::unique_ptr<Engine>> engine =
        Engine::Create(std::move(options),
                       options_.wrap_driver(
                           static_cast<int>(i),
                           MakeDriver(plan_->services[instance.service].driver,
                                      clock_, plan_->measures_time_parts)));
    CHECK(engine.ok()) << engine.status();
    engines_.push_back(*std::move(engine));
  }
  Connect();
  start_ns_ = clock_.MonotonicNs() + 1'000'000;
  for (size_t i = 0; i < engines_.size(); ++i) {
    if (plan_->instances[i].name == options_.late_instance) continue;
    engines_[i]->Start(start_ns_);
  }
}

VirtualTimeSystem::~VirtualTimeSystem() = default;

void VirtualTimeSystem::FreezeBetween(absl::string_view instance,
                                      int64_t start_ns, int64_t end_ns) {
  freeze_ = {&engine(instance), start_ns, end_ns};
}

bool VirtualTimeSystem::IsFrozen(const Engine& engine) const {
  const int64_t now_ns = clock_.MonotonicNs();
  return &engine == freeze_.engine && now_ns >= freeze_.start_ns &&
         now_ns < freeze_.end_ns;
}

int64_t VirtualTimeSystem::NextDueNs() const {
  int64_t next_ns = std::numeric_limits<int64_t>::max();
  for (const auto& engine : engines_) {
    // A frozen instance sees events when it wakes up.
    next_ns = std::min(
        next_ns, IsFrozen(*engine) ? freeze_.end_ns : engine->next_due_ns());
  }
  return next_ns;
}

bool VirtualTimeSystem::Run(int64_t limit_ns) {
  const int64_t end_ns = start_ns_ + limit_ns;
  RunUntilIdle(end_ns);
  while (!finished()) {
    const int64_t next_ns = std::max(
        std::min(options_.next_due_ns(), NextDueNs()), clock_.MonotonicNs());
    if (next_ns > end_ns || turns_left_ == 0) return false;
    clock_.SetMonotonicNs(next_ns);
    RunUntilIdle(end_ns);
  }
  return true;
}

void VirtualTimeSystem::RunFor(int64_t duration_ns) {
  const int64_t end_ns = clock_.MonotonicNs() + duration_ns;
  if (Run(end_ns - start_ns_) || clock_.MonotonicNs() > end_ns) return;
  clock_.SetMonotonicNs(end_ns);
  RunUntilIdle(end_ns);
}

void VirtualTimeSystem::StopAll(absl::string_view reason) {
  for (const auto& engine : engines_) engine->Stop(reason);
}

ServiceLogs VirtualTimeSystem::Finish() {
  ServiceLogs logs;
  for (const auto& engine : engines_) engine->Shutdown();
  for (const auto& engine : engines_) {
    engine->Collect([&](ResultChunk chunk) {
      const absl::Status merged = results::MergeChunk(std::move(chunk), logs);
      CHECK(merged.ok()) << merged;
    });
  }
  return logs;
}

Engine& VirtualTimeSystem::engine(absl::string_view instance) {
  for (size_t i = 0; i < engines_.size(); ++i) {
    if (plan_->instances[i].name == instance) return *engines_[i];
  }
  LOG(FATAL) << "no instance " << std::string(instance);
}

void VirtualTimeSystem::Connect() {
  for (const auto& engine : engines_) {
    std::vector<std::string> addresses;
    for (int peer : engine->peers()) {
      addresses.push_back(engines_[peer]->address());
    }
    const absl::Status connected =
        engine->Connect(addresses, absl::InfiniteFuture());
    CHECK(connected.ok()) << connected;
  }
}

// An action that is always busy (a loop of iterations without targets, for
// example) keeps the system from becoming idle, so time has to pass anyway. At
// end_ns this returns even if the system is busy, but not before it has had a
// turn.
void VirtualTimeSystem::RunUntilIdle(int64_t end_ns) {
  constexpr int kRoundsPerMicrosecond = 100;
  for (int64_t round = 1; turns_left_ > 0; ++round) {
    bool did_something = false;
    for (const auto& engine : engines_) {
      if (!IsFrozen(*engine)) did_something |= engine->RunOnce();
    }
    if (!did_something) return;
    --turns_left_;
    clock_.Advance(options_.turn_ns);
    if (round % kRoundsPerMicrosecond == 0) clock_.Advance(1000);
    if (clock_.MonotonicNs() > end_ns) return;
  }
}

}  // namespace distbench::engine
