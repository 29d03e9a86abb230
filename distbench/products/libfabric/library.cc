#include "distbench/products/libfabric/library.h"

#include <dlfcn.h>

#include <atomic>

#include "absl/strings/str_cat.h"

namespace distbench::libfabric {
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
