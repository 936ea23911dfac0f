#include "schema/configuration_page.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/text.hpp"

namespace sb {
namespace {

constexpr const char* kIntroduction = R"(# Configuration

Two files, both optional, in YAML or JSON:

- `config.yaml` in your configuration folder (`signalbox config path` prints where): everything below.
- `signalbox.yaml` in a project's folder: the keys that are not *only in config.yaml*. It overrides yours for
  that project, and applies only while the folder is trusted (`signalbox trust DIR`).

```sh
signalbox config show                      # what applies, with the file and line of each value
signalbox config get models.main.model
signalbox config set merge auto            # one value; comments stay; --project for signalbox.yaml
signalbox config edit                      # $VISUAL or $EDITOR, then the check
signalbox config check                     # every fault of both files, and of what they name
```

A file with a fault is refused as a whole; each fault is shown with file, line and the nearest known key. Editors
complete and check the files with [signalbox.schema.json](schema/signalbox.schema.json). Secrets are named, never
written: `$NAME` for a variable, `file:PATH` for a file.

## Keys

`NAME` is a name you choose. Durations are written `30s`, `10m`, `8h` or `3d`.

| key | value | meaning |
|---|---|---|
)";

struct Row {
  std::string key, value, help;
};

std::string text_at(const Value& schema, std::string_view name) {
  return schema.string_at(name).value_or("");
}

std::string value_text(const Value& schema);

std::string alternatives(const Value& list) {
  std::vector<std::string> texts;
  for (const Value& one : list.items()) {
    std::string text = value_text(one);
    if (!text.empty() && std::ranges::find(texts, text) == texts.end()) texts.push_back(std::move(text));
  }
  return fmt::format("{}", fmt::join(texts, ", or "));
}

std::string number_text(const Value& value) {
  return to_json(value);
}

std::string value_text(const Value& schema) {
  if (const Value* choices = schema.find("enum")) {
    std::vector<std::string> words;
    for (const Value& choice : choices->items()) words.push_back(fmt::format("`{}`", choice.as_string()));
    return fmt::format("{}", fmt::join(words, ", "));
  }
  if (const Value* only = schema.find("const")) return fmt::format("`{}`", only->as_string());
  if (const Value* several = schema.find("oneOf")) return alternatives(*several);
  const std::string type = text_at(schema, "type");
  if (type == "boolean") return "`true` or `false`";
  if (type == "integer" || type == "number") {
    const std::string kind = type == "integer" ? "a whole number" : "a number";
    if (schema.find("minimum") == nullptr || schema.find("maximum") == nullptr) return kind;
    return fmt::format("{}, {} to {}", kind, number_text(schema["minimum"]), number_text(schema["maximum"]));
  }
  if (type == "array") return "a list: " + value_text(schema["items"]);
  if (type == "object") return "an object";
  return "a text";
}

void add_rows(const std::string& key, const Value& schema, const std::string& help, std::vector<Row>& rows);

void add_members(const std::string& key, const Value& schema, std::vector<Row>& rows) {
  if (const Value* properties = schema.find("properties")) {
    for (const Value::Member& member : properties->members()) {
      add_rows(key + "." + member.name, member.value, text_at(member.value, "description"), rows);
    }
  }
  if (const Value* others = schema.find("additionalProperties"); others != nullptr && others->is_object()) {
    add_rows(key + ".NAME", *others, text_at(*others, "description"), rows);
  }
}

void add_rows(const std::string& key, const Value& schema, const std::string& help, std::vector<Row>& rows) {
  const auto same = [&](const Row& row) { return row.key == key; };
  const auto known = std::ranges::find_if(rows, same);
  if (known != rows.end()) {  // of another alternative
    const std::string value = value_text(schema);
    if (known->value.find(value) == std::string::npos) known->value += ", or " + value;
    if (known->help.empty()) known->help = help;
  } else {
    rows.push_back({key, value_text(schema), help});
  }
  if (const Value* several = schema.find("oneOf")) {
    for (const Value& one : several->items()) add_members(key, one, rows);
  }
  add_members(key, schema, rows);
  if (const Value* items = schema.find("items")) {
    add_members(key + "[]", *items, rows);
    if (const Value* several = items->find("oneOf")) {
      for (const Value& one : several->items()) add_members(key + "[]", one, rows);
    }
  }
}

}  // namespace

std::string configuration_page(const Value& schema) {
  std::vector<Row> rows;
  for (const Value::Member& member : schema["properties"].members()) {
    add_rows(member.name, member.value, text_at(member.value, "description"), rows);
  }
  std::string text = kIntroduction;
  for (Row& row : rows) {
    replace_all(row.help, "|", "\\|");
    replace_all(row.value, "|", "\\|");
    text += fmt::format("| `{}` | {} | {} |\n", row.key, row.value, row.help);
  }
  return text;
}

}  // namespace sb
