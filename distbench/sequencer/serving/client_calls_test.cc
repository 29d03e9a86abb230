#include "distbench/sequencer/serving/client_calls.h"

#include <grpcpp/grpcpp.h>

#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "distbench/base/testing/fake_clock.h"
#include "distbench/sequencer/runs/run_directory.h"
#include "distbench/sequencer/runs/run_record.h"
#include "distbench/sequencer/runs/run_storage.h"
#include "gtest/gtest.h"
#include "proto/control.grpc.pb.h"

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

 private:
  const std::shared_ptr<RunRecord> run_;
};

// A run that has ended, with much more than a connection buffers.
std::shared_ptr<RunRecord> LargeRun(RunStorage& storage,
                                    const base::Clock& clock) {
  constexpr int kPieces = 100;
  constexpr int kPieceBytes = 1 << 20;
  RunRecord::Options options;
  options.storage = &storage;
  options.description.set_id("20260131-235959-000");
  options.description.set_state(RunDescription::WAITING);
  auto run = std::make_shared<RunRecord>(std::move(options), clock);
  run->Save();
  for (int i = 0; i < kPieces; ++i) {
    ResultChunk chunk;
    chunk.mutable_instance_log()->set_engine_error_message(
        std::string(kPieceBytes, 'x'));
    run->OnResultChunk(0, std::move(chunk));
  }
  run->OnSequenceDone(absl::OkStatus());
  EXPECT_TRUE(storage.AwaitIdle(absl::Minutes(1)));
  return run;
}

TEST(FollowRunCallTest, AClientThatDoesNotReadIsCutOffWhenItIsGivenUp) {
  base::FakeClock clock;
  RunStorage storage(TemporaryRuns());
  const std::shared_ptr<RunRecord> run = LargeRun(storage, clock);
  OneRunService service(run);
  grpc::ServerBuilder builder;
  int port = 0;
  builder.AddListeningPort("localhost:0", grpc::InsecureServerCredentials(),
                           &port);
  builder.RegisterService(&service);
  const std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  const auto stub = DistBenchTestSequencer::NewStub(grpc::CreateChannel(
      absl::StrCat("localhost:", port), grpc::InsecureChannelCredentials()));
  grpc::ClientContext context;
  const auto reader = stub->GetRun(&context, GetRunRequest());
  reader->WaitForInitialMetadata();
  // Until the buffers of the connection are full, the call takes events.
  const absl::Time deadline = absl::Now() + absl::Minutes(1);
  while (run->has_followers() && absl::Now() < deadline) {
    clock.Advance(absl::ToInt64Nanoseconds(absl::Minutes(1)));
    run->GiveUpStalledFollowers();
    std::this_thread::yield();
  }
  EXPECT_FALSE(run->has_followers());
  RunTestsEvent event;
  while (reader->Read(&event)) continue;
  EXPECT_EQ(reader->Finish().error_code(), grpc::StatusCode::CANCELLED);
  server->Shutdown();
}

}  // namespace
}  // namespace distbench::sequencer
