#include "distbench/products/dashboard/dashboard.h"

#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "distbench/base/host_port.h"
#include "distbench/base/threads.h"
#include "distbench/products/dashboard/dashboard_handler.h"
#include "distbench/products/dashboard/page/assets.h"
#include "distbench/products/history/notes.h"
#include "distbench/security/tls_session.h"
#include "glog/logging.h"

namespace distbench::dashboard {
namespace {

namespace fs = std::filesystem;

std::string MachineName() {
  char name[256] = "localhost";
  gethostname(name, sizeof(name) - 1);
  return name;
}

// FNV-1a, which gives the same name in every process.
uint64_t Hash(const std::string& text) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char letter : text) {
    hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001b3;
  }
  return hash;
}

// Returns the path of the folder's index in the user's cache folder, which is
// made; empty if there can be none.
std::string DefaultIndexPath(const std::string& results_dir) {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  const char* home = std::getenv("HOME");
  fs::path folder;
  if (cache != nullptr && cache[0] == '/') {
    folder = cache;
  } else if (home != nullptr && home[0] == '/') {
    folder = fs::path(home) / ".cache";
  } else {
    return "";
  }
  folder /= "distbench";
  std::error_code error;
  fs::create_directories(folder, error);
  const fs::path results = fs::canonical(results_dir, error);
  if (error || access(folder.c_str(), W_OK) != 0) return "";
  return folder / absl::StrFormat("history-%016x.db", Hash(results.string()));
}

absl::StatusOr<std::unique_ptr<history::HistoryIndex>> OpenIndex(
    const DashboardOptions& options) {
  history::HistoryOptions history;
  history.notes_path =
      (fs::path(options.results_dir) / history::kNotesFile).string();
  history.index_path =
      options.index_path.value_or(DefaultIndexPath(options.results_dir));
  auto index = history::HistoryIndex::Open(history);
  if (index.ok() || options.index_path.has_value()) return index;
  LOG(WARNING) << "the index of results is kept in memory: "
               << index.status().message();
  history.index_path.clear();
  return history::HistoryIndex::Open(history);
}

}  // namespace

class Dashboard::Impl final : public EventSink {
 public:
  explicit Impl(DashboardOptions options) : options_(std::move(options)) {}

  ~Impl() override {
    if (feed_.has_value()) feed_->EndSending();
  }

  absl::Status Start() {
    absl::Status status = StartHistory();
    if (!status.ok()) return status;
    if (options_.live != nullptr) {
      feed_.emplace(*options_.live, LiveFeed::Options());
    }
    status = StartServer();
    if (status.ok() && feed_.has_value()) feed_->BeginSending(*this);
    return status;
  }

  int port() const { return server_->port(); }

  std::string Url() const {
    const bool has_tls = !options_.tls.empty();
    // Certificates have the machine's name rather than an address.
    const std::string host =
        options_.listen_address.empty() ? MachineName()
        : options_.listen_address == "localhost" && !has_tls
            ? "127.0.0.1"
            : options_.listen_address;
    return absl::StrCat(has_tls ? "https://" : "http://",
                        base::JoinHostPort(host, port()), "/",
                        token_.empty() ? "" : "#token=", token_);
  }

  // EventSink:
  int FollowerCount() const override { return server_->event_streams(); }
  void SendState(const std::string& name, std::string event) override {
    server_->SendState(name, std::move(event));
  }
  void SendHeartbeat() override { server_->SendHeartbeat(); }

 private:
  absl::Status StartHistory() {
    if (options_.results_dir.empty()) return absl::OkStatus();
    auto source = history::OpenResultFolder(options_.results_dir);
    if (!source.ok()) return source.status();
    auto index = OpenIndex(options_);
    if (!index.ok()) return index.status();
    results_ = *std::move(source);
    index_ = *std::move(index);
    IndexKeeper::Options keeping;
    if (options_.live != nullptr) {
      keeping.is_busy = [live = options_.live] { return live->IsBusy(); };
    }
    keeper_.emplace(*index_, *results_, std::move(keeping));
    return absl::OkStatus();
  }

  absl::Status StartServer() {
    HttpServerOptions http;
    http.listen_address = options_.listen_address;
    http.port = options_.port;
    if (!options_.tls.empty()) {
      auto tls = security::TlsContext::Make(options_.tls,
                                            security::TlsRole::kSequencer);
      if (!tls.ok()) return tls.status();
      http.tls = *std::move(tls);
    }
    AccessOptions access;
    access.host_names = options_.host_names;
    access.host_names.push_back(MachineName());
    access.host_names.push_back(options_.listen_address);
    access.has_tls = !options_.tls.empty();
    access.has_client_certificates = !options_.tls.ca.empty();
    access.rules = options_.access;
    if (!access.has_client_certificates) access.token = token_ = DrawToken();
    handler_.emplace(Contents(), std::move(access));
    auto server = HttpServer::Start(std::move(http), *handler_);
    if (!server.ok()) return server.status();
    server_ = *std::move(server);
    return absl::OkStatus();
  }

  DashboardContents Contents() {
    DashboardContents contents;
    contents.name =
        options_.live == nullptr ? options_.results_dir : options_.live_name;
    contents.assets = DashboardAssets();
    contents.index = index_.get();
    contents.results = results_.get();
    if (keeper_.has_value()) {
      contents.keeper = &*keeper_;
    } else {
      contents.why_no_history =
          "no results are kept; start the sequencer with --results_dir";
    }
    contents.live = options_.live;
    if (feed_.has_value()) contents.feed = &*feed_;
    return contents;
  }

  const DashboardOptions options_;
  std::string token_;
  std::unique_ptr<history::ResultSource> results_;
  std::unique_ptr<history::HistoryIndex> index_;
  std::optional<IndexKeeper> keeper_;
  std::optional<LiveFeed> feed_;
  std::optional<DashboardHandler> handler_;
  std::unique_ptr<HttpServer> server_;
};

absl::StatusOr<std::unique_ptr<Dashboard>> Dashboard::Start(
    DashboardOptions options) {
  try {
    auto impl = std::make_unique<Impl>(std::move(options));
    if (absl::Status status = impl->Start(); !status.ok()) return status;
    return std::unique_ptr<Dashboard>(new Dashboard(std::move(impl)));
  } catch (const std::system_error& error) {
    return base::NoThreadError("the dashboard", error);
  }
}

Dashboard::Dashboard(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Dashboard::~Dashboard() = default;

int Dashboard::port() const { return impl_->port(); }

std::string Dashboard::Url() const { return impl_->Url(); }

}  // namespace distbench::dashboard
