#include "cli/setup/config_values.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/text.hpp"
#include "pipeline/settings/run_keys.hpp"

namespace sb::cli {
namespace {

// Keys and tokens are names of variables and files. What is neither is the secret itself, in the wrong place.
Value masked(const std::vector<std::string>& path, const Value& value) {
  const bool is_secret = path.back() == "key" || path.back() == "token";
  if (!is_secret || !value.is_string()) return value;
  const std::string& text = value.as_string();
  return text.starts_with("$") || text.starts_with("file:") ? value : Value("****");
}

void collect(const Document& document, const Value& value, std::vector<std::string>& path, const std::string& pointer,
             std::vector<ConfigValue>& all) {
  if (value.is_object() && (!value.members().empty() || path.empty())) {
    for (const Value::Member& member : value.members()) {
      path.push_back(member.name);
      collect(document, member.value, path, pointer + "/" + escape_pointer(member.name), all);
      path.pop_back();
    }
    return;
  }
  if (path.empty()) return;
  ConfigValue found{path, masked(path, value), document.location_of(pointer)};
  const auto same = std::ranges::find(all, path, &ConfigValue::path);
  if (same == all.end()) {
    all.push_back(std::move(found));
  } else {
    *same = std::move(found);
  }
}

bool is_scalar(const Value& value) {
  return !value.is_object() && !value.is_array() && !value.is_null() && value != Value("");
}

}  // namespace

std::string ConfigValue::name() const {
  const auto has_dot = [](const std::string& key) { return key.find_first_of("./") != std::string::npos; };
  if (std::ranges::none_of(path, has_dot)) return fmt::format("{}", fmt::join(path, "."));
  std::string pointer;
  for (const std::string& key : path) pointer += "/" + escape_pointer(key);
  return pointer;
}

std::vector<ConfigValue> config_values(const std::vector<Document>& documents) {
  std::vector<ConfigValue> all;
  for (const Document& document : documents) {
    std::vector<std::string> path;
    collect(document, document.root, path, "", all);
  }
  const Value defaults = pipeline::to_value(pipeline::RunSettings());
  for (const auto& key : pipeline::run_keys()) {
    const std::string name(key.name);
    const auto is_set = [&](const ConfigValue& value) { return value.path.front() == name; };
    const Value* value = defaults.find(name);
    if (value != nullptr && is_scalar(*value) && std::ranges::none_of(all, is_set)) all.push_back({{name}, *value});
  }
  return all;
}

std::vector<std::string> config_path(std::string_view name) {
  std::vector<std::string> path;
  const bool is_pointer = name.starts_with("/");
  for (const std::string_view part : split(is_pointer ? name.substr(1) : name, is_pointer ? '/' : '.')) {
    std::string key(part);
    if (is_pointer) {
      replace_all(key, "~1", "/");
      replace_all(key, "~0", "~");
    }
    path.push_back(std::move(key));
  }
  return path;
}

Value config_value_of(const std::string& text) {
  const auto document = parse_document("", "value: " + text, Syntax::kYaml);
  const Value* value = document ? document->root.find("value") : nullptr;
  return value == nullptr || document->root.members().size() != 1 ? Value(text) : *value;
}

}  // namespace sb::cli
