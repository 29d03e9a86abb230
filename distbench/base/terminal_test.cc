// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/base/terminal.h"

#include <pty.h>
#include <sys/ioctl.h>

#include <cstdlib>

#include "distbench/base/files.h"
#include "gtest/gtest.h"

namespace distbench::base {
namespace {

class TerminalTest : public ::testing::Test {
 protected:
  void SetUp() override {
    setenv("TERM", "xterm", /*overwrite=*/1);
    unsetenv("NO_COLOR");
    winsize size = {};
    size.ws_col = 60;
    size.ws_row = 30;
    int master = -1;
    int slave = -1;
    ASSERT_EQ(openpty(&master, &slave, nullptr, nullptr, &size), 0);
    master_ = FileDescriptor(master);
    slave_ = FileDescriptor(slave);
  }

  FileDescriptor master_;
  FileDescriptor slave_;
};

TEST_F(TerminalTest, HasASizeAndColors) {
  const Terminal terminal = TerminalOf(slave_.get());
  EXPECT_TRUE(terminal.is_terminal);
  EXPECT_EQ(terminal.columns, 60);
  EXPECT_EQ(terminal.rows, 30);
  EXPECT_TRUE(terminal.has_color);
}

TEST_F(TerminalTest, UsersMayForbidColors) {
  setenv("NO_COLOR", "1", /*overwrite=*/1);
  EXPECT_FALSE(TerminalOf(slave_.get()).has_color);
  setenv("NO_COLOR", "", /*overwrite=*/1);
  EXPECT_TRUE(TerminalOf(slave_.get()).has_color);
  setenv("TERM", "dumb", /*overwrite=*/1);
  EXPECT_FALSE(TerminalOf(slave_.get()).has_color);
}

TEST_F(TerminalTest, OfUnknownSizeHasTheUsualOne) {
  const winsize unknown = {};
  ASSERT_EQ(ioctl(master_.get(), TIOCSWINSZ, &unknown), 0);
  EXPECT_EQ(TerminalOf(slave_.get()).columns, 80);
  EXPECT_EQ(TerminalOf(slave_.get()).rows, 24);
}

TEST_F(TerminalTest, APipeIsNone) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const FileDescriptor reader(ends[0]);
  const FileDescriptor writer(ends[1]);
  const Terminal terminal = TerminalOf(writer.get());
  EXPECT_FALSE(terminal.is_terminal);
  EXPECT_FALSE(terminal.has_color);
  EXPECT_EQ(terminal.columns, 80);
}

}  // namespace
}  // namespace distbench::base
