#include "distbench/base/json.h"

namespace distbench::base {

// The library says in no other way what it takes for UTF-8.

bool IsUtf8(absl::string_view text) {
  try {
    static_cast<void>(Json(std::string(text)).dump());
    return true;
  } catch (const Json::exception&) {
    return false;
  }
}

std::string ValidUtf8(absl::string_view text) {
  return Json::parse(DumpJson(Json(std::string(text)))).get<std::string>();
}

}  // namespace distbench::base
