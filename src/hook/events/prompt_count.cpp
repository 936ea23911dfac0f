#include "hook/events/prompt_count.hpp"

#include <algorithm>

#include "base/document/document.hpp"
#include "gstack/project_slug.hpp"

namespace sb::hook {

PromptCount::PromptCount(Files& files, const HomeDirectories& homes, std::string_view folder, const HookEvent& event)
    : files_(files),
      folder_(join_path(homes.state, std::string(folder))),
      path_(join_path(folder_, gstack::path_component(event.session) + ".json")),
      prompt_(event.prompt) {}

int PromptCount::count() const {
  const auto text = files_.read(path_, 4096);
  const auto kept = text ? parse_json(*text) : Result<Value>(Value());
  const bool is_same_prompt = kept && (*kept)["count"].is_integer() && kept->string_at("prompt") == prompt_;
  return is_same_prompt ? static_cast<int>(std::clamp<std::int64_t>((*kept)["count"].as_integer(), 0, 1'000)) : 0;
}

// Where the number of rejections cannot be stored, the caller must not reject: the loop would never end.
Status PromptCount::set(int count) {
  SB_TRY(files_.make_directories(folder_, 0700));
  return files_.write_atomic(path_, to_json(Value::object({{"count", count}, {"prompt", prompt_}})), 0600);
}

void PromptCount::end() {
  if (files_.kind(path_) != FileKind::kMissing) (void)files_.remove(path_);
}

}  // namespace sb::hook
