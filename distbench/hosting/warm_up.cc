#include "distbench/hosting/warm_up.h"

#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "distbench/base/clock.h"
#include "distbench/config/compile/compile.h"
#include "distbench/config/load/load.h"
#include "distbench/config/plan/plan.h"
#include "distbench/config/validate/check.h"

namespace distbench {
namespace {

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
        plan_(std::make_shared<const Plan>(Compile(test))) {}

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
    (*client)->Start(RealClock().MonotonicNs());
    if (!finished_.WaitForNotificationWithTimeout(kPatience)) {
      (*client)->Stop("it takes too long");
    }
    (*client)->Shutdown();
    return (*client)->Collect([](const ResultChunk&) {});
  }

 private:
  absl::StatusOr<std::unique_ptr<HostedEngine>> Make(int instance) {
    EngineOptions options;
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
  const std::shared_ptr<const Plan> plan_;
  absl::Notification finished_;
};

}  // namespace

absl::Status WarmUp(EngineFactory& engines) {
  absl::StatusOr<TestSequence> tests = ParseTestSequence(kTest, "warm-up");
  if (tests.ok()) tests = CheckTestSequence(*std::move(tests));
  if (!tests.ok()) return tests.status();
  return OneRpc(tests->tests(0), engines).Run();
}

}  // namespace distbench
