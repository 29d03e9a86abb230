// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Tests how much of what is queued one turn writes, with connections that only
// say that they have written.

#include "distbench/protocol/tcp/stream_transport.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "distbench/base/files.h"
#include "distbench/protocol/driver.h"
#include "distbench/protocol/tcp/stream.h"
#include "distbench/protocol/tcp/stream_client.h"
#include "distbench/protocol/tcp/stream_connection.h"
#include "distbench/protocol/tcp/stream_error.h"
#include "distbench/protocol/tcp/turn_work.h"
#include "gtest/gtest.h"

namespace distbench::protocol {
namespace {

struct TestContext : StreamContext {
  TestContext(const ConnectionSecurity& security, StreamCounters& counters,
              TestContext*& made)
      : StreamContext(security, counters, /*spin_ns=*/0) {
    made = this;
  }

  struct {
    int64_t calls_per_connection = 0;
  } settings;
};

// Writes half of what is enough for a turn.
class WritingConnection final : public StreamConnection {
 public:
  explicit WritingConnection(TestContext& context)
      : StreamConnection(context), work_(context.poller.work()) {}

  using StreamConnection::MarkDirty;

  int writes = 0;

 private:
  void OnReady(uint32_t, TransportEvents&) override {}
  void Write() override {
    ++writes;
    work_.NoteSent(TurnWork::kSentBytes / 2);
  }
  bool IsInUse() const override { return false; }
  void OnBroken(const std::string&) override {}

  TurnWork& work_;
};

class NoClient {
 public:
  using Context = TestContext;

  NoClient(TestContext&, int64_t) {}
  void SetPeers(std::vector<StreamPeer>) {}
  size_t peer_count() const { return 1; }
  bool Start(ClientCall*) { return false; }
  void Cancel(ClientCall&) {}
  void CancelAll() {}
  void Close() {}
  int64_t next_due_ns() const { return INT64_MAX; }
  void Work(int64_t) {}
  bool DeliverEnded(TransportEvents&) { return false; }
  void DestroyIdle() {}
  size_t in_flight() const { return 0; }
};

class NoServer {
 public:
  explicit NoServer(TestContext&) {}
  void Serve(base::FileDescriptor) {}
  void Reply(ServerCall*) {}
  int64_t BreakConnections() { return 0; }
  int64_t next_due_ns() const { return INT64_MAX; }
  void Work(int64_t) {}
  void DestroyClosed() {}
  void Close() {}
};

class StreamTransportTest : public testing::Test {
 protected:
  StreamTransportTest() {
    EXPECT_TRUE(transport_.Open().ok());
    for (int i = 0; i < 6; ++i) {
      connections_.push_back(std::make_unique<WritingConnection>(*context_));
      connections_.back()->MarkDirty();
    }
  }

  void Poll(int64_t deadline_ns) { transport_.Poll(deadline_ns, events_); }

  int writes() const {
    int writes = 0;
    for (const auto& connection : connections_) writes += connection->writes;
    return writes;
  }

  const ConnectionSecurity security_;
  StreamCounters counters_;
  TestContext* context_ = nullptr;
  SocketTransportOf<NoClient, NoServer> transport_{security_, counters_,
                                                   context_};
  std::vector<std::unique_ptr<WritingConnection>> connections_;
  NoEvents events_;
};

TEST_F(StreamTransportTest, ATurnWritesSomeAndTheNextGoesOn) {
  Poll(INT64_MAX);  // does not wait while some are left
  EXPECT_EQ(writes(), 2);
  EXPECT_EQ(connections_[0]->writes, 1);
  connections_[0]->MarkDirty();  // comes after those that were left
  Poll(INT64_MAX);
  Poll(INT64_MAX);
  EXPECT_EQ(writes(), 6);
  EXPECT_EQ(connections_[0]->writes, 1);
  Poll(0);
  EXPECT_EQ(connections_[0]->writes, 2);
  Poll(0);
  EXPECT_EQ(writes(), 7);
}

TEST_F(StreamTransportTest, AConnectionMayGoBeforeItsTurnToWriteComes) {
  Poll(INT64_MAX);
  connections_.erase(connections_.begin() + 3);
  connections_.pop_back();
  Poll(0);
  EXPECT_EQ(writes(), 4);
  EXPECT_TRUE(context_->to_flush.empty());
}

}  // namespace
}  // namespace distbench::protocol
