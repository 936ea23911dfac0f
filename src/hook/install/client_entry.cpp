#include "hook/install/client_entry.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/document/document.hpp"
#include "base/files.hpp"
#include "hook/install/codex_entry.hpp"
#include "hook/install/json_text.hpp"
#include "hook/install/yaml_list.hpp"
#include "inbox/client_tokens.hpp"

namespace sb::hook {
namespace {

constexpr std::string_view kProgram = "signalbox";
constexpr std::size_t kNameBytes = 64;
constexpr std::string_view kBearer = "Bearer ";
constexpr std::string_view kHeaders = "headers";
constexpr const char* kAuthorization = "Authorization";
constexpr int kLongTimeoutS = 24 * 3'600;
constexpr int kTimeoutMarginS = 15;  // between the end of a hold and the client's timeout

const EntryShape& shape_of(Client client) {
  return *row_of(client).shape;
}

const Value& headers_of(const EntryShape& shape, const Value& how) {
  return (shape.headers_in.empty() ? how : how[shape.headers_in])[kHeaders];
}

ServerEntry entry_of(const EntryShape& shape, const Value& value) {
  const Value& how = shape.connection.empty() ? value : value[shape.connection];
  ServerEntry entry{how.string_at("command").value_or(""), {}, how.string_at("url").value_or("")};
  if (entry.url.empty()) entry.url = how.string_at(shape.url).value_or("");
  if (const Value& args = how[shape.is_one_command ? "command" : "args"]; args.is_array()) {
    for (const Value& arg : args.items()) entry.args.push_back(arg.is_string() ? arg.as_string() : "");
    if (shape.is_one_command && !entry.args.empty()) {
      entry.command = entry.args.front();
      entry.args.erase(entry.args.begin());
    }
  }
  const Value& timeout = how[kCodexToolTimeout];
  const bool has_timeout = timeout.is_integer() && timeout.as_integer() > 0 && timeout.as_integer() < 1'000'000'000;
  if (has_timeout) entry.tool_timeout_s = static_cast<int>(timeout.as_integer());
  if (entry.url.empty()) {
    entry.secret = how[shape.environment].string_at(inbox::kClientSecretVariable).value_or("");
    return entry;
  }
  std::string sent = headers_of(shape, how).string_at(kAuthorization).value_or("");
  if (sent.empty()) sent = how["http_headers"].string_at(kAuthorization).value_or("");
  entry.token_env = how.string_at("bearer_token_env_var").value_or("");
  if (!sent.starts_with(kBearer)) return entry;
  sent.erase(0, kBearer.size());
  if (!shape.variable_begin.empty() && sent.starts_with(shape.variable_begin) && sent.ends_with('}')) {
    entry.token_env = sent.substr(shape.variable_begin.size(), sent.size() - shape.variable_begin.size() - 1);
  } else {
    entry.secret = std::move(sent);
  }
  return entry;
}

Result<Document> read_json(const EntryShape& shape, const std::string& path, std::string_view text) {
  std::string plain = text.empty() ? "{}" : shape.has_comments ? without_json_comments(text) : std::string(text);
  auto document = parse_document(path, std::move(plain), Syntax::kJson);
  if (!document) {
    Error error = document.error();
    error.message = "the configuration cannot be read: " + error.message;
    error.remedy = "Fix the file first; nothing was changed";
    return std::unexpected(std::move(error));
  }
  const Value* servers = document->root.find(shape.container);
  const bool is_wrong_root = !document->root.is_object();
  if (is_wrong_root || (servers && !servers->is_object())) {
    const Value& found = is_wrong_root ? document->root : *servers;
    return fail(ErrorCode::kInvalid, fmt::format("is {}, but must be an object", kind_name(found.kind())),
                "Fix it first; nothing was changed",
                document->location_of(is_wrong_root ? "" : fmt::format("/{}", shape.container)));
  }
  return document;
}

// Sets or removes (no text) a member of an object in the entry; an object that becomes empty is removed.
void set_inner(Value& value, std::string_view outer, std::string_view name, const std::string& text) {
  Value inner = value[outer].is_object() ? value[outer] : Value::object();
  if (text.empty() && inner.find(name) == nullptr) return;
  if (text.empty()) {
    inner.erase(name);
  } else {
    inner.set(name, text);
  }
  if (inner.size() > 0) {
    value.set(outer, inner);
  } else {
    value.erase(outer);
  }
}

// Sets or removes (no text) the header.
void set_authorization(const EntryShape& shape, Value& how, const std::string& text) {
  if (shape.headers_in.empty()) return set_inner(how, kHeaders, kAuthorization, text);
  Value holder = how[shape.headers_in];
  if (!holder.is_object()) holder = Value::object();
  set_inner(holder, kHeaders, kAuthorization, text);
  if (holder.size() > 0) {
    how.set(shape.headers_in, std::move(holder));
  } else {
    how.erase(shape.headers_in);
  }
}

// Other headers stay, and so does a literal token, unless it was for another address.
void set_token(const EntryShape& shape, Value& how, const ServerEntry& entry, bool is_same_address) {
  const std::string sent = headers_of(shape, how).string_at(kAuthorization).value_or("");
  const bool is_variable =
      !shape.variable_begin.empty() && sent.starts_with(fmt::format("{}{}", kBearer, shape.variable_begin));
  const bool is_literal = !sent.empty() && !is_variable;
  if (!entry.token_env.empty()) {
    set_authorization(shape, how, fmt::format("{}{}{}}}", kBearer, shape.variable_begin, entry.token_env));
  } else if (!entry.secret.empty()) {
    set_authorization(shape, how, fmt::format("{}{}", kBearer, entry.secret));
  } else if (!is_literal || !is_same_address) {
    set_authorization(shape, how, "");
  }
}

void set_program(const EntryShape& shape, Value& how, const ServerEntry& entry) {
  if (!shape.program_type.empty()) {
    how.set("type", shape.program_type);
  } else if (how.string_at("type").value_or("stdio") != "stdio") {
    how.erase("type");
  }
  how.erase("url");
  how.erase(shape.url);
  set_authorization(shape, how, "");
  if (shape.headers_in.empty()) how.erase(kHeaders);
  std::vector<std::string> words = entry.args;
  if (shape.is_one_command) words.insert(words.begin(), entry.command);
  if (!shape.is_one_command) how.set("command", entry.command);
  how.set(shape.is_one_command ? "command" : "args", Value::array(std::move(words)));
  if (!entry.secret.empty()) set_inner(how, shape.environment, inbox::kClientSecretVariable, entry.secret);
}

void set_address(const EntryShape& shape, Value& how, const ServerEntry& entry) {
  const bool is_same_address = how.string_at(shape.url) == entry.url;
  how.erase("command");
  how.erase("args");
  set_inner(how, shape.environment, inbox::kClientSecretVariable, "");
  if (!shape.url_type.empty()) how.set("type", shape.url_type);
  how.set(shape.url, entry.url);
  set_token(shape, how, entry, is_same_address);
}

// The existing entry with the wanted members; unknown members stay.
Value merged(const EntryShape& shape, Value value, const ServerEntry& entry) {
  const Value defaults = parse_json(shape.defaults).value_or(Value::object());
  if (!value.is_object()) value = defaults;
  Value how = shape.connection.empty() ? value : value[shape.connection];
  if (!how.is_object()) how = Value::object();
  if (entry.url.empty()) {
    set_program(shape, how, entry);
  } else {
    set_address(shape, how, entry);
  }
  if (shape.connection.empty()) {
    value = std::move(how);
  } else {
    value.set(shape.connection, std::move(how));
  }
  for (const Value::Member& member : defaults.members()) {
    if (value.find(member.name) == nullptr) value.set(member.name, member.value);
  }
  return value;
}

Result<std::string> with_json(const EntryShape& shape, const std::string& path, std::string_view text,
                              const std::string& name, const ServerEntry& entry) {
  const Value before = SB_TRY(read_json(shape, path, text)).root;
  Value servers = before[shape.container].is_object() ? before[shape.container] : Value::object();
  servers.set(name, merged(shape, servers[name], entry));
  Value after = before;
  after.set(shape.container, std::move(servers));
  if (after == before) return std::string(text);
  return with_json_changes(std::string(text.empty() ? shape.new_file : text), before, after);
}

Result<std::string> without_json(const EntryShape& shape, const std::string& path, std::string_view text,
                                 const std::string& name, bool remove_empty_container) {
  const Value before = SB_TRY(read_json(shape, path, text)).root;
  if (before[shape.container].find(name) == nullptr) return std::string(text);
  Value after = before;
  after.find(shape.container)->erase(name);
  if (remove_empty_container && after[shape.container].size() == 0) after.erase(shape.container);
  return with_json_changes(std::string(text), before, after);
}

std::string json_entry(const EntryShape& shape, const std::string& name, const Value& value) {
  const Value servers = Value::object({{name, value}});
  return with_json_changes("{}\n", Value::object(), Value::object({{std::string(shape.container), servers}}));
}

Value with_name(const std::string& name, const Value& entry) {
  Value item = Value::object({{"name", name}});
  for (const Value::Member& member : entry.members()) item.set(member.name, member.value);
  return item;
}

// Each entry as a member, by its name; of equal names the first counts.
Result<Value> yaml_servers(const EntryShape& shape, const std::string& path, std::string_view text) {
  Value servers = Value::object();
  if (text.empty()) return servers;
  const Document document = SB_TRY(read_yaml_list(path, text, shape.container));
  const Value& items = document.root[shape.container];
  if (!items.is_array()) return servers;
  for (const Value& item : items.items()) {
    const std::string name = item.string_at("name").value_or("");
    if (servers.find(name) == nullptr) servers.set(name, item);
  }
  return servers;
}

Result<std::string> with_yaml(const EntryShape& shape, const std::string& path, std::string_view text,
                              const std::string& name, const ServerEntry& entry) {
  const Value there = SB_TRY(yaml_servers(shape, path, text))[name];
  const Value wanted = with_name(name, merged(shape, there, entry));
  if (wanted == there) return std::string(text);
  return with_yaml_item(path, text.empty() ? shape.new_file : text, shape.container, wanted);
}

Result<Value> servers_in(Client client, const std::string& path, std::string_view text) {
  const EntryShape& shape = shape_of(client);
  switch (shape.file) {
    case EntryShape::File::kJson:
      return SB_TRY(read_json(shape, path, text)).root[shape.container];
    case EntryShape::File::kToml:
      return codex_servers(path, text);
    case EntryShape::File::kYamlList:
      break;
  }
  return yaml_servers(shape, path, text);
}

Result<std::string> edited(Client client, const std::string& path, std::string_view text, const std::string& name,
                           const ServerEntry& entry) {
  const EntryShape& shape = shape_of(client);
  switch (shape.file) {
    case EntryShape::File::kJson:
      return with_json(shape, path, text, name, entry);
    case EntryShape::File::kToml:
      return with_codex_entry(path, text, name, entry);
    case EntryShape::File::kYamlList:
      break;
  }
  return with_yaml(shape, path, text, name, entry);
}

// With the timeout that the entry has already; the hold ends before it.
ServerEntry fitted(const std::vector<NamedEntry>& entries, const std::string& name, ServerEntry wanted) {
  const auto there = std::ranges::find(entries, name, &NamedEntry::name);
  if (there == entries.end() || there->entry.tool_timeout_s == 0) return wanted;
  const int own = there->entry.tool_timeout_s;
  const bool is_shorter = wanted.tool_timeout_s > own;
  wanted.tool_timeout_s = own;
  if (is_shorter) wanted.args = {"mcp"};
  if (is_shorter && own > 4 * kTimeoutMarginS)
    wanted.args = {"mcp", "--hold", fmt::format("{}s", own - kTimeoutMarginS)};
  return wanted;
}

}  // namespace

ServerEntry program_entry(Client client, const std::string& program) {
  if (client != Client::kCodex) return {program, {"mcp"}, ""};
  return {.command = program, .args = {"mcp", "--hold", "24h"}, .url = "", .tool_timeout_s = kLongTimeoutS};
}

Status check_entry(Client client, const ServerEntry& entry) {
  if (entry.token_env.empty() || client == Client::kCodex || !shape_of(client).variable_begin.empty()) return {};
  return fail(ErrorCode::kInvalid,
              fmt::format("how {} reads a token from a variable is not known", row_of(client).name),
              "Omit --token-env, and add the header Authorization by hand; nothing was changed");
}

bool is_signalbox_entry(const ServerEntry& entry) {
  if (entry.url.empty()) {
    return base_name(entry.command) == kProgram && !entry.args.empty() && entry.args.front() == "mcp";
  }
  for (const std::string_view host : {"http://127.0.0.1", "http://localhost", "http://[::1]"}) {
    if (!entry.url.starts_with(host)) continue;
    std::string_view rest = std::string_view(entry.url).substr(host.size());
    if (rest.starts_with(':')) rest.remove_prefix(std::min(rest.size(), rest.find_first_not_of("0123456789", 1)));
    if (rest == "/mcp") return true;
  }
  return false;
}

bool is_server_name(std::string_view name) {
  return !name.empty() && name.size() <= kNameBytes && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
  });
}

