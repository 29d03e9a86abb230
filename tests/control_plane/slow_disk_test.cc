// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Tests a sequencer with a slow disk.

#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "distbench/sequencer/runs/run_directory.h"
#include "distbench/sequencer/testing/gated_disk.h"
#include "gtest/gtest.h"
#include "proto/control.grpc.pb.h"
#include "proto/control.pb.h"
#include "tests/control_plane/cluster.h"

namespace distbench {
namespace {

// A channel with its own connection: each connection takes a limited number of
// calls, and these must leave room for others.
std::shared_ptr<grpc::Channel> OwnConnection(const std::string& address) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  return grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(),
                                   arguments);
}

// Simultaneous calls that need the disk.
class DiskCalls {
 public:
  explicit DiskCalls(const std::string& address)
      : stub_(DistBenchTestSequencer::NewStub(OwnConnection(address))) {}

  ~DiskCalls() {
    absl::MutexLock lock(&mutex_);
    mutex_.Await(absl::Condition(this, &DiskCalls::AllAreAnswered));
  }

  void Start() {
    grpc::ClientContext* context = NewCall();
    stub_->async()->ListRuns(context, &list_request_, &lists_.emplace_back(),
                             [this](const grpc::Status&) { OnAnswer(); });
    context = NewCall();
    stub_->async()->CancelRun(context, &cancel_request_, &cancel_response_,
                              [this](const grpc::Status&) { OnAnswer(); });
  }

  int answered() const {
    absl::MutexLock lock(&mutex_);
    return answered_;
  }

 private:
  grpc::ClientContext* NewCall() { return &contexts_.emplace_back(); }

  void OnAnswer() {
    absl::MutexLock lock(&mutex_);
    ++answered_;
  }

  bool AllAreAnswered() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return answered_ == static_cast<int>(contexts_.size());
  }

  const std::unique_ptr<DistBenchTestSequencer::Stub> stub_;
  std::deque<grpc::ClientContext> contexts_;
  const ListRunsRequest list_request_;
  std::deque<ListRunsResponse> lists_;
  const CancelRunRequest cancel_request_;
  CancelRunResponse cancel_response_;  // has no fields

  mutable absl::Mutex mutex_;
  int answered_ ABSL_GUARDED_BY(mutex_) = 0;
};

TEST(SlowDiskTest, NodesAreAnsweredWhileTheDiskTakesItsTime) {
  constexpr int kNodes = 50;
  constexpr int kCalls = 40;  // twice as many are more than gRPC has threads
  auto directory = sequencer::RunDirectory::Open(testing::TempDir() +
                                                 "/slow_disk_test.runs");
  ASSERT_TRUE(directory.ok()) << directory.status();
  auto disk = std::make_shared<sequencer::GatedDisk>(*std::move(directory));
  sequencer::SequencerOptions options;
  options.disk = disk;
  Cluster cluster(options);
  DiskCalls calls(cluster.address());
  disk->Close();
  for (int i = 0; i < kCalls; ++i) calls.Start();
  ASSERT_TRUE(disk->AwaitCall());
  BackgroundRun run(cluster.address(), SequenceOf({ClientServerTest("t", 1)}));
  // The nodes register, and answer pings with their clocks' times.
  cluster.StartNodes(kNodes);
  EXPECT_TRUE(cluster.WaitForStatus([](const GetStatusResponse& status) {
    return status.nodes_size() == kNodes &&
           std::all_of(status.nodes().begin(), status.nodes().end(),
                       [](const NodeStatus& node) {
                         return node.has_clock_offset_ns();
                       });
  }));
  EXPECT_EQ(calls.answered(), 0);
  disk->Open();
  run.Finish().IgnoreError();
  EXPECT_TRUE(cluster.WaitForNodeCount(kNodes));
}

}  // namespace
}  // namespace distbench
