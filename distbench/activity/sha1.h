#ifndef DISTBENCH_ACTIVITY_SHA1_H_
#define DISTBENCH_ACTIVITY_SHA1_H_

#include <cstdint>
#include <memory>

#include "absl/types/span.h"
#include "distbench/activity/data_file.h"
#include "openssl/evp.h"

namespace distbench::activity {

// The SHA-1 hash of pages, by OpenSSL. Not for security: it is the CPU time
// that a service spends on each byte which it serves.
class Sha1 {
 public:
  Sha1();

  void Add(absl::Span<const FilePage> pages);

  // The first eight bytes of the hash. Nothing can be added afterwards.
  uint64_t Finish();

 private:
  struct Free {
    void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
  };

  std::unique_ptr<EVP_MD_CTX, Free> context_;
};

}  // namespace distbench::activity

#endif  // DISTBENCH_ACTIVITY_SHA1_H_
