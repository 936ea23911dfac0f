#include "runs/bundle_search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "agent/secrets/redact.hpp"
#include "base/text.hpp"
#include "pipeline/git/git.hpp"

namespace sb::runs {
namespace {

constexpr std::int64_t kSearchMs = 600'000;
constexpr std::size_t kShortestSecret = 6;  // shorter ones would be found by chance
constexpr std::size_t kObjectListBytes = std::size_t{512} << 20;

// `keys.txt in a1b2c3d`, or the commit itself.
std::string place_of_object(pipeline::Git& git, const std::string& commit, const std::string& object) {
  const auto type = git.run({"cat-file", "-t", object});
  if (!type || trimmed_end(*type) != "blob") return fmt::format("{} {}", type ? trimmed_end(*type) : "object", object);
  const auto named = git.run({"log", "-1", "--format=%h", "--name-only", "--find-object=" + object, commit});
  const auto lines = lines_of(named ? std::string_view(*named) : std::string_view());
  if (lines.size() < 3) return fmt::format("the file object {}", object);
  return fmt::format("{} (last changed in {})", shortened(pipeline::shown(lines.back()), 200), lines.front());
}

}  // namespace

void ObjectSearch::add(std::string_view piece) {
  if (!found_.empty()) return;
  rest_ += piece;
  std::size_t at = 0;
  while (found_.empty()) {
    const std::size_t end = rest_.find('\n', at);
    if (end == std::string::npos) break;
    const auto head = split(std::string_view(rest_).substr(at, end - at), ' ');
    std::size_t size = 0;
    const bool has_content =
        head.size() == 3 && std::from_chars(head[2].data(), head[2].data() + head[2].size(), size).ec == std::errc();
    if (!has_content) {  // `HASH missing`, in a clone that has only a part
      at = end + 1;
      continue;
    }
    if (rest_.size() - end < size + 2) break;
    const std::string_view content = std::string_view(rest_).substr(end + 1, size);
    const bool has_secret =
        std::ranges::any_of(forms_, [&](const std::string& form) { return content.find(form) != content.npos; });
    if (has_secret) found_ = head.front();
    at = end + 1 + size + 1;
  }
  rest_.erase(0, at);
}

Status check_history(const Seams& seams, const std::string& repository, const std::string& commit,
                     const std::vector<std::string>& secrets) {
  std::vector<std::string> values = secrets;
  std::erase_if(values, [](const std::string& value) { return value.size() < kShortestSecret; });
  if (values.empty()) return {};
  pipeline::Git git(seams, repository);
  const ProcessResult objects = SB_TRY(git.run(pipeline::GitCall{
      .words = {"rev-list", "--objects", "--no-object-names", commit}, .max_bytes = kObjectListBytes}));
  ObjectSearch search(agent::secret_forms(values));
  const ProcessResult read =
      SB_TRY(git.run(pipeline::GitCall{.words = {"cat-file", "--batch", "--buffer"},
                                       .input = objects.output,
                                       .on_output = [&](std::string_view piece) { search.add(piece); },
                                       .time_ms = kSearchMs}));
  if (search.found().empty()) return {};
  return fail(ErrorCode::kForbidden,
              fmt::format("the repository's history contains one of your configured secrets: {}",
                          place_of_object(git, commit, search.found())),
              "It would be in the export. Replace that secret, then remove it from the history");
}

}  // namespace sb::runs