Result<std::vector<NamedEntry>> read_entries(Client client, const std::string& path, std::string_view text) {
  const Value servers = SB_TRY(servers_in(client, path, text));
  std::vector<NamedEntry> entries;
  if (!servers.is_object()) return entries;
  for (const Value::Member& member : servers.members()) {
    entries.push_back({member.name, entry_of(shape_of(client), member.value)});
  }
  return entries;
}

Result<std::string> with_entry(Client client, const std::string& path, std::string_view text, const std::string& name,
                               const ServerEntry& wanted) {
  SB_TRY(check_entry(client, wanted));
  const ServerEntry entry = fitted(SB_TRY(read_entries(client, path, text)), name, wanted);
  std::string out = SB_TRY(edited(client, path, text, name, entry));
  // The client must read what was intended, and all other entries as before.
  const auto before = SB_TRY(read_entries(client, path, text));
  const auto after = read_entries(client, path, out);
  const auto is_kept = [&](const NamedEntry& each) {
    const auto there = std::ranges::find(*after, each.name, &NamedEntry::name);
    if (there == after->end()) return false;
    ServerEntry expected = each.name == name ? entry : each.entry;
    // Without one of ours, a token that the user wrote may stay.
    if (each.name == name && entry.secret.empty()) expected.secret = there->entry.secret;
    return there->entry == expected;
  };
  if (after && is_kept({name, entry}) && std::ranges::all_of(before, is_kept)) return out;
  return fail(ErrorCode::kInternal, "this configuration cannot be edited safely",
              "Add the output of --print by hand; nothing was changed", {path, "", 0, 0});
}

