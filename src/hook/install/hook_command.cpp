#include "hook/install/hook_command.hpp"

#include <algorithm>

#include "base/files.hpp"
#include "hook/install/clients.hpp"

namespace sb::hook {
namespace {

constexpr std::string_view kHookProgram = "signalbox-hook";
constexpr std::string_view kClientArgument = " --client ";

bool is_plain(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("/._-+").find(c) != std::string_view::npos;
  });
}

// Reverses shell_quoted; nothing when the text is not one such word.
std::optional<std::string> unquoted(std::string_view text) {
  if (is_plain(text)) return std::string(text);
  if (text.size() < 2 || text.front() != '\'' || text.back() != '\'') return std::nullopt;
  text = text.substr(1, text.size() - 2);
  constexpr std::string_view kQuote = "'\\''";
  std::string word;
  while (!text.empty()) {
    if (text.starts_with(kQuote)) {
      word += '\'';
      text.remove_prefix(kQuote.size());
    } else if (text.front() == '\'') {
      return std::nullopt;
    } else {
      word += text.front();
      text.remove_prefix(1);
    }
  }
  return word;
}

}  // namespace

std::string shell_quoted(std::string_view text) {
  if (is_plain(text)) return std::string(text);
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

std::optional<std::string> hook_program_in(std::string_view command) {
  const std::size_t at = command.rfind(kClientArgument);
  const bool has_client =
      at != std::string_view::npos && find_client(command.substr(at + kClientArgument.size())) != nullptr;
  auto word = unquoted(has_client ? command.substr(0, at) : command);
  if (!word || !word->starts_with('/') || base_name(*word) != kHookProgram) return std::nullopt;
  return word;
}

bool is_signalbox_command(std::string_view command) {
  return hook_program_in(command).has_value();
}

}  // namespace sb::hook
