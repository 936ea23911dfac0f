// Models that are recorded on a cassette, and models replayed from one.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "agent/cassette/cassette.hpp"

namespace sb::agent {

namespace {

using Kind = ModelError::Kind;

constexpr std::string_view kModelKind = "model";

Value note_of(const Requester& requester) {
  Value note = Value::object({{"workflow", requester.workflow},
                              {"role", requester.role},
                              {"step", requester.step},
                              {"session", requester.session},
                              {"turn", requester.turn}});
  if (requester.attempt > 1) note.set("attempt", requester.attempt);
  return note;
}

Value result_of(const ModelResult& replied, const CostOf& cost_of) {
  if (replied) {
    ModelReply reply = *replied;
    reply.mark.clear();
    Value result = Value::object({{"reply", to_value(reply)}});
    if (cost_of) result.set("cost", cost_of(replied->usage));
    return result;
  }
  return Value::object({{"error", Value::object({{"kind", to_string(replied.error().kind)},
                                                 {"message", replied.error().error.message}})}});
}

// Permanent errors and interruptions are recorded; temporary errors are not. If the same request is made again after
// all (the key was fixed, the process restarted), its answer replaces the error.
bool is_kept(const ModelResult& replied) {
  return replied || !replied.error().is_retryable();
}

std::unexpected<ModelError> broken(Error error) {
  return std::unexpected(ModelError{Kind::kDiverged, std::move(error)});
}

class RecordingModel final : public Model {
 public:
  RecordingModel(std::unique_ptr<Model> model, std::shared_ptr<Cassette> cassette, CostOf cost_of)
      : model_(std::move(model)), cassette_(std::move(cassette)), cost_of_(std::move(cost_of)) {}

  std::string name() const override { return model_->name(); }

  ModelResult reply(const ModelRequest& request, const OnDelta& on_delta) override {
    ModelResult replied = model_->reply(request, on_delta);
    if (!is_kept(replied)) return replied;
    Status kept =
        cassette_->put(kModelKind, to_value(request), result_of(replied, cost_of_), note_of(request.requester));
    if (!kept) return std::unexpected(ModelError{Kind::kRequest, std::move(kept).error()});
    return replied;
  }

 private:
  std::unique_ptr<Model> model_;
  std::shared_ptr<Cassette> cassette_;
  CostOf cost_of_;
};

class ReplayingModel final : public Model {
 public:
  ReplayingModel(std::string name, std::shared_ptr<Cassette> cassette, BeforeReply before)
      : name_(std::move(name)), cassette_(std::move(cassette)), before_(std::move(before)) {}

  std::string name() const override { return name_; }

  ModelResult reply(const ModelRequest& request, const OnDelta& on_delta) override {
    if (before_ && !before_(request.requester)) return broken_off();
    const Value asked = to_value(request);
    auto taken = cassette_->take(kModelKind, asked);
    if (!taken) return broken(std::move(taken).error());
    if (!*taken) return diverged(request, asked);
    return played(**taken, on_delta);
  }

 private:
  ModelResult diverged(const ModelRequest& request, const Value& asked) {
    const Requester& requester = request.requester;
    auto difference = cassette_->difference(kModelKind, asked, note_of(requester));
    if (!difference) return broken(std::move(difference).error());
    const std::string divergence =
        fmt::format("The replay made a model request that was not recorded (workflow {}, step {}, turn {}). {}",
                    requester.workflow, requester.step, requester.turn, *difference);
    cassette_->mark_divergence(divergence);
    return broken({ErrorCode::kConflict, divergence, {}, {}});
  }

  static ModelResult played(const Value& result, const OnDelta& on_delta) {
    if (const Value* error = result.find("error")) {
      const auto kind = model_error_named(error->string_at("kind").value_or(""));
      return std::unexpected(ModelError{kind.value_or(Kind::kRequest),
                                        {ErrorCode::kInvalid, error->string_at("message").value_or(""), {}, {}}});
    }
    auto reply = reply_from(result["reply"]);
    if (!reply) return broken(std::move(reply).error());
    const bool continues = !on_delta || std::ranges::all_of(reply->content, [&](const Value& block) {
      return block.string_at("type") != "text" || on_delta(block.string_at("text").value_or(""));
    });
    if (!continues) return broken_off();
    return std::move(*reply);
  }
  static std::unexpected<ModelError> broken_off() {
    return std::unexpected(ModelError{Kind::kStopped, {ErrorCode::kUnavailable, "Interrupted", {}, {}}});
  }

  std::string name_;
  std::shared_ptr<Cassette> cassette_;
  BeforeReply before_;
};

}  // namespace

std::unique_ptr<Model> make_recording_model(std::unique_ptr<Model> model, std::shared_ptr<Cassette> cassette,
                                            CostOf cost_of) {
  return std::make_unique<RecordingModel>(std::move(model), std::move(cassette), std::move(cost_of));
}

std::unique_ptr<Model> make_replaying_model(std::string name, std::shared_ptr<Cassette> cassette, BeforeReply before) {
  return std::make_unique<ReplayingModel>(std::move(name), std::move(cassette), std::move(before));
}

}  // namespace sb::agent