Result<std::string> without_entry(Client client, const std::string& path, std::string_view text,
                                  const std::string& name, bool remove_empty_container) {
  const EntryShape& shape = shape_of(client);
  if (text.empty()) return std::string();
  switch (shape.file) {
    case EntryShape::File::kJson:
      return without_json(shape, path, text, name, remove_empty_container);
    case EntryShape::File::kToml:
      return without_codex_entry(path, text, name);
    case EntryShape::File::kYamlList:
      break;
  }
  return without_yaml_item(path, text, shape.container, name, remove_empty_container);
}

Result<bool> has_container(Client client, const std::string& path, std::string_view text) {
  const EntryShape& shape = shape_of(client);
  switch (shape.file) {
    case EntryShape::File::kJson:
      return SB_TRY(read_json(shape, path, text)).root.find(shape.container) != nullptr;
    case EntryShape::File::kToml:
      return true;  // tables need none
    case EntryShape::File::kYamlList:
      break;
  }
  return !text.empty() && SB_TRY(read_yaml_list(path, text, shape.container)).root.find(shape.container) != nullptr;
}

std::string format_entry(Client client, const std::string& name, const ServerEntry& entry) {
  const EntryShape& shape = shape_of(client);
  if (shape.file == EntryShape::File::kToml) return codex_table(name, entry, "\n");
  const Value value = merged(shape, Value(), entry);
  if (shape.file == EntryShape::File::kYamlList) {
    return fmt::format("{}:\n{}", shape.container, yaml_item(with_name(name, value), "  ", "\n"));
  }
  return json_entry(shape, name, value);
}

std::string format_common_entry(const std::string& name, const ServerEntry& entry) {
  EntryShape shape = shape_of(Client::kClaudeCode);
  shape.defaults = EntryShape().defaults;
  return json_entry(shape, name, merged(shape, Value(), entry));
}

}  // namespace sb::hook
