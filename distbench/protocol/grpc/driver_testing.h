// For tests of the gRPC driver: its threading models, and services and clients
// that use it.

#ifndef DISTBENCH_PROTOCOL_GRPC_DRIVER_TESTING_H_
#define DISTBENCH_PROTOCOL_GRPC_DRIVER_TESTING_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "distbench/config/driver_options.h"
#include "distbench/protocol/driver.h"
#include "distbench/protocol/driver_environment.h"
#include "gtest/gtest.h"

namespace distbench {

inline constexpr int64_t kNever = INT64_MAX;

int64_t NowNs();

// A combination of settings.
struct Mode {
  std::string client_type = "polling";
  std::string server_type = "inline";
  std::string pool_type = "";
  // Enough for what the tests leave unanswered.
  int64_t pool_size = 64;

  DriverOptions Options() const;
};

// All that there are.
std::vector<Mode> AllModes();

std::string ModeName(const testing::TestParamInfo<Mode>& info);

std::unique_ptr<ProtocolDriver> MakeDriver(
    const Mode& mode = {}, const std::vector<bool>& immediate_rpcs = {});

// Answers what arrives as `handler` says; by default with what was asked for.
class Events : public TransportEvents {
 public:
  using Handler = std::function<void(Transport& transport, ServerCall* call)>;

  explicit Events(Transport& transport, Handler handler = ReplyAsAsked);

  void OnDone(ClientCall* call) override;
  void OnRequest(ServerCall* call) override;

  // Polls until the condition holds; false if that takes too long.
  bool PollUntil(const std::function<bool()>& condition);

  bool Finished(const ClientCall& call) const {
    return errors_.contains(&call);
  }
  const std::string& error(const ClientCall& call) const {
    return errors_.at(&call);
  }
  size_t finished_count() const { return errors_.size(); }

  // Starts a call and waits for its end. Returns its error.
  std::string Call(ClientCall& call);

  static void ReplyAsAsked(Transport& transport, ServerCall* call);

  std::function<void(ClientCall*)> on_done = [](ClientCall*) {};

 private:
  Transport& transport_;
  const Handler handler_;
  std::map<const ClientCall*, std::string> errors_;
  const std::thread::id thread_ = std::this_thread::get_id();
};

// A driver whose workers run on threads of their own.
class Service {
 public:
  explicit Service(const Mode& mode,
                   Events::Handler handler = Events::ReplyAsAsked,
                   int workers = 1);
  ~Service() { Stop(); }

  void Stop();

  const std::string& address() const { return address_; }

 private:
  std::unique_ptr<ProtocolDriver> driver_;
  const std::string address_;
  std::atomic<bool> stopped_ = false;
  std::vector<std::thread> threads_;
};

// A driver whose worker is the test.
class Client {
 public:
  Client(const Mode& mode, const std::vector<std::string>& peers);

  ProtocolDriver& driver() { return *driver_; }
  Transport& transport() { return driver_->transport(0); }
  Events& events() { return *events_; }
  std::string Call(ClientCall& call) { return events_->Call(call); }

  // Polls meanwhile, as workers have to.
  void Shutdown();

 private:
  std::unique_ptr<ProtocolDriver> driver_;
  std::unique_ptr<Events> events_;
};

}  // namespace distbench

#endif  // DISTBENCH_PROTOCOL_GRPC_DRIVER_TESTING_H_
