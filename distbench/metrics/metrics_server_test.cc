// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/metrics/metrics_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::metrics {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;

// Returns the server's answer on loopback.
std::string Scrape(int port) {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)),
            0);
  const std::string request =
      "GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
  EXPECT_EQ(send(fd, request.data(), request.size(), 0), request.size());
  std::string answer;
  char buffer[4096];
  ssize_t count;
  while ((count = recv(fd, buffer, sizeof(buffer), 0)) > 0) {
    answer.append(buffer, count);
  }
  close(fd);
  return answer;
}

TEST(MetricsServerTest, TellsWhatTheSourceSaysNow) {
  double nodes = 3;
  for (const char* listen : {"localhost", "127.0.0.1", ""}) {
    const auto server = MetricsServer::Start(listen, 0, [&] {
      return std::vector{Gauge("distbench_nodes", "Nodes", nodes),
                         Counter("distbench_rpcs_total", "RPCs", 7)};
    });
    ASSERT_TRUE(server.ok()) << server.status();
    nodes = 3;
    EXPECT_THAT(Scrape((*server)->port()),
                AllOf(HasSubstr("\ndistbench_nodes 3\n"),
                      HasSubstr("# TYPE distbench_rpcs_total counter\n"),
                      HasSubstr("\ndistbench_rpcs_total 7\n")));
    nodes = 4;
    EXPECT_THAT(Scrape((*server)->port()), HasSubstr("\ndistbench_nodes 4\n"));
  }
}

TEST(MetricsServerTest, TellsOfTheProcess) {
  const auto server = MetricsServer::Start(
      "127.0.0.1", 0, [] { return std::vector<prometheus::MetricFamily>(); });
  ASSERT_TRUE(server.ok()) << server.status();
  EXPECT_THAT(Scrape((*server)->port()),
              AllOf(ContainsRegex("\nprocess_resident_memory_bytes [1-9]"),
                    ContainsRegex("\nprocess_open_fds [1-9]"),
                    ContainsRegex("\ndistbench_open_sockets [1-9]")));
}

TEST(MetricsServerTest, SaysThatThePortIsTaken) {
  const auto nothing = [] { return std::vector<prometheus::MetricFamily>(); };
  const auto first = MetricsServer::Start("127.0.0.1", 0, nothing);
  ASSERT_TRUE(first.ok());
  const auto second =
      MetricsServer::Start("127.0.0.1", (*first)->port(), nothing);
  EXPECT_THAT(std::string(second.status().message()), HasSubstr("is in use"));
}

}  // namespace
}  // namespace distbench::metrics
