// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/launching/ssh/start_message.h"

#include <sys/mman.h>
#include <unistd.h>

#include <string>

#include "distbench/base/files.h"
#include "distbench/base/testing/status_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::launching {
namespace {

using ::testing::HasSubstr;

base::FileDescriptor InputOf(const std::string& text) {
  base::FileDescriptor input(memfd_create("", MFD_CLOEXEC));
  EXPECT_EQ(pwrite(input.get(), text.data(), text.size(), 0),
            static_cast<ssize_t>(text.size()));
  return input;
}

std::string Pem(const std::string& kind, const std::string& contents) {
  return "-----BEGIN " + kind + "-----\n" + contents + "\n-----END " + kind +
         "-----\n";
}

security::TlsContents Secret() {
  return {.ca = Pem("CERTIFICATE", "YQ=="),
          .cert = Pem("CERTIFICATE", "start"),
          .key = Pem("PRIVATE KEY", "leader x")};
}

TEST(StartMessageTest, IsReadAsWrittenAndNothingBehindIt) {
  const StartMessage message = {.leader = "host1:4711", .secret = Secret()};
  const base::FileDescriptor input =
      InputOf(EncodeStartMessage(message) + "what follows");
  const auto read_message = ReadStartMessage(input.get());
  ASSERT_TRUE(read_message.ok()) << read_message.status();
  EXPECT_EQ(read_message->leader, "host1:4711");
  EXPECT_EQ(read_message->secret, message.secret);
  char rest[64] = {};
  EXPECT_GT(read(input.get(), rest, sizeof(rest) - 1), 0);
  EXPECT_STREQ(rest, "what follows");
}

TEST(StartMessageTest, CanBeWithoutLeaderAndSecret) {
  const auto message = ReadStartMessage(InputOf(EncodeStartMessage({})).get());
  ASSERT_TRUE(message.ok()) << message.status();
  EXPECT_EQ(message->leader, "");
  EXPECT_EQ(message->secret, security::TlsContents());
}

TEST(StartMessageTest, AddsTheLineFeedThatAFileLacks) {
  StartMessage message = {.leader = "", .secret = Secret()};
  message.secret.ca.pop_back();
  const auto read_message =
      ReadStartMessage(InputOf(EncodeStartMessage(message)).get());
  ASSERT_TRUE(read_message.ok()) << read_message.status();
  EXPECT_EQ(read_message->secret, Secret());
}

TEST(StartMessageTest, EveryShorterMessageIsAnEnd) {
  const std::string text =
      EncodeStartMessage({.leader = "host1:1", .secret = Secret()});
  for (size_t size = 0; size < text.size(); ++size) {
    const auto message = ReadStartMessage(InputOf(text.substr(0, size)).get());
    EXPECT_EQ(message.status().code(), absl::StatusCode::kUnavailable) << size;
  }
}

TEST(StartMessageTest, ExplainsWhatIsNoMessage) {
  for (const std::string& text :
       {std::string("hello\n"), Pem("CERTIFICATE", "YQ==") + "start\n",
        std::string(2 << 20, 'x'), std::string(2 << 20, '\n')}) {
    const auto message = ReadStartMessage(InputOf(text).get());
    EXPECT_EQ(message.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(base::Message(message.status()),
                HasSubstr("is for distbench launch alone"));
  }
}

TEST(StartMessageTest, PortLines) {
  EXPECT_EQ(ParsePortLine(PortLine(4711)), 4711);
  for (const char* line :
       {"", "distbench launch: port ", "distbench launch: port 0",
        "distbench launch: port 65536", "x distbench launch: port 1"}) {
    EXPECT_EQ(ParsePortLine(line), std::nullopt) << line;
  }
}

}  // namespace
}  // namespace distbench::launching
