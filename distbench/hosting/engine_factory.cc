// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/hosting/engine_factory.h"

#include <memory>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "distbench/base/clock.h"
#include "distbench/config/compile/compile.h"
#include "distbench/config/plan/plan.h"
#include "distbench/config/reading/load.h"
#include "distbench/config/validate/check.h"
#include "distbench/protocol/registry/registry.h"

namespace distbench::hosting {
namespace {

class InProcessEngine final : public HostedEngine {
 public:
  explicit InProcessEngine(std::unique_ptr<engine::Engine> engine)
      : engine_(std::move(engine)) {}

  const std::string& address() const override { return engine_->address(); }
  const std::vector<int>& peers() const override { return engine_->peers(); }
  absl::Status Connect(const std::vector<std::string>& addresses,
                       absl::Time deadline) override {
    return engine_->Connect(addresses, deadline);
  }
  void Start(int64_t start_ns) override { engine_->Start(start_ns); }
  void Stop(absl::string_view reason) override { engine_->Stop(reason); }
  TrafficProgress progress() const override { return engine_->progress(); }
  void TakeRecent(stats::SeriesByRpc& recent) override {
    engine_->TakeRecent(recent);
  }
  void Shutdown() override { engine_->Shutdown(); }
  absl::Status Collect(
      absl::FunctionRef<void(ResultChunk chunk)> emit) override {
    engine_->Collect(emit);
    return absl::OkStatus();
  }

 private:
  const std::unique_ptr<engine::Engine> engine_;
};

// By RPC, replays last: whether engines answer the RPC without running an
// action list.
std::vector<bool> ImmediateRpcs(const config::Plan& plan) {
  std::vector<bool> immediate;
  for (const config::RpcPlan& rpc : plan.rpcs) {
    immediate.push_back(rpc.handler_list != config::kNone &&
                        plan.lists[rpc.handler_list].actions.empty());
  }
  immediate.insert(immediate.end(), plan.replay_traces.size(), true);
  return immediate;
}

class InProcessFactory final : public EngineFactory {
 public:
  bool disturbs_engines() const override { return true; }

  absl::StatusOr<std::unique_ptr<HostedEngine>> Make(
      EngineRequest request) override {
    const config::Plan& plan = *request.options.plan;
    const config::InstancePlan& instance =
        plan.instances[request.options.instance];
    request.environment.immediate_rpcs = ImmediateRpcs(plan);
    request.environment.measures_time_parts = plan.measures_time_parts;
    request.environment.wire_time = plan.wire_time;
    const config::ServicePlan& service = plan.services[instance.service];
    auto driver =
        protocol::MakeProtocolDriver(service.driver, request.environment);
    if (!driver.ok()) return driver.status();
    auto extended = protocol::ExtendDriver(*std::move(driver),
                                           {.test = request.test,
                                            .service = service.name,
                                            .instance = instance.name,
                                            .number = request.options.instance,
                                            .limits = request.limits});
    auto engine =
        engine::Engine::Create(std::move(request.options), std::move(extended));
    if (!engine.ok()) return engine.status();
    return std::make_unique<InProcessEngine>(*std::move(engine));
  }
};

constexpr absl::Duration kPatience = absl::Seconds(5);

constexpr char kTest[] = R"(
  tests {
    services { name: "client" count: 1 }
    services { name: "server" count: 1 }
    rpc_descriptions { name: "query" client: "client" server: "server" }
    actions { name: "run" rpc_name: "query" }
    action_lists { name: "client" action_names: "run" }
    action_lists { name: "query" }
  })";

class OneRpc {
 public:
  OneRpc(const DistributedSystemDescription& test, EngineFactory& engines)
      : test_(test),
        engines_(engines),
        plan_(std::make_shared<const config::Plan>(config::Compile(test))) {}

  absl::Status Run() {
    constexpr int kClient = 0;
    constexpr int kServer = 1;
    const absl::Time deadline = absl::Now() + kPatience;
    auto server = Make(kServer);
    if (!server.ok()) return server.status();
    auto client = Make(kClient);
    if (!client.ok()) return client.status();
    const absl::Status connected =
        (*client)->Connect({(*server)->address()}, deadline);
    if (!connected.ok()) return connected;
    (*client)->Start(base::RealClock().MonotonicNs());
    if (!finished_.WaitForNotificationWithTimeout(kPatience)) {
      (*client)->Stop("it takes too long");
    }
    (*client)->Shutdown();
    return (*client)->Collect([](const ResultChunk&) {});
  }

 private:
  absl::StatusOr<std::unique_ptr<HostedEngine>> Make(int instance) {
    engine::EngineOptions options;
    options.plan = plan_;
    options.instance = instance;
    // Only the client has this: nobody starts the server.
    options.on_traffic_finished = [this] { finished_.Notify(); };
    return engines_.Make({.test = test_,
                          .options = std::move(options),
                          .environment = {.service_address = "127.0.0.1"}});
  }

  const DistributedSystemDescription& test_;
  EngineFactory& engines_;
  const std::shared_ptr<const config::Plan> plan_;
  absl::Notification finished_;
};

}  // namespace

EngineFactory& InProcessEngines() {
  static InProcessFactory* const factory = new InProcessFactory;
  return *factory;
}

absl::Status WarmUp(EngineFactory& engines) {
  absl::StatusOr<TestSequence> tests =
      config::ParseTestSequence(kTest, "warm-up");
  if (tests.ok()) tests = config::CheckTestSequence(*std::move(tests));
  if (!tests.ok()) return tests.status();
  return OneRpc(tests->tests(0), engines).Run();
}

}  // namespace distbench::hosting
