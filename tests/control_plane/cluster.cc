// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/control_plane/cluster.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"

namespace distbench {

DistributedSystemDescription ClientServerTest(const std::string& name,
                                              int client_count) {
  DistributedSystemDescription test;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(
      absl::Substitute(R"(
        name: "$0"
        services { name: "client" count: $1 }
        services { name: "server" count: 1 }
        rpc_descriptions { name: "query" client: "client" server: "server" }
        actions {
          name: "run" rpc_name: "query" iterations { max_duration_us: 5000000 }
        }
        action_lists { name: "client" action_names: "run" }
        action_lists { name: "query" })",
                       name, client_count),
      &test));
  return test;
}

TestSequence SequenceOf(std::vector<DistributedSystemDescription> tests) {
  TestSequence sequence;
  for (DistributedSystemDescription& test : tests) {
    *sequence.add_tests() = std::move(test);
  }
  return sequence;
}

// ---- BackgroundRun ----------------------------------------------------------

namespace {

RunTestsRequest RequestOf(TestSequence sequence) {
  RunTestsRequest request;
  *request.mutable_test_sequence() = std::move(sequence);
  request.set_cancel_with_call(true);
  return request;
}

}  // namespace

BackgroundRun::BackgroundRun(const std::string& address, TestSequence sequence)
    : BackgroundRun(address, RequestOf(std::move(sequence))) {}

BackgroundRun::BackgroundRun(const std::string& address,
                             RunTestsRequest request) {
  absl::StatusOr<std::unique_ptr<client::TestClient>> client =
      client::TestClient::Connect(address);
  EXPECT_TRUE(client.ok()) << client.status();
  client_ = *std::move(client);
  thread_ = std::thread([this, request = std::move(request)] {
    status_ = client_->RunTests(
        request,
        [this](const RunTestsEvent& event) {
          absl::MutexLock lock(&mutex_);
          events_.push_back(event);
        },
        results_);
  });
}

BackgroundRun::~BackgroundRun() {
  Cancel();
  (void)Finish();
}

bool BackgroundRun::WaitFor(RunTestsEvent::EventCase kind) {
  absl::MutexLock lock(&mutex_);
  const auto has_come = [&]() ABSL_SHARED_LOCKS_REQUIRED(mutex_) {
    return std::any_of(events_.begin(), events_.end(),
                       [kind](const RunTestsEvent& event) {
                         return event.event_case() == kind;
                       });
  };
  return mutex_.AwaitWithTimeout(absl::Condition(&has_come), kGenerous);
}

std::string BackgroundRun::run_id() {
  return WaitFor(RunTestsEvent::kRunId) ? events().front().run_id() : "";
}

std::vector<RunTestsEvent> BackgroundRun::events() const {
  absl::MutexLock lock(&mutex_);
  return events_;
}

void BackgroundRun::Cancel() { client_->Cancel(); }

absl::Status BackgroundRun::Finish() {
  if (thread_.joinable()) thread_.join();
  return status_;
}

// ---- Cluster ----------------------------------------------------------------

Cluster::Cluster(sequencer::SequencerOptions options)
    : options_(std::move(options)) {
  options_.listen_address = "localhost";
  options_.port = 0;
  RestartSequencer();
  port_ = sequencer_->port();
}

Cluster::~Cluster() {
  engines_.Unblock();
  nodes_.clear();
}

void Cluster::RestartSequencer() {
  options_.port = port_;
  absl::StatusOr<std::unique_ptr<sequencer::SequencerServer>> sequencer =
      sequencer::SequencerServer::Start(options_);
  ASSERT_TRUE(sequencer.ok()) << sequencer.status();
  sequencer_ = *std::move(sequencer);
}

absl::StatusOr<std::unique_ptr<node::NodeManager>> Cluster::TryStartNode(
    node::NodeManagerOptions options) {
  if (options.sequencer.empty() && options.channel == nullptr) {
    options.sequencer = address();
  }
  options.engines = &engines_;
  return node::NodeManager::Start(std::move(options));
}

node::NodeManager& Cluster::StartNode(node::NodeManagerOptions options) {
  absl::StatusOr<std::unique_ptr<node::NodeManager>> node =
      TryStartNode(std::move(options));
  EXPECT_TRUE(node.ok()) << node.status();
  nodes_.push_back(*std::move(node));
  return *nodes_.back();
}

void Cluster::StartNodes(int count) {
  for (int i = 0; i < count; ++i) StartNode();
}

std::string Cluster::address() const {
  return absl::StrCat("localhost:", port_);
}

std::unique_ptr<client::TestClient> Cluster::Connect() const {
  absl::StatusOr<std::unique_ptr<client::TestClient>> client =
      client::TestClient::Connect(address());
  EXPECT_TRUE(client.ok()) << client.status();
  return *std::move(client);
}

absl::Status Cluster::Run(TestSequence sequence,
                          TestSequenceResults& results) const {
  return Connect()->RunTests(
      sequence, [](const RunTestsEvent&) {}, results);
}

bool Cluster::WaitForStatus(
    const std::function<bool(const GetStatusResponse&)>& is_wanted) const {
  const std::unique_ptr<client::TestClient> client = Connect();
  for (const absl::Time deadline = absl::Now() + kGenerous;
       absl::Now() < deadline;) {
    const absl::StatusOr<GetStatusResponse> status = client->GetStatus();
    if (status.ok() && is_wanted(*status)) return true;
  }
  return false;
}

bool Cluster::WaitForNodeCount(int count) const {
  return WaitForStatus([count](const GetStatusResponse& status) {
    return status.nodes_size() == count;
  });
}

RunDescription Cluster::WaitForRun(const std::string& run_id,
                                   RunDescription::State state) const {
  const std::unique_ptr<client::TestClient> client = Connect();
  RunDescription found;
  for (const absl::Time deadline = absl::Now() + kGenerous;
       absl::Now() < deadline;) {
    const auto runs = client->ListRuns();
    EXPECT_TRUE(runs.ok()) << runs.status();
    if (!runs.ok()) break;
    for (const RunDescription& run : *runs) {
      if (run.id() == run_id) found = run;
    }
    if (found.state() == state) return found;
  }
  ADD_FAILURE() << "not " << RunDescription::State_Name(state) << ": "
                << found.ShortDebugString();
  return found;
}

}  // namespace distbench
