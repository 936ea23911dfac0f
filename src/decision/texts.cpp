#include "decision/texts.hpp"

#include "base/assert.hpp"
#include "base/document.hpp"
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

}  // namespace

std::string_view text(std::string_view locale, std::string_view key) {
  const Value* found = texts()[locale].find(key);
  if (!found) found = texts()["en"].find(key);
  SB_ASSERT(found && found->is_string());
  return found->as_string();
}

std::string text_with(std::string_view locale, std::string_view key, std::string_view name, std::string_view value) {
  std::string out(text(locale, key));
  const std::string slot = '{' + std::string(name) + '}';
  const std::size_t at = out.find(slot);
  SB_ASSERT(at != std::string::npos);
  return out.replace(at, slot.size(), value);
}

bool has_locale(std::string_view locale) {
  return texts()[locale].is_object();
}

std::string_view texts_version() {
  static const std::string version = to_json(texts()["version"]);
  return version;
}

}  // namespace sb::decision
