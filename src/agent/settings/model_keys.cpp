// The keys of one model.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "agent/programs/recipe.hpp"
#include "agent/settings/agent_keys.hpp"
#include "agent/settings/setting_values.hpp"

namespace sb::agent {
namespace {

using Kind = ModelProvider::Kind;
using Row = SettingKey<ModelSettings>;

bool is_any(const ModelProvider&) {
  return true;
}
bool is_none(const ModelProvider&) {
  return false;
}
bool is_http(const ModelProvider& provider) {
  return provider.kind == Kind::kHttp;
}
bool is_agent_program(const ModelProvider& provider) {
  return provider.kind == Kind::kProgram;
}
bool is_script(const ModelProvider& provider) {
  return provider.kind == Kind::kScript;
}
bool has_variants(const ModelProvider& provider) {
  return !provider.variants.empty();
}

Row stored_unless_empty(Row row, std::string ModelSettings::* member) {
  row.write = [member, write = row.write](const ModelSettings& model, Value& stored) {
    if (!(model.*member).empty()) write(model, stored);
  };
  return row;
}

// One of the given words, as text.
std::string read_word(const Reader& reader, const std::vector<std::string_view>& words) {
  std::vector<std::pair<std::string_view, std::string_view>> names;
  for (const std::string_view word : words) names.emplace_back(word, word);
  return std::string(reader.choice<std::string_view>(names).value_or(""));
}

Row api_key() {
  const auto read = [](const Reader& reader, const SettingSource&, ModelSettings& model) {
    const auto variants = model.provider->variants;
    const std::string word = read_word(reader, {variants.begin(), variants.end()});
    if (!word.empty()) model.api = word;
  };
  Row row = text_key<ModelSettings>("api", &ModelSettings::api, {}, {}, "");
  row.read = read;
  return stored_unless_empty(std::move(row), &ModelSettings::api);
}

Row recipe_key() {
  static const std::vector<std::string> kNames = recipe_names();
  const std::vector<std::string_view> names(kNames.begin(), kNames.end());
  return stored_unless_empty(
      text_key<ModelSettings>(
          "recipe", &ModelSettings::recipe, choice_schema(names),
          [names](const Reader& reader, const SettingSource&) { return read_word(reader, names); }, ""),
      &ModelSettings::recipe);
}

void read_command(const Reader& command, const SettingSource&, ModelSettings& model) {
  model.command = command.strings();
  const bool is_list = command.value().is_array();
  if (is_list && (command.value().size() == 0 || (!model.command.empty() && model.command.front().empty()))) {
    command.fault("the command names no program", "Write command: [program, argument, ...]", ErrorCode::kInvalid,
                  "too_few");
  }
  if (std::ranges::any_of(model.command, [](const auto& word) { return word.contains("{mcp_token}"); })) {
    command.fault("every user of the machine can read a program's arguments, so the token must not be one of them",
                  "Leave {mcp_token} out; the program finds it in the variable SIGNALBOX_PLACE_TOKEN",
                  ErrorCode::kInvalid, "literal_secret");
  }
}

Row command_key() {
  Value schema = list_schema(text_schema(sb::limits::kTextBytes), sb::limits::kOptions);
  schema.set("minItems", 1);
  return {
      .name = "command",
      .help =
          "Program and arguments; may contain {prompt}, {mcp_url}, {hook_url}, {proxy_url}, {home}, {work_tree}, "
          "{model}. The token is in SIGNALBOX_PLACE_TOKEN",
      .schema = std::move(schema),
      .read = read_command,
      .write =
          [](const ModelSettings& model, Value& stored) {
            if (!model.command.empty()) stored.set("command", Value::array(model.command));
          },
      .restore = [](const Value& stored, ModelSettings& model) { model.command = stored_texts(stored, "command"); }};
}

Row upstream_key() {
  return stored_unless_empty(
      text_key<ModelSettings>(
          "upstream", &ModelSettings::upstream, text_schema(sb::limits::kTextBytes),
          [](const Reader& reader, const SettingSource&) { return reader.string().value_or(""); },
          "The model its calls are forwarded to; if omitted, it uses its own login"),
      &ModelSettings::upstream);
}

Row script_key() {
  return stored_unless_empty(
      text_key<ModelSettings>(
          "script", &ModelSettings::script, path_schema(),
          [](const Reader& reader, const SettingSource& source) { return read_path(reader, source.directory); },
          "A file of replies, one JSON object per line"),
      &ModelSettings::script);
}

// One dollar per million tokens is 100 millionths of a cent per token.
SettingKey<ModelSettings> price_key(std::string_view name, std::int64_t ModelSettings::* member) {
  return {.name = name,
          .help = "",
          .schema = dollars_schema(),
          .read = [=](const Reader& reader, const SettingSource&, ModelSettings& model) {
            if (const auto dollars = read_dollars(reader)) model.*member = std::llround(*dollars * 100);
          }};
}

// Stored together, as a list. A price that the file omits is the input price.
Row prices_key() {
  const SettingKeys<ModelSettings> each = {required(price_key("input", &ModelSettings::input_price)),
                                           required(price_key("output", &ModelSettings::output_price)),
                                           price_key("cache_read", &ModelSettings::cache_read_price),
                                           price_key("cache_write", &ModelSettings::cache_write_price)};
  Row row = group_key<ModelSettings>("prices", each, "In dollars per million tokens");
  row.read = [each](const Reader& reader, const SettingSource& source, ModelSettings& model) {
    constexpr std::int64_t kNotGiven = -1;
    model.cache_read_price = model.cache_write_price = kNotGiven;
    read_object(reader, each, source, model);
    for (std::int64_t* price : {&model.cache_read_price, &model.cache_write_price}) {
      if (*price == kNotGiven) *price = model.input_price;
    }
    model.has_prices = true;
  };
  row.write = [](const ModelSettings& model, Value& stored) {
    stored.set("prices", Value(Value::Array{model.input_price, model.output_price, model.cache_read_price,
                                            model.cache_write_price}));
  };
  row.restore = [](const Value& stored, ModelSettings& model) {
    const Value& prices = stored["prices"];
    if (!prices.is_array() || prices.size() != 4) return;
    const auto number = [&](std::size_t at) {
      return prices.items()[at].is_integer() ? prices.items()[at].as_integer() : 0;
    };
    model.has_prices = true;
    model.input_price = number(0), model.output_price = number(1);
    model.cache_read_price = number(2), model.cache_write_price = number(3);
  };
  return row;
}

}  // namespace

const std::vector<ModelKey>& model_keys() {
  using M = ModelSettings;
  static const std::vector<ModelKey> kKeys = {
      {stored_unless_empty(line_key("model", &M::model, ""), &M::model), is_any, is_http},
      {stored_unless_empty(url_key("url", &M::url, ""), &M::url), is_http, is_none},
      {stored_unless_empty(secret_key("key", &M::key,
                                      "Where to find the secret, never the secret itself: $NAME for a variable, "
                                      "file:PATH for a file"),
                           &M::key),
       is_http, is_none},  // or a url: your own server may need no key
      {api_key(), has_variants, is_none},
      {recipe_key(), is_agent_program, is_none},
      {command_key(), is_agent_program, is_none},
      {upstream_key(), is_agent_program, is_none},
      {script_key(), is_script, is_script},
      {integer_key("max_tokens", &M::max_tokens, 1, 1'000'000, "Maximum size of one reply"), is_any, is_none},
      {integer_key("context_tokens", &M::context_tokens, 1'000, 100'000'000, "Maximum size of a conversation"), is_any,
       is_none},
      {prices_key(), is_any, is_none}};
  return kKeys;
}

SettingKeys<ModelSettings> keys_of(const ModelProvider& provider) {
  SettingKeys<ModelSettings> keys;
  for (const ModelKey& row : model_keys()) {
    if (!row.is_of(provider)) continue;
    keys.push_back(row.is_required(provider) ? required(row.key) : row.key);
    if (keys.back().name == "api") {
      keys.back().schema = choice_schema(std::vector(provider.variants.begin(), provider.variants.end()));
    }
  }
  return keys;
}

}  // namespace sb::agent
