// A key of the configuration as one row of a table. The row says how the key is read from a file, how its value is
// stored with a run and restored, and how the schema describes it. An object of the configuration is a list of rows;
// read_object(), stored(), restore() and object_schema() work on that list.
//
//   const SettingKeys<WorkLimits> keys = {
//       integer_key("turns", &WorkLimits::turns, 1, 100'000, "Per agent session"),
//   };
//
// To add a key, add a row. For a root key, also regenerate the generated files; the test that compares them
// (tests/schema/settings_schema_test.cpp) says how.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/document/reader.hpp"

namespace sb {

struct SettingSource {
  std::string directory;  // of the file: relative paths are below it
  bool is_users = true;   // the user's own file; false: a workspace's
};

template <class S>
struct SettingKey {
  std::string_view name;
  std::string_view help;  // one line; the description in the schema
  Value schema;           // of the key's value in a file
  std::function<void(const Reader& reader, const SettingSource& source, S& settings)> read;
  // The stored form differs from the file's, so that restoring it needs neither file nor defaults: a duration, for
  // example, is stored in milliseconds. Absent for keys that are not stored with a run.
  std::function<void(const S& settings, Value& stored)> write = {};
  std::function<void(const Value& stored, S& settings)> restore = {};
  Need need = Need::kOptional;
};

template <class S>
using SettingKeys = std::vector<SettingKey<S>>;

// Members of a stored object; empty or 0 if absent or of the wrong kind.
std::string stored_text(const Value& stored, std::string_view name);
std::int64_t stored_integer(const Value& stored, std::string_view name);
std::vector<std::string> stored_texts(const Value& stored, std::string_view name);

// Parts of a schema.
Value text_schema(std::size_t max_bytes, std::string_view pattern = {});
Value integer_schema(std::int64_t min, std::int64_t max);
Value choice_schema(const std::vector<std::string_view>& words);
Value list_schema(Value item, std::size_t max_items);
Value described(Value schema, std::string_view help);

template <class S>
void read_keys(Fields& fields, const SettingKeys<S>& keys, const SettingSource& source, S& settings) {
  for (const SettingKey<S>& key : keys) {
    if (const auto reader = fields.get(key.name, key.need)) key.read(*reader, source, settings);
  }
}

template <class S>
void read_object(const Reader& reader, const SettingKeys<S>& keys, const SettingSource& source, S& settings) {
  Fields fields = reader.fields();
  if (!reader.value().is_object()) return;
  read_keys(fields, keys, source, settings);
  fields.finish();
}

template <class S>
Value stored(const SettingKeys<S>& keys, const S& settings, Value object = Value::object()) {
  for (const SettingKey<S>& key : keys) {
    if (key.write) key.write(settings, object);
  }
  return object;
}

template <class S>
void restore(const SettingKeys<S>& keys, const Value& object, S& settings) {
  for (const SettingKey<S>& key : keys) {
    if (key.restore) key.restore(object, settings);
  }
}

template <class S>
Value object_schema(const SettingKeys<S>& keys) {
  Value properties = Value::object();
  Value required = Value::array();
  for (const SettingKey<S>& key : keys) {
    properties.set(key.name, described(key.schema, key.help));
    if (key.need == Need::kRequired) required.push_back(key.name);
  }
  Value schema = Value::object({{"type", "object"}, {"additionalProperties", false}});
  if (required.size() > 0) schema.set("required", std::move(required));
  schema.set("properties", std::move(properties));
  return schema;
}

// Rows of common kinds.

template <class S>
SettingKey<S> boolean_key(std::string_view name, bool S::* member, std::string_view help) {
  return {.name = name,
          .help = help,
          .schema = Value::object({{"type", "boolean"}}),
          .read =
              [=](const Reader& reader, const SettingSource&, S& settings) {
                if (const auto value = reader.boolean()) settings.*member = *value;
              },
          .write = [=](const S& settings, Value& stored) { stored.set(name, settings.*member); },
          .restore = [=](const Value& stored, S& settings) { settings.*member = stored[name] == Value(true); }};
}

template <class S, class Integer>
SettingKey<S> integer_key(std::string_view name, Integer S::* member, std::int64_t min, std::int64_t max,
                          std::string_view help) {
  return {.name = name,
          .help = help,
          .schema = integer_schema(min, max),
          .read =
              [=](const Reader& reader, const SettingSource&, S& settings) {
                if (const auto value = reader.integer(min, max)) settings.*member = static_cast<Integer>(*value);
              },
          .write = [=](const S& settings, Value& stored) { stored.set(name, settings.*member); },
          .restore = [=](const Value& stored,
                         S& settings) { settings.*member = static_cast<Integer>(stored_integer(stored, name)); }};
}

// A text checked by `read`, which reports an invalid one as a fault and returns an empty text.
template <class S>
SettingKey<S> text_key(std::string_view name, std::string S::* member, Value schema,
                       std::function<std::string(const Reader& reader, const SettingSource& source)> read,
                       std::string_view help) {
  return {.name = name,
          .help = help,
          .schema = std::move(schema),
          .read = [=](const Reader& reader, const SettingSource& source,
                      S& settings) { settings.*member = read(reader, source); },
          .write = [=](const S& settings, Value& stored) { stored.set(name, settings.*member); },
          .restore = [=](const Value& stored, S& settings) { settings.*member = stored_text(stored, name); }};
}

template <class E>
Value choice_schema(Names<E> names) {
  std::vector<std::string_view> words;
  for (const auto& [word, meaning] : names) words.push_back(word);
  return choice_schema(words);
}

// One of a closed set of words, which must outlive the row. `Member` is E or std::optional<E>; an absent one is not
// stored.
template <class S, class E, class Member>
SettingKey<S> choice_key(std::string_view name, Member S::* member, Names<E> words, std::string_view help) {
  return {.name = name,
          .help = help,
          .schema = choice_schema<E>(words),
          .read =
              [=](const Reader& reader, const SettingSource&, S& settings) {
                if (const auto meaning = reader.choice<E>(words)) settings.*member = *meaning;
              },
          .write =
              [=](const S& settings, Value& stored) {
                for (const auto& [word, meaning] : words) {
                  if (settings.*member == meaning) stored.set(name, word);
                }
              },
          .restore =
              [=](const Value& stored, S& settings) {
                for (const auto& [word, meaning] : words) {
                  if (stored[name] == Value(word)) settings.*member = meaning;
                }
              }};
}

// An object whose members are members of the settings.
template <class S>
SettingKey<S> group_key(std::string_view name, SettingKeys<S> keys, std::string_view help) {
  Value schema = object_schema(keys);
  return {.name = name,
          .help = help,
          .schema = std::move(schema),
          .read = [=](const Reader& reader, const SettingSource& source,
                      S& settings) { read_object(reader, keys, source, settings); },
          .write = [=](const S& settings, Value& object) { object.set(name, stored(keys, settings)); },
          .restore = [=](const Value& object, S& settings) { restore(keys, object[name], settings); }};
}

// A key of settings that are a part of others.
template <class S, class Part>
SettingKey<S> key_of(Part S::* part, const SettingKey<Part>& key) {
  SettingKey<S> outer{.name = key.name,
                      .help = key.help,
                      .schema = key.schema,
                      .read = [part, read = key.read](const Reader& reader, const SettingSource& source,
                                                      S& settings) { read(reader, source, settings.*part); },
                      .need = key.need};
  if (key.write) {
    outer.write = [part, write = key.write](const S& settings, Value& stored) { write(settings.*part, stored); };
  }
  if (key.restore) {
    outer.restore = [part, restore = key.restore](const Value& stored, S& settings) {
      restore(stored, settings.*part);
    };
  }
  return outer;
}

template <class S>
SettingKey<S> required(SettingKey<S> key) {
  key.need = Need::kRequired;
  return key;
}

}  // namespace sb
