#include "distbench/hosting/in_process_engines.h"

#include <utility>
#include <vector>

#include "distbench/protocol/registry/registry.h"

namespace distbench {
namespace {

class InProcessEngine final : public HostedEngine {
 public:
  explicit InProcessEngine(std::unique_ptr<Engine> engine)
      : engine_(std::move(engine)) {}

  const std::string& address() const override { return engine_->address(); }
  const std::vector<int>& peers() const override { return engine_->peers(); }
  absl::Status Connect(const std::vector<std::string>& addresses,
                       absl::Time deadline) override {
    return engine_->Connect(addresses, deadline);
  }
  void Start(int64_t start_ns) override { engine_->Start(start_ns); }
  void Stop(absl::string_view reason) override { engine_->Stop(reason); }
  EngineProgress progress() const override { return engine_->progress(); }
  void TakeRecent(SeriesByRpc& recent) override {
    engine_->TakeRecent(recent);
  }
  void Shutdown() override { engine_->Shutdown(); }
  absl::Status Collect(
      absl::FunctionRef<void(ResultChunk chunk)> emit) override {
    engine_->Collect(emit);
    return absl::OkStatus();
  }

 private:
  const std::unique_ptr<Engine> engine_;
};

// By RPC, replays last: whether engines answer the RPC without running an
// action list.
std::vector<bool> ImmediateRpcs(const Plan& plan) {
  std::vector<bool> immediate;
  for (const RpcPlan& rpc : plan.rpcs) {
    immediate.push_back(plan.lists[rpc.handler_list].actions.empty());
  }
  immediate.insert(immediate.end(), plan.replay_traces.size(), true);
  return immediate;
}

class InProcessFactory final : public EngineFactory {
 public:
  bool disturbs_engines() const override { return true; }

  absl::StatusOr<std::unique_ptr<HostedEngine>> Make(
      EngineRequest request) override {
    const Plan& plan = *request.options.plan;
    const InstancePlan& instance = plan.instances[request.options.instance];
    request.environment.immediate_rpcs = ImmediateRpcs(plan);
    request.environment.measures_time_parts = plan.measures_time_parts;
    auto driver = MakeProtocolDriver(plan.services[instance.service].driver,
                                     request.environment);
    if (!driver.ok()) return driver.status();
    auto engine =
        Engine::Create(std::move(request.options), *std::move(driver));
    if (!engine.ok()) return engine.status();
    return std::make_unique<InProcessEngine>(*std::move(engine));
  }
};

}  // namespace

EngineFactory& InProcessEngines() {
  static InProcessFactory* const factory = new InProcessFactory;
  return *factory;
}

}  // namespace distbench
