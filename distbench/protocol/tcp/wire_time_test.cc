// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/protocol/tcp/wire_time.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "distbench/base/clock.h"
#include "distbench/base/files.h"
#include "distbench/base/listen_address.h"
#include "distbench/protocol/driver.h"
#include "distbench/protocol/tcp/settings.h"
#include "distbench/protocol/tcp/socket.h"
#include "distbench/protocol/tcp/stream_error.h"
#include "distbench/protocol/tcp/tcp_driver.h"
#include "distbench/protocol/tcp/testing/connection_variants.h"
#include "distbench/protocol/tcp/testing/wire_time_conformance.h"
#include "distbench/protocol/testing/driver_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::protocol {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// ---- Stamps of a socket -----------------------------------------------------

// RealClock(), which somebody sets.
class SettableClock final : public base::Clock {
 public:
  int64_t MonotonicNs() const override { return base::NowNs(); }
  int64_t UnixNs() const override {
    return base::RealClock().UnixNs() + added_ns;
  }

  int64_t added_ns = 0;
};

// Both ends of a TCP connection over loopback, of which the client's takes
// stamps.
class SocketStampsTest : public testing::Test {
 protected:
  SocketStampsTest() {
    stamping_.Await();
    auto listener = base::ListenAt("127.0.0.1:0", [](int) {});
    EXPECT_TRUE(listener.ok()) << listener.status();
    const auto address =
        ResolveAddress("127.0.0.1:" + std::to_string(listener->port));
    client_ = base::FileDescriptor(socket(AF_INET, SOCK_STREAM, 0));
    EXPECT_TRUE(BeginConnect(client_.get(), address->front()));
    const int flag = 1;
    setsockopt(client_.get(), IPPROTO_TCP, TCP_NODELAY, &flag, sizeof(flag));
    server_ =
        base::FileDescriptor(accept(listener->socket.get(), nullptr, nullptr));
    EXPECT_TRUE(server_.is_open());
    stamps_.emplace(client_.get(), config::WireClock::kSoftware, clock_);
    EXPECT_TRUE(stamps_->Begin().ok());
  }

  ssize_t Send(size_t bytes) {
    std::string data(bytes, 'x');
    const iovec piece = {.iov_base = data.data(), .iov_len = bytes};
    return stamps_->Send(&piece, 1);
  }

