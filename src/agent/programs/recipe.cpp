#include "agent/programs/recipe.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "agent/data.hpp"
#include "base/document/document.hpp"
#include "base/document/reader.hpp"

namespace sb::agent {
namespace {

constexpr std::size_t kWordBytes = 120u << 10;  // Linux allows 128 KiB per argument

// Built in, therefore valid.
const Value& recipes() {
  static const Value all = [] {
    auto document = parse_document("recipes.yaml", std::string(data_file("recipes.yaml")));
    return document ? std::move(document->root) : Value::object();
  }();
  return all;
}

std::vector<std::string> words_at(const Value& value, std::string_view name) {
  std::vector<std::string> words;
  const Value& list = value[name];
  if (!list.is_array()) return words;
  for (const Value& word : list.items()) words.push_back(word.is_string() ? word.as_string() : to_json(word));
  return words;
}

std::map<std::string, std::string> texts_at(const Value& value, std::string_view name) {
  std::map<std::string, std::string> texts;
  const Value& object = value[name];
  if (!object.is_object()) return texts;
  for (const Value::Member& member : object.members()) {
    if (member.value.is_string()) texts[member.name] = member.value.as_string();
  }
  return texts;
}

Recipe read_recipe(const std::string& name, const Value& value) {
  return {.name = name,
          .api = value.string_at("api").value_or(""),
          .command = words_at(value, "command"),
          .when_writable = words_at(value, "when_writable"),
          .when_read_only = words_at(value, "when_read_only"),
          .when_own_login = words_at(value, "when_own_login"),
          .input = value.string_at("input").value_or(""),
          .environment = texts_at(value, "environment"),
          .own_login = words_at(value, "own_login"),
          .login_servers = words_at(value, "login_servers"),
          .files = texts_at(value, "files")};
}

std::string filled(std::string_view text, const RecipeValues& values) {
  const std::array<std::pair<std::string_view, const std::string*>, 9> known = {{{"{prompt}", &values.prompt},
                                                                                 {"{mcp_url}", &values.mcp_url},
                                                                                 {"{mcp_token}", &values.mcp_token},
                                                                                 {"{hook_url}", &values.hook_url},
                                                                                 {"{proxy_url}", &values.proxy_url},
                                                                                 {"{home}", &values.home},
                                                                                 {"{work_tree}", &values.work_tree},
                                                                                 {"{model}", &values.model},
                                                                                 {"{signalbox}", &values.signalbox}}};
  std::string out;
  while (!text.empty()) {
    const std::size_t brace = std::min(text.find('{'), text.size());
    out += text.substr(0, brace);
    text.remove_prefix(brace);
    const auto found = std::ranges::find_if(known, [&](const auto& one) { return text.starts_with(one.first); });
    if (found != known.end()) {
      out += *found->second;
      text.remove_prefix(found->first.size());
    } else if (!text.empty()) {
      out += text.front();
      text.remove_prefix(1);
    }
  }
  return out;
}

// Values go into JSON, TOML and other configuration formats.
Status check_plain(std::string_view what, std::string_view value) {
  const bool is_plain = std::ranges::none_of(value, [](char c) {
    return c == '"' || c == '\'' || c == '\\' || c == '$' || c == '`' || static_cast<unsigned char>(c) < ' ' ||
           c == '\x7f';
  });
  if (is_plain) return {};
  return fail(ErrorCode::kInvalid,
              fmt::format("{} {} cannot be used in an agent's configuration", what, quote_json(value)),
              "Choose one without quotes, backslashes, dollar signs and control characters");
}

}  // namespace

std::vector<std::string> recipe_names() {
  std::vector<std::string> names;
  for (const Value::Member& member : recipes().members()) names.push_back(member.name);
  return names;
}

Result<Recipe> recipe_for(const ModelSettings& model) {
  if (!model.recipe.empty()) {
    const Value* found = recipes().find(model.recipe);
    if (found == nullptr) {
      const std::string nearest = nearest_name(model.recipe, recipe_names());
      return fail(ErrorCode::kInvalid,
                  fmt::format("unknown recipe {} for the model {}", quote_json(model.recipe), model.name),
                  nearest.empty() ? fmt::format("Available: {}", fmt::join(recipe_names(), ", "))
                                  : fmt::format("Did you mean {}?", nearest));
    }
    return read_recipe(model.recipe, *found);
  }
  if (model.command.empty()) {
    return fail(ErrorCode::kInvalid, fmt::format("the model {} has neither a recipe nor a command", model.name),
                fmt::format("Set `recipe:` to one of {}, or `command:` to your own command line",
                            fmt::join(recipe_names(), ", ")));
  }
  Recipe recipe;
  recipe.name = model.command.front();
  recipe.command = model.command;
  const bool has_prompt =
      std::ranges::any_of(recipe.command, [](const std::string& word) { return word.find("{prompt}") != word.npos; });
  if (!has_prompt) recipe.input = "{prompt}";
  recipe.environment = {{"SIGNALBOX_MCP_URL", "{mcp_url}"},
                        {"SIGNALBOX_HOOK_URL", "{hook_url}"},
                        {"SIGNALBOX_PLACE_TOKEN", "{mcp_token}"},
                        {"SIGNALBOX_PROXY_URL", "{proxy_url}"}};
  recipe.own_login = {"SIGNALBOX_PROXY_URL"};
  return recipe;
}

Result<Launch> fill_recipe(const Recipe& recipe, const RecipeValues& values) {
  SB_TRY(check_plain("the model", values.model));
  SB_TRY(check_plain("the folder", values.home));
  SB_TRY(check_plain("the folder", values.work_tree));
  SB_TRY(check_plain("the program", values.signalbox));
  const bool has_own_login = values.proxy_url.empty();
  Launch launch;
  const auto add = [&](const std::vector<std::string>& words) {
    for (const std::string& word : words) launch.argv.push_back(filled(word, values));
  };
  add(recipe.command);
  add(values.is_writable ? recipe.when_writable : recipe.when_read_only);
  if (has_own_login) add(recipe.when_own_login);
  for (const std::string& word : launch.argv) {
    if (word.find('\0') != std::string::npos)
      return fail(ErrorCode::kInvalid, "an argument of the command contains a NUL");
    if (word.size() <= kWordBytes) continue;
    return fail(ErrorCode::kLimit,
                fmt::format("the prompt has {} bytes; an argument of a command may have {}", word.size(), kWordBytes),
                "Remove {prompt} from `command:`; the program then gets it on stdin");
  }
  launch.input = filled(recipe.input, values);
  for (const auto& [name, value] : recipe.environment) {
    const bool is_left_out = has_own_login && std::ranges::find(recipe.own_login, name) != recipe.own_login.end();
    if (!is_left_out) launch.environment[name] = filled(value, values);
  }
  for (const auto& [name, text] : recipe.files) launch.files[name] = filled(text, values);
  return launch;
}

}  // namespace sb::agent
