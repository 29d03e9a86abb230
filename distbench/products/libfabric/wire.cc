#include "distbench/products/libfabric/wire.h"

namespace distbench::libfabric {

std::string EncodeIntroduction(const Introduction& introduction) {
  const auto address_bytes = static_cast<uint32_t>(introduction.address.size());
  std::string bytes(kIntroductionBytes, '\0');
  std::memcpy(bytes.data(), &introduction.link, 8);
  std::memcpy(bytes.data() + 8, &introduction.receive_bytes, 4);
  std::memcpy(bytes.data() + 12, &address_bytes, 4);
  bytes.append(introduction.address.data(), introduction.address.size());
  bytes.append(introduction.greeting.data(), introduction.greeting.size());
  return bytes;
}

bool DecodeIntroduction(absl::string_view bytes, Introduction& introduction) {
  if (bytes.size() < kIntroductionBytes) return false;
  uint32_t address_bytes;
  std::memcpy(&introduction.link, bytes.data(), 8);
  std::memcpy(&introduction.receive_bytes, bytes.data() + 8, 4);
  std::memcpy(&address_bytes, bytes.data() + 12, 4);
  bytes.remove_prefix(kIntroductionBytes);
  if (address_bytes > bytes.size() || address_bytes > kMaxFabricAddressBytes ||
      introduction.link >> 56 != 0 ||
      introduction.receive_bytes < kMinReceiveBufferBytes) {
    return false;
  }
  introduction.address = bytes.substr(0, address_bytes);
  introduction.greeting = bytes.substr(address_bytes);
  return true;
}

}  // namespace distbench::libfabric
