#include <cstdint>
#include <string>
#include <vector>

#include "test_builder/patterns/pattern.h"
#include "test_builder/patterns/traffic_parts.h"

namespace distbench::test_builder {
namespace {

constexpr int64_t kStorageRequestBytes = 256;
constexpr char kPool[] = "storage";

// The parameters that are settings of the activity, under the same name.
std::vector<Parameter> WorkParameters() {
  return {
      InBytes(IntegerParameter("hash_bytes", "262144", {1, 1 << 30},
                               "Bytes that a request reads and hashes: its "
                               "CPU time.")),
      InBytes(IntegerParameter("file_set_bytes", "67108864", {4096, 1e15},
                               "Size of all files of a server together.")),
      InBytes(IntegerParameter("file_bytes", "65536", {4096, 1 << 30},
                               "Bytes that are read at a time, a multiple of "
                               "4096.")),
      InBytes(IntegerParameter("memory_bytes", "0", {0, 1e15},
                               "Anonymous memory of each thread of a "
                               "server.")),
      IntegerParameter("memory_percent", "0", {0, 100},
                       "Share of the hashed bytes that are from that memory."),
      IntegerParameter("memory_write_percent", "0", {0, 100},
                       "Share of the pages of memory that are written, too."),
      InBytes(IntegerParameter("log_bytes", "1024", {0, 1 << 20},
                               "Bytes that a request writes to a log.")),
  };
}

absl::StatusOr<Traffic> BuildStorageService(const ParameterValues& values) {
  Traffic traffic;
  // Paths do not fit into names of tests, so that they are not in the alias.
  traffic.alias =
      Alias(values,
            "storage_service_{arrivals}_{server_count}x{qps}x{hash_bytes}x"
            "{file_set_bytes}x{memory_bytes}_{io}");
  DistributedSystemDescription& body = traffic.body;
  AddQueriedServers(body, values, "send_queries", "storage_query",
                    kStorageRequestBytes, values.Integer("response_size"));
  AddPool(kPool, values.Integer("threads"), body);
  Stages server(body, AddActionList(body, "storage_query"));
  ActivitySettings settings = {{"directory", values.Text("directory")},
                               {"io", values.Text("io")},
                               {"access", values.Text("access")}};
  for (const Parameter& parameter : WorkParameters()) {
    settings.push_back({parameter.name, values.Integer(parameter.name)});
  }
  server.Do("serve_storage", "Storage", kPool, settings);
  return traffic;
}

std::vector<Parameter> ServerParameters() {
  return {
      IntegerParameter("server_count", "1", {1, kMaxInstances},
                       "Servers, queried in turn."),
      IntegerParameter("threads", "8", {1, 1024},
                       "Requests that each server works on at a time."),
      InBytes(IntegerParameter("response_size", "16384", {0},
                               "Bytes of a response.")),
      TextParameter("directory", "/var/tmp",
                    "Directory of the servers' files, on the disk that "
                    "matters."),
      ChoiceParameter("io", "cached", {"cached", "direct"},
                      "Through the page cache, or past it to the disk."),
      ChoiceParameter("access", "normal", {"uniform", "normal", "zipf"},
                      "Which files and memory are read: all equally often, or "
                      "a part of them more."),
  };
}

}  // namespace

Pattern StorageServicePattern() {
  return {
      .name = "storage_service",
      .summary = "servers that read and hash files",
      .description =
          "Open loop: a client sends qps queries per second to the servers in "
          "turn. For each, a server reads files and memory, of which a part is "
          "hot, hashes them and writes a log. If the files and the memory are "
          "larger than the memory of the host, the disk decides: a subject "
          "for measuring what a service keeps beside a neighbour.",
      .example = "storage_service:qps=50:hash_bytes=100000",
      .parameters = Joined(
          {QueryLoadParameters("100"), ServerParameters(), WorkParameters()}),
      .build = &BuildStorageService,
  };
}

}  // namespace distbench::test_builder
