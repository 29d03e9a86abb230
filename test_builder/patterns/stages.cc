#include "test_builder/patterns/stages.h"

#include "absl/strings/str_cat.h"
#include "test_builder/patterns/traffic_parts.h"

namespace distbench::test_builder {
namespace {

void AddSetting(const std::string& name,
                const std::variant<int64_t, std::string>& value,
                ActivityConfig& activity) {
  NamedSetting& setting = *activity.add_activity_settings();
  setting.set_name(name);
  if (const auto* number = std::get_if<int64_t>(&value)) {
    setting.set_int64_value(*number);
  } else {
    setting.set_string_value(std::get<std::string>(value));
  }
}

}  // namespace

void Stages::Do(const std::string& name, const std::string& function,
                const std::string& pool, const ActivitySettings& settings) {
  ActivityConfig& activity = *body_.add_activity_configs();
  activity.set_name(name);
  if (!pool.empty()) activity.set_pool_name(pool);
  AddSetting("activity_func", function, activity);
  for (const auto& [setting, value] : settings) {
    AddSetting(setting, value, activity);
  }
  Append(name).set_activity_config_name(name);
}

void Stages::Call(const std::string& name, const std::vector<std::string>& rpcs,
                  int64_t calls_of_each) {
  std::vector<std::string> names;
  for (const std::string& rpc : rpcs) {
    Action& action = AddRpcAction(body_, absl::StrCat(name, "_", rpc), rpc);
    action.mutable_iterations()->set_max_iteration_count(calls_of_each);
    action.mutable_iterations()->set_max_parallel_iterations(calls_of_each);
    for (const std::string& last : last_) action.add_dependencies(last);
    list_.add_action_names(action.name());
    names.push_back(action.name());
  }
  last_ = names;
}

Action& Stages::Append(const std::string& name) {
  Action& action = *body_.add_actions();
  action.set_name(name);
  for (const std::string& last : last_) action.add_dependencies(last);
  list_.add_action_names(name);
  last_ = {name};
  return action;
}

void AddPool(const std::string& name, int64_t size,
             DistributedSystemDescription& body) {
  ActivityPoolSpec& pool = *body.add_activity_pools();
  pool.set_name(name);
  pool.set_size(static_cast<int32_t>(size));
}

}  // namespace distbench::test_builder
