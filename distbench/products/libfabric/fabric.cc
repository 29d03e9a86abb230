// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/libfabric/fabric.h"

#include <dlfcn.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <set>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace distbench::libfabric {
namespace {

// Of Debian 12's libfabric; later ones keep to what it promises.
constexpr uint32_t kApiVersion = FI_VERSION(1, 17);

struct FreeInfo {
  void operator()(fi_info* info) const { Libfabric().freeinfo(info); }
};
using InfoPtr = std::unique_ptr<fi_info, FreeInfo>;

// Returns what is needed of a provider, whose name may be empty for any.
InfoPtr MakeHints(const std::string& provider, fi_ep_type type) {
  InfoPtr hints(Libfabric().dupinfo(nullptr));
  if (hints == nullptr) return nullptr;
  hints->caps = FI_MSG;
  hints->mode = FI_CONTEXT | FI_CONTEXT2;
  hints->ep_attr->type = type;
  // The connections of a worker share its receive buffers.
  if (type == FI_EP_MSG) hints->ep_attr->rx_ctx_cnt = FI_SHARED_CONTEXT;
  hints->domain_attr->threading = FI_THREAD_DOMAIN;
  hints->domain_attr->resource_mgmt = FI_RM_ENABLED;
  hints->domain_attr->mr_mode =
      FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
  // The pieces of a message must arrive in order.
  hints->tx_attr->msg_order = FI_ORDER_SAS;
  hints->rx_attr->msg_order = FI_ORDER_SAS;
  if (!provider.empty()) {
    hints->fabric_attr->prov_name = strdup(provider.c_str());
  }
  return hints;
}

// Returns null if there is no such provider at this address.
InfoPtr FindProvider(const std::string& provider, fi_ep_type type,
                     const char* host) {
  if (!Libfabric().problem.empty()) return nullptr;
  const InfoPtr hints = MakeHints(provider, type);
  if (hints == nullptr) return nullptr;
  fi_info* found = nullptr;
  const uint64_t flags = host == nullptr ? 0 : FI_SOURCE | FI_NUMERICHOST;
  const int code = Libfabric().getinfo(kApiVersion, host, nullptr, flags,
                                       hints.get(), &found);
  if (code != 0) return nullptr;
  return InfoPtr(found);
}

// The names of the providers that have such endpoints, sorted.
std::vector<std::string> ListProviders(fi_ep_type type) {
  const InfoPtr all = FindProvider("", type, nullptr);
  std::set<std::string> names;
  for (const fi_info* info = all.get(); info != nullptr; info = info->next) {
    names.insert(info->fabric_attr->prov_name);
  }
  return {names.begin(), names.end()};
}

absl::Status NoSuchProvider(const std::string& provider, fi_ep_type type) {
  if (!Libfabric().problem.empty()) {
    return absl::UnavailableError(Libfabric().problem);
  }
  const std::vector<std::string> known = ListProviders(type);
  const bool is_connected = type == FI_EP_MSG;
  return absl::UnavailableError(absl::StrCat(
      "libfabric has no provider \"", provider, "\" of ",
      is_connected ? "connected endpoints" : "reliable datagrams",
      " on this host; it has ",
      known.empty() ? "none" : absl::StrJoin(known, ", "), " (fi_info -t ",
      is_connected ? "FI_EP_MSG" : "FI_EP_RDM", " says more)"));
}

bool HasIpAddresses(const fi_info& info) {
  return info.addr_format == FI_SOCKADDR ||
         info.addr_format == FI_SOCKADDR_IN ||
         info.addr_format == FI_SOCKADDR_IN6;
}

}  // namespace

std::string FabricProblem(absl::string_view what, int64_t code) {
  const auto positive = static_cast<int>(code < 0 ? -code : code);
  return absl::StrCat("cannot ", what, ": ", Libfabric().strerror(positive));
}

absl::StatusOr<bool> UsesIpAddresses(const std::string& provider,
                                     fi_ep_type type) {
  const InfoPtr info = FindProvider(provider, type, nullptr);
  if (info == nullptr) return NoSuchProvider(provider, type);
  return HasIpAddresses(*info);
}

absl::StatusOr<std::unique_ptr<Fabric>> Fabric::Open(
    const std::string& provider, fi_ep_type type, const std::string& host) {
  InfoPtr info =
      FindProvider(provider, type, host.empty() ? nullptr : host.c_str());
  if (info == nullptr && !host.empty() &&
      FindProvider(provider, type, nullptr) != nullptr) {
    return absl::UnavailableError(absl::StrCat(
        "libfabric's provider \"", provider, "\" has no device with address ",
        host,
        "; check that it is an address of this host (netdev_name, ip_version, "
        "--service_address)"));
  }
  if (info == nullptr) return NoSuchProvider(provider, type);
  fid_fabric* fabric = nullptr;
  const int code = Libfabric().fabric(info->fabric_attr, &fabric, nullptr);
  if (code != 0) {
    return absl::UnavailableError(FabricProblem(
        absl::StrCat("open libfabric's provider \"", provider, "\""), code));
  }
  return std::unique_ptr<Fabric>(new Fabric(info.release(), fabric));
}

Fabric::~Fabric() {
  fi_close(&fabric_->fid);
  Libfabric().freeinfo(info_);
}

std::vector<std::string> ListLibfabricProviders() {
  return ListProviders(FI_EP_RDM);
}

namespace {

// Of libfabric 1 and 2.
constexpr char kLibrary[] = "libfabric.so.1";

template <typename Function>
void Find(void* library, const char* name, Function& function,
          std::string& problem) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  if (function == nullptr) problem = absl::StrCat(kLibrary, " has no ", name);
}

LibfabricFunctions Load() {
  LibfabricFunctions functions;
  void* const library = dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    functions.problem = absl::StrCat(
        "cannot load libfabric: ", dlerror(),
        "; install it on this host (on Debian, the package libfabric1)");
    return functions;
  }
  Find(library, "fi_getinfo", functions.getinfo, functions.problem);
  Find(library, "fi_freeinfo", functions.freeinfo, functions.problem);
  Find(library, "fi_dupinfo", functions.dupinfo, functions.problem);
  Find(library, "fi_fabric", functions.fabric, functions.problem);
  Find(library, "fi_strerror", functions.strerror, functions.problem);
  return functions;
}

std::atomic<const LibfabricFunctions*> replacement = nullptr;

}  // namespace

const LibfabricFunctions& Libfabric() {
  static const auto& functions = *new LibfabricFunctions(Load());
  const LibfabricFunctions* const replaced =
      replacement.load(std::memory_order_acquire);
  return replaced == nullptr ? functions : *replaced;
}

void ReplaceLibfabric(const LibfabricFunctions* functions) {
  replacement.store(functions, std::memory_order_release);
}

}  // namespace distbench::libfabric
