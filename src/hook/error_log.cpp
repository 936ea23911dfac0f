#include "hook/error_log.hpp"

#include <fmt/format.h>

#include "base/limits.hpp"
#include "base/text/printable.hpp"
#include "base/text/unicode.hpp"

namespace sb::hook {
namespace {

constexpr std::size_t kLongestMessage = 1'000;

}  // namespace

void ErrorLog::add(std::string_view message) {
  const auto homes = sb::homes(seams_.environment);
  if (!homes || !seams_.files.make_directories(homes->state, 0700)) return;
  const std::string path = join_path(homes->state, "hook-errors.log");
  const std::string text = cut_utf16(one_line(printable(message)), kLongestMessage);
  const std::string line = fmt::format("{} signalbox-hook {}\n", to_rfc3339(seams_.clock.now_ms()), text);
  if (const auto before = seams_.files.read_tail(path, limits::kHookLogBytes);
      before && before->size() >= limits::kHookLogBytes) {
    const std::size_t cut = before->find('\n', before->size() - limits::kHookLogBytes / 2);
    (void)seams_.files.write_atomic(path, before->substr(cut == std::string::npos ? before->size() : cut + 1), 0600);
  }
  (void)seams_.files.append(path, line, 0600);
}

}  // namespace sb::hook
