#include "hook/install/client_entry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "base/document/document.hpp"
#include "base/files.hpp"
#include "hook/install/json_text.hpp"
#include "hook/install/toml_text.hpp"

namespace sb::hook {
namespace {

constexpr std::string_view kServers = "mcpServers";  // of Claude Code
constexpr const char* kTomlServers = "mcp_servers";  // of Codex
constexpr std::string_view kProgram = "signalbox";
constexpr std::size_t kNameBytes = 64;
constexpr std::string_view kBearer = "Bearer ${";               // a variable, as Claude Code writes one in a header
constexpr const char* kTokenVariable = "bearer_token_env_var";  // of Codex
constexpr const char* kToolTimeout = "tool_timeout_sec";        // of Codex
constexpr int kLongTimeoutS = 24 * 3'600;
constexpr int kTimeoutMarginS = 15;  // between the end of a hold and the client's timeout

ServerEntry entry_of(const Value& value) {
  ServerEntry entry{value.string_at("command").value_or(""), {}, value.string_at("url").value_or("")};
  if (const Value* args = value.find("args"); args && args->is_array()) {
    for (const Value& arg : args->items()) entry.args.push_back(arg.is_string() ? arg.as_string() : "");
  }
  const Value& timeout = value[kToolTimeout];
  const bool has_timeout = timeout.is_integer() && timeout.as_integer() > 0 && timeout.as_integer() < 1'000'000'000;
  if (has_timeout) entry.tool_timeout_s = static_cast<int>(timeout.as_integer());
  if (entry.url.empty()) return entry;
  const std::string sent = value["headers"].string_at("Authorization").value_or("");
  const bool is_variable = sent.starts_with(kBearer) && sent.ends_with('}');
  entry.token_env = is_variable ? sent.substr(kBearer.size(), sent.size() - kBearer.size() - 1)
                                : value.string_at(kTokenVariable).value_or("");
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

// Other headers stay, and so does a literal token.
void set_token(Value& value, const std::string& token_env) {
  Value headers = value["headers"].is_object() ? value["headers"] : Value::object();
  const bool is_variable = headers.string_at("Authorization").value_or("").starts_with(kBearer);
  if (!token_env.empty()) {
    headers.set("Authorization", fmt::format("{}{}}}", kBearer, token_env));
  } else if (is_variable) {
    headers.erase("Authorization");
  }
  if (headers.size() > 0) {
    value.set("headers", headers);
  } else if (is_variable) {
    value.erase("headers");
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
  } else {
    value.erase("command");
    value.erase("args");
    value.set("type", "http");
    value.set("url", entry.url);
    set_token(value, entry.token_env);
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

// TOML (Codex).

using Key = std::vector<std::string>;

bool begins_with(const Key& key, const Key& start) {
  return key.size() >= start.size() && std::equal(start.begin(), start.end(), key.begin());
}

Key full_key(const TomlItem& item) {
  Key key = item.table;
  key.insert(key.end(), item.key.begin(), item.key.end());
  return key;
}

// All of mcp_servers as one value, in whatever form it is written.
Value servers_of(std::span<const TomlItem> items) {
  Value root = Value::object();
  for (const TomlItem& item : items) {
    const Key key = full_key(item);
    if (key.front() != kTomlServers) continue;
    Value* inner = &root;
    for (std::size_t i = 0; i < key.size() && inner->is_object(); ++i) {
      const bool is_value = i + 1 == key.size() && item.kind == TomlItem::Kind::kPair;
      if (is_value || !inner->find(key[i])) inner->set(key[i], is_value ? item.value : Value::object());
      inner = inner->find(key[i]);
    }
  }
  return root[kTomlServers];
}

// The entry can be edited or added as separate lines.
Status check_editable(const std::string& path, std::span<const TomlItem> items, const std::string& name) {
  for (const TomlItem& item : items) {
    const Key key = full_key(item);
    if (key.front() != kTomlServers) continue;
    const bool is_list = item.kind == TomlItem::Kind::kTableList && (key.size() == 1 || key[1] == name);
    const bool is_inline = item.kind == TomlItem::Kind::kPair && item.table.empty();
    const bool is_within = item.kind == TomlItem::Kind::kPair && item.table.size() == 1 && key[1] == name;
    if (!is_list && !is_inline && !is_within) continue;
    return fail(ErrorCode::kInvalid,
                fmt::format("{} is not written as a table [{}.{}], so it cannot be changed safely",
                            is_within ? fmt::format("{}.{}", kTomlServers, name) : kTomlServers, kTomlServers, name),
                "Rewrite it as a table first, or add the output of --print by hand; nothing was changed",
                {path, "", item.line, 1});
  }
  return {};
}

std::string toml_list(const std::vector<std::string>& texts) {
  std::string out;
  for (const std::string& text : texts) out += (out.empty() ? "" : ", ") + quote_toml(text);
  return "[" + out + "]";
}

struct TomlLine {
  const char* key;
  std::string written;  // its value; empty when it must be absent
  Value value;
};

std::vector<TomlLine> toml_lines(const ServerEntry& entry) {
  const bool connects = !entry.url.empty();
  std::vector<TomlLine> lines = {
      {"command", connects ? "" : quote_toml(entry.command), entry.command},
      {"args", connects ? "" : toml_list(entry.args), Value::array(entry.args)},
      {"url", connects ? quote_toml(entry.url) : "", entry.url},
      {kTokenVariable, entry.token_env.empty() ? "" : quote_toml(entry.token_env), entry.token_env}};
  // Never removed: it may be the user's own.
  if (entry.tool_timeout_s != 0) {
    lines.push_back({kToolTimeout, std::to_string(entry.tool_timeout_s), entry.tool_timeout_s});
  }
  return lines;
}

std::string toml_table(const std::string& name, const ServerEntry& entry, std::string_view newline) {
  std::string out = fmt::format("[{}.{}]{}", kTomlServers, name, newline);
  for (const TomlLine& line : toml_lines(entry)) {
    if (!line.written.empty()) out += fmt::format("{} = {}{}", line.key, line.written, newline);
  }
  return out;
}

// Edits the lines of an existing table from last to first, so that offsets stay valid.
std::string with_lines(std::string text, std::span<const TomlItem> items, const TomlItem& header,
                       const ServerEntry& entry, std::string_view newline) {
  std::string missing;
  std::vector<TomlLine> lines = toml_lines(entry);
  std::vector<std::pair<const TomlItem*, const TomlLine*>> changes;
  for (const TomlLine& line : lines) {
    const auto there = std::ranges::find_if(items, [&](const TomlItem& item) {
      return item.kind == TomlItem::Kind::kPair && item.table == header.table && item.key == Key{line.key};
    });
    if (there != items.end()) {
      changes.emplace_back(&*there, &line);
    } else if (!line.written.empty()) {
      missing += fmt::format("{} = {}{}", line.key, line.written, newline);
    }
  }
  std::ranges::sort(changes, [](const auto& a, const auto& b) { return a.first->begin > b.first->begin; });
  for (const auto& [item, line] : changes) {
    if (line->written.empty()) {
      text.erase(item->begin, item->end - item->begin);
    } else if (item->value != line->value) {
      text.replace(item->value_begin, item->value_end - item->value_begin, line->written);
    }
  }
  if (missing.empty()) return text;
  const bool ends_line = text[header.end - 1] == '\n';
  return text.insert(header.end, (ends_line ? "" : std::string(newline)) + missing);
}

Result<std::string> with_toml(const std::string& path, std::string_view text, const std::string& name,
                              const ServerEntry& entry) {
  const std::vector<TomlItem> items = SB_TRY(scan_toml(path, text));
  SB_TRY(check_editable(path, items, name));
  const std::string_view newline = text.find("\r\n") != std::string_view::npos ? "\r\n" : "\n";
  const auto header = std::ranges::find_if(items, [&](const TomlItem& item) {
    return item.kind == TomlItem::Kind::kTable && item.table == Key{kTomlServers, name};
  });
  std::string out(text);
  if (header != items.end()) return with_lines(std::move(out), items, *header, entry, newline);
  if (!out.empty() && !out.ends_with('\n')) out += newline;
  if (!out.empty()) out += newline;
  return out + toml_table(name, entry, newline);
}

// The entry's table and its subtables, each up to its last line; trailing comments belong to what follows.
Result<std::string> without_toml(const std::string& path, std::string_view text, const std::string& name) {
  const std::vector<TomlItem> items = SB_TRY(scan_toml(path, text));
  SB_TRY(check_editable(path, items, name));
  std::string out(text);
  for (std::size_t i = items.size(); i-- > 0;) {
    if (items[i].kind == TomlItem::Kind::kPair || !begins_with(items[i].table, {kTomlServers, name})) continue;
    std::size_t last = i;
    while (last + 1 < items.size() && items[last + 1].kind == TomlItem::Kind::kPair) ++last;
    std::size_t begin = items[i].begin;
    for (const std::string_view blank : {"\r\n\r\n", "\n\n"}) {
      if (std::string_view(out).substr(0, begin).ends_with(blank)) {
        begin -= blank.size() / 2;  // the blank line that separates it from what comes before
        break;
      }
    }
    std::size_t end = items[last].end;
    if (begin == 0 && std::string_view(out).substr(end).starts_with('\n')) ++end;
    out.erase(begin, end - begin);
  }
  return out;
}

}  // namespace

namespace {

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
  const Value servers = client == Client::kClaudeCode ? SB_TRY(read_json(path, text)).root[kServers]
                                                      : servers_of(SB_TRY(scan_toml(path, text)));
  std::vector<NamedEntry> entries;
  if (!servers.is_object()) return entries;
  for (const Value::Member& member : servers.members()) entries.push_back({member.name, entry_of(member.value)});
  return entries;
}

Result<std::string> with_entry(Client client, const std::string& path, std::string_view text, const std::string& name,
                               const ServerEntry& wanted) {
  const ServerEntry entry = fitted(SB_TRY(read_entries(client, path, text)), name, wanted);
  std::string out =
      SB_TRY(client == Client::kClaudeCode ? with_json(path, text, name, entry) : with_toml(path, text, name, entry));
  // The client must read what was intended, and all other entries as before.
  const auto before = SB_TRY(read_entries(client, path, text));
  const auto after = read_entries(client, path, out);
  const auto is_kept = [&](const NamedEntry& each) {
    const auto there = std::ranges::find(*after, each.name, &NamedEntry::name);
    return there != after->end() && there->entry == (each.name == name ? entry : each.entry);
  };
  if (after && is_kept({name, entry}) && std::ranges::all_of(before, is_kept)) return out;
  return fail(ErrorCode::kInternal, "this configuration cannot be edited safely",
              "Add the output of --print by hand; nothing was changed", {path, "", 0, 0});
}

Result<std::string> without_entry(Client client, const std::string& path, std::string_view text,
                                  const std::string& name, bool remove_empty_container) {
  if (client == Client::kCodex) return without_toml(path, text, name);
  SB_TRY(read_json(path, text));
  return text.empty() ? std::string() : without_member(text, kServers, name, remove_empty_container);
}

Result<bool> has_container(Client client, const std::string& path, std::string_view text) {
  if (client == Client::kCodex) return true;  // tables need none
  return SB_TRY(read_json(path, text)).root.find(kServers) != nullptr;
}

std::string format_entry(Client client, const std::string& name, const ServerEntry& entry) {
  if (client == Client::kCodex) return toml_table(name, entry, "\n");
  return with_member("{}\n", kServers, name, merged(Value(), entry));
}

}  // namespace sb::hook
