#include "distbench/protocol/grpc/grpc_driver.h"

#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "distbench/base/clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/data_plane.grpc.pb.h"
#include "proto/data_plane.pb.h"

// c-ares, which gRPC resolves names with, keeps a copy of "localhost".
extern "C" const char* __lsan_default_suppressions() {
  return "leak:libcares";
}

namespace distbench {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr int64_t kNever = INT64_MAX;
constexpr int64_t kPatienceNs = 20'000'000'000;

int64_t NowNs() { return RealClock().MonotonicNs(); }

std::unique_ptr<ProtocolDriver> MakeDriver(const DriverOptions& options = {}) {
  return MakeGrpcDriver(options, {.service_address = "127.0.0.1"}).value();
}

// Answers what arrives as `handler` says; by default with what was asked for.
class Events : public TransportEvents {
 public:
  using Handler = std::function<void(Transport& transport, ServerCall* call)>;

  explicit Events(Transport& transport, Handler handler = ReplyAsAsked)
      : transport_(transport), handler_(std::move(handler)) {}

  void OnDone(ClientCall* call) override {
    call->transport_state = nullptr;
    errors_[call] = std::string(call->error);
    on_done(call);
  }
  void OnRequest(ServerCall* call) override { handler_(transport_, call); }

  // Polls until the condition holds; false if that takes too long.
  bool PollUntil(const std::function<bool()>& condition) {
    const int64_t give_up_ns = NowNs() + kPatienceNs;
    while (!condition()) {
      if (NowNs() > give_up_ns) return false;
      transport_.Poll(NowNs() + 10'000'000, *this);
    }
    return true;
  }

  bool Finished(const ClientCall& call) const {
    return errors_.contains(&call);
  }
  const std::string& error(const ClientCall& call) const {
    return errors_.at(&call);
  }
  size_t finished_count() const { return errors_.size(); }

  // Starts a call and waits for its end. Returns its error.
  std::string Call(ClientCall& call) {
    errors_.erase(&call);
    EXPECT_TRUE(transport_.Start(&call));
    EXPECT_TRUE(PollUntil([&] { return Finished(call); }));
    return Finished(call) ? error(call) : "not finished";
  }

  static void ReplyAsAsked(Transport& transport, ServerCall* call) {
    call->reply_bytes = call->response_bytes;
    call->reply_instance = call->server_instance;
    transport.Reply(call);
  }

  std::function<void(ClientCall*)> on_done = [](ClientCall*) {};

 private:
  Transport& transport_;
  const Handler handler_;
  std::map<const ClientCall*, std::string> errors_;
};

// A driver whose workers run on threads of their own.
class Service {
 public:
  explicit Service(Events::Handler handler = Events::ReplyAsAsked,
                   int workers = 1)
      : driver_(MakeDriver()), address_(driver_->Listen(workers).value()) {
    for (int i = 0; i < workers; ++i) {
      threads_.emplace_back([this, i, handler] {
        Events events(driver_->transport(i), handler);
        while (!stopped_) driver_->transport(i).Poll(kNever, events);
      });
    }
  }

  ~Service() { Stop(); }

  void Stop() {
    if (stopped_) return;
    driver_->Shutdown();
    stopped_ = true;
    for (size_t i = 0; i < threads_.size(); ++i) driver_->transport(i).Wake();
    for (std::thread& thread : threads_) thread.join();
    driver_.reset();
  }

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
  explicit Client(const std::vector<std::string>& peers,
                  const DriverOptions& options = {})
      : driver_(MakeDriver(options)) {
    EXPECT_TRUE(driver_->Listen(1).ok());
    EXPECT_EQ(
        driver_->Connect(SingleServers(peers), absl::Now() + absl::Seconds(20)),
        absl::OkStatus());
    events_ = std::make_unique<Events>(driver_->transport(0));
  }

  ProtocolDriver& driver() { return *driver_; }
  Transport& transport() { return driver_->transport(0); }
  Events& events() { return *events_; }
  std::string Call(ClientCall& call) { return events_->Call(call); }

  // Polls meanwhile, as workers have to.
  void Shutdown() {
    std::atomic<bool> done = false;
    std::thread shutdown([&] {
      driver_->Shutdown();
      done = true;
      transport().Wake();
    });
    while (!done) transport().Poll(kNever, *events_);
    shutdown.join();
  }

