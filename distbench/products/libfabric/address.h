// Addresses at which instances of the libfabric driver are reached, such as
// "libfabric:tcp:0200a4c17f000001": the provider, with "/msg" if endpoints are
// connected, and an endpoint's address in hexadecimal digits for each worker,
// separated by commas.

#ifndef DISTBENCH_PRODUCTS_LIBFABRIC_ADDRESS_H_
#define DISTBENCH_PRODUCTS_LIBFABRIC_ADDRESS_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace distbench::libfabric {

struct LibfabricAddress {
  std::string carrier;                      // as of LibfabricSettings
  std::vector<std::string> endpoints = {};  // at least one

  // Returns the endpoint to which a client's worker connects.
  const std::string& OfWorker(size_t worker) const {
    return endpoints[worker % endpoints.size()];
  }
};

std::string FormatAddress(const LibfabricAddress& address);

// The error quotes the address.
absl::StatusOr<LibfabricAddress> ParseAddress(absl::string_view address);

}  // namespace distbench::libfabric

#endif  // DISTBENCH_PRODUCTS_LIBFABRIC_ADDRESS_H_
