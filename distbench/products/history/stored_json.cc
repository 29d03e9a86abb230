#include "distbench/products/history/stored_json.h"
#include "distbench/base/json.h"

#include <nlohmann/json.hpp>

namespace distbench::history {
namespace {

using SortedJson = nlohmann::json;

template <typename Value>
std::string Dump(const Value& value) {
  return base::DumpJson(SortedJson(value));
}

template <typename Value>
Value Load(const std::string& text) {
  const SortedJson json =
      SortedJson::parse(text, nullptr, /*allow_exceptions=*/false);
  try {
    return json.get<Value>();
  } catch (const SortedJson::exception&) {
    return {};
  }
}

}  // namespace

std::string StoredJson(const std::set<std::string>& list) { return Dump(list); }

std::string StoredJson(const std::map<std::string, std::string>& texts) {
  return Dump(texts);
}

std::string StoredJson(const std::map<std::string, double>& numbers) {
  return Dump(numbers);
}

std::vector<std::string> StoredList(const std::string& json) {
  return Load<std::vector<std::string>>(json);
}

std::map<std::string, std::string> StoredTexts(const std::string& json) {
  return Load<std::map<std::string, std::string>>(json);
}

std::map<std::string, double> StoredNumbers(const std::string& json) {
  return Load<std::map<std::string, double>>(json);
}

}  // namespace distbench::history
