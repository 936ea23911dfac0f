// The Read, Write and Edit tools.
#include <fmt/format.h>

#include <algorithm>

#include "agent/limits.hpp"
#include "agent/tools/edit_text.hpp"
#include "agent/tools/guarded_files.hpp"
#include "agent/tools/plain_text.hpp"
#include "agent/tools/work_tool_parts.hpp"
#include "base/crypto.hpp"
#include "base/text/unicode.hpp"

namespace sb::agent {
namespace {

Value seen_facts(const std::string& path, const std::string& hash) {
  return Value::object({{"path", path}, {"hash", hash}});
}

Value record(const WorkToolParts& parts, const std::string& path, std::string_view bytes) {
  const std::string hash = sha256_hex(bytes);
  if (parts.place.seen) parts.place.seen->record(path, hash);
  return seen_facts(path, hash);
}

bool is_binary(std::string_view bytes) {
  return bytes.find('\0') != std::string_view::npos;
}

std::string numbered(std::string_view lines, std::size_t first) {
  std::string text;
  for (std::size_t number = first; !lines.empty(); ++number) {
    const std::size_t end = std::min(lines.find('\n'), lines.size());
    std::string_view line = lines.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    text += fmt::format("{:>6}\t{}\n", number, line);
    lines.remove_prefix(std::min(end + 1, lines.size()));
  }
  return text;
}

// At most `count` lines, starting with line `first`.
std::string_view lines_of(std::string_view bytes, std::size_t first, std::size_t count) {
  for (std::size_t i = 1; i < first && !bytes.empty(); ++i) {
    bytes.remove_prefix(std::min(bytes.find('\n'), bytes.size() - 1) + 1);
  }
  std::size_t end = 0;
  for (std::size_t i = 0; i < count && end < bytes.size(); ++i) {
    end = std::min(bytes.find('\n', end), bytes.size() - 1) + 1;
  }
  return bytes.substr(0, end);
}

std::size_t count_lines(std::string_view bytes) {
  const auto breaks = static_cast<std::size_t>(std::ranges::count(bytes, '\n'));
  return breaks + (bytes.empty() || bytes.ends_with('\n') ? 0 : 1);
}

class Read final : public Tool {
 public:
  explicit Read(SharedParts parts) : parts_(std::move(parts)) {}
  const ToolDeclaration& declaration() const override { return declaration_; }
  bool only_reads(const ToolCall&) const override { return true; }
  std::string what(const ToolCall& call) const override { return parts_->text(text_of(call, "file_path")); }

  ToolResult run(const ToolCall& call, const ToolRun&) override {
    const auto at = parts_->fence.for_reading(text_of(call, "file_path"));
    if (!at) return from_error(at.error());
    const auto file = read_guarded(*at, limits::kReadableBytes);
    if (!file) return from_error(file.error());
    const std::string name = parts_->relative(at->path());
    if (is_binary(file->bytes)) {
      return tool_error(fmt::format("{} is a binary file of {} bytes and is not shown.", name, file->bytes.size()));
    }
    const std::size_t lines = count_lines(file->bytes);
    const bool is_part = call.input.find("offset") || call.input.find("limit");
    if (!is_part && file->bytes.size() > limits::kReadBytes) {
      return tool_error(
          fmt::format("{} has {} bytes in {} lines, more than the limit of {}. Read parts of it "
                      "with offset and limit, or search it with Grep.",
                      name, file->bytes.size(), lines, limits::kReadBytes));
    }
    const auto first = static_cast<std::size_t>(number_of(call, "offset", 1));
    const auto count = static_cast<std::size_t>(number_of(call, "limit", std::int64_t{1} << 40));
    // Redact the whole file before cutting: a part of a key does not match the key's pattern.
    const std::string cleaned = parts_->text(file->bytes);
    std::string_view part = lines_of(cleaned, first, count);
    const bool is_cut = part.size() > limits::kReadBytes;
    if (is_cut) part = utf8_prefix(part, limits::kReadBytes);
    std::string text = numbered(part, first);
    if (file->bytes.empty()) text = "(The file is empty.)\n";
    if (!file->bytes.empty() && part.empty()) text = fmt::format("(The file has only {} lines.)\n", lines);
    if (is_cut) text += fmt::format("[cut at {} bytes; ask for fewer lines]\n", limits::kReadBytes);
    if (!is_utf8(file->bytes)) text += "[not UTF-8: invalid bytes are shown as \xEF\xBF\xBD]\n";
    return tool_success(std::move(text), record(*parts_, at->path(), file->bytes));
  }

