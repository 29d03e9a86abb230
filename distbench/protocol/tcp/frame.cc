#include "distbench/protocol/tcp/frame.h"

#include <algorithm>
#include <cstring>

namespace distbench {
namespace {

constexpr absl::string_view kMagic = "distbtcp";
constexpr size_t kVersionEnd = 12;

}  // namespace

void EncodeHello(char* out) {
  std::memset(out, 0, kHelloBytes);
  std::memcpy(out, kMagic.data(), kMagic.size());
  std::memcpy(out + kMagic.size(), &kTcpProtocolVersion, 4);
}

StreamError CheckHello(absl::string_view bytes) {
  char expected[kHelloBytes];
  EncodeHello(expected);
  const auto matches = [&](size_t begin, size_t end) {
    end = std::min(end, bytes.size());
    return begin >= end ||
           std::memcmp(bytes.data() + begin, expected + begin, end - begin) ==
               0;
  };
  if (!matches(0, kMagic.size())) return StreamError::kNoHello;
  if (!matches(kMagic.size(), kVersionEnd)) return StreamError::kOtherVersion;
  if (!matches(kVersionEnd, kHelloBytes)) return StreamError::kNoHello;
  return StreamError::kNone;
}

}  // namespace distbench
