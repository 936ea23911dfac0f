#include "workflow/catalog/tags.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/assert.hpp"
#include "base/document/document.hpp"
#include "workflow/data.hpp"

namespace sb::workflow {
namespace {

const Value& table() {
  static const Value parsed = [] {
    auto value = parse_json(data_file("tags.yaml"));
    SB_ASSERT(value);
    return std::move(*value);
  }();
  return parsed;
}

Value row(std::string_view id, std::string_view name, std::string_view when, int count) {
  return Value::object({{"id", id}, {"displayName", name}, {"when", when}, {"count", count}});
}

}  // namespace

WorkflowTags tags_of(std::string_view id, bool is_routine) {
  WorkflowTags out;
  if (const Value* known = table()["workflows"].find(id)) {
    const Value& tags = known->is_array() ? *known : (*known)["tags"];
    for (const Value& tag : tags.items()) out.tags.push_back(tag.as_string());
    out.is_hidden = known->is_object() && known->find("hidden") != nullptr;
    return out;
  }
  if (is_routine) out.tags.emplace_back("routines");
  const std::size_t dot = id.find('.');
  const std::string_view name_space = id.substr(0, dot);
  if (dot != std::string_view::npos && name_space != "wr") {
    out.tags.emplace_back(name_space);
  } else if (out.tags.empty()) {
    out.tags.emplace_back("other");
  }
  return out;
}

Value tag_summary(const std::vector<std::string>& used) {
  std::map<std::string, int> counts;
  for (const std::string& tag : used) ++counts[tag];
  Value out = Value::array();
  for (const Value& tag : table()["tags"].items()) {
    const std::string& id = tag["id"].as_string();
    out.push_back(row(id, tag["displayName"].as_string(), tag["when"].as_string(), counts[id]));
    counts.erase(id);
  }
  for (const auto& [id, count] : counts) {
    const bool is_other = id == "other";
    out.push_back(row(id, is_other ? "Everything else" : id,
                      is_other ? "Workflows without a namespace" : fmt::format("Workflows named {}.*", id), count));
  }
  return out;
}

}  // namespace sb::workflow
