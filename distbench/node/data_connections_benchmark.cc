// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The time that a sample of all data connections takes. One a second is taken
// as long as it stays below 10 ms.

#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "benchmark/benchmark.h"
#include "distbench/base/files.h"
#include "distbench/node/data_connections.h"

namespace distbench::node {
namespace {

// TCP connections of this process with itself, over loopback. Empty if the
// limit of open files does not allow that many.
std::vector<base::FileDescriptor> Connect(int64_t count) {
  const rlim_t files = 2 * static_cast<rlim_t>(count) + 100;
  rlimit limit;
  getrlimit(RLIMIT_NOFILE, &limit);
  limit = {.rlim_cur = files, .rlim_max = std::max(files, limit.rlim_max)};
  setrlimit(RLIMIT_NOFILE, &limit);

  const base::FileDescriptor listener(socket(AF_INET, SOCK_STREAM, 0));
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  if (bind(listener.get(), generic, size) != 0 ||
      listen(listener.get(), SOMAXCONN) != 0 ||
      getsockname(listener.get(), generic, &size) != 0) {
    return {};
  }
  std::vector<base::FileDescriptor> sockets;
  for (int64_t i = 0; i < count; ++i) {
    base::FileDescriptor client(socket(AF_INET, SOCK_STREAM, 0));
    if (connect(client.get(), generic, size) != 0) return {};
    base::FileDescriptor server(accept(listener.get(), nullptr, nullptr));
    if (server.get() < 0) return {};
    sockets.push_back(std::move(client));
    sockets.push_back(std::move(server));
  }
  return sockets;
}

// Argument: number of connections, whose ends both belong to engines.
void BM_Sample(benchmark::State& state) {
  const std::vector<base::FileDescriptor> sockets = Connect(state.range(0));
  if (sockets.empty()) {
    state.SkipWithError("cannot open that many connections");
    return;
  }
  DataConnectionWatch watch({
      .engines =
          [] {
            return EngineProcesses{{getpid(), {"a/0"}}};
          },
      .cpu_time_ns = [] { return int64_t{0}; },  // sample each time
  });
  watch.Start();
  for (auto _ : state) {
    const auto sample = watch.Sample();
    if (!sample.has_value() ||
        sample->connection_count() < 2 * state.range(0)) {
      state.SkipWithError("not all connections were seen");
      return;
    }
  }
  state.counters["per_connection_end"] =
      benchmark::Counter(2.0 * static_cast<double>(state.range(0)),
                         benchmark::Counter::kIsIterationInvariantRate |
                             benchmark::Counter::kInvert);
}
BENCHMARK(BM_Sample)->Arg(10)->Arg(100)->Arg(1000)->Arg(9000)->Unit(
    benchmark::kMillisecond);

}  // namespace
}  // namespace distbench::node

BENCHMARK_MAIN();
