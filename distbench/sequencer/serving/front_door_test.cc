// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/sequencer/serving/front_door.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "distbench/base/listen_address.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::sequencer {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;

constexpr char kPreface[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
constexpr absl::Duration kGenerous = absl::Seconds(20);

// A client at the door.
class Visitor {
 public:
  explicit Visitor(int port) : fd_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address = {.sin_family = AF_INET,
                           .sin_port = htons(port),
                           .sin_addr = {htonl(INADDR_LOOPBACK)}};
    EXPECT_EQ(
        connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof(address)),
        0);
    const timeval timeout = {.tv_sec = absl::ToInt64Seconds(kGenerous)};
    setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
  }
  ~Visitor() { close(fd_); }

  void Say(const std::string& bytes) const {
    EXPECT_EQ(send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL),
              bytes.size());
  }

  // Waits until the connection is closed or reset.
  bool IsTurnedAway() const {
    char byte;
    const ssize_t count = recv(fd_, &byte, 1, 0);
    return count == 0 || (count < 0 && errno == ECONNRESET);
  }

 private:
  const int fd_;
};

class FrontDoorTest : public testing::Test {
 protected:
  ~FrontDoorTest() override {
    door_ = nullptr;
    for (int fd : guests_) close(fd);
  }

  void Open(FrontDoor::Options options = {}) {
    port_ = base::FindFreePort("127.0.0.1").value();
    options.addresses = {absl::StrCat("127.0.0.1:", port_)};
    options.on_guest = [this](int fd) {
      absl::MutexLock lock(&mutex_);
      guests_.push_back(fd);
    };
    auto door = FrontDoor::Open(std::move(options));
    ASSERT_TRUE(door.ok()) << door.status();
    door_ = *std::move(door);
  }

  // Waits for the first guest and returns its socket; -1: none came.
  int AwaitGuest() {
    absl::MutexLock lock(&mutex_);
    const auto is_there = [&]() ABSL_SHARED_LOCKS_REQUIRED(mutex_) {
      return !guests_.empty();
    };
    if (!mutex_.AwaitWithTimeout(absl::Condition(&is_there), kGenerous)) {
      return -1;
    }
    return guests_[0];
  }

  // Returns what the guest has sent so far; empty: none came.
  std::string HearGuest() {
    char bytes[100];
    const ssize_t count = recv(AwaitGuest(), bytes, sizeof(bytes), 0);
    return std::string(bytes, std::max<ssize_t>(count, 0));
  }

  int guest_count() {
    absl::MutexLock lock(&mutex_);
    return guests_.size();
  }

  int port_ = 0;
  std::unique_ptr<FrontDoor> door_;
  absl::Mutex mutex_;
  std::vector<int> guests_ ABSL_GUARDED_BY(mutex_);
};

TEST_F(FrontDoorTest, PassesOnWhoeverBeginsRight) {
  Open();
  const Visitor visitor(port_);
  visitor.Say(absl::StrCat(kPreface, "and more"));
  EXPECT_EQ(HearGuest(), absl::StrCat(kPreface, "and more"));
}

TEST_F(FrontDoorTest, ABeginningMayComeInPieces) {
  Open();
  const Visitor visitor(port_);
  for (const char byte : std::string(kPreface)) visitor.Say({byte});
  EXPECT_EQ(HearGuest(), kPreface);
}

TEST_F(FrontDoorTest, TurnsAwayWhatIsNoHttp2) {
  Open();
  for (const char* bytes :
       {"GET / HTTP/1.1\r\n\r\n", "PRI * HTTP/1.0\r\n", "\x16\x03\x01", "x"}) {
    const Visitor visitor(port_);
    visitor.Say(bytes);
    EXPECT_TRUE(visitor.IsTurnedAway()) << bytes;
  }
  EXPECT_EQ(guest_count(), 0);
}

TEST_F(FrontDoorTest, MayExpectTls) {
  Open({.expect_tls = true});
  const Visitor stranger(port_);
  stranger.Say(kPreface);
  EXPECT_TRUE(stranger.IsTurnedAway());
  const Visitor visitor(port_);
  visitor.Say("\x16\x03\x01hello");
  EXPECT_EQ(HearGuest(), "\x16\x03\x01hello");
}

