#include "distbench/protocol/grpc/driver_testing.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "distbench/base/clock.h"
#include "distbench/protocol/grpc/grpc_driver.h"

// c-ares, which gRPC resolves names with, keeps a copy of "localhost".
extern "C" const char* __lsan_default_suppressions() {
  return "leak:libcares";
}

namespace distbench {
namespace {

constexpr int64_t kPatienceNs = 20'000'000'000;

}  // namespace

int64_t NowNs() { return RealClock().MonotonicNs(); }

DriverOptions Mode::Options() const {
  DriverOptions options;
  options.client_settings["client_type"] = client_type;
  options.server_settings["server_type"] = server_type;
  options.server_settings["threadpool_type"] = pool_type;
  options.server_settings["threadpool_size"] = pool_size;
  return options;
}

std::vector<Mode> AllModes() {
  std::vector<Mode> modes;
  for (const char* client : {"polling", "callback"}) {
    modes.push_back({.client_type = client, .server_type = "inline"});
    for (const char* server : {"polling", "handoff"}) {
      for (const char* pool : {"elastic", "simple", "null"}) {
        modes.push_back({.client_type = client,
                         .server_type = server,
                         .pool_type = pool});
      }
    }
  }
  return modes;
}

std::string ModeName(const testing::TestParamInfo<Mode>& info) {
  const Mode& mode = info.param;
  return absl::StrCat(mode.client_type, "_", mode.server_type,
                      mode.pool_type.empty() ? "" : "_", mode.pool_type);
}

std::unique_ptr<ProtocolDriver> MakeDriver(
    const Mode& mode, const std::vector<bool>& immediate_rpcs) {
  return MakeGrpcDriver(mode.Options(), {.service_address = "127.0.0.1",
                                         .immediate_rpcs = immediate_rpcs})
      .value();
}

Events::Events(Transport& transport, Handler handler)
    : transport_(transport), handler_(std::move(handler)) {}

void Events::OnDone(ClientCall* call) {
  EXPECT_EQ(std::this_thread::get_id(), thread_);
  EXPECT_EQ(call->transport_state, nullptr);
  errors_[call] = std::string(call->error);
  on_done(call);
}

void Events::OnRequest(ServerCall* call) {
  EXPECT_EQ(std::this_thread::get_id(), thread_);
  handler_(transport_, call);
}

bool Events::PollUntil(const std::function<bool()>& condition) {
  const int64_t give_up_ns = NowNs() + kPatienceNs;
  while (!condition()) {
    if (NowNs() > give_up_ns) return false;
    transport_.Poll(NowNs() + 10'000'000, *this);
  }
  return true;
}

std::string Events::Call(ClientCall& call) {
  errors_.erase(&call);
  EXPECT_TRUE(transport_.Start(&call));
  EXPECT_TRUE(PollUntil([&] { return Finished(call); }));
  return Finished(call) ? error(call) : "not finished";
}

void Events::ReplyAsAsked(Transport& transport, ServerCall* call) {
  call->reply_bytes = call->response_bytes;
  call->reply_instance = call->server_instance;
  transport.Reply(call);
}

Service::Service(const Mode& mode, Events::Handler handler, int workers)
    : driver_(MakeDriver(mode)), address_(driver_->Listen(workers).value()) {
  for (int i = 0; i < workers; ++i) {
    threads_.emplace_back([this, i, handler] {
      Events events(driver_->transport(i), handler);
      while (!stopped_) driver_->transport(i).Poll(kNever, events);
    });
  }
}

void Service::Stop() {
  if (stopped_) return;
  driver_->Shutdown();
  stopped_ = true;
  for (size_t i = 0; i < threads_.size(); ++i) driver_->transport(i).Wake();
  for (std::thread& thread : threads_) thread.join();
  driver_.reset();
}

Client::Client(const Mode& mode, const std::vector<std::string>& peers)
    : driver_(MakeDriver(mode)) {
  EXPECT_TRUE(driver_->Listen(1).ok());
  EXPECT_EQ(
      driver_->Connect(SingleServers(peers), absl::Now() + absl::Seconds(20)),
      absl::OkStatus());
  events_ = std::make_unique<Events>(driver_->transport(0));
}

void Client::Shutdown() {
  std::atomic<bool> done = false;
  std::thread shutdown([&] {
    driver_->Shutdown();
    done = true;
    transport().Wake();
  });
  while (!done) transport().Poll(kNever, *events_);
  shutdown.join();
}

}  // namespace distbench
