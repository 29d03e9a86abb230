// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/cli/value_candidates.h"

#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <system_error>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "distbench/base/plugins.h"
#include "distbench/cli/input.h"
#include "distbench/client/test_client.h"
#include "distbench/config/reading/load.h"
#include "distbench/flags/connection_defaults.h"
#include "distbench/security/tls_files.h"
#include "proto/control.pb.h"
#include "proto/results.pb.h"
#include "proto/traffic_config.pb.h"
#include "test_builder/help.h"

namespace distbench::cli {
namespace {

namespace fs = std::filesystem;

using Candidates = std::vector<flags::Candidate>;

// Users do not wait for a sequencer that is away.
constexpr absl::Duration kConnectTimeout = absl::Seconds(1);

Candidates FromNames(const std::set<std::string>& names) {
  Candidates candidates;
  for (const std::string& name : names) candidates.push_back({name});
  return candidates;
}

// ---- From the sequencer -----------------------------------------------------

// The flag's value, as it was typed or by default.
std::string ConnectionValue(const flags::ValueRequest& request,
                            const std::string& flag) {
  const std::string typed =
      flags::FlagValue(request.words, absl::StrCat("--", flag));
  if (!typed.empty()) return typed;
  return flags::ConnectionDefaults(flags::ProcessEnvironment()).ValueOf(flag);
}

// Null if there is none, or it does not answer.
std::unique_ptr<client::TestClient> Connect(
    const flags::ValueRequest& request) {
  const std::string address = ConnectionValue(request, "test_sequencer");
  if (address.empty()) return nullptr;
  security::TlsFiles tls;
  tls.ca = ConnectionValue(request, "tls_ca");
  tls.cert = ConnectionValue(request, "tls_cert");
  tls.key = ConnectionValue(request, "tls_key");
  tls.name = ConnectionValue(request, "tls_name");
  absl::StatusOr<std::unique_ptr<client::TestClient>> client =
      client::TestClient::Connect(address, tls, kConnectTimeout);
  return client.ok() ? *std::move(client) : nullptr;
}

// The newest run first, because it is what users usually ask about.
Candidates Runs(const flags::ValueRequest& request) {
  const std::unique_ptr<client::TestClient> client = Connect(request);
  if (client == nullptr) return {};
  const absl::StatusOr<std::vector<RunDescription>> runs = client->ListRuns();
  Candidates candidates;
  if (!runs.ok()) return candidates;
  for (auto run = runs->rbegin(); run != runs->rend(); ++run) {
    candidates.push_back({run->id(), absl::StrJoin(run->test_names(), ", ")});
  }
  return candidates;
}

Candidates Nodes(const flags::ValueRequest& request) {
  const std::unique_ptr<client::TestClient> client = Connect(request);
  if (client == nullptr) return {};
  const absl::StatusOr<GetStatusResponse> status = client->GetStatus();
  Candidates candidates;
  if (!status.ok()) return candidates;
  for (const NodeStatus& node : status->nodes()) {
    candidates.push_back(
        {node.config().node_alias(), node.registration().hostname()});
  }
  return candidates;
}

Candidates Sequencers(const flags::ValueRequest& request) {
  const std::string address = ConnectionValue(request, "test_sequencer");
  if (address.empty()) return {};
  return {{address}};
}

// ---- From files -------------------------------------------------------------

// What the words name as files: values of flags, too.
std::vector<std::string> FilesIn(const std::vector<std::string>& words) {
  std::vector<std::string> files;
  for (const std::string& word : words) {
    const std::string path =
        absl::StartsWith(word, "--") && absl::StrContains(word, "=")
            ? word.substr(word.find('=') + 1)
            : word;
    std::error_code ignored;
    if (fs::is_regular_file(path, ignored)) files.push_back(path);
  }
  return files;
}

Candidates Activities(const flags::ValueRequest& request) {
  return NamesInConfigs(request, [](const auto& test, auto& names) {
    for (const auto& activity : test.activity_configs()) {
      names.insert(activity.name());
    }
  });
}

Candidates Services(const flags::ValueRequest& request) {
  return NamesInConfigs(request, [](const auto& test, auto& names) {
    for (const auto& service : test.services()) names.insert(service.name());
  });
}

// Collects names from the tests of the results that the words name.
template <typename Collect>
Candidates FromResults(const flags::ValueRequest& request,
                       const Collect& collect) {
  std::set<std::string> names;
  const absl::StatusOr<std::vector<report::SourcedResults>> results =
      ReadResultFiles(FilesIn(request.words));
  if (!results.ok()) return {};
  for (const report::SourcedResults& sourced : *results) {
    for (const TestResult& result : sourced.results.test_results()) {
      collect(result.traffic_config(), names);
    }
  }
  return FromNames(names);
}

Candidates Tests(const flags::ValueRequest& request) {
  return FromResults(request, [](const auto& test, auto& names) {
    names.insert(test.name());
  });
}

Candidates Rpcs(const flags::ValueRequest& request) {
  return FromResults(request, [](const auto& test, auto& names) {
    for (const auto& rpc : test.rpc_descriptions()) names.insert(rpc.name());
  });
}

// ---- From declarations ------------------------------------------------------

Candidates Patterns(const flags::ValueRequest& request) {
  return test_builder::ConfigCandidates(request.typed);
}

struct Source {
  const char* type;
  Candidates (*find)(const flags::ValueRequest& request);
};

constexpr Source kSources[] = {
    {"ACTIVITY", Activities},
    {"CONFIG", Patterns},
    {"HOST:PORT", Sequencers},
    {"NODE", Nodes},
    {"PATTERN", Patterns},
    {"RPC", Rpcs},
    {"RUN", Runs},
    {"SERVICE", Services},
    {"TEST", Tests},
};

}  // namespace

std::vector<flags::Candidate> ValueCandidates(
    const flags::ValueRequest& request) {
  for (const Source& source : kSources) {
    if (source.type == request.type) return source.find(request);
  }
  const ValueType* const type = base::Plugins<ValueType>::Find(request.type);
  return type == nullptr ? Candidates() : type->find(request);
}

std::vector<flags::Candidate> NamesInConfigs(
    const flags::ValueRequest& request,
    absl::FunctionRef<void(const DistributedSystemDescription& test,
                           std::set<std::string>& names)>
        collect) {
  std::set<std::string> names;
  for (const std::string& file : FilesIn(request.words)) {
    const absl::StatusOr<TestSequence> tests = config::LoadTestSequence(file);
    if (!tests.ok()) continue;
    for (const DistributedSystemDescription& test : tests->tests()) {
      collect(test, names);
    }
  }
  return FromNames(names);
}

}  // namespace distbench::cli
