// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/protocol/tcp/dialled_connection.h"

#include <sys/socket.h>

#include <utility>
#include <vector>

#include "distbench/base/files.h"
#include "distbench/protocol/driver.h"
#include "distbench/protocol/tcp/client_connection.h"
#include "distbench/protocol/tcp/connection.h"
#include "distbench/protocol/tcp/dial.h"
#include "distbench/protocol/tcp/settings.h"
#include "distbench/protocol/tcp/stream.h"
#include "distbench/protocol/tcp/stream_client.h"
#include "distbench/protocol/tcp/stream_connection.h"
#include "gtest/gtest.h"

namespace distbench::protocol {
namespace {

class CountingEvents final : public TransportEvents {
 public:
  void OnDone(ClientCall*) override { ++done; }
  void OnRequest(ServerCall*) override {}

  int done = 0;
};

// A turn may end before all connections were flushed.
TEST(DialledConnectionTest, ACallMayEndBeforeItsConnectionIsFlushed) {
  const ConnectionSecurity security;
  StreamCounters counters;
  ConnectionContext context(ReadTcpSettings({}), security, counters);
  ASSERT_TRUE(context.poller.Open().ok());
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
  const base::FileDescriptor server(ends[1]);
  std::vector<StreamPeer> peers(1);
  peers[0].servers.emplace_back().push_back(
      {.name = "server",
       .addresses = {},
       .stream = Stream(base::FileDescriptor(ends[0]))});
  StreamClient<ClientConnection> client(context);
  client.SetPeers(std::move(peers));

  ClientCall call;
  ASSERT_TRUE(client.Start(&call));
  ASSERT_EQ(call.sent_ns, 0);
  client.Cancel(call);
  CountingEvents events;
  EXPECT_TRUE(client.DeliverEnded(events));
  ASSERT_EQ(events.done, 1);
  EXPECT_GT(call.sent_ns, 0);
  // The engine may use its memory for another call now.
  call.sent_ns = 0;
  for (StreamConnection* connection : context.to_flush) connection->Flush();
  context.to_flush.clear();
  EXPECT_EQ(call.sent_ns, 0);
}

}  // namespace
}  // namespace distbench::protocol
