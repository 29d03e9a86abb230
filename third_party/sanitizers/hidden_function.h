// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DISTBENCH_THIRD_PARTY_SANITIZERS_HIDDEN_FUNCTION_H_
#define DISTBENCH_THIRD_PARTY_SANITIZERS_HIDDEN_FUNCTION_H_

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

namespace distbench_sanitizers {

// Returns the function of a shared library that a definition in this program
// hides. Ends the program if there is none.
template <typename Function>
Function* HiddenFunction(const char* symbol) {
  void* function = dlsym(RTLD_NEXT, symbol);
  if (function == nullptr) {
    std::fprintf(stderr, "no shared library of this program has %s\n", symbol);
    std::abort();
  }
  return reinterpret_cast<Function*>(function);
}

}  // namespace distbench_sanitizers

#endif  // DISTBENCH_THIRD_PARTY_SANITIZERS_HIDDEN_FUNCTION_H_
