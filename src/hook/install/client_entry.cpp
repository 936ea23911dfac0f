#include "hook/install/client_entry.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/document/document.hpp"
#include "base/files.hpp"
#include "hook/install/codex_entry.hpp"
#include "hook/install/json_text.hpp"
#include "inbox/client_tokens.hpp"

namespace sb::hook {
namespace {

constexpr std::string_view kServers = "mcpServers";  // of Claude Code
constexpr std::string_view kProgram = "signalbox";
constexpr std::size_t kNameBytes = 64;
constexpr std::string_view kBearer = "Bearer ";
constexpr std::string_view kVariable = "${";  // as Claude Code writes one
constexpr const char* kAuthorization = "Authorization";
constexpr int kLongTimeoutS = 24 * 3'600;
constexpr int kTimeoutMarginS = 15;  // between the end of a hold and the client's timeout

ServerEntry entry_of(const Value& value) {
  ServerEntry entry{value.string_at("command").value_or(""), {}, value.string_at("url").value_or("")};
  if (const Value* args = value.find("args"); args && args->is_array()) {
    for (const Value& arg : args->items()) entry.args.push_back(arg.is_string() ? arg.as_string() : "");
  }
  const Value& timeout = value[kCodexToolTimeout];
  const bool has_timeout = timeout.is_integer() && timeout.as_integer() > 0 && timeout.as_integer() < 1'000'000'000;
  if (has_timeout) entry.tool_timeout_s = static_cast<int>(timeout.as_integer());
  if (entry.url.empty()) {
    entry.secret = value["env"].string_at(inbox::kClientSecretVariable).value_or("");
    return entry;
  }
  std::string sent = value["headers"].string_at(kAuthorization).value_or("");
  if (sent.empty()) sent = value["http_headers"].string_at(kAuthorization).value_or("");
  entry.token_env = value.string_at("bearer_token_env_var").value_or("");
  if (!sent.starts_with(kBearer)) return entry;
  sent.erase(0, kBearer.size());
  if (sent.starts_with(kVariable) && sent.ends_with('}')) {
    entry.token_env = sent.substr(kVariable.size(), sent.size() - kVariable.size() - 1);
  } else {
    entry.secret = std::move(sent);
  }
  return entry;
}

// JSON (Claude Code).

Result<Document> read_json(const std::string& path, std::string_view text) {
  auto document = parse_document(path, text.empty() ? "{}" : std::string(text), Syntax::kJson);
  if (!document) {
    Error error = document.error();
    error.message = "the configuration cannot be read: " + error.message;
    error.remedy = "Fix the file first; nothing was changed";
    return std::unexpected(std::move(error));
  }
  const Value* servers = document->root.find(kServers);
  const bool is_wrong_root = !document->root.is_object();
  if (is_wrong_root || (servers && !servers->is_object())) {
    const Value& found = is_wrong_root ? document->root : *servers;
    return fail(ErrorCode::kInvalid, fmt::format("is {}, but must be an object", kind_name(found.kind())),
                "Fix it first; nothing was changed", document->location_of(is_wrong_root ? "" : "/mcpServers"));
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

// Other headers stay, and so does a literal token, unless it was for another address.
void set_token(Value& value, const ServerEntry& entry, bool is_same_address) {
  const std::string sent = value["headers"].string_at(kAuthorization).value_or("");
  const bool is_literal = !sent.empty() && !sent.starts_with(std::string(kBearer) + std::string(kVariable));
  if (!entry.token_env.empty()) {
    set_inner(value, "headers", kAuthorization, fmt::format("{}{}{}}}", kBearer, kVariable, entry.token_env));
  } else if (!entry.secret.empty()) {
    set_inner(value, "headers", kAuthorization, fmt::format("{}{}", kBearer, entry.secret));
  } else if (!is_literal || !is_same_address) {
    set_inner(value, "headers", kAuthorization, "");
  }
}

// The existing entry with the wanted members; unknown members stay.
Value merged(Value value, const ServerEntry& entry) {
  if (!value.is_object()) value = Value::object();
  if (entry.url.empty()) {
    if (value.string_at("type").value_or("stdio") != "stdio") value.erase("type");
    value.erase("url");
    value.erase("headers");
    value.set("command", entry.command);
    value.set("args", Value::array(entry.args));
    if (!entry.secret.empty()) set_inner(value, "env", inbox::kClientSecretVariable, entry.secret);
  } else {
    const bool is_same_address = value.string_at("url") == entry.url;
    value.erase("command");
    value.erase("args");
    set_inner(value, "env", inbox::kClientSecretVariable, "");
    value.set("type", "http");
    value.set("url", entry.url);
    set_token(value, entry, is_same_address);
  }
  return value;
}

Result<std::string> with_json(const std::string& path, std::string_view text, const std::string& name,
                              const ServerEntry& entry) {
  const Document document = SB_TRY(read_json(path, text));
  const Value& there = document.root[kServers][name];
  const Value wanted = merged(there, entry);
  if (wanted == there) return std::string(text);
  return text.empty() ? with_member("{}\n", kServers, name, wanted) : with_member(text, kServers, name, wanted);
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

std::string_view display_name(Client client) {
  return client == Client::kClaudeCode ? "Claude Code" : "Codex";
}

ServerEntry program_entry(Client client, const std::string& program) {
  if (client != Client::kCodex) return {program, {"mcp"}, ""};
  return {.command = program, .args = {"mcp", "--hold", "24h"}, .url = "", .tool_timeout_s = kLongTimeoutS};
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
  const Value servers =
      client == Client::kClaudeCode ? SB_TRY(read_json(path, text)).root[kServers] : SB_TRY(codex_servers(path, text));
  std::vector<NamedEntry> entries;
  if (!servers.is_object()) return entries;
  for (const Value::Member& member : servers.members()) entries.push_back({member.name, entry_of(member.value)});
  return entries;
}

Result<std::string> with_entry(Client client, const std::string& path, std::string_view text, const std::string& name,
                               const ServerEntry& wanted) {
  const ServerEntry entry = fitted(SB_TRY(read_entries(client, path, text)), name, wanted);
  std::string out = SB_TRY(client == Client::kClaudeCode ? with_json(path, text, name, entry)
                                                         : with_codex_entry(path, text, name, entry));
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
  if (client == Client::kCodex) return without_codex_entry(path, text, name);
  SB_TRY(read_json(path, text));
  return text.empty() ? std::string() : without_member(text, kServers, name, remove_empty_container);
}

Result<bool> has_container(Client client, const std::string& path, std::string_view text) {
  if (client == Client::kCodex) return true;  // tables need none
  return SB_TRY(read_json(path, text)).root.find(kServers) != nullptr;
}

std::string format_entry(Client client, const std::string& name, const ServerEntry& entry) {
  if (client == Client::kCodex) return codex_table(name, entry, "\n");
  return with_member("{}\n", kServers, name, merged(Value(), entry));
}

}  // namespace sb::hook
