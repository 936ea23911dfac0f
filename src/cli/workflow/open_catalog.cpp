#include "cli/workflow/open_catalog.hpp"

#include <fmt/format.h>

#include "engine/session/workspace_facts.hpp"
#include "inbox/operators/trust.hpp"

namespace sb::cli {
namespace {

constexpr std::int64_t kFirstShownMs = 1'000;
constexpr std::int64_t kRefreshMs = 100;

}  // namespace

Result<std::string> workspace_of(const Context& context, const std::string& given) {
  return engine::find_workspace(context.seams.files, given);
}

Result<workflow::Catalog> open_catalog(const Context& context, workflow::CatalogOptions opening) {
  const HomeDirectories homes = SB_TRY(sb::homes(context.seams.environment));
  ProgressLine progress(context, "files read");
  opening.is_trusted = inbox::file_trust(context.seams.files, homes);
  opening.on_file = [&](int count) { progress.at(count); };
  return workflow::Catalog::open(context.seams.files, context.seams.environment, homes, opening);
}

ProgressLine::ProgressLine(const Context& context, std::string what)
    : context_(context), what_(std::move(what)), is_wanted_(context.streams().is_terminal(Stream::kErrors)) {
  if (is_wanted_) next_ = context.seams.clock.now_ms() + kFirstShownMs;
}

ProgressLine::~ProgressLine() {
  if (is_shown_) context_.err("\r\x1b[K");
}

void ProgressLine::at(int count) {
  if (!is_wanted_) return;
  const TimestampMs now = context_.seams.clock.now_ms();
  if (now < next_) return;
  next_ = now + kRefreshMs;
  is_shown_ = true;
  context_.err(fmt::format("\r{} {}\x1b[K", count, what_));
}

}  // namespace sb::cli
