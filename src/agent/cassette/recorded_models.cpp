// Models that are recorded on a cassette, and models that a cassette plays.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "agent/cassette/cassette.hpp"

namespace sb::agent {

namespace {

using Kind = ModelError::Kind;

constexpr std::string_view kModelKind = "model";

Value note_of(const Asker& asker) {
  return Value::object({{"workflow", asker.workflow},
                        {"role", asker.role},
                        {"step", asker.step},
                        {"session", asker.session},
                        {"turn", asker.turn}});
}

Value result_of(const Replied& replied) {
  if (replied) {
    ModelReply reply = *replied;
    reply.mark.clear();
    return Value::object({{"reply", to_value(reply)}});
  }
  return Value::object({{"error", Value::object({{"kind", to_string(replied.error().kind)},
                                                 {"message", replied.error().error.message}})}});
}

// Errors that asking again does not mend are answers, and so is having been broken off; others are gone when the run
// is played again. Where the same is asked once more after all (the key was mended, the process came back), that answer
// takes the place of the error.
bool is_kept(const Replied& replied) {
  return replied || !replied.error().retry_helps();
}

std::unexpected<ModelError> broken(Error error) {
  return std::unexpected(ModelError{Kind::kDiverged, std::move(error)});
}

class Recording final : public Model {
 public:
  Recording(std::unique_ptr<Model> model, std::shared_ptr<Cassette> cassette)
      : model_(std::move(model)), cassette_(std::move(cassette)) {}

  std::string name() const override { return model_->name(); }

  Replied reply(const ModelRequest& request, const OnDelta& on_delta) override {
    Replied replied = model_->reply(request, on_delta);
    if (!is_kept(replied)) return replied;
    Status kept = cassette_->put(kModelKind, to_value(request), result_of(replied), note_of(request.asker));
    if (!kept) return std::unexpected(ModelError{Kind::kRequest, std::move(kept).error()});
    return replied;
  }

 private:
  std::unique_ptr<Model> model_;
  std::shared_ptr<Cassette> cassette_;
};

class Replaying final : public Model {
 public:
  Replaying(std::string name, std::shared_ptr<Cassette> cassette, BeforeReply before)
      : name_(std::move(name)), cassette_(std::move(cassette)), before_(std::move(before)) {}

  std::string name() const override { return name_; }

  Replied reply(const ModelRequest& request, const OnDelta& on_delta) override {
    if (before_ && !before_(request.asker)) return broken_off();
    const Value asked = to_value(request);
    auto taken = cassette_->take(kModelKind, asked);
    if (!taken) return broken(std::move(taken).error());
    if (!*taken) return diverged(request, asked);
    return played(**taken, on_delta);
  }

 private:
  Replied diverged(const ModelRequest& request, const Value& asked) {
    const Asker& asker = request.asker;
    auto difference = cassette_->difference(kModelKind, asked, note_of(asker));
    if (!difference) return broken(std::move(difference).error());
    const std::string told =
        fmt::format("The replay asks a model what was not recorded (workflow {}, step {}, turn {}). {}", asker.workflow,
                    asker.step, asker.turn, *difference);
    cassette_->leave_at(told);
    return broken({ErrorCode::kConflict, told, {}, {}});
  }

  static Replied played(const Value& result, const OnDelta& on_delta) {
    if (const Value* error = result.find("error")) {
      const auto kind = model_error_named(error->string_at("kind").value_or(""));
      return std::unexpected(ModelError{kind.value_or(Kind::kRequest),
                                        {ErrorCode::kInvalid, error->string_at("message").value_or(""), {}, {}}});
    }
    auto reply = reply_from(result["reply"]);
    if (!reply) return broken(std::move(reply).error());
    const bool goes_on = !on_delta || std::ranges::all_of(reply->content, [&](const Value& block) {
      return block.string_at("type") != "text" || on_delta(block.string_at("text").value_or(""));
    });
    if (!goes_on) return broken_off();
    return std::move(*reply);
  }
  static std::unexpected<ModelError> broken_off() {
    return std::unexpected(ModelError{Kind::kStopped, {ErrorCode::kUnavailable, "Broken off", {}, {}}});
  }

  std::string name_;
  std::shared_ptr<Cassette> cassette_;
  BeforeReply before_;
};

}  // namespace

std::unique_ptr<Model> make_recording(std::unique_ptr<Model> model, std::shared_ptr<Cassette> cassette) {
  return std::make_unique<Recording>(std::move(model), std::move(cassette));
}

std::unique_ptr<Model> make_replaying(std::string name, std::shared_ptr<Cassette> cassette, BeforeReply before) {
  return std::make_unique<Replaying>(std::move(name), std::move(cassette), std::move(before));
}

}  // namespace sb::agent
