#include "distbench/payload/payload_slab.h"

#include <string>

namespace distbench {

absl::string_view PayloadSlab() {
  static const std::string* const slab =
      new std::string(kPayloadSlabBytes, 'D');
  return *slab;
}

}  // namespace distbench
