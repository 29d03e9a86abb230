#ifndef DISTBENCH_PRODUCTS_LIBFABRIC_LIBRARY_H_
#define DISTBENCH_PRODUCTS_LIBFABRIC_LIBRARY_H_

#include <rdma/fabric.h>

#include <string>

namespace distbench::libfabric {

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

}  // namespace distbench::libfabric

#endif  // DISTBENCH_PRODUCTS_LIBFABRIC_LIBRARY_H_
