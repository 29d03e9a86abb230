// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/launching/ssh/host_output.h"

#include <unistd.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "distbench/base/files.h"
#include "distbench/base/testing/status_testing.h"
#include "distbench/products/launching/ssh/start_message.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::launching {
namespace {

using ::testing::HasSubstr;

class HostOutputTest : public testing::Test {
 protected:
  void Show() {
    output_.Show(
        {.out = [this](auto bytes) { absl::StrAppend(&out_, bytes); },
         .err = [this](auto bytes) { absl::StrAppend(&err_, bytes); }});
  }

  HostOutput output_;
  std::string out_;
  std::string err_;
};

TEST_F(HostOutputTest, FindsItsLinesHoweverTheyAreCut) {
  Show();
  const std::string text =
      absl::StrCat("welcome\n", std::string(kReadyLine), "\nfirst\n",
                   PortLine(4711), "\nsecond\nno line feed");
  for (const char c : text) output_.Add(SshStream::kOut, {&c, 1});
  EXPECT_TRUE(output_.is_ready());
  EXPECT_EQ(output_.port(), 4711);
  EXPECT_EQ(out_, "first\nsecond\nno line feed");
}

TEST_F(HostOutputTest, IsReadyHoweverItsShellGreets) {
  output_.Add(SshStream::kOut,
              absl::StrCat("\033]0;title\007", kReadyLine, "\n"));
  EXPECT_TRUE(output_.is_ready());
}

TEST_F(HostOutputTest, WhatLooksLikeThemLaterIsOutput) {
  Show();
  output_.Add(SshStream::kOut,
              absl::StrCat(kReadyLine, "\n", PortLine(1), "\n"));
  output_.Add(SshStream::kOut, PortLine(2) + "\n");
  EXPECT_EQ(output_.port(), 1);
  EXPECT_EQ(out_, PortLine(2) + "\n");
}

TEST_F(HostOutputTest, ShowsErrorsOnceTheHostIsReady) {
  Show();
  output_.Add(SshStream::kErr, "banner\n");
  output_.Add(SshStream::kOut, absl::StrCat(kReadyLine, "\n"));
  output_.Add(SshStream::kErr, "part");
  EXPECT_EQ(err_, "part");
}

TEST_F(HostOutputTest, ALogHasAllButTheLinesForLaunch) {
  const std::string path = testing::TempDir() + "/host_output_test.log";
  ASSERT_TRUE(output_.LogTo(path).ok());
  output_.Add(SshStream::kErr, "banner\n");
  output_.Add(SshStream::kOut, absl::StrCat(kReadyLine, "\nhello"));
  output_.Finish();
  EXPECT_EQ(base::ReadFile(path).value(), "banner\nhello");
  unlink(path.c_str());
}

TEST_F(HostOutputTest, NamesALogThatCannotBeWritten) {
  EXPECT_THAT(base::Message(output_.LogTo("/no/such/folder/host1.log")),
              HasSubstr("/no/such/folder/host1.log"));
}

TEST_F(HostOutputTest, TheLastWordsAreFew) {
  for (int i = 0; i < 10'000; ++i) {
    output_.Add(SshStream::kErr, absl::StrCat("line ", i, "\n\n"));
  }
  const std::string words = output_.LastWords();
  EXPECT_THAT(words, HasSubstr("    line 9988\n"));
  EXPECT_THAT(words, HasSubstr("    line 9999\n"));
  EXPECT_EQ(words.find("line 9987"), std::string::npos);
}

TEST_F(HostOutputTest, ALineWithoutEndIsNotCollected) {
  Show();
  output_.Add(SshStream::kOut, absl::StrCat(kReadyLine, "\n"));
  output_.Add(SshStream::kOut, std::string(10'000, 'x'));
  EXPECT_EQ(out_.size(), 10'000);
}

}  // namespace
}  // namespace distbench::launching
