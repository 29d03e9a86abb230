// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/sequencer/serving/client_calls.h"

#include <grpcpp/grpcpp.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "distbench/base/clock.h"
#include "distbench/sequencer/runs/run_directory.h"
#include "distbench/sequencer/runs/run_record.h"
#include "distbench/sequencer/runs/run_storage.h"
#include "gtest/gtest.h"
#include "proto/control.grpc.pb.h"
#include "proto/results.pb.h"
#include "proto/traffic_config.pb.h"

namespace distbench::sequencer {
namespace {

// Every call follows the same run.
class OneRunService final : public DistBenchTestSequencer::CallbackService {
 public:
  explicit OneRunService(std::shared_ptr<RunRecord> run)
      : run_(std::move(run)) {}

  grpc::ServerWriteReactor<RunTestsEvent>* GetRun(
      grpc::CallbackServerContext* context, const GetRunRequest*) override {
    const auto call = FollowRunCall::Open(*context, [] {});
    call->Follow(run_);
    return call.get();
  }

  grpc::ServerUnaryReactor* RunTestSequence(
      grpc::CallbackServerContext*, const TestSequence*,
      TestSequenceResults* response) override {
    auto* const call = RunTestSequenceCall::Open(*response, run_, [] {});
    is_called_.Notify();
    return call;
  }

  // Waits until RunTestSequence() follows the run.
  void AwaitCall() const { is_called_.WaitForNotification(); }

 private:
  const std::shared_ptr<RunRecord> run_;
  absl::Notification is_called_;
};

// Serves an OneRunService.
class Server {
 public:
  explicit Server(OneRunService& service) {
    grpc::ServerBuilder builder;
    builder.AddListeningPort("localhost:0", grpc::InsecureServerCredentials(),
                             &port_);
    builder.RegisterService(&service);
    server_ = builder.BuildAndStart();
  }

  std::unique_ptr<DistBenchTestSequencer::Stub> Connect() const {
    grpc::ChannelArguments arguments;
    arguments.SetMaxReceiveMessageSize(-1);
    return DistBenchTestSequencer::NewStub(grpc::CreateCustomChannel(
        absl::StrCat("localhost:", port_), grpc::InsecureChannelCredentials(),
        arguments));
  }

  void Shutdown() { server_->Shutdown(); }

 private:
  int port_ = 0;
  std::unique_ptr<grpc::Server> server_;
};

// Counts how often it is asked. Thread-safe.
class CountingClock final : public base::Clock {
 public:
  int64_t MonotonicNs() const override {
    absl::MutexLock lock(&mutex_);
    ++count_;
    return now_ns_;
  }
  int64_t UnixNs() const override { return 0; }

  void Advance(absl::Duration duration) {
    absl::MutexLock lock(&mutex_);
    now_ns_ += absl::ToInt64Nanoseconds(duration);
  }

  // Returns false if that takes more than a minute.
  bool AwaitCount(int count) const {
    absl::MutexLock lock(&mutex_);
    const auto is_reached = [&]() ABSL_SHARED_LOCKS_REQUIRED(mutex_) {
      return count_ >= count;
    };
    return mutex_.AwaitWithTimeout(absl::Condition(&is_reached),
                                   absl::Minutes(1));
  }

 private:
  mutable absl::Mutex mutex_;
  mutable int count_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t now_ns_ ABSL_GUARDED_BY(mutex_) = 0;
};

// A run that has ended, with a piece that is larger than what a
// connection buffers.
std::shared_ptr<RunRecord> LargeRun(RunStorage& storage,
                                    const base::Clock& clock) {
  constexpr int64_t kPieceBytes = 64 << 20;
  RunRecord::Options options;
  options.storage = &storage;
  options.description.set_id("20260131-235959-000");
  options.description.set_state(RunDescription::WAITING);
  options.description.add_test_names("first");
  auto run = std::make_shared<RunRecord>(std::move(options), clock);
  run->Save();
  ResultChunk chunk;
  chunk.set_instance("client/0");
  chunk.mutable_instance_log()->set_engine_error_message(
      std::string(kPieceBytes, 'x'));
  run->OnResultChunk(0, std::move(chunk));
  run->OnSequenceDone(absl::OkStatus());
  EXPECT_TRUE(storage.AwaitIdle(absl::Minutes(1)));
  return run;
}

TEST(FollowRunCallTest, AClientThatDoesNotReadIsCutOffWhenItIsGivenUp) {
  CountingClock clock;
  RunStorage storage(TemporaryRuns());
  const std::shared_ptr<RunRecord> run = LargeRun(storage, clock);
  OneRunService service(run);
  Server server(service);
  const auto stub = server.Connect();
  grpc::ClientContext context;
  const auto reader = stub->GetRun(&context, GetRunRequest());
  // The follower asks when it begins, takes the id, has read the piece, and
  // takes it.
  ASSERT_TRUE(clock.AwaitCount(4));
  storage.Post([&](RunDisk&) { run->DropResult(); });
  RunTestsEvent event;
  EXPECT_TRUE(reader->Read(&event));
  EXPECT_FALSE(reader->Read(&event));
  EXPECT_EQ(reader->Finish().error_code(), grpc::StatusCode::CANCELLED);
  server.Shutdown();
  EXPECT_EQ(run.use_count(), 2);  // here and in the service
}

TEST(RunTestSequenceCallTest, AClientThatDoesNotReadTheResponseKeepsNoRecord) {
  CountingClock clock;
  RunStorage storage(TemporaryRuns());
  const std::shared_ptr<RunRecord> run = LargeRun(storage, clock);
  OneRunService service(run);
  Server server(service);
  const auto stub = server.Connect();
  grpc::ClientContext context;
  grpc::CompletionQueue queue;
  const auto unread =
      stub->AsyncRunTestSequence(&context, TestSequence(), &queue);
  unread->ReadInitialMetadata(nullptr);  // the call begins
  service.AwaitCall();
  EXPECT_TRUE(storage.AwaitIdle(absl::Minutes(1)));  // the response is complete
  EXPECT_FALSE(run->is_followed());
  context.TryCancel();
  void* tag = nullptr;
  bool ok = false;
  EXPECT_TRUE(queue.Next(&tag, &ok));
  server.Shutdown();
}

}  // namespace
}  // namespace distbench::sequencer
