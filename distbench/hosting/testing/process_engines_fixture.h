// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Tests of engine processes: a test of two engines, and waiting for processes.
// The test program must be able to start itself again as an engine (see main()
// of process_engines_test.cc).

#ifndef DISTBENCH_HOSTING_TESTING_PROCESS_ENGINES_FIXTURE_H_
#define DISTBENCH_HOSTING_TESTING_PROCESS_ENGINES_FIXTURE_H_

#include <signal.h>
#include <sys/types.h>

#include <memory>
#include <string>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/substitute.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "distbench/config/compile/compile.h"
#include "distbench/config/validate/check.h"
#include "distbench/hosting/process_engines.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"

namespace distbench::hosting {

inline constexpr absl::Duration kGenerous = absl::Seconds(20);

// The limit of each engine.
inline constexpr int kMaxFiles = 200;

inline constexpr char kTwoServices[] = R"(
  services { name: "client" count: 1 }
  services { name: "server" count: 1 }
  rpc_descriptions { name: "query" client: "client" server: "server" }
  actions { name: "run" rpc_name: "query" iterations { $0 } }
  action_lists { name: "client" action_names: "run" }
  action_lists { name: "query" })";

// Returns false if it did not become true in time.
inline bool WaitUntil(absl::FunctionRef<bool()> is_true) {
  const absl::Time deadline = absl::Now() + kGenerous;
  while (!is_true()) {
    if (absl::Now() > deadline) return false;
    absl::SleepFor(absl::Milliseconds(1));
  }
  return true;
}

// An engine of a test, with everything that was reported to its owner.
struct Owned {
  absl::Notification finished;
  absl::Notification overloaded;
  absl::Status overload;
  std::unique_ptr<HostedEngine> engine;
};

class ProcessEnginesTest : public testing::Test {
 protected:
  void SetTest(const std::string& iterations,
               const std::string& protocol = "tcp",
               const std::string& engine = "") {
    TestSequence sequence;
    ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(
        absl::Substitute(kTwoServices, iterations), sequence.add_tests()));
    sequence.mutable_tests(0)->set_default_protocol(protocol);
    if (!engine.empty()) {
      ProtocolDriverOptions& options =
          *sequence.mutable_tests(0)->add_protocol_driver_options();
      options.set_name("default_protocol_driver_options");
      options.set_engine(engine);
    }
    auto checked = config::CheckTestSequence(sequence);
    ASSERT_TRUE(checked.ok()) << checked.status();
    test_ = checked->tests(0);
    plan_ = std::make_shared<const config::Plan>(config::Compile(test_));
  }

  absl::Status Make(int instance, Owned& owned, int group = -1) {
    EngineRequest request{.test = test_, .options = {}, .environment = {}};
    request.options.plan = plan_;
    request.options.instance = instance;
    request.options.on_traffic_finished = [&owned] { owned.finished.Notify(); };
    request.options.on_overload = [&owned](absl::Status status) {
      owned.overload = std::move(status);
      owned.overloaded.Notify();
    };
    request.environment.service_address = "127.0.0.1";
    request.group = group;
    auto engine = engines_.Make(std::move(request));
    if (!engine.ok()) return engine.status();
    owned.engine = *std::move(engine);
    return absl::OkStatus();
  }

  // Both engines, connected.
  void MakeBoth() {
    ASSERT_EQ(Make(1, server_), absl::OkStatus());
    ASSERT_EQ(Make(0, client_), absl::OkStatus());
    ASSERT_EQ(server_.engine->Connect({}, absl::Now() + kGenerous),
              absl::OkStatus());
    ASSERT_EQ(client_.engine->Connect({server_.engine->address()},
                                      absl::Now() + kGenerous),
              absl::OkStatus());
  }

  void Start() {
    const int64_t now_ns = base::RealClock().MonotonicNs();
    server_.engine->Start(now_ns);
    client_.engine->Start(now_ns);
  }

  // Waits until RPCs have been reported.
  bool WaitForProgress() const {
    return WaitUntil(
        [this] { return client_.engine->progress().succeeded_count() > 0; });
  }

  DistributedSystemDescription test_;
  std::shared_ptr<const config::Plan> plan_;
  // The other program is this one, which cannot be told from the outside.
  ProcessEngines engines_{
      {.max_files = kMaxFiles},
      {{"other", {.path = "/proc/self/exe", .description = {}}}}};
  Owned server_;
  Owned client_;
};

inline bool Exists(pid_t pid) { return kill(pid, 0) == 0; }

inline bool WaitForEnd(pid_t pid) {
  return WaitUntil([pid] { return !Exists(pid); });
}

}  // namespace distbench::hosting

#endif  // DISTBENCH_HOSTING_TESTING_PROCESS_ENGINES_FIXTURE_H_
