// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/sequencer/nodes/unregistered_streams.h"

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::sequencer {
namespace {

using ::testing::HasSubstr;

constexpr int kBeats = UnregisteredStreams::kBeatsPerTimeout;

class FakeStream final : public CommandStream {
 public:
  // Like a real stream, it removes itself when it has ended.
  explicit FakeStream(UnregisteredStreams& streams) : streams_(streams) {}

  void Send(NodeCommand) override {}
  void Close(const absl::Status& status) override {
    end = status;
    streams_.Remove(*this);
  }

  absl::Status end;

 private:
  UnregisteredStreams& streams_;
};

class UnregisteredStreamsTest : public testing::Test {
 protected:
  std::shared_ptr<FakeStream> Add() {
    auto stream = std::make_shared<FakeStream>(streams_);
    streams_.Add(stream);
    return stream;
  }

  void Beat(int times) {
    for (int i = 0; i < times; ++i) streams_.Beat();
  }

  UnregisteredStreams streams_{absl::Seconds(5)};
};

TEST_F(UnregisteredStreamsTest, AreEndedWhenTheirTimeIsOver) {
  const auto stream = Add();
  Beat(kBeats - 1);
  EXPECT_TRUE(stream->end.ok());
  Beat(1);
  EXPECT_EQ(stream->end.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_THAT(std::string(stream->end.message()),
              HasSubstr("registration, and none came within 5s"));
  EXPECT_EQ(stream.use_count(), 1);
}

TEST_F(UnregisteredStreamsTest, EachHasATimeOfItsOwn) {
  const auto first = Add();
  Beat(1);
  const auto second = Add();
  Beat(kBeats - 1);
  EXPECT_FALSE(first->end.ok());
  EXPECT_TRUE(second->end.ok());
  Beat(1);
  EXPECT_FALSE(second->end.ok());
}

TEST_F(UnregisteredStreamsTest, ThoseThatRegisterAreLeftAlone) {
  const auto stream = Add();
  Beat(kBeats - 1);
  EXPECT_TRUE(streams_.Remove(*stream));
  Beat(kBeats);
  EXPECT_TRUE(stream->end.ok());
  EXPECT_FALSE(streams_.Remove(*stream));
}

TEST_F(UnregisteredStreamsTest, ItIsTooLateToRegisterThen) {
  const auto stream = Add();
  Beat(kBeats);
  EXPECT_FALSE(streams_.Remove(*stream));
}

}  // namespace
}  // namespace distbench::sequencer
