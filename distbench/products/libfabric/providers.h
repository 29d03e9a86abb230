#ifndef DISTBENCH_PRODUCTS_LIBFABRIC_PROVIDERS_H_
#define DISTBENCH_PRODUCTS_LIBFABRIC_PROVIDERS_H_

#include <string>
#include <vector>

namespace distbench::libfabric {

// Returns the names of libfabric's providers of reliable datagrams that this
// host can use, such as "shm" and "tcp;ofi_rxm", sorted. Takes some
// milliseconds.
std::vector<std::string> ListLibfabricProviders();

}  // namespace distbench::libfabric

#endif  // DISTBENCH_PRODUCTS_LIBFABRIC_PROVIDERS_H_
