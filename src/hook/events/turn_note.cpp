#include "hook/events/turn_note.hpp"

#include "base/document/document.hpp"
#include "gstack/project_slug.hpp"

namespace sb::hook {

TurnNote::TurnNote(Files& files, const HomeDirectories& homes, std::string_view folder, const HookEvent& event)
    : files_(files),
      folder_(join_path(homes.state, std::string(folder))),
      path_(join_path(folder_, gstack::path_component(event.session) + ".json")),
      prompt_(event.prompt) {}

Value TurnNote::note() const {
  const auto text = files_.read(path_, 4096);
  return text ? parse_json(*text).value_or(Value()) : Value();
}

Value TurnNote::kept() const {
  const Value found = note();
  return found.string_at("prompt") == prompt_ ? found["kept"] : Value();
}

Value TurnNote::kept_before() const {
  const Value found = note();
  return found.string_at("prompt") == prompt_ ? Value() : found["kept"];
}

// Where the number of rejections cannot be stored, the caller must not reject: the loop would never end.
Status TurnNote::keep(Value value) {
  SB_TRY(files_.make_directories(folder_, 0700));
  return files_.write_atomic(path_, to_json(Value::object({{"kept", std::move(value)}, {"prompt", prompt_}})), 0600);
}

void TurnNote::drop() {
  if (files_.kind(path_) != FileKind::kMissing) (void)files_.remove(path_);
}

}  // namespace sb::hook
