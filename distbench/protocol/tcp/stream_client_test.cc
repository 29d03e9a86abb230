// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Tests that a worker's turn does not look at each of its connections, on
// either side, with connections that do nothing.

#include "distbench/protocol/tcp/stream_client.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "distbench/base/clock.h"
#include "distbench/payload/message_codec.h"
#include "distbench/protocol/call_table.h"
#include "distbench/protocol/driver.h"
#include "distbench/protocol/tcp/agenda.h"
#include "distbench/protocol/tcp/dial.h"
#include "distbench/protocol/tcp/settings.h"
#include "distbench/protocol/tcp/strangers.h"
#include "distbench/protocol/tcp/stream_error.h"
#include "distbench/protocol/tcp/stream_server.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::protocol {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr size_t kConnections = 100;

class IdleConnection;

// What the connections of one worker do.
struct IdleContext {
  StreamCounters counters;
  struct {
    int64_t handshake_timeout_ns = 1'000'000'000;
    StrangerLimits strangers = {};
  } settings;
  std::vector<IdleConnection*> alive;  // in the order of their making
  int looks = 0;                       // at connections
  std::vector<IdleConnection*> worked;
};

class IdleConnection final : public CallOwner, public AgendaItem {
 public:
  using Context = IdleContext;
  using Listener = ClientListener<IdleConnection>;
  static constexpr size_t kMaxTraceBytes = 0;

  IdleConnection(IdleContext& context, DialTarget, CallTable<IdleConnection>&,
                 Listener& listener)
      : context_(context), listener_(listener) {
    context.alive.push_back(this);
  }
  ~IdleConnection() { std::erase(context_.alive, this); }

  bool is_up() const { return true; }
  bool is_full() const { return false; }
  void Send(ClientCall&, uint64_t, const payload::RequestHeader&) {}
  void Abandon(ClientCall&) {}
  void StampCalls() {}
  void RequestDial() {}

  int64_t next_due_ns() const {
    ++context_.looks;
    return due_ns_;
  }
  void Work(int64_t) {
    context_.worked.push_back(this);
    due_ns_ = AgendaItem::kNever;
  }

  // The server will be dialled at this time.
  void DialAt(int64_t due_ns) {
    due_ns_ = due_ns;
    listener_.OnDueChanged(*this);
  }

 private:
  IdleContext& context_;
  Listener& listener_;
  int64_t due_ns_ = AgendaItem::kNever;
};

class StreamClientTest : public testing::Test {
 protected:
  // One server with this many connections.
  void Connect(StreamClient<IdleConnection>& client, size_t count) {
    std::vector<StreamPeer> peers(1);
    peers[0].servers.emplace_back(count);
    client.SetPeers(std::move(peers));
  }

  IdleContext context_;
};

TEST_F(StreamClientTest, DialTimesDoNotCostALookAtEachConnection) {
  StreamClient<IdleConnection> client(context_);
  Connect(client, kConnections);
  for (size_t i = 0; i < kConnections; ++i) {
    context_.alive[i]->DialAt(static_cast<int64_t>(1000 - i));
  }
  context_.looks = 0;
  EXPECT_EQ(client.next_due_ns(), 901);
  EXPECT_EQ(context_.looks, 0);
  client.Work(902);
  EXPECT_THAT(context_.worked,
              ElementsAre(context_.alive[99], context_.alive[98]));
  EXPECT_EQ(client.next_due_ns(), 903);
  EXPECT_LE(context_.looks, 2);
}

// Nothing is left of them in the turns that follow.
TEST_F(StreamClientTest, ConnectionsThatHaveDialledAreForgotten) {
  StreamClient<IdleConnection> client(context_);
  Connect(client, kConnections);
  for (IdleConnection* connection : context_.alive) connection->DialAt(1);
  for (IdleConnection* connection : context_.alive) {
    connection->DialAt(AgendaItem::kNever);  // the poller was faster
  }
  context_.looks = 0;
  EXPECT_EQ(client.next_due_ns(), AgendaItem::kNever);
  client.Work(2);
  EXPECT_EQ(context_.looks, 0);
  EXPECT_THAT(context_.worked, IsEmpty());
}

TEST_F(StreamClientTest, ARetiredConnectionGoesWithItsLastCall) {
  StreamClient<IdleConnection> client(context_, /*calls_per_connection=*/2);
  Connect(client, 1);
  IdleConnection* const first = context_.alive[0];
  ClientCall calls[5];
  for (ClientCall& call : calls) ASSERT_TRUE(client.Start(&call));
  ASSERT_EQ(context_.alive.size(), 3);
  IdleConnection* const last = context_.alive[2];
  first->DialAt(7);
  client.Cancel(calls[0]);
  client.Cancel(calls[2]);
  client.Cancel(calls[4]);
  client.DestroyIdle();
  EXPECT_EQ(context_.alive.size(), 3);
  client.Cancel(calls[1]);
  client.Cancel(calls[3]);
  client.DestroyIdle();
  EXPECT_THAT(context_.alive, ElementsAre(last));
  EXPECT_EQ(client.next_due_ns(), AgendaItem::kNever);
}