  // Waits until the stamp of the last byte that was sent is there.
  void CollectLast() {
    while (stamps_->sent().empty() ||
           stamps_->sent().back().last_byte != stamps_->last_byte()) {
      pollfd ready = {.fd = client_.get(), .events = 0, .revents = 0};
      ASSERT_EQ(poll(&ready, 1, /*timeout=*/20'000), 1) << "no stamp came";
      stamps_->Collect();
    }
  }

  void Answer(const std::string& bytes) const {
    ASSERT_EQ(send(server_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(bytes.size()));
  }
  // Waits until so many bytes can be read.
  void AwaitAnswer(size_t bytes) const {
    std::string buffer(bytes, '\0');
    ASSERT_EQ(recv(client_.get(), buffer.data(), bytes, MSG_PEEK | MSG_WAITALL),
              static_cast<ssize_t>(bytes));
  }
  size_t Receive(size_t most) {
    std::string buffer(most, '\0');
    return stamps_->Receive(buffer.data(), most);
  }

  SettableClock clock_;
  ReceiveStamping stamping_;
  base::FileDescriptor client_;
  base::FileDescriptor server_;
  std::optional<SocketStamps> stamps_;
};

TEST_F(SocketStampsTest, AStampHasThePositionOfTheLastByteOfItsSend) {
  const int64_t before_ns = base::RealClock().UnixNs();
  ASSERT_EQ(Send(1), 1);
  CollectLast();
  EXPECT_EQ(stamps_->sent().back().last_byte, 0u);
  ASSERT_EQ(Send(100), 100);
  CollectLast();
  EXPECT_EQ(stamps_->sent().back().last_byte, 100u);
  EXPECT_GE(stamps_->sent().back().left_ns, before_ns);
  EXPECT_LE(stamps_->sent().back().left_ns, base::RealClock().UnixNs());
  EXPECT_TRUE(stamps_->has_stamped_sends());
}

// The bytes of sends without a stamp count.
TEST_F(SocketStampsTest, OnlySendsThatAreToBeStampedAre) {
  stamps_->set_stamps_sends(false);
  ASSERT_EQ(Send(50), 50);
  EXPECT_FALSE(stamps_->Collect());
  stamps_->set_stamps_sends(true);
  ASSERT_EQ(Send(50), 50);
  CollectLast();
  EXPECT_EQ(stamps_->sent().back().last_byte, 99u);
}

// A send of which the socket takes a part may have no stamp. One that goes on
// has the position among all that was sent.
TEST_F(SocketStampsTest, PartsOfSendsCount) {
  const int buffer_bytes = 10'000;
  setsockopt(client_.get(), SOL_SOCKET, SO_SNDBUF, &buffer_bytes,
             sizeof(buffer_bytes));
  constexpr size_t kBytes = 4 << 20;
  const ssize_t part = Send(kBytes);
  ASSERT_GT(part, 0);
  ASSERT_LT(part, static_cast<ssize_t>(kBytes));
  EXPECT_EQ(stamps_->last_byte(), static_cast<uint32_t>(part - 1));
  std::string read(part, '\0');
  ASSERT_EQ(recv(server_.get(), read.data(), read.size(), MSG_WAITALL), part);
  stamps_->Collect();
  stamps_->ForgetSent();
  ASSERT_EQ(Send(100), 100);
  CollectLast();
  ASSERT_EQ(stamps_->sent().size(), 1u);
  EXPECT_EQ(stamps_->sent().front().last_byte,
            static_cast<uint32_t>(part + 99));
}

// The kernel then forgets that the first one was to be stamped.
TEST_F(SocketStampsTest, OfSendsInOneSegmentTheLastIsStamped) {
  const int on = 1;
  const int off = 0;
  setsockopt(client_.get(), IPPROTO_TCP, TCP_CORK, &on, sizeof(on));
  ASSERT_EQ(Send(10), 10);
  ASSERT_EQ(Send(10), 10);
  EXPECT_FALSE(stamps_->Collect());
  setsockopt(client_.get(), IPPROTO_TCP, TCP_CORK, &off, sizeof(off));
  CollectLast();
  ASSERT_EQ(stamps_->sent().size(), 1u);
  EXPECT_EQ(stamps_->sent().front().last_byte, 19u);
}

TEST_F(SocketStampsTest, WhatIsReadTogetherHasTheStampOfTheLast) {
  Answer("first");
  AwaitAnswer(5);
  const int64_t between_ns = base::RealClock().UnixNs();
  Answer("second");
  AwaitAnswer(11);
  ASSERT_EQ(Receive(100), 11u);
  EXPECT_GE(stamps_->received().came_ns, between_ns);
  EXPECT_LE(stamps_->received().came_ns, base::RealClock().UnixNs());
}

TEST_F(SocketStampsTest, WhatIsReadInPartsHasTheStampOfEach) {
  Answer("first");
  AwaitAnswer(5);
  const int64_t between_ns = base::RealClock().UnixNs();
  ASSERT_EQ(Receive(3), 3u);
  EXPECT_LE(stamps_->received().came_ns, between_ns);
  EXPECT_GT(stamps_->received().came_ns, 0);
  EXPECT_EQ(stamps_->received().count, 1);
}

TEST_F(SocketStampsTest, WhatIsNotToBeStampedIsNot) {
  stamps_->set_stamps_receives(false);
  Answer("first");
  ASSERT_EQ(Receive(100), 5u);
  EXPECT_EQ(stamps_->received().came_ns, 0);
  EXPECT_EQ(stamps_->received().count, 1);
}

TEST_F(SocketStampsTest, NoticesThatTheClockWasSet) {
  const auto receive = [&] {
    Answer("more");
    ASSERT_GT(Receive(100), 0u);
  };
  receive();
  EXPECT_EQ(stamps_->received().clock_steps, 0);
  clock_.added_ns = 50'000;
  receive();
  EXPECT_EQ(stamps_->received().clock_steps, 1);
  receive();
  EXPECT_EQ(stamps_->received().clock_steps, 1);
  clock_.added_ns = -50'000;
  receive();
  EXPECT_EQ(stamps_->received().clock_steps, 2);
}

TEST_F(SocketStampsTest, WhatAnInterfaceLacksIsNamed) {
  SocketStamps stamps(client_.get(), config::WireClock::kHardware);
  ASSERT_TRUE(stamps.Begin().ok());
  const iovec piece = {.iov_base = const_cast<char*>("x"), .iov_len = 1};
  ASSERT_EQ(stamps.Send(&piece, 1), 1);
  const absl::Status status =
      CheckStamps(stamps, client_.get(), config::WireClock::kHardware);
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("the interface lo gives no hardware time stamps "
                              "of what it sends"),
                    HasSubstr("or use clock \"software\"")));
}

TEST_F(SocketStampsTest, AnInterfaceThatStampsIsFine) {
  ASSERT_EQ(Send(1), 1);
  EXPECT_TRUE(
      CheckStamps(*stamps_, client_.get(), config::WireClock::kSoftware).ok());
}

TEST(SocketStampsOfOthersTest, UnixSocketsAreRefused) {
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  const base::FileDescriptor end(ends[0]);
  const base::FileDescriptor other(ends[1]);
  SocketStamps stamps(end.get(), config::WireClock::kSoftware);
  EXPECT_THAT(std::string(stamps.Begin().message()),
              HasSubstr("Unix sockets have no time stamps"));
}

// ---- Which calls have which stamps ------------------------------------------

constexpr int64_t kUnixNs = 1'700'000'000'000'000'000;

class WireTimesTest : public testing::Test {
 protected:
  // Flushes calls whose requests have so many bytes in all, after those that
  // wait, and takes them for sent at 1000.
  std::vector<ClientCall*> Flush(int count, int64_t queued_bytes) {
    std::vector<ClientCall*> calls;
    for (int i = 0; i < count; ++i) {
      calls.push_back(&calls_.emplace_back());
      calls.back()->sent_ns = 1000;
    }
    times_.OnFlush(calls, queued_bytes);
    return calls;
  }