 private:
  std::unique_ptr<ProtocolDriver> driver_;
  std::unique_ptr<Events> events_;
};

// ---------------------------------------------------------------------------
// What is sent arrives

TEST(GrpcDriverTest, SizesAreExactInBothDirections) {
  std::atomic<int64_t> request_bytes = 0;
  Service service([&](Transport& transport, ServerCall* call) {
    request_bytes = call->request_bytes;
    Events::ReplyAsAsked(transport, call);
  });
  Client client({service.address()});
  constexpr int64_t kMinimumRequest = 9;
  constexpr int64_t kMinimumResponse = 2;
  for (int64_t size :
       {0,      1,     2,     3,     9,      10,      11,
        16,     23,    24,    25,    127,    128,     129,
        130,    131,   137,   138,   139,    140,     196,
        1000,   16384, 16390, 65536, 262144, 1 << 20, (1 << 20) + 1,
        3 << 20}) {
    ClientCall call{.request_bytes = size, .response_bytes = size};
    ASSERT_EQ(client.Call(call), "") << size;
    EXPECT_EQ(call.sent_bytes, request_bytes) << size;
    if (size >= kMinimumRequest) {
      EXPECT_EQ(call.sent_bytes, size);
    }
    EXPECT_EQ(call.received_bytes, std::max(size, kMinimumResponse));
  }
}

TEST(GrpcDriverTest, HeaderFieldsArrive) {
  ServerCall seen;
  std::string seen_trace;
  Service service([&](Transport& transport, ServerCall* call) {
    seen = *call;
    seen_trace = std::string(call->trace_context);
    call->reply_instance = 11;
    transport.Reply(call);
  });
  Client client({service.address()});

  TraceContext trace;
  trace.add_engine_ids(4);
  const std::string trace_bytes = trace.SerializeAsString();
  ClientCall call{.rpc_index = 3,
                  .server_instance = 5,
                  .warmup = true,
                  .request_bytes = 100,
                  .response_bytes = 7,
                  .processing_ns = 1234,
                  .trace_context = trace_bytes};
  const int64_t before_ns = NowNs();
  ASSERT_EQ(client.Call(call), "");
  EXPECT_EQ(seen.rpc_index, 3);
  EXPECT_EQ(seen.server_instance, 5);
  EXPECT_TRUE(seen.warmup);
  EXPECT_EQ(seen.request_bytes, 100);
  EXPECT_EQ(seen.response_bytes, 7);
  EXPECT_EQ(seen.processing_ns, 1234);
  EXPECT_EQ(seen_trace, trace_bytes);
  EXPECT_EQ(call.responding_instance, 11);
  EXPECT_LE(before_ns, call.sent_ns);
  EXPECT_LT(call.sent_ns, seen.received_ns);
  EXPECT_LT(seen.received_ns, call.done_ns);
  EXPECT_LE(call.done_ns, NowNs());

  ClientCall plain{.request_bytes = 100};
  ASSERT_EQ(client.Call(plain), "");
  EXPECT_FALSE(seen.warmup);
  EXPECT_EQ(seen.response_bytes, kServerDecides);
  EXPECT_EQ(seen_trace, "");
}

TEST(GrpcDriverTest, ErrorsOfTheReplyArrive) {
  Service service([](Transport& transport, ServerCall* call) {
    call->reply_error = "Traffic cancelled: enough";
    call->reply_bytes = 1000;
    transport.Reply(call);
  });
  Client client({service.address()});
  ClientCall call{.request_bytes = 16};
  EXPECT_EQ(client.Call(call), "Traffic cancelled: enough");
  EXPECT_EQ(call.received_bytes, 1000);
}

TEST(GrpcDriverTest, RepliesMayComeLaterAndInAnyOrder) {
  std::vector<ServerCall*> waiting;
  Service service([&](Transport& transport, ServerCall* call) {
    waiting.push_back(call);
    if (waiting.size() < 3) return;
    while (!waiting.empty()) {
      Events::ReplyAsAsked(transport, waiting.back());
      waiting.pop_back();
    }
  });
  Client client({service.address()});
  ClientCall calls[3];
  int instance = 0;
  for (ClientCall& call : calls) {
    call.server_instance = instance++;
    ASSERT_TRUE(client.transport().Start(&call));
  }
  ASSERT_TRUE(client.events().PollUntil(
      [&] { return client.events().finished_count() == 3; }));
  for (ClientCall& call : calls) {
    EXPECT_EQ(client.events().error(call), "");
    EXPECT_EQ(call.responding_instance, call.server_instance);
  }
}

TEST(GrpcDriverTest, KeepsAHundredInFlight) {
  constexpr int kInFlight = 100;
  constexpr int kTotal = 20'000;
  Service service;
  Client client({service.address()});
  std::vector<ClientCall> calls(kInFlight);
  int started = 0;
  int done = 0;
  client.events().on_done = [&](ClientCall* call) {
    ASSERT_EQ(call->error, "");
    ASSERT_EQ(call->received_bytes, 50 + call->server_instance);
    ++done;
    if (started == kTotal) return;
    ++started;
    ASSERT_TRUE(client.transport().Start(call));
  };
  for (ClientCall& call : calls) {
    call.server_instance = started++;
    call.response_bytes = 50 + call.server_instance;
    ASSERT_TRUE(client.transport().Start(&call));
  }
  EXPECT_TRUE(client.events().PollUntil([&] { return done == kTotal; }));
}

TEST(GrpcDriverTest, EveryWorkerServesAndCalls) {
  constexpr int kWorkers = 2;
  std::set<std::thread::id> servers;
  absl::Mutex mutex;
  Service service(
      [&](Transport& transport, ServerCall* call) {
        {
          const absl::MutexLock lock(&mutex);
          servers.insert(std::this_thread::get_id());
        }
        Events::ReplyAsAsked(transport, call);
      },
      kWorkers);

  auto driver = MakeDriver();
  ASSERT_TRUE(driver->Listen(kWorkers).ok());
  ASSERT_TRUE(
      driver
          ->Connect(SingleServers({service.address(), service.address()}),
                    absl::Now() + absl::Seconds(20))
          .ok());
  std::vector<std::thread> threads;
  for (int worker = 0; worker < kWorkers; ++worker) {
    threads.emplace_back([&driver, worker] {
      Events events(driver->transport(worker));
      for (int i = 0; i < 500; ++i) {
        ClientCall call{.peer = i % 2, .request_bytes = 64};
        ASSERT_EQ(events.Call(call), "");
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const absl::MutexLock lock(&mutex);
  EXPECT_GE(servers.size(), 1);
  EXPECT_LE(servers.size(), kWorkers);
}

// ---------------------------------------------------------------------------
// What goes wrong is said

TEST(GrpcDriverTest, CallsToAServerThatIsGoneFail) {
  auto service = std::make_unique<Service>();
  Client client({service->address()});
  ClientCall call{.request_bytes = 16};
  ASSERT_EQ(client.Call(call), "");
  service.reset();
  EXPECT_THAT(client.Call(call), StartsWith("UNAVAILABLE: "));
  EXPECT_GT(call.done_ns, 0);
}

TEST(GrpcDriverTest, CallsInFlightFailWhenTheServerGoes) {
  std::atomic<int> arrived = 0;
  auto service =
      std::make_unique<Service>([&](Transport&, ServerCall*) { ++arrived; });
  Client client({service->address()});
  ClientCall call{.request_bytes = 16};
  ASSERT_TRUE(client.transport().Start(&call));
  ASSERT_TRUE(client.events().PollUntil([&] { return arrived == 1; }));
  service.reset();
  ASSERT_TRUE(client.events().PollUntil(
      [&] { return client.events().Finished(call); }));
  EXPECT_THAT(client.events().error(call),
              AnyOf(StartsWith("UNAVAILABLE: "), StartsWith("CANCELLED: ")));
}

TEST(GrpcDriverTest, DeadlinesEndCalls) {
  Service service([](Transport&, ServerCall*) {});
  Client client({service.address()});
  const int64_t start_ns = NowNs();
  ClientCall call{.request_bytes = 16, .deadline_ns = start_ns + 30'000'000};
  EXPECT_THAT(client.Call(call), StartsWith("DEADLINE_EXCEEDED: "));
  EXPECT_GE(call.done_ns, call.deadline_ns);
}

TEST(GrpcDriverTest, CancelledCallsEnd) {
  std::atomic<int> arrived = 0;
  Service service([&](Transport&, ServerCall*) { ++arrived; });
  Client client({service.address()});
  ClientCall calls[10];
  for (ClientCall& call : calls) {
    ASSERT_TRUE(client.transport().Start(&call));
  }
  ASSERT_TRUE(client.events().PollUntil([&] { return arrived == 10; }));
  client.transport().CancelCalls();
  ASSERT_TRUE(client.events().PollUntil(
      [&] { return client.events().finished_count() == 10; }));
  for (ClientCall& call : calls) {
    EXPECT_THAT(client.events().error(call), StartsWith("CANCELLED: "));
  }
}

TEST(GrpcDriverTest, ConnectNamesThePeerThatIsNotThere) {
  Service service;
  std::string closed_address;
  {
    auto closed = MakeDriver();
    closed_address = closed->Listen(1).value();
  }
  auto driver = MakeDriver();
  ASSERT_TRUE(driver->Listen(2).ok());
  const absl::Status status = driver->Connect(
      SingleServers({service.address(), closed_address, "nonsense:::1"}),
      absl::Now() + absl::Milliseconds(300));
  EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr(closed_address), HasSubstr("nonsense:::1"),
                    Not(HasSubstr(service.address()))));
}

TEST(GrpcDriverTest, ListenRefusesForeignAddresses) {
  DriverOptions options;
  options.netdev = "no-such-device";
  auto driver = MakeGrpcDriver(options, {}).value();
  EXPECT_THAT(std::string(driver->Listen(1).status().message()),
              HasSubstr("no-such-device"));
}

TEST(GrpcDriverTest, ListensOnIpv4AndNames) {
  for (const char* host : {"127.0.0.1", "localhost"}) {
    auto driver = MakeGrpcDriver({}, {.service_address = host}).value();
    const std::string address = driver->Listen(1).value();
    EXPECT_THAT(address, AnyOf(StartsWith("ipv4:127.0.0.1:"),
                               StartsWith("dns:///localhost:")));
    auto client = MakeDriver();
    ASSERT_TRUE(client->Listen(1).ok());
    EXPECT_EQ(client->Connect(SingleServers({address}),
                              absl::Now() + absl::Seconds(20)),
              absl::OkStatus());
  }
}

TEST(GrpcDriverTest, UsesTheHostsBestAddressByDefault) {
  auto driver = MakeGrpcDriver({}, {}).value();
  const std::string address = driver->Listen(1).value();
  EXPECT_THAT(address, AnyOf(StartsWith("ipv4:"), StartsWith("ipv6:[")));
  auto client = MakeDriver();
  ASSERT_TRUE(client->Listen(1).ok());
  EXPECT_EQ(client->Connect(SingleServers({address}),
                            absl::Now() + absl::Seconds(20)),
            absl::OkStatus());
}

// ---------------------------------------------------------------------------
// Waiting

TEST(GrpcDriverTest, WakeEndsAPoll) {
  Client client({});
  std::thread waker([&] { client.transport().Wake(); });
  client.transport().Poll(kNever, client.events());
  waker.join();
}

TEST(GrpcDriverTest, PollDoesNotWaitBeyondItsDeadline) {
  Client client({});
  client.transport().Poll(0, client.events());
  const int64_t deadline_ns = NowNs() + 5'000'000;
  while (NowNs() < deadline_ns) {
    client.transport().Poll(deadline_ns, client.events());
  }
}

// ---------------------------------------------------------------------------
// The end

TEST(GrpcDriverTest, ShutdownEndsWhatIsInFlight) {
  Service service([](Transport&, ServerCall*) {});
  Client client({service.address()});
  std::vector<ClientCall> calls(50);
  for (ClientCall& call : calls) {
    ASSERT_TRUE(client.transport().Start(&call));
  }
  client.Shutdown();
  EXPECT_EQ(client.events().finished_count(), calls.size());

  // What is started all the same ends, too.
  ClientCall late{.request_bytes = 16};
  EXPECT_THAT(client.Call(late), StartsWith("CANCELLED: "));
}

TEST(GrpcDriverTest, ShutdownUnderLoad) {
  for (int round = 0; round < 5; ++round) {
    auto service = std::make_unique<Service>(Events::ReplyAsAsked, 2);
    Client client({service->address()});
    bool stopping = false;
    int in_flight = 0;
    std::vector<ClientCall> calls(100);
    const auto start = [&](ClientCall* call) {
      ++in_flight;
      ASSERT_TRUE(client.transport().Start(call));
    };
    int done = 0;
    client.events().on_done = [&](ClientCall* call) {
      --in_flight;
      ++done;
      if (!stopping && call->error.empty()) start(call);
    };
    for (ClientCall& call : calls) start(&call);
    ASSERT_TRUE(client.events().PollUntil([&] { return done > 1000; }));
    if (round % 2 == 0) service.reset();
    stopping = true;
    client.Shutdown();
    EXPECT_EQ(in_flight, 0);
  }
}

TEST(GrpcDriverTest, RepliesAfterShutdownGoNowhere) {
  auto driver = MakeDriver();
  const std::string address = driver->Listen(1).value();
  std::vector<ServerCall*> waiting;
  Events server_events(driver->transport(0), [&](Transport&, ServerCall* call) {
    waiting.push_back(call);
  });
  Client client({address});
  ClientCall calls[2];
  for (ClientCall& call : calls) {
    ASSERT_TRUE(client.transport().Start(&call));
  }
  ASSERT_TRUE(server_events.PollUntil([&] { return waiting.size() == 2; }));
  std::atomic<bool> done = false;
  std::thread shutdown([&] {
    driver->Shutdown();
    done = true;
  });
  ASSERT_TRUE(server_events.PollUntil([&] { return done.load(); }));
  shutdown.join();
  // One is answered too late, the other never.
  driver->transport(0).Reply(waiting[0]);
  driver.reset();
  ASSERT_TRUE(client.events().PollUntil(
      [&] { return client.events().finished_count() == 2; }));
}

TEST(GrpcDriverTest, DestructionNeedsNoShutdown) {
  Service service([](Transport&, ServerCall*) {});
  auto driver = MakeDriver();
  ASSERT_TRUE(driver->Listen(2).ok());
  ASSERT_TRUE(driver
                  ->Connect(SingleServers({service.address()}),
                            absl::Now() + absl::Seconds(20))
                  .ok());
  {
    ClientCall call{.request_bytes = 16};
    ASSERT_TRUE(driver->transport(1).Start(&call));
  }
  // The call is gone, and must not be touched.
  driver.reset();
}

TEST(GrpcDriverTest, DriversThatNeverListenedMayGo) { MakeDriver(); }

// ---------------------------------------------------------------------------
// The wire format is data_plane.proto's

std::shared_ptr<grpc::Channel> PlainChannel(const std::string& target) {
  return grpc::CreateChannel(target, grpc::InsecureChannelCredentials());
}

TEST(GrpcDriverWireTest, ServesGeneratedClients) {
  Service service([](Transport& transport, ServerCall* call) {
    call->reply_instance = call->rpc_index + 1;
    call->reply_error = call->warmup ? "warm" : "";
    call->reply_bytes = call->response_bytes;
    transport.Reply(call);
  });
  const auto stub = Traffic::NewStub(PlainChannel(service.address()));
  GenericRequestResponse request;
  request.set_rpc_index(41);
  request.set_warmup(true);
  request.set_response_payload_size(5000);
  request.set_payload(std::string(100'000, 'x'));
  request.set_after_payload32(1);
  GenericRequestResponse response;
  grpc::ClientContext context;
  const grpc::Status status = stub->GenericRpc(&context, request, &response);
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(response.server_instance(), 42);
  EXPECT_EQ(response.error_message(), "warm");
  EXPECT_EQ(response.ByteSizeLong(), 5000);
}

// Notes what it is sent, and who sent it.
class GeneratedServer final : public Traffic::Service {
 public:
  GeneratedServer() {
    grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(),
                             &port_);
    builder.RegisterService(this);
    server_ = builder.BuildAndStart();
  }

  std::string address() const {
    return "ipv4:127.0.0.1:" + std::to_string(port_);
  }

  grpc::Status GenericRpc(grpc::ServerContext* context,
                          const GenericRequestResponse* request,
                          GenericRequestResponse* response) override {
    const absl::MutexLock lock(&mutex);
    last_request = *request;
    peers.insert(context->peer());
    if (request->rpc_index() == 99) {
      return grpc::Status(grpc::StatusCode::RESOURCE_EXHAUSTED, "too many");
    }
    response->set_server_instance(7);
    response->set_payload(std::string(3000, 'D'));
    return grpc::Status::OK;
  }

  absl::Mutex mutex;
  GenericRequestResponse last_request;
  std::set<std::string> peers;

 private:
  int port_ = 0;
  std::unique_ptr<grpc::Server> server_;
};

TEST(GrpcDriverWireTest, CallsGeneratedServers) {
  GeneratedServer server;
  Client client({server.address()});
  ClientCall call{.rpc_index = 2, .server_instance = 3, .request_bytes = 777};
  ASSERT_EQ(client.Call(call), "");
  EXPECT_EQ(call.responding_instance, 7);
  EXPECT_EQ(call.received_bytes, 3005);
  const absl::MutexLock lock(&server.mutex);
  EXPECT_EQ(server.last_request.rpc_index(), 2);
  EXPECT_EQ(server.last_request.server_instance(), 3);
  EXPECT_EQ(server.last_request.ByteSizeLong(), 777);
}

TEST(GrpcDriverWireTest, StatusOfTheServerIsTheError) {
  GeneratedServer server;
  Client client({server.address()});
  ClientCall call{.rpc_index = 99, .request_bytes = 16};
  EXPECT_EQ(client.Call(call), "RESOURCE_EXHAUSTED: too many");
}

TEST(GrpcDriverWireTest, ConnectionsAreNeverShared) {
  GeneratedServer server;
  for (int driver = 0; driver < 2; ++driver) {
    auto client = MakeDriver();
    ASSERT_TRUE(client->Listen(2).ok());
    // The same peer twice, as two instances that one process hosts might be.
    ASSERT_TRUE(
        client
            ->Connect(SingleServers({server.address(), server.address()}),
                      absl::Now() + absl::Seconds(20))
            .ok());
    for (int worker = 0; worker < 2; ++worker) {
      Events events(client->transport(worker));
      for (int peer = 0; peer < 2; ++peer) {
        ClientCall call{.peer = peer, .request_bytes = 16};
        ASSERT_EQ(events.Call(call), "");
      }
    }
  }
  const absl::MutexLock lock(&server.mutex);
  EXPECT_EQ(server.peers.size(), 8);
}

grpc::Status CallRaw(const std::string& target, const std::string& method,
                     const std::string& bytes) {
  grpc::GenericStub stub(PlainChannel(target));
  grpc::CompletionQueue queue;
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() +
                       std::chrono::seconds(20));
  const grpc::Slice slice(bytes);
  const auto reader = stub.PrepareUnaryCall(
      &context, method, grpc::ByteBuffer(&slice, 1), &queue);
  reader->StartCall();
  grpc::ByteBuffer response;
  grpc::Status status;
  reader->Finish(&response, &status, nullptr);
  void* tag;
  bool ok;
  queue.Next(&tag, &ok);
  return status;
}

TEST(GrpcDriverWireTest, RefusesMalformedRequestsAndGoesOn) {
  std::atomic<int> arrived = 0;
  Service service([&](Transport& transport, ServerCall* call) {
    ++arrived;
    Events::ReplyAsAsked(transport, call);
  });
  const std::string method = "/distbench.Traffic/GenericRpc";
  for (int i = 0; i < 300; ++i) {
    const grpc::Status status = CallRaw(service.address(), method, "\xff");
    ASSERT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  }
  EXPECT_EQ(arrived, 0);
  EXPECT_TRUE(CallRaw(service.address(), method, "").ok());
  EXPECT_EQ(arrived, 1);
}

TEST(GrpcDriverWireTest, UnknownMethodsAreUnimplemented) {
  Service service;
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(
        CallRaw(service.address(), "/distbench.Traffic/Other", "").error_code(),
        grpc::StatusCode::UNIMPLEMENTED);
  }
}

}  // namespace
}  // namespace distbench
