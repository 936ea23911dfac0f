#include "decision/texts.hpp"

#include <map>
#include <unordered_map>

#include "base/assert.hpp"
#include "base/document/document.hpp"
#include "decision/data.hpp"

namespace sb::decision {
namespace {

const Value& texts() {
  static const Value tree = [] {
    auto document = parse_document("texts.yaml", std::string(data_file("texts.yaml")));
    SB_ASSERT(document.has_value());
    return std::move(document->root);
  }();
  return tree;
}

// Indexed by locale and key, because a chain's prompt looks up dozens of them.
using Table = std::unordered_map<std::string_view, std::string_view>;
const std::map<std::string_view, Table>& index() {
  static const std::map<std::string_view, Table> tables = [] {
    std::map<std::string_view, Table> made;
    for (const auto& [locale, table] : texts().members()) {
      if (!table.is_object()) continue;
      for (const auto& [key, value] : table.members()) made[locale].emplace(key, value.as_string());
    }
    return made;
  }();
  return tables;
}

}  // namespace

std::string_view text(std::string_view locale, std::string_view key) {
  for (const std::string_view each : {locale, std::string_view("en")}) {
    const auto table = index().find(each);
    if (table == index().end()) continue;
    if (const auto found = table->second.find(key); found != table->second.end()) return found->second;
  }
  SB_ASSERT(false);
  return {};
}

std::string text_with(std::string_view locale, std::string_view key, std::string_view name, std::string_view value) {
  std::string out(text(locale, key));
  const std::string slot = '{' + std::string(name) + '}';
  const std::size_t at = out.find(slot);
  SB_ASSERT(at != std::string::npos);
  return out.replace(at, slot.size(), value);
}

const std::vector<std::string_view>& locales() {
  static const std::vector<std::string_view> all = [] {
    std::vector<std::string_view> names;
    for (const auto& [locale, table] : texts().members()) {
      if (table.is_object()) names.push_back(locale);
    }
    return names;
  }();
  return all;
}

bool has_locale(std::string_view locale) {
  return texts()[locale].is_object();
}

std::string_view texts_version() {
  static const std::string version = to_json(texts()["version"]);
  return version;
}

}  // namespace sb::decision
