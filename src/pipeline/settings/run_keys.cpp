// The table of keys that control a run: how each is read, stored and published.
#include "pipeline/settings/run_keys.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "agent/settings/agent_keys.hpp"
#include "agent/settings/setting_values.hpp"
#include "inbox/config.hpp"
#include "pipeline/limits.hpp"
#include "pipeline/settings/words.hpp"

namespace sb::pipeline {
namespace {

using agent::ContextSpec;
using agent::line_key;
using agent::line_schema;
using agent::read_line;
using Word = std::pair<std::string_view, std::string_view>;
using Row = SettingKey<RunSettings>;

constexpr std::array<Word, 3> kStrategies{{{"none", "none"}, {"worktree", "worktree"}, {"read-only", "read-only"}}};
constexpr std::array<Word, 3> kMergeMethods{{{"merge", "merge"}, {"squash", "squash"}, {"rebase", "rebase"}}};
constexpr std::size_t kCommandBytes = 4'096;
constexpr std::size_t kWorkflowIdBytes = 128;

void bad(const Reader& reader, std::string message, std::string remedy, std::string_view rule = "bad_value") {
  reader.fault(std::move(message), std::move(remedy), ErrorCode::kInvalid, rule);
}

// The rules of `git check-ref-format` that a prefix or a branch can violate.
bool is_branch(std::string_view name) {
  const auto is_odd = [](char c) {
    return static_cast<unsigned char>(c) <= 0x20 || c == 0x7f ||
           std::string_view("~^:?*[\\").find(c) != std::string_view::npos;
  };
  return !name.empty() && name.size() <= 200 && !name.starts_with('-') && !name.starts_with('/') &&
         !name.starts_with('.') && name.find("..") == name.npos && name.find("//") == name.npos &&
         name.find("/.") == name.npos && name.find("@{") == name.npos && !name.ends_with(".lock") &&
         !name.ends_with('.') && std::ranges::none_of(name, is_odd);
}

bool is_workflow_id(std::string_view id) {
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
  };
  return !id.empty() && id.size() <= kWorkflowIdBytes && std::ranges::all_of(id, fits);
}

// A path or glob in the work tree: relative, and not outside of it.
std::optional<std::string> read_inner_path(const Reader& reader) {
  const std::string path = read_line(reader);
  if (path.empty()) return std::nullopt;
  const bool leaves =
      path == ".." || path.starts_with("../") || path.find("/../") != path.npos || path.ends_with("/..");
  if (!path.starts_with('/') && !path.starts_with('~') && !leaves) return path;
  bad(reader, fmt::format("{} is outside the workspace", quote_json(path)), "Write a path below it", "bad_path");
  return std::nullopt;
}

// A line that, with `after` appended, is a valid branch name.
template <class S>
SettingKey<S> branch_key(std::string_view name, std::string S::* member, std::string_view after, std::string_view fault,
                         std::string_view remedy, std::string_view help) {
  const auto read = [=](const Reader& reader, const SettingSource&) {
    const std::string line = read_line(reader);
    if (!line.empty() && !is_branch(line + std::string(after))) {
      bad(reader, std::string(fault), std::string(remedy), "bad_branch");
    }
    return line;
  };
  return text_key<S>(name, member, line_schema(), read, help);
}

// Whether a later file replaces the value of an earlier one or adds to it.
enum class Over { kReplaces, kAdds };
Row inner_paths_key(std::string_view name, std::vector<std::string> RunSettings::* member, Over over,
                    std::string_view help) {
  const auto read = [=](const Reader& reader, const SettingSource&, RunSettings& settings) {
    std::vector<std::string> paths;
    for (const Reader& item : reader.items(limits::kSettingsItems)) {
      if (auto path = read_inner_path(item)) paths.push_back(std::move(*path));
    }
    std::vector<std::string>& into = settings.*member;
    if (over == Over::kReplaces) into.clear();
    for (std::string& path : paths) {
      if (std::ranges::find(into, path) == into.end()) into.push_back(std::move(path));
    }
  };
  return {
      .name = name,
      .help = help,
      .schema = list_schema(line_schema(), limits::kSettingsItems),
      .read = read,
      .write = [=](const RunSettings& settings, Value& stored) { stored.set(name, Value::array(settings.*member)); },
      .restore = [=](const Value& stored, RunSettings& settings) { settings.*member = stored_texts(stored, name); }};
}

SettingKey<ForgeSettings> forge_kind_key(std::span<const ForgeKind> kinds) {
  std::vector<std::pair<std::string_view, const ForgeKind*>> names;
  for (const ForgeKind& kind : kinds) names.emplace_back(kind.name, &kind);
  return required(SettingKey<ForgeSettings>{
      .name = "kind",
      .help = "",
      .schema = choice_schema<const ForgeKind*>(names),
      .read =
          [=](const Reader& reader, const SettingSource&, ForgeSettings& forge) {
            if (const auto kind = reader.choice<const ForgeKind*>(names)) forge.kind = *kind;
          },
      .write = [](const ForgeSettings& forge,
                  Value& stored) { stored.set("kind", forge.kind == nullptr ? "" : forge.kind->name); },
      .restore = [=](const Value& stored,
                     ForgeSettings& forge) { forge.kind = forge_kind_named(stored_text(stored, "kind"), kinds); }});
}

SettingKey<ForgeSettings> repository_key() {
  SettingKey<ForgeSettings> row =
      line_key("repository", &ForgeSettings::repository, "Required on a hosted forge, as owner/name");
  row.read = [](const Reader& reader, const SettingSource&, ForgeSettings& forge) {
    forge.repository = read_line(reader);
    if (!forge.kind->is_hosted || forge.repository.empty() || forge.kind->is_repository(forge.repository)) return;
    bad(reader, "not a valid repository", fmt::format("Write it like {}", forge.kind->repository_form),
        "bad_repository");
  };
  return row;
}

SettingKeys<ForgeSettings> forge_keys(std::span<const ForgeKind> kinds) {
  using F = ForgeSettings;
  return {forge_kind_key(kinds),
          repository_key(),
          agent::url_key("url", &F::url, "Of its API, if it is not the public one"),
          agent::secret_key(
              "token", &F::token,
              "Where to find the secret, never the secret itself: $NAME for a variable, file:PATH for a file"),
          branch_key("remote", &F::remote, "", "not a valid remote name", "Write it like origin",
                     "The git remote to push to. Default: origin"),
          choice_key<F, std::string_view>("method", &F::method, kMergeMethods,
                                          "How a hosted forge merges. Default: merge")};
}

constexpr std::array<std::string_view, 2> kHostedNeeds = {"repository", "token"};

Value forge_schema(std::span<const ForgeKind> kinds, const SettingKeys<ForgeSettings>& keys) {
  std::vector<std::string_view> hosted;
  for (const ForgeKind& kind : kinds) {
    if (kind.is_hosted) hosted.push_back(kind.name);
  }
  Value schema = object_schema(keys);
  schema.set("if", Value::object({{"required", Value::array(std::vector<std::string>{"kind"})},
                                  {"properties", Value::object({{"kind", choice_schema(hosted)}})}}));
  schema.set(
      "then",
      Value::object({{"required", Value::array(std::vector<std::string>(kHostedNeeds.begin(), kHostedNeeds.end()))}}));
  return schema;
}

Row forge_key(std::span<const ForgeKind> kinds) {
  const SettingKeys<ForgeSettings> keys = forge_keys(kinds);
  Row row = key_of(&RunSettings::forge, group_key("forge", keys, ""));
  row.schema = forge_schema(kinds, keys);
  row.read = [=](const Reader& reader, const SettingSource& source, RunSettings& settings) {
    Fields fields = reader.fields();
    if (!reader.value().is_object()) return;
    ForgeSettings forge;  // as a whole: the token of one forge must not be used for another
    read_keys(fields, keys, source, forge);
    if (forge.kind->is_hosted) {
      for (const std::string_view key : kHostedNeeds) fields.get(key, Need::kRequired);
    }
    fields.finish();
    settings.forge = std::move(forge);
  };
  return row;
}

SettingKeys<ProjectCheck> check_keys() {
  using C = ProjectCheck;
  return {line_key("name", &C::name, ""), required(line_key("run", &C::run, "", kCommandBytes)),
          agent::duration_key("time", "time_ms", &C::time_ms, 1'000, 86'400'000, "Default: 10m")};
}

void read_check(const Reader& reader, const SettingSource& source, std::vector<ProjectCheck>& checks) {
  ProjectCheck check;
  if (reader.value().is_string()) {
    check.run = read_line(reader, kCommandBytes);
  } else {
    read_object(reader, check_keys(), source, check);
  }
  if (reader.value().find("name") == nullptr) check.name = check.run;
  if (check.run.empty() || check.name.empty()) return;
  if (std::ranges::find(checks, check.name, &ProjectCheck::name) != checks.end()) {
    bad(reader, fmt::format("two checks are named {}", quote_json(check.name)), "Rename one of them", "repeated_check");
  }
  checks.push_back(std::move(check));
}

// A list of commands. `setup` came later: where there is none, settings are stored as before.
Row commands_key(std::string_view name, std::vector<ProjectCheck> RunSettings::* member, std::string_view help) {
  Value either = Value(Value::Array{line_schema(kCommandBytes), object_schema(check_keys())});
  return {.name = name,
          .help = help,
          .schema = list_schema(Value::object({{"oneOf", std::move(either)}}), limits::kSettingsItems),
          .read =
              [=](const Reader& reader, const SettingSource& source, RunSettings& settings) {
                (settings.*member).clear();
                for (const Reader& item : reader.items(limits::kSettingsItems)) {
                  read_check(item, source, settings.*member);
                }
                settings.checks_trusted = true;  // the user's own or from a trusted folder; others are not read
              },
          .write =
              [=](const RunSettings& settings, Value& object) {
                if (name != "checks" && (settings.*member).empty()) return;
                Value commands = Value::array();
                for (const ProjectCheck& command : settings.*member) commands.push_back(stored(check_keys(), command));
                object.set(name, std::move(commands));
              },
          .restore =
              [=](const Value& object, RunSettings& settings) {
                if (!object[name].is_array()) return;
                for (const Value& one : object[name].items()) {
                  restore(check_keys(), one, (settings.*member).emplace_back());
                }
                // Untrusted ones are not stored.
                if (!(settings.*member).empty()) settings.checks_trusted = true;
              }};
}

Row soul_key() {
  const auto read = [](const Reader& reader, const SettingSource& source, RunSettings& settings) {
    // A project's soul must be a file in the project.
    if (source.is_users) {
      settings.soul = agent::read_path(reader, source.directory);
    } else if (const auto path = read_inner_path(reader)) {
      settings.soul = join_path(source.directory, *path);
    }
  };
  Row row = text_key<RunSettings>("soul", &RunSettings::soul, text_schema(sb::limits::kTextBytes), {},
                                  "A file that says how agents should behave");
  row.read = read;
  return row;
}

// Context keys that need one mode of isolation.
SettingKey<ContextSpec> context_keys_key(std::string_view name, std::vector<std::string> ContextSpec::* member,
                                         agent::IsolationMode mode, std::string_view help) {
  const auto read = [=](const Reader& reader, const SettingSource&, ContextSpec& spec) {
    for (const Reader& item : reader.items(limits::kSettingsItems)) {
      if (std::string key = read_line(item); !key.empty()) (spec.*member).push_back(std::move(key));
    }
    if (spec.mode == mode) return;
    const std::string_view word = word_of(kIsolationModes, mode);
    bad(reader, fmt::format("{} requires mode: {}", name, word), fmt::format("Add mode: {} or remove it", word),
        "unfitting_key");
  };
  return {.name = name,
          .help = help,
          .schema = list_schema(line_schema(), limits::kSettingsItems),
          .read = read,
          .write =
              [=](const ContextSpec& spec, Value& stored) {
                if (!(spec.*member).empty()) stored.set(name, Value::array(spec.*member));
              },
          .restore = [=](const Value& stored, ContextSpec& spec) { spec.*member = stored_texts(stored, name); }};
}

SettingKeys<ContextSpec> isolation_keys() {
  using Mode = agent::IsolationMode;
  return {choice_key<ContextSpec, Mode>("mode", &ContextSpec::mode, kIsolationModes, ""),
          boolean_key("tier0", &ContextSpec::tier0, ""),
          context_keys_key("inputs", &ContextSpec::inputs, Mode::kBlind, "Only with mode: blind"),
          context_keys_key("include", &ContextSpec::include, Mode::kCustom, "Only with mode: custom"),
          context_keys_key("exclude", &ContextSpec::exclude, Mode::kCustom, "Only with mode: custom")};
}

Row isolation_key() {
  return {.name = "isolation",
          .help = "Which part of the context the agents of a workflow get; docs/pipelines.md lists modes and keys",
          .schema = Value::object({{"type", "object"},
                                   {"propertyNames", Value::object({{"pattern", "^[a-z0-9._-]{1,128}$"}})},
                                   {"additionalProperties", object_schema(isolation_keys())}}),
          .read =
              [](const Reader& reader, const SettingSource& source, RunSettings& settings) {
                reader.fields();  // reports a fault if it is not an object
                if (!reader.value().is_object()) return;
                for (const Value::Member& member : reader.value().members()) {
                  const Reader each = reader.at(member.value);
                  if (!is_workflow_id(member.name)) {
                    bad(each, fmt::format("{} is not a valid workflow id", quote_json(member.name.substr(0, 64))),
                        "Name a workflow, such as wr.mr-review", "bad_name");
                    continue;
                  }
                  ContextSpec spec;
                  read_object(each, isolation_keys(), source, spec);
                  if (each.value().is_object()) settings.isolation[member.name] = std::move(spec);
                }
              },
          .write =
              [](const RunSettings& settings, Value& object) {
                Value isolation = Value::object();
                for (const auto& [workflow, spec] : settings.isolation) {
                  isolation.set(workflow, stored(isolation_keys(), spec));
                }
                object.set("isolation", std::move(isolation));
              },
          .restore =
              [](const Value& object, RunSettings& settings) {
                if (!object["isolation"].is_object()) return;
                for (const Value::Member& member : object["isolation"].members()) {
                  restore(isolation_keys(), member.value, settings.isolation[member.name]);
                }
              }};
}

Row phases_key() {
  Value properties = Value::object();
  for (const auto& [name, phase] : kPhases) {
    properties.set(name, text_schema(kWorkflowIdBytes, "^[a-z0-9._-]+$"));
  }
  return {.name = "phases",
          .help = "Workflows to use instead of the bundled ones",
          .schema = Value::object(
              {{"type", "object"}, {"additionalProperties", false}, {"properties", std::move(properties)}}),
          .read =
              [](const Reader& reader, const SettingSource&, RunSettings& settings) {
                Fields fields = reader.fields();
                for (const auto& [name, phase] : kPhases) {
                  const auto each = fields.get(name);
                  const auto id = each ? each->string() : std::nullopt;
                  if (!id) continue;
                  if (is_workflow_id(*id)) {
                    settings.phases[phase] = *id;
                  } else {
                    bad(*each, fmt::format("{} is not a valid workflow id", quote_json(id->substr(0, 64))),
                        "Name a workflow; signalbox workflow list shows them", "bad_name");
                  }
                }
                fields.finish();
              },
          .write =
              [](const RunSettings& settings, Value& object) {
                Value phases = Value::object();
                for (const auto& [phase, workflow] : settings.phases) phases.set(word_of(kPhases, phase), workflow);
                object.set("phases", std::move(phases));
              },
          .restore =
              [](const Value& object, RunSettings& settings) {
                for (const auto& [name, phase] : kPhases) settings.phases[phase] = stored_text(object["phases"], name);
              }};
}

SettingKey<Identity> identity_part_key(std::string_view name, std::string Identity::* member) {
  constexpr std::size_t kMostBytes = 256;
  const auto read = [](const Reader& reader, const SettingSource&) {
    std::string line = read_line(reader, kMostBytes);
    if (line.find_first_of("<>") != std::string::npos) bad(reader, "git does not allow < or > here", "Remove them");
    return line;
  };
  return text_key<Identity>(name, member, line_schema(kMostBytes), read, "");
}

}  // namespace

SettingKeys<RunSettings> make_run_keys(std::span<const agent::ModelProvider> providers,
                                       std::span<const ForgeKind> forges) {
  using R = RunSettings;
  SettingKeys<R> keys;
  for (const auto& key : agent::make_agent_keys(providers)) keys.push_back(key_of(&R::agents, key));
  const SettingKeys<R> own = {
      branch_key("base", &R::base, "", "not a valid branch name", "Write it like main",
                 "The branch that changes start from and are merged into. Default: main"),
      group_key<R>("branch",
                   {choice_key<R, std::string_view>("strategy", &R::strategy, kStrategies, ""),
                    branch_key("prefix", &R::prefix, "x", "not a valid branch prefix", "Write it like signalbox/",
                               "Prefix of the branches that runs create. Default: signalbox/")},
                   ""),
      forge_key(forges),
      commands_key("checks", &R::checks, "Commands that must succeed before a change is delivered"),
      commands_key("setup", &R::setup,
                   "Commands that prepare the checkout in which checks run, for example npm ci. They run once, without "
                   "the change; every check gets what they make"),
      choice_key<R, MergePolicy>("merge", &R::merge, kMerges, "Default: ask on hosted forges, auto on local"),
      choice_key<R, OnPartial>("on_partial", &R::on_partial, kOnPartial,
                               "What happens if a phase leaves notes but no valid hand-off"),
      inner_paths_key("protected", &R::protected_paths, Over::kAdds, "Files that a run must not change; globs"),
      inner_paths_key("tier0", &R::tier0, Over::kReplaces, "Files about the project that every agent gets; globs"),
      soul_key(),
      isolation_key(),
      phases_key(),
      integer_key("fix_rounds", &R::fix_rounds, 0, limits::kMostFixRounds,
                  "Fixes after a review with minor findings. Default: 2"),
      key_of(&R::identity,
             group_key<Identity>(
                 "identity", {identity_part_key("name", &Identity::name), identity_part_key("email", &Identity::email)},
                 "Author of the commits"))};
  keys.insert(keys.end(), own.begin(), own.end());
  return keys;
}

const SettingKeys<RunSettings>& run_keys() {
  static const SettingKeys<RunSettings> kKeys = make_run_keys();
  return kKeys;
}

Value settings_schema(const SettingKeys<RunSettings>& keys) {
  Value properties = Value::object();
  const auto publish = [&](const auto& rows) {
    for (const auto& key : rows) properties.set(key.name, described(key.schema, key.help));
  };
  publish(inbox::user_keys());
  publish(keys);
  return Value::object({{"$schema", "http://json-schema.org/draft-07/schema#"},
                        {"$id", "https://signalbox.invalid/schema/signalbox.schema.json"},
                        {"title", "Signalbox settings"},
                        {"description", "Keys of the user's config.yaml and of a workspace's signalbox.yaml"},
                        {"type", "object"},
                        {"additionalProperties", false},
                        {"properties", std::move(properties)}});
}

std::string known_keys_file(const SettingKeys<RunSettings>& keys) {
  std::string text =
      "# Generated from src/pipeline/settings/run_keys.cpp; tests/schema/settings_schema_test.cpp says how.\nkeys:\n";
  for (const auto& key : keys) text += fmt::format("  - {}\n", key.name);
  return text;
}

}  // namespace sb::pipeline
