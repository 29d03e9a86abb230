#include "distbench/activity/sha1.h"

#include <cstring>

#include "glog/logging.h"

namespace distbench::activity {

Sha1::Sha1() : context_(EVP_MD_CTX_new()) {
  CHECK(context_ != nullptr) << "no memory";
  CHECK_EQ(EVP_DigestInit_ex(context_.get(), EVP_sha1(), nullptr), 1);
}

void Sha1::Add(absl::Span<const FilePage> pages) {
  CHECK_EQ(EVP_DigestUpdate(context_.get(), pages.data(),
                            pages.size() * sizeof(FilePage)),
           1);
}

uint64_t Sha1::Finish() {
  unsigned char digest[EVP_MAX_MD_SIZE];
  CHECK_EQ(EVP_DigestFinal_ex(context_.get(), digest, nullptr), 1);
  uint64_t start;
  std::memcpy(&start, digest, sizeof start);
  return start;
}

}  // namespace distbench::activity
