// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// A provider of libfabric, opened for use.

#ifndef DISTBENCH_PRODUCTS_LIBFABRIC_FABRIC_H_
#define DISTBENCH_PRODUCTS_LIBFABRIC_FABRIC_H_

#include <rdma/fabric.h>
#include <rdma/fi_endpoint.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace distbench::libfabric {

// Closes what libfabric has opened.
struct CloseFid {
  template <typename Fid>
  void operator()(Fid* object) const {
    fi_close(&object->fid);
  }
};
template <typename Fid>
using FidPtr = std::unique_ptr<Fid, CloseFid>;

// Returns "cannot WHAT: libfabric's text", for a negative or positive error
// code of libfabric.
std::string FabricProblem(absl::string_view what, int64_t code);

// One provider, at one address of this host. Immutable; endpoints of several
// threads share it and must not outlive it.
class Fabric {
 public:
  // Opens the provider for endpoints of this type at `host`, a numeric address.
  // Providers whose addresses are not IP addresses require that it is empty.
  // The error names the providers that there are.
  static absl::StatusOr<std::unique_ptr<Fabric>> Open(
      const std::string& provider, fi_ep_type type, const std::string& host);

  ~Fabric();
  Fabric(const Fabric&) = delete;
  Fabric& operator=(const Fabric&) = delete;

  fi_info* info() const { return info_; }
  bool is_connected() const { return info_->ep_attr->type == FI_EP_MSG; }
  fid_fabric* get() const { return fabric_; }

 private:
  Fabric(fi_info* info, fid_fabric* fabric) : info_(info), fabric_(fabric) {}

  fi_info* const info_;
  fid_fabric* const fabric_;
};

// Returns whether the provider's addresses are IP addresses. The error is that
// of Fabric::Open().
absl::StatusOr<bool> UsesIpAddresses(const std::string& provider,
                                     fi_ep_type type);

// The functions that libfabric exports; the others are inline.
struct LibfabricFunctions {
  decltype(&fi_getinfo) getinfo = nullptr;
  decltype(&fi_freeinfo) freeinfo = nullptr;
  decltype(&fi_dupinfo) dupinfo = nullptr;
  decltype(&fi_fabric) fabric = nullptr;
  decltype(&fi_strerror) strerror = nullptr;

  // Why the library is not there; empty if it is.
  std::string problem = {};
};

// Loads the library with the first call, for the rest of the process. It is not
// linked, because the libraries of some providers catch the signals of every
// process that has them: a crash then is no longer seen as what it is. Any
// thread may call this.
const LibfabricFunctions& Libfabric();

// For tests: makes Libfabric() return these from now on, or the library's own
// again if null. Call it while nobody else uses libfabric.
void ReplaceLibfabric(const LibfabricFunctions* functions);

// Returns the names of libfabric's providers of reliable datagrams that this
// host can use, such as "shm" and "tcp;ofi_rxm", sorted. Takes some
// milliseconds.
std::vector<std::string> ListLibfabricProviders();

}  // namespace distbench::libfabric

#endif  // DISTBENCH_PRODUCTS_LIBFABRIC_FABRIC_H_
