// Small lists and maps as the text of one column. Text that is not UTF-8 is
// made so, everywhere alike.

#ifndef DISTBENCH_PRODUCTS_HISTORY_STORED_JSON_H_
#define DISTBENCH_PRODUCTS_HISTORY_STORED_JSON_H_

#include <map>
#include <set>
#include <string>
#include <vector>

namespace distbench::history {

std::string StoredJson(const std::set<std::string>& list);
std::string StoredJson(const std::map<std::string, std::string>& texts);
std::string StoredJson(const std::map<std::string, double>& numbers);

// Empty if the text is not what was stored.
std::vector<std::string> StoredList(const std::string& json);
std::map<std::string, std::string> StoredTexts(const std::string& json);
std::map<std::string, double> StoredNumbers(const std::string& json);

}  // namespace distbench::history

#endif  // DISTBENCH_PRODUCTS_HISTORY_STORED_JSON_H_
