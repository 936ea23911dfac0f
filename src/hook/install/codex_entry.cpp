#include "hook/install/codex_entry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "hook/install/toml_text.hpp"
#include "inbox/client_tokens.hpp"

namespace sb::hook {
namespace {

constexpr const char* kTomlServers = "mcp_servers";
constexpr const char* kTokenVariable = "bearer_token_env_var";

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
    lines.push_back({kCodexToolTimeout, std::to_string(entry.tool_timeout_s), entry.tool_timeout_s});
  }
  return lines;
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

// A member of a table in the entry: a variable of `env`, a header of `http_headers`.
struct InnerSetting {
  const char *outer, *name;
  enum { kLeave, kSet, kRemove } what = kLeave;
  std::string text = {};
};

std::vector<InnerSetting> inner_settings(const ServerEntry& entry, bool is_same_address) {
  InnerSetting variable{"env", inbox::kClientSecretVariable}, header{"http_headers", "Authorization"};
  if (entry.url.empty()) {
    header.what = InnerSetting::kRemove;
    if (!entry.secret.empty()) variable.what = InnerSetting::kSet, variable.text = entry.secret;
  } else {
    variable.what = InnerSetting::kRemove;
    if (!entry.secret.empty()) {
      header.what = InnerSetting::kSet, header.text = "Bearer " + entry.secret;
    } else if (!entry.token_env.empty() || !is_same_address) {
      header.what = InnerSetting::kRemove;
    }
  }
  return {variable, header};
}

std::string inline_table(const Value& table) {
  std::string out;
  for (const Value::Member& member : table.members()) {
    out += fmt::format("{}{} = {}", out.empty() ? "" : ", ", quote_toml(member.name),
                       quote_toml(member.value.as_string()));
  }
  return "{ " + out + " }";
}

Result<std::string> with_inline_member(const std::string& path, std::string text, const TomlItem& item,
                                       const InnerSetting& setting) {
  const auto is_text = [](const Value::Member& member) { return member.value.is_string(); };
  if (!item.value.is_object() || !std::ranges::all_of(item.value.members(), is_text)) {
    return fail(ErrorCode::kInvalid, fmt::format("{} is not a table of strings", setting.outer),
                "Fix it first; nothing was changed", {path, "", item.line, 1});
  }
  Value table = item.value;
  if (setting.what == InnerSetting::kSet) {
    table.set(setting.name, setting.text);
  } else {
    table.erase(setting.name);
  }
  if (table == item.value) return text;
  if (table.size() == 0) return text.erase(item.begin, item.end - item.begin);
  return text.replace(item.value_begin, item.value_end - item.value_begin, inline_table(table));
}

std::string with_line_after(std::string text, const TomlItem& item, const std::string& line, std::string_view newline) {
  const bool ends_line = text[item.end - 1] == '\n';
  return text.insert(item.end, (ends_line ? "" : std::string(newline)) + line + std::string(newline));
}

// In whatever form the table is written: inline, as a table of its own, or with dotted keys.
Result<std::string> with_inner(const std::string& path, std::string text, const std::string& name,
                               const InnerSetting& setting, std::string_view newline) {
  const std::vector<TomlItem> items = SB_TRY(scan_toml(path, text));
  const Key entry{kTomlServers, name}, outer{kTomlServers, name, setting.outer};
  const TomlItem *table = nullptr, *own_table = nullptr;
  bool is_dotted = false;
  for (const TomlItem& item : items) {
    const Key key = full_key(item);
    const bool is_pair = item.kind == TomlItem::Kind::kPair;
    // The last line of the entry's own table.
    if (item.kind == TomlItem::Kind::kTable ? key == entry : is_pair && item.table == entry) table = &item;
    if (item.kind == TomlItem::Kind::kTable && key == outer) own_table = &item;
    if (is_pair && key == outer) return with_inline_member(path, std::move(text), item, setting);
    if (!is_pair || !begins_with(key, outer)) continue;
    is_dotted = is_dotted || item.table == entry;
    if (key.size() != 4 || key.back() != setting.name) continue;
    if (setting.what == InnerSetting::kRemove) return text.erase(item.begin, item.end - item.begin);
    if (item.value == Value(setting.text)) return text;
    return text.replace(item.value_begin, item.value_end - item.value_begin, quote_toml(setting.text));
  }
  if (setting.what == InnerSetting::kRemove || table == nullptr) return text;
  const std::string written = fmt::format("{} = {}", setting.name, quote_toml(setting.text));
  if (own_table != nullptr) return with_line_after(std::move(text), *own_table, written, newline);
  if (is_dotted) return with_line_after(std::move(text), *table, fmt::format("{}.{}", setting.outer, written), newline);
  const Value inner = Value::object({{setting.name, setting.text}});
  return with_line_after(std::move(text), *table, fmt::format("{} = {}", setting.outer, inline_table(inner)), newline);
}

}  // namespace

Result<Value> codex_servers(const std::string& path, std::string_view text) {
  return servers_of(SB_TRY(scan_toml(path, text)));
}

std::string codex_table(const std::string& name, const ServerEntry& entry, std::string_view newline) {
  std::string out = fmt::format("[{}.{}]{}", kTomlServers, name, newline);
  for (const TomlLine& line : toml_lines(entry)) {
    if (!line.written.empty()) out += fmt::format("{} = {}{}", line.key, line.written, newline);
  }
  for (const InnerSetting& setting : inner_settings(entry, false)) {
    if (setting.what != InnerSetting::kSet) continue;
    out +=
        fmt::format("{} = {}{}", setting.outer, inline_table(Value::object({{setting.name, setting.text}})), newline);
  }
  return out;
}

Result<std::string> with_codex_entry(const std::string& path, std::string_view text, const std::string& name,
                                     const ServerEntry& entry) {
  const std::vector<TomlItem> items = SB_TRY(scan_toml(path, text));
  SB_TRY(check_editable(path, items, name));
  const std::string_view newline = text.find("\r\n") != std::string_view::npos ? "\r\n" : "\n";
  const auto header = std::ranges::find_if(items, [&](const TomlItem& item) {
    return item.kind == TomlItem::Kind::kTable && item.table == Key{kTomlServers, name};
  });
  std::string out(text);
  if (header != items.end()) {
    const Value before = servers_of(items)[name];
    out = with_lines(std::move(out), items, *header, entry, newline);
    const bool is_same_address = !entry.url.empty() && before.string_at("url") == entry.url;
    for (const InnerSetting& setting : inner_settings(entry, is_same_address)) {
      if (setting.what != InnerSetting::kLeave) out = SB_TRY(with_inner(path, std::move(out), name, setting, newline));
    }
    return out;
  }
  if (!out.empty() && !out.ends_with('\n')) out += newline;
  if (!out.empty()) out += newline;
  return out + codex_table(name, entry, newline);
}

// The entry's table and its subtables, each up to its last line; trailing comments belong to what follows.
Result<std::string> without_codex_entry(const std::string& path, std::string_view text, const std::string& name) {
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

}  // namespace sb::hook