  // The reply of a call is read at 2000, and came at kUnixNs + came_ns.
  void Reply(ClientCall& call, int64_t came_ns, size_t others = 0) {
    ++received_.count;
    ReplyInSameRead(call, came_ns, others);
  }
  void ReplyInSameRead(ClientCall& call, int64_t came_ns, size_t others = 0) {
    received_.came_ns = kUnixNs + came_ns;
    call.done_ns = 2000;
    times_.OnReply(call, others, received_);
  }

  void Left(uint32_t last_byte, int64_t left_ns) {
    const SocketStamps::Sent sent = {.last_byte = last_byte,
                                     .left_ns = kUnixNs + left_ns};
    times_.OnLeft({&sent, 1});
  }

  StreamCounters counters_;
  WireTimes times_{{.share = 1}, /*seed=*/1, counters_};
  std::list<ClientCall> calls_;
  SocketStamps::Received received_;
};

TEST_F(WireTimesTest, IsBetweenTheStampsOfRequestAndReply) {
  const auto calls = Flush(1, 100);
  EXPECT_TRUE(times_.awaits_write());
  times_.OnWritten(100, /*last_byte=*/179);  // 80 of a greeting
  EXPECT_FALSE(times_.awaits_write());
  EXPECT_TRUE(times_.awaits_stamp(*calls[0]));
  Left(179, 300);
  EXPECT_FALSE(times_.awaits_stamp(*calls[0]));
  EXPECT_TRUE(times_.awaits_reply());
  Reply(*calls[0], 1000);
  EXPECT_EQ(calls[0]->wire_ns, 700);
  EXPECT_FALSE(calls[0]->wire_shared);
  EXPECT_FALSE(times_.awaits_reply());
  EXPECT_EQ(counters_.wire_stamps, 1);
  EXPECT_EQ(counters_.wire_stamps_missing, 0);
}

TEST_F(WireTimesTest, ClocksOfInterfacesMayBeOffByAThousandth) {
  const auto wire_ns_of = [&](config::WireClock clock, int64_t passed_ns) {
    WireTimes times({.share = 1, .clock = clock}, /*seed=*/1, counters_);
    ClientCall call;
    call.sent_ns = 1000;
    call.done_ns = 11'000;
    ClientCall* const calls[] = {&call};
    times.OnFlush(calls, 100);
    times.OnWritten(100, 99);
    const SocketStamps::Sent sent = {.last_byte = 99, .left_ns = kUnixNs};
    times.OnLeft({&sent, 1});
    SocketStamps::Received received;
    received.count = 1;
    received.came_ns = kUnixNs + passed_ns;
    times.OnReply(call, /*others=*/0, received);
    return call.wire_ns;
  };
  EXPECT_EQ(wire_ns_of(config::WireClock::kSoftware, 10'000), 10'000);
  EXPECT_EQ(wire_ns_of(config::WireClock::kSoftware, 10'001), kNotReported);
  EXPECT_EQ(wire_ns_of(config::WireClock::kHardware, 10'010), 10'000);
  EXPECT_EQ(wire_ns_of(config::WireClock::kHardware, 10'011), kNotReported);
}

TEST_F(WireTimesTest, CallsOfAFlushShareItsStamp) {
  const auto calls = Flush(3, 300);
  times_.OnWritten(300, 299);
  Left(299, 100);
  for (int i = 0; i < 3; ++i) {
    Reply(*calls[i], 200 + 100 * i, /*others=*/2 - i);
    EXPECT_EQ(calls[i]->wire_ns, 100 + 100 * i);
    EXPECT_TRUE(calls[i]->wire_shared);
  }
}

TEST_F(WireTimesTest, RepliesThatAreReadTogetherShareTheirs) {
  const auto first = Flush(1, 100);
  times_.OnWritten(100, 99);
  Left(99, 100);
  const auto second = Flush(1, 100);
  times_.OnWritten(100, 199);
  Left(199, 200);
  Reply(*first[0], 500, /*others=*/1);
  ReplyInSameRead(*second[0], 500);
  EXPECT_TRUE(first[0]->wire_shared);
  EXPECT_TRUE(second[0]->wire_shared);
  EXPECT_EQ(first[0]->wire_ns, 400);
  EXPECT_EQ(second[0]->wire_ns, 300);
}

// What left before is a part of it.
TEST_F(WireTimesTest, AFlushInSeveralWritesHasTheStampOfTheLast) {
  const auto calls = Flush(1, 1000);
  times_.OnWritten(600, 599);
  Left(599, 100);
  EXPECT_TRUE(times_.awaits_write());
  times_.OnWritten(400, 999);
  Left(999, 250);
  Reply(*calls[0], 500);
  EXPECT_EQ(calls[0]->wire_ns, 250);
}

TEST_F(WireTimesTest, FlushesThatWaitHaveTheStampOfTheWriteWithTheirLastByte) {
  const auto first = Flush(1, 1000);
  const auto second = Flush(1, 1500);  // of which 1000 are the first one's
  times_.OnWritten(1200, 1199);
  Left(1199, 100);
  times_.OnWritten(300, 1499);
  Left(1499, 200);
  Reply(*first[0], 500, 1);
  Reply(*second[0], 600);
  EXPECT_EQ(first[0]->wire_ns, 400);
  EXPECT_EQ(second[0]->wire_ns, 400);
}

// The kernel has joined them in a segment, whose stamp is that of the last.
TEST_F(WireTimesTest, AFlushWithoutAStampHasThatOfTheNext) {
  const auto first = Flush(1, 100);
  times_.OnWritten(100, 99);
  const auto second = Flush(1, 100);
  times_.OnWritten(100, 199);
  Left(199, 300);
  Reply(*first[0], 500, 1);
  Reply(*second[0], 600);
  EXPECT_EQ(first[0]->wire_ns, 200);
  EXPECT_EQ(second[0]->wire_ns, 300);
}

TEST_F(WireTimesTest, ASegmentThatIsSentAgainHasLeftTheFirstTime) {
  const auto calls = Flush(1, 100);
  times_.OnWritten(100, 99);
  Left(99, 100);
  Left(99, 400);
  Reply(*calls[0], 500);
  EXPECT_EQ(calls[0]->wire_ns, 400);
}

TEST_F(WireTimesTest, PositionsWrapAround) {
  const auto first = Flush(1, 100);
  times_.OnWritten(100, 0xfffffff0u);
  Left(0xfffffff0u, 100);
  const auto second = Flush(1, 100);
  times_.OnWritten(100, 0x54u);
  Left(0xfffffff0u, 150);  // again
  EXPECT_TRUE(times_.awaits_stamp(*second[0]));
  Left(0x54u, 200);
  Reply(*first[0], 500, 1);
  Reply(*second[0], 500);
  EXPECT_EQ(first[0]->wire_ns, 400);
  EXPECT_EQ(second[0]->wire_ns, 300);
}

TEST_F(WireTimesTest, CountsWhatHasNoStamp) {
  const auto no_send = Flush(1, 100);
  times_.OnWritten(100, 99);
  Reply(*no_send[0], 500);
  EXPECT_EQ(no_send[0]->wire_ns, kNotReported);
  const auto no_receive = Flush(1, 100);
  times_.OnWritten(100, 199);
  Left(199, 100);
  Reply(*no_receive[0], -kUnixNs);
  EXPECT_EQ(no_receive[0]->wire_ns, kNotReported);
  EXPECT_EQ(counters_.wire_stamps_missing, 2);
  EXPECT_EQ(counters_.wire_stamps, 0);
}

TEST_F(WireTimesTest, WhatIsNotWithinTheServiceTimeIsNoWireTime) {
  for (const int64_t came_ns : {99, 1101}) {
    const auto calls = Flush(1, 100);
    times_.OnWritten(100, 99);
    Left(99, 100);
    Reply(*calls[0], came_ns);
    EXPECT_EQ(calls[0]->wire_ns, kNotReported);
    times_.Reset();
  }
  EXPECT_EQ(counters_.wire_stamps_missing, 2);
}

TEST_F(WireTimesTest, CallsInFlightWhenTheClockWasSetHaveNoTime) {
  const auto before = Flush(1, 100);
  times_.OnWritten(100, 99);
  Left(99, 100);
  ++received_.clock_steps;
  Reply(*before[0], 500);
  EXPECT_EQ(before[0]->wire_ns, kNotReported);
  const auto after = Flush(1, 100);
  times_.OnWritten(100, 199);
  Left(199, 100);
  Reply(*after[0], 500);
  EXPECT_EQ(after[0]->wire_ns, 400);
  EXPECT_EQ(counters_.wire_clock_steps, 1);
}

TEST_F(WireTimesTest, CallsWithoutAReplyDoNotHoldUpOthers) {
  const auto calls = Flush(2, 100);
  times_.OnWritten(100, 99);
  Left(99, 100);
  times_.Forget(*calls[0]);
  Reply(*calls[1], 500);
  EXPECT_EQ(calls[1]->wire_ns, 400);
  EXPECT_FALSE(times_.awaits_reply());
  EXPECT_EQ(counters_.wire_stamps_missing, 0);
}

TEST_F(WireTimesTest, NothingIsLeftOfALostConnection) {
  const auto lost = Flush(1, 100);
  times_.OnWritten(50, 49);
  times_.Reset();
  EXPECT_FALSE(times_.awaits_write());
  EXPECT_FALSE(times_.awaits_reply());
  // Flushed before the next connection is there.
  const auto next = Flush(1, 100);
  times_.OnWritten(100, 99);
  Left(99, 100);
  Reply(*next[0], 500);
  EXPECT_EQ(next[0]->wire_ns, 400);
  times_.Forget(*lost[0]);
}

TEST_F(WireTimesTest, ManyFlushesMayWaitForTheirReplies) {
  constexpr int kCount = 1000;
  std::vector<ClientCall*> calls;
  for (int i = 0; i < kCount; ++i) {
    calls.push_back(Flush(1, 10)[0]);
    times_.OnWritten(10, 10 * i + 9);
    Left(10 * i + 9, i);
  }
  for (int i = kCount - 1; i >= 0; --i) {
    Reply(*calls[i], 1000, i);
    EXPECT_EQ(calls[i]->wire_ns, 1000 - i);
  }
  EXPECT_FALSE(times_.awaits_reply());
}

TEST_F(WireTimesTest, TooManyAreForgotten) {
  constexpr int kCount = 70'000;
  std::vector<ClientCall*> calls;
  for (int i = 0; i < kCount; ++i) {
    calls.push_back(Flush(1, 10)[0]);
    times_.OnWritten(10, 10 * i + 9);
    Left(10 * i + 9, 100);
  }
  for (ClientCall* call : calls) Reply(*call, 500, 1);
  EXPECT_EQ(calls.front()->wire_ns, kNotReported);
  EXPECT_EQ(calls.back()->wire_ns, 400);
  EXPECT_GT(counters_.wire_stamps_missing, 0);
  EXPECT_EQ(counters_.wire_stamps + counters_.wire_stamps_missing, kCount);
  EXPECT_FALSE(times_.awaits_reply());
}

TEST_F(WireTimesTest, AShareOfTheFlushesIsStampedWhole) {
  WireTimes half({.share = 0.5}, /*seed=*/1, counters_);
  int stamped = 0;
  for (int i = 0; i < 1000; ++i) {
    ClientCall calls[2];
    ClientCall* const pointers[] = {&calls[0], &calls[1]};
    half.OnFlush(pointers, 10);
    EXPECT_EQ(calls[0].transport_flush, calls[1].transport_flush);
    if (calls[0].transport_flush != 0) ++stamped;
    for (ClientCall& call : calls) half.Forget(call);
  }
  EXPECT_GT(stamped, 400);
  EXPECT_LT(stamped, 600);
}

// ---- The driver -------------------------------------------------------------

std::vector<DriverUnderTest> Drivers(
    const std::vector<ConnectionVariant>& variants) {
  return DriversOf<TcpDriver, ReadTcpSettings>(variants);
}

INSTANTIATE_TEST_SUITE_P(Stamped, WireTimeConformanceTest,
                         testing::ValuesIn(Drivers(StampedVariants())),
                         NameOfDriver);
INSTANTIATE_TEST_SUITE_P(
    OwnStamped, WireTimeConformanceTest,
    testing::ValuesIn(Drivers({{.name = "ZeroCopy",
                                .network = {.zero_copy = true},
                                .wire_time = {.share = 1}},
                               {.name = "Unbatched",
                                .settings = {{"max_batch", int64_t{1}}},
                                .wire_time = {.share = 1}}})),
    NameOfDriver);

TEST(StampedTcpDriverTest, CallsOfATurnShareTheirStamps) {
  const DriverUnderTest driver = Drivers({{.wire_time = {.share = 1}}}).front();
  const TestServer server([&] { return driver.make(); });
  TestClient client(driver.make(), SingleServers({server.address()}));
  ClientCall first{.request_bytes = 16};
  ClientCall second{.request_bytes = 16};
  ASSERT_TRUE(client.transport().Start(&first));
  ASSERT_TRUE(client.transport().Start(&second));
  TestEvents& events = client.events();
  ASSERT_TRUE(events.PollUntil(
      [&] { return events.Finished(first) && events.Finished(second); }));
  EXPECT_TRUE(first.wire_shared);
  EXPECT_TRUE(second.wire_shared);
}

TEST(StampedTcpDriverTest, ClientsThatCannotStampDoNotConnect) {
  const TestServer server([] { return Drivers({{}}).front().make(); });
  const auto driver =
      Drivers(
          {{.wire_time = {.share = 1, .clock = config::WireClock::kHardware}}})
          .front()
          .make();
  ASSERT_TRUE(driver->Listen(1).ok());
  const absl::Status status = driver->Connect(SingleServers({server.address()}),
                                              absl::Now() + absl::Seconds(20));
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("measure_wire_time: the interface lo gives no hardware "
                        "time stamps"));
}

}  // namespace
}  // namespace distbench::protocol
