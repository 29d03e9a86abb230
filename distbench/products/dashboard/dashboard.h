// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The dashboard: results over time, and what is going on, in a browser.
//
//   absl::StatusOr<std::unique_ptr<Dashboard>> dashboard =
//       Dashboard::Start({.port = 8080, .results_dirs = {"results"}});
//   std::cout << (*dashboard)->Announcement();

#ifndef DISTBENCH_PRODUCTS_DASHBOARD_DASHBOARD_H_
#define DISTBENCH_PRODUCTS_DASHBOARD_DASHBOARD_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "distbench/cli/sequencer_companion.h"
#include "distbench/products/dashboard/http/http_server.h"
#include "distbench/products/history/history_index.h"
#include "distbench/security/authorization.h"
#include "distbench/security/tls_files.h"
#include "distbench/sequencer/serving/sequencer_server.h"

namespace distbench::dashboard {

struct DashboardOptions {
  // As ListenAddresses() takes it.
  std::string listen_address = "localhost";

  // 0 picks a free port.
  int port = 0;

  // Further names by which clients may call the server.
  std::vector<std::string> host_names = {};

  // Empty: no TLS. With a CA, clients need certificates.
  security::TlsFiles tls = {};

  // Who may change something, if clients have certificates. Otherwise those may
  // who know the token.
  security::AccessRules access = {};

  // Folders of results, which are only read, except for the notes files in
  // them. Empty: there are none.
  std::vector<std::string> results_dirs = {};

  // The index's file. Empty: one in the user's cache folder, or none, in
  // memory, if that cannot be written.
  std::string index_path = {};

  // What is live, and its address. Must outlive the dashboard. Null: nothing
  // is.
  sequencer::SequencerServer* sequencer = nullptr;
  std::string sequencer_address = {};
};

// Answers the requests that docs/products/dashboard.md lists. Its announcement
// has the address for the user, with the token if there is one: print it, and
// do not keep it. Thread-safe.
class Dashboard : public HttpHandler, public cli::RunningCompanion {
 public:
  // Returns when the port accepts connections; results are indexed from then
  // on. The error says what is wrong with the address, the folder or a file.
  static absl::StatusOr<std::unique_ptr<Dashboard>> Start(
      DashboardOptions options);

  // Closes all connections. Waits for reports that are being made.
  ~Dashboard() override = default;
};

// Reads the parameters of /api/results. INVALID_ARGUMENT names the parameter
// that is wrong.
absl::StatusOr<history::ResultQuery> ReadResultQuery(
    const HttpRequest& request);

}  // namespace distbench::dashboard

#endif  // DISTBENCH_PRODUCTS_DASHBOARD_DASHBOARD_H_
