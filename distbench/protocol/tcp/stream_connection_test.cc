// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/protocol/tcp/stream_connection.h"

#include <fcntl.h>

#include <cstdint>
#include <string>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::protocol {
namespace {

using ::testing::HasSubstr;

// Nobody uses it.
class IdleConnection final : public StreamConnection {
 public:
  explicit IdleConnection(StreamContext& context) : StreamConnection(context) {}

  using StreamConnection::is_open;
  using StreamConnection::Open;

  std::string reason;  // why it broke

 private:
  void OnReady(uint32_t, TransportEvents&) override {}
  void Write() override {}
  bool IsInUse() const override { return false; }
  void OnBroken(const std::string& why) override { reason = why; }
};

// As if epoll had no watches left: it watches no regular files.
TEST(StreamConnectionTest, ClosesWhatCannotBeWatched) {
  const ConnectionSecurity security;
  StreamCounters counters;
  StreamContext context(security, counters, /*spin_ns=*/0);
  ASSERT_TRUE(context.poller.Open().ok());
  IdleConnection connection(context);
  base::FileDescriptor file(open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
  ASSERT_TRUE(file.is_open());
  connection.Open(Stream(std::move(file)), /*watched=*/false);
  ASSERT_THAT(context.to_flush, testing::ElementsAre(&connection));
  connection.Flush();
  EXPECT_FALSE(connection.is_open());
  EXPECT_THAT(connection.reason, HasSubstr("could not be used: cannot make a "
                                           "watch of a socket: "));
  EXPECT_EQ(counters.errors(StreamError::kNotWatched), 1);
}

}  // namespace
}  // namespace distbench::protocol
