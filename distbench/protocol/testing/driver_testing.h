// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Helpers for tests of drivers. They drive transports as the engine's workers
// do.

#ifndef DISTBENCH_PROTOCOL_TESTING_DRIVER_TESTING_H_
#define DISTBENCH_PROTOCOL_TESTING_DRIVER_TESTING_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "distbench/protocol/driver.h"

namespace distbench::protocol {

using DriverFactory = std::function<std::unique_ptr<ProtocolDriver>()>;

// Polls a transport, lends its turns as engines do, and checks that only one
// thread at a time has a turn. Requests go to `handler`, which by default sends
// the reply that was asked for. Members may be used while the transport is not
// polled, and by the handler.
class TestEvents final : public TransportEvents {
 public:
  using Handler = std::function<void(Transport& transport, ServerCall* call)>;

  explicit TestEvents(Transport& transport, Handler handler = ReplyAsAsked)
      : transport_(transport), handler_(std::move(handler)) {}

  static void ReplyAsAsked(Transport& transport, ServerCall* call);

  // Polls until the condition holds. Returns false if that takes too long.
  bool PollUntil(const std::function<bool()>& condition);

  // Starts a call and waits for its end. Returns its error.
  std::string Call(ClientCall& call);

  // These cover calls that have ended since Call() last started them.
  bool Finished(const ClientCall& call) const {
    return errors_.contains(&call);
  }
  const std::string& error(const ClientCall& call) const {
    return errors_.at(&call);
  }
  size_t finished_count() const { return errors_.size(); }

  std::function<void(ClientCall*)> on_done = [](ClientCall*) {};

 private:
  // TransportEvents.
  void OnDone(ClientCall* call) override;
  void OnRequest(ServerCall* call) override;
  bool LendsTurns() const override { return true; }
  // Makes Poll() return, so that the polling thread checks what has happened.
  int64_t EndBorrowedTurn() override { return 0; }

  Transport& transport_;
  const Handler handler_;
  std::map<const ClientCall*, std::string> errors_;
  std::atomic<bool> delivering_ = false;
};

// Keeps what a server's handler saw for the test, which runs on another thread.
// Thread-safe.
class LastRequest {
 public:
  // A request. call.trace_context is no longer valid, but `trace` is.
  struct Seen {
    ServerCall call;
    std::string trace;
  };

  void Keep(const ServerCall& call) {
    const absl::MutexLock lock(&mutex_);
    seen_ = {call, std::string(call.trace_context)};
  }
  Seen Get() const {
    const absl::MutexLock lock(&mutex_);
    return seen_;
  }

 private:
  mutable absl::Mutex mutex_;
  Seen seen_ ABSL_GUARDED_BY(mutex_);
};

// A driver whose workers run on their own threads.
class TestServer {
 public:
  explicit TestServer(const DriverFactory& make_driver,
                      TestEvents::Handler handler = TestEvents::ReplyAsAsked,
                      int workers = 1);
  ~TestServer() { Stop(); }

  void Stop();

  const std::string& address() const { return address_; }

 private:
  std::unique_ptr<ProtocolDriver> driver_;
  const std::string address_;
  std::atomic<bool> stopped_ = false;
  std::vector<std::thread> threads_;
};

// A driver whose only worker is the test's thread.
class TestClient {
 public:
  TestClient(std::unique_ptr<ProtocolDriver> driver,
             const std::vector<Peer>& peers);

  ProtocolDriver& driver() { return *driver_; }
  Transport& transport() { return driver_->transport(0); }
  TestEvents& events() { return *events_; }
  std::string Call(ClientCall& call) { return events_->Call(call); }

  // Polls meanwhile, as workers must.
  void Shutdown();

 private:
  std::unique_ptr<ProtocolDriver> driver_;
  std::unique_ptr<TestEvents> events_;
};

}  // namespace distbench::protocol

#endif  // DISTBENCH_PROTOCOL_TESTING_DRIVER_TESTING_H_