// Returns a TCP option of a socket; nothing if the kernel lacks the option.
std::optional<int> TcpOption(int fd, int option) {
  int value = 0;
  socklen_t size = sizeof(value);
  if (getsockopt(fd, IPPROTO_TCP, option, &value, &size) != 0) {
    return std::nullopt;
  }
  return value;
}

TEST_F(FrontDoorTest, WhatGuestsDoNotGetIsSentAgainSoon) {
  constexpr int kTcpRtoMaxMs = 44;
  Open({.max_retransmission_interval = absl::Seconds(3)});
  const Visitor visitor(port_);
  visitor.Say(kPreface);
  const int guest = AwaitGuest();
  EXPECT_EQ(TcpOption(guest, TCP_THIN_LINEAR_TIMEOUTS), 1);
  EXPECT_THAT(TcpOption(guest, kTcpRtoMaxMs), AnyOf(3000, std::nullopt));
}

TEST_F(FrontDoorTest, GuestsWhoseHostsAreGoneAreNoticed) {
  Open({.gone_after = absl::Seconds(20)});
  const Visitor visitor(port_);
  visitor.Say(kPreface);
  const int guest = AwaitGuest();
  int keeps_alive = 0;
  socklen_t size = sizeof(keeps_alive);
  EXPECT_EQ(getsockopt(guest, SOL_SOCKET, SO_KEEPALIVE, &keeps_alive, &size),
            0);
  EXPECT_EQ(keeps_alive, 1);
  EXPECT_EQ(TcpOption(guest, TCP_KEEPIDLE), 10);
  EXPECT_EQ(TcpOption(guest, TCP_KEEPINTVL), 2);
  EXPECT_EQ(TcpOption(guest, TCP_KEEPCNT), 5);
  EXPECT_EQ(TcpOption(guest, TCP_USER_TIMEOUT), 20'000);
}

TEST_F(FrontDoorTest, WhatGuestsAreToldIsNotHeldBack) {
  Open();
  const Visitor visitor(port_);
  visitor.Say(kPreface);
  EXPECT_EQ(TcpOption(AwaitGuest(), TCP_NODELAY), 1);
}

TEST_F(FrontDoorTest, ForgetsThoseWhoLeave) {
  Open();
  for (int i = 0; i < 100; ++i) Visitor(port_).Say("PRI");
  const Visitor visitor(port_);
  visitor.Say(kPreface);
  EXPECT_EQ(HearGuest(), kPreface);
}

TEST_F(FrontDoorTest, LosesPatienceWithTheSilent) {
  Open({.patience = absl::Milliseconds(50)});
  const Visitor silent(port_);
  const Visitor slow(port_);
  slow.Say("PRI");
  EXPECT_TRUE(silent.IsTurnedAway());
  EXPECT_TRUE(slow.IsTurnedAway());
}

TEST_F(FrontDoorTest, TheOldestOfTooManyGoes) {
  Open({.patience = absl::Hours(1), .max_waiting = 10});
  std::vector<std::unique_ptr<Visitor>> silent;
  for (int i = 0; i < 11; ++i) {
    silent.push_back(std::make_unique<Visitor>(port_));
  }
  EXPECT_TRUE(silent[0]->IsTurnedAway());
  silent[10]->Say(kPreface);
  EXPECT_EQ(HearGuest(), kPreface);
}

TEST_F(FrontDoorTest, ClosesWithThoseWhoWait) {
  Open();
  const Visitor silent(port_);
  door_ = nullptr;
  EXPECT_TRUE(silent.IsTurnedAway());
}

TEST_F(FrontDoorTest, SaysWhereItCanNotBe) {
  Open();
  FrontDoor::Options options;
  options.addresses = {absl::StrCat("127.0.0.1:", port_)};
  const absl::Status status = FrontDoor::Open(std::move(options)).status();
  EXPECT_THAT(std::string(status.message()),
              HasSubstr(absl::StrCat("127.0.0.1:", port_)));
}

}  // namespace
}  // namespace distbench::sequencer
