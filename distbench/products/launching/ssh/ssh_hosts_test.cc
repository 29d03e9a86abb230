// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/launching/ssh/ssh_hosts.h"

#include <unistd.h>

#include <fstream>
#include <string>

#include "distbench/base/testing/status_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::launching {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// "USER@HOST:PORT" with everything that is there, for comparisons.
std::vector<std::string> Texts(
    const absl::StatusOr<std::vector<SshHost>>& hosts) {
  if (!hosts.ok()) return {base::Message(hosts.status())};
  std::vector<std::string> texts;
  for (const SshHost& host : *hosts) {
    std::string text =
        host.user + "@" + host.host + ":" + std::to_string(host.port);
    for (const std::string& attribute : host.attributes) {
      text += " " + attribute;
    }
    texts.push_back(text);
  }
  return texts;
}

std::string ErrorOf(const std::string& text) {
  const auto hosts = ParseHostsFile(text, "hosts.txt");
  return hosts.ok() ? "" : base::Message(hosts.status());
}

TEST(SshHostsTest, ReadsLinesOfEveryForm) {
  EXPECT_THAT(Texts(ParseHostsFile("# rack 1\n"
                                   "host1\n"
                                   "\n"
                                   "  alice@host2:2222\track=r1 zone=a=b # x\n"
                                   "10.0.0.3:22\r\n"
                                   "fe80::1%eth0\n"
                                   "bob@[2001:db8::7]:2022 rack=\n"
                                   "[::1]",
                                   "hosts.txt")),
              ElementsAre("@host1:0", "alice@host2:2222 rack=r1 zone=a=b",
                          "@10.0.0.3:22", "@fe80::1%eth0:0",
                          "bob@2001:db8::7:2022 rack=", "@::1:0"));
}

TEST(SshHostsTest, NamesEveryWrongLine) {
  EXPECT_THAT(
      ErrorOf("host1:0\nhost2\n-oProxyCommand=x\nalice@\n@host3\nho/st\n"
              "host4 rack\nhost5 =r1\nhost6:65536\nhost7:ssh\n..\na:b:c\n"),
      AllOf(HasSubstr("hosts.txt:1: \"0\" is not a port"),
            Not(HasSubstr("hosts.txt:2")),
            HasSubstr("hosts.txt:3: \"-oProxyCommand=x\" is not the name"),
            HasSubstr("hosts.txt:4: \"\" is not the name or address"),
            HasSubstr("hosts.txt:5: \"\" is not the name of a user"),
            HasSubstr("hosts.txt:6: \"ho/st\""),
            HasSubstr("hosts.txt:7: \"rack\" is not an attribute: NAME=VALUE"),
            HasSubstr("hosts.txt:8: \"=r1\" is not an attribute"),
            HasSubstr("hosts.txt:9: \"65536\" is not a port: 1 to 65535"),
            HasSubstr("hosts.txt:10: \"ssh\" is not a port"),
            HasSubstr("hosts.txt:11: \"..\"")));
}

TEST(SshHostsTest, RefusesAHostThatIsThereTwice) {
  EXPECT_EQ(ErrorOf("host1\nhost2\nalice@HOST1:23\n"),
            "hosts.txt:3: HOST1 is already in hosts.txt:1; a host can be one "
            "node of a job, and two hosts of one name need two ports");
  EXPECT_THAT(ErrorOf("host1:22\nhost2\nhost1\n"),
              HasSubstr("hosts.txt:3: host1 is already in hosts.txt:1"));
  EXPECT_THAT(ErrorOf("host1:22\nhost1:23\nbob@host1:23\n"),
              HasSubstr("hosts.txt:3: host1 is already in hosts.txt:2"));
}

// As containers whose ports one host forwards.
TEST(SshHostsTest, TwoPortsAreTwoHosts) {
  const auto hosts = ParseHostList("host1:22,host1:23,[::1]:22,[::1]:23");
  ASSERT_TRUE(hosts.ok()) << hosts.status();
  std::vector<std::string> names;
  for (const SshHost& host : *hosts) names.push_back(DescribeHost(host));
  EXPECT_THAT(names,
              ElementsAre("host1:22", "host1:23", "[::1]:22", "[::1]:23"));
  EXPECT_EQ(DescribeHost({.user = "bob", .host = "::1"}), "::1");
}

TEST(SshHostsTest, RefusesAFileWithoutHosts) {
  EXPECT_EQ(ErrorOf("# nothing\n\n"),
            "hosts.txt: no hosts; each has the form [USER@]HOST[:PORT]");
}

TEST(SshHostsTest, ReadsLists) {
  EXPECT_THAT(Texts(ParseHostList("a, bob@b:22,[::1]")),
              ElementsAre("@a:0", "bob@b:22", "@::1:0"));
  EXPECT_THAT(Texts(ParseHostList("a,,b")),
              ElementsAre(HasSubstr("--hosts, host 2: \"\" is not the name")));
  EXPECT_THAT(
      Texts(ParseHostList("a,a")),
      ElementsAre(HasSubstr("host 2: a is already in --hosts, host 1")));
}

TEST(SshHostsTest, TellsFilesFromLists) {
  const std::string path = testing::TempDir() + "/ssh_hosts_test";
  std::ofstream(path) << "host1\n";
  EXPECT_THAT(Texts(ReadHosts(path)), ElementsAre("@host1:0"));
  EXPECT_THAT(Texts(ReadHosts("a,b")), ElementsAre("@a:0", "@b:0"));
  EXPECT_THAT(Texts(ReadHosts("no-such-file")), ElementsAre("@no-such-file:0"));
  EXPECT_THAT(Texts(ReadHosts("./no-such-file")),
              ElementsAre(HasSubstr("./no-such-file")));
  EXPECT_FALSE(ReadHosts("./no-such-file").ok());
  EXPECT_FALSE(ReadHosts("").ok());
  unlink(path.c_str());
}

TEST(SshHostsTest, ReadsTheHostOfAFlag) {
  const auto plain = ParseHostOfFlag("--leader", "host1");
  ASSERT_TRUE(plain.ok());
  EXPECT_EQ(plain->host, "host1");
  EXPECT_EQ(plain->port, 0);
  const auto address = ParseHostOfFlag("--leader", "[fe80::1]:4711");
  ASSERT_TRUE(address.ok());
  EXPECT_EQ(address->host, "fe80::1");
  EXPECT_EQ(address->port, 4711);
  EXPECT_EQ(base::Message(ParseHostOfFlag("--leader", "a b").status()),
            "--leader: \"a b\" is not the name or address of a host");
  EXPECT_FALSE(ParseHostOfFlag("--leader", "alice@host1").ok());
}

TEST(SshHostsTest, KnowsLoopback) {
  for (const char* host :
       {"localhost", "LOCALHOST", "127.0.0.1", "127.9.9.9", "::1"}) {
    EXPECT_TRUE(IsLoopbackHost(host)) << host;
  }
  for (const char* host :
       {"host1", "127.example.com", "10.0.0.1", "1.127.0.0", ""}) {
    EXPECT_FALSE(IsLoopbackHost(host)) << host;
  }
}

}  // namespace
}  // namespace distbench::launching
