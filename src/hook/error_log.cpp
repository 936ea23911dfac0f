#include "hook/error_log.hpp"

#include <fmt/format.h>

#include "base/limits.hpp"
#include "base/text/printable.hpp"
#include "base/text/unicode.hpp"
#include "gstack/preference_files.hpp"
#include "hook/hook_program.hpp"

namespace sb::hook {
namespace {

constexpr std::size_t kLongestMessage = 1'000;

}  // namespace

Result<ErrorLog::Place> ErrorLog::place() const {
  if (is_hook_name(program_)) {
    return Place{SB_TRY(gstack::state_root(seams_.files, seams_.environment)), program_ + ":"};
  }
  return Place{SB_TRY(sb::homes(seams_.environment)).state, "signalbox-hook"};
}

void ErrorLog::add(std::string_view message) {
  const auto here = place();
  if (!here || !seams_.files.make_directories(here->folder, 0700)) return;
  const std::string path = join_path(here->folder, "hook-errors.log");
  const std::string text = cut_utf16(one_line(printable(message)), kLongestMessage);
  const std::string line = fmt::format("{} {} {}\n", to_rfc3339(seams_.clock.now_ms()), here->name, text);
  if (const auto before = seams_.files.read_tail(path, limits::kHookLogBytes);
      before && before->size() >= limits::kHookLogBytes) {
    const std::size_t cut = before->find('\n', before->size() - limits::kHookLogBytes / 2);
    (void)seams_.files.write_atomic(path, before->substr(cut == std::string::npos ? before->size() : cut + 1), 0600);
  }
  (void)seams_.files.append(path, line, 0600);
}

}  // namespace sb::hook