 private:
  SharedParts parts_;
  ToolDeclaration declaration_ = {
      .name = "Read",
      .description =
          "Shows a text file of the work tree with line numbers. Read files over 256 KiB in parts: offset "
          "is the first line (from 1), limit the number of lines.",
      .input_schema = schema_of(R"({"type": "object", "additionalProperties": false, "required": ["file_path"],
        "properties": {
          "file_path": {"type": "string", "minLength": 1, "description": "absolute, or relative to the work tree"},
          "offset": {"type": "integer", "minimum": 1, "maximum": 1000000000},
          "limit": {"type": "integer", "minimum": 1, "maximum": 1000000000}}})")};
};

// The current content of the file to be written; nothing when it does not exist. An error for the agent when it may not
// be written.
struct Before {
  std::optional<std::string> bytes;
  std::optional<ToolResult> no;
};

Before look_before_writing(const WorkToolParts& parts, const FencedPath& at, const std::string& given) {
  if (const std::string why = parts.edit_denial(at, given); !why.empty()) return {{}, tool_denied(why)};
  auto file = read_guarded(at, limits::kReadableBytes);
  if (!file && file.error().code == ErrorCode::kNotFound) return {};
  if (!file) return {{}, from_error(file.error())};
  const std::string name = parts.relative(at.path());
  const auto seen = parts.place.seen ? parts.place.seen->hash_of(at.path()) : std::nullopt;
  if (!seen) return {{}, tool_error(fmt::format("{} exists and you have not read it. Read it first.", name))};
  if (*seen != sha256_hex(file->bytes)) {
    return {{}, tool_error(fmt::format("{} has changed since you read it. Read it again, then decide.", name))};
  }
  return {std::move(file->bytes), {}};
}

// A name with a redaction in it is one that a model wrote with a secret.
std::optional<ToolResult> would_name_secret(const std::string& path) {
  const std::string why = redaction_denial(path);
  return why.empty() ? std::nullopt : std::optional(tool_denied(why));
}

// A redacted text must not be written back in place of the secret.
std::optional<ToolResult> would_lose_secret(const std::string& content, const std::string& before) {
  if (content.find(kRedactedMark) == std::string::npos || before.find(kRedactedMark) != std::string::npos) return {};
  return tool_error(
      fmt::format("The text contains \"{}…]\", which stands for a secret that is not shown to you; writing it "
                  "would destroy the secret. Change the parts around it with Edit.",
                  kRedactedMark));
}

class Write final : public Tool {
 public:
  explicit Write(SharedParts parts) : parts_(std::move(parts)) {}
  const ToolDeclaration& declaration() const override { return declaration_; }
  bool only_reads(const ToolCall&) const override { return false; }
  std::string what(const ToolCall& call) const override { return parts_->text(text_of(call, "file_path")); }

  ToolResult run(const ToolCall& call, const ToolRun&) override {
    const std::string given = text_of(call, "file_path"), content = text_of(call, "content");
    if (auto no = would_name_secret(given)) return *no;
    const auto at = parts_->fence.for_writing(given);
    if (!at) return from_error(at.error());
    const Before before = look_before_writing(*parts_, *at, given);
    if (before.no) return *before.no;
    if (auto no = would_lose_secret(content, before.bytes.value_or(""))) return *no;
    if (auto written = write_guarded(*at, content); !written) return from_error(written.error());
    const std::string name = parts_->relative(at->path());
    return tool_success(
        fmt::format("{} {} ({} lines).", before.bytes ? "Replaced" : "Created", name, count_lines(content)),
        record(*parts_, at->path(), content));
  }

 private:
  SharedParts parts_;
  ToolDeclaration declaration_ = {
      .name = "Write",
      .description =
          "Writes a whole file of the work tree and creates missing folders. An existing file must have "
          "been read first and must not have changed since. To change a part, use Edit.",
      .input_schema = schema_of(R"({"type": "object", "additionalProperties": false,
        "required": ["file_path", "content"], "properties": {
          "file_path": {"type": "string", "minLength": 1, "description": "absolute, or relative to the work tree"},
          "content": {"type": "string"}}})")};
};

class Edit final : public Tool {
 public:
  explicit Edit(SharedParts parts) : parts_(std::move(parts)) {}
  const ToolDeclaration& declaration() const override { return declaration_; }
  bool only_reads(const ToolCall&) const override { return false; }
  std::string what(const ToolCall& call) const override { return parts_->text(text_of(call, "file_path")); }

  ToolResult run(const ToolCall& call, const ToolRun&) override {
    const std::string given = text_of(call, "file_path");
    const auto at = parts_->fence.for_writing(given);
    if (!at) return from_error(at.error());
    const Before before = look_before_writing(*parts_, *at, given);
    if (before.no) return *before.no;
    const std::string name = parts_->relative(at->path());
    if (!before.bytes) return tool_error(fmt::format("{} does not exist. Create it with Write.", name));
    const std::string with = text_of(call, "new_string");
    if (auto no = would_lose_secret(with, *before.bytes)) return *no;
    const auto edited = edit_text(*before.bytes, text_of(call, "old_string"), with, flag_of(call, "replace_all"));
    if (!edited) return tool_error(fmt::format("{}: {}. {}.", name, edited.error().message, edited.error().remedy));
    if (auto written = write_guarded(*at, edited->text); !written) return from_error(written.error());
    const std::size_t places = edited->lines.size();
    return tool_success(
        places == 1 ? fmt::format("Changed {} at line {}.", name, edited->lines.front())
                    : fmt::format("Changed {} in {} places, the first at line {}.", name, places, edited->lines[0]),
        record(*parts_, at->path(), edited->text));
  }

 private:
  SharedParts parts_;
  ToolDeclaration declaration_ = {
      .name = "Edit",
      .description =
          "Replaces text in a file of the work tree that you have read and that is unchanged since. "
          "old_string must occur exactly once, unless replace_all is true; do not include line numbers.",
      .input_schema = schema_of(R"({"type": "object", "additionalProperties": false,
        "required": ["file_path", "old_string", "new_string"], "properties": {
          "file_path": {"type": "string", "minLength": 1, "description": "absolute, or relative to the work tree"},
          "old_string": {"type": "string", "minLength": 1},
          "new_string": {"type": "string"},
          "replace_all": {"type": "boolean"}}})")};
};

}  // namespace

std::unique_ptr<Tool> make_read(SharedParts parts) {
  return std::make_unique<Read>(std::move(parts));
}
std::unique_ptr<Tool> make_write(SharedParts parts) {
  return std::make_unique<Write>(std::move(parts));
}
std::unique_ptr<Tool> make_edit(SharedParts parts) {
  return std::make_unique<Edit>(std::move(parts));
}

}  // namespace sb::agent