// A connection that a server has accepted.
class Accepted final : public AgendaItem, public StrangerItem {
 public:
  using Context = IdleContext;
  struct Request : ServerCall {};
  using Socket = AcceptedSocket<Accepted, Request>;

  Accepted(IdleContext& context, Socket socket)
      : context_(context), listener_(socket.listener) {
    all().push_back(this);
  }
  ~Accepted() { std::erase(all(), this); }

  static std::vector<Accepted*>& all() {
    static std::vector<Accepted*> alive;
    return alive;
  }

  int64_t next_due_ns() const { return due_ns_; }
  void Work(int64_t) { Close(); }
  bool is_closed() const { return Look(is_closed_); }
  size_t pending_requests() const { return Look(pending); }
  void Finish() { Close(); }
  void Break(StreamError reason) { error = reason; }

  void SayThatItIsProven() { listener_.OnProven(*this); }
  void SayThatItIsHeard(int64_t now_ns) {
    listener_.OnStrangerHeard(*this, now_ns);
  }

  void set_due_ns(int64_t due_ns) {
    due_ns_ = due_ns;
    listener_.OnDueChanged(*this);
  }
  void Close() {
    is_closed_ = true;
    set_due_ns(AgendaItem::kNever);
    // Again if a request was left.
    listener_.OnClosed(*this);
    listener_.OnClosed(*this);
  }

  size_t pending = 0;
  StreamError error = StreamError::kNone;

 private:
  template <typename Value>
  Value Look(Value value) const {
    ++context_.looks;
    return value;
  }

  IdleContext& context_;
  ServerListener<Accepted>& listener_;
  int64_t due_ns_ = AgendaItem::kNever;
  bool is_closed_ = false;
};

TEST(StreamServerTest, AnEndOfOneConnectionDoesNotCostALookAtTheOthers) {
  IdleContext context;
  StreamServer<Accepted> server(context);
  for (size_t i = 0; i < kConnections; ++i) server.Serve({});
  std::vector<Accepted*>& all = Accepted::all();
  for (size_t i = 0; i < kConnections; ++i) {
    all[i]->set_due_ns(static_cast<int64_t>(i));
  }
  Accepted* const late = all[0];
  all[50]->Close();
  server.Work(0);
  EXPECT_EQ(server.next_due_ns(), 1);
  server.DestroyClosed();
  server.DestroyClosed();
  EXPECT_THAT(all, testing::SizeIs(kConnections - 2));
  EXPECT_THAT(all, testing::Not(testing::Contains(late)));
  EXPECT_LE(context.looks, 4);
}

std::vector<StreamError> ErrorsOfAccepted() {
  std::vector<StreamError> errors;
  for (const Accepted* one : Accepted::all()) errors.push_back(one->error);
  return errors;
}

TEST(StreamServerTest, ForOneStrangerTooManyTheQuietestIsGivenUp) {
  IdleContext context;
  context.settings.strangers.connections = 3;
  StreamServer<Accepted> server(context);
  for (int i = 0; i < 3; ++i) server.Serve({});
  Accepted::all()[0]->SayThatItIsProven();
  Accepted::all()[1]->SayThatItIsHeard(base::NowNs());
  server.Serve({});  // in the place of the one that is no stranger
  EXPECT_THAT(ErrorsOfAccepted(), testing::Each(StreamError::kNone));
  server.Serve({});
  EXPECT_THAT(ErrorsOfAccepted(),
              ElementsAre(StreamError::kNone, StreamError::kNone,
                          StreamError::kStranger, StreamError::kNone,
                          StreamError::kNone));
}

TEST(StreamServerTest, StrangersThatAreSilentForLongAreGivenUp) {
  constexpr int64_t kSilenceNs = 1000;
  IdleContext context;
  context.settings.strangers.silence_ns = kSilenceNs;
  StreamServer<Accepted> server(context);
  for (int i = 0; i < 3; ++i) server.Serve({});
  Accepted::all()[0]->SayThatItIsProven();
  Accepted::all()[1]->pending = 1;
  const int64_t due_ns = server.next_due_ns();
  server.Work(due_ns - 1);
  EXPECT_THAT(ErrorsOfAccepted(), testing::Each(StreamError::kNone));
  const int64_t late_ns = due_ns + 1'000'000'000'000;
  server.Work(late_ns);
  EXPECT_THAT(ErrorsOfAccepted(),
              ElementsAre(StreamError::kNone, StreamError::kNone,
                          StreamError::kStranger));
  // The other one was being served.
  EXPECT_EQ(server.next_due_ns(), late_ns + kSilenceNs);
  Accepted::all()[1]->pending = 0;
  server.Work(late_ns + kSilenceNs);
  EXPECT_THAT(ErrorsOfAccepted(),
              ElementsAre(StreamError::kNone, StreamError::kStranger,
                          StreamError::kStranger));
  EXPECT_EQ(server.next_due_ns(), AgendaItem::kNever);
}

}  // namespace
}  // namespace distbench::protocol
