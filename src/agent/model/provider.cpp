#include "agent/model/provider.hpp"

#include <fmt/format.h>

#include <utility>

#include "agent/model/anthropic.hpp"
#include "agent/model/openai.hpp"

namespace sb::agent {

Result<std::unique_ptr<Model>> make_model(const ModelSettings& settings, ProviderParts parts) {
  using Provider = ModelSettings::Provider;
  if (settings.provider == Provider::kScripted) {
    auto used = parts.used ? parts.used : std::make_shared<UsedLines>(parts.store);
    return make_scripted_model(settings.name, settings.script,
                               {parts.seams.files, parts.seams.clock, std::move(used), std::move(parts.run)});
  }
  const auto patient = [&](std::unique_ptr<Model> model) {
    return make_retrying_model(std::move(model), parts.seams.clock, parts.seams.random, parts.retries);
  };
  if (settings.provider == Provider::kAnthropic) return patient(make_anthropic(settings, parts.seams, parts.http));
  if (settings.provider == Provider::kOpenai) return patient(make_openai(settings, parts.seams, parts.http));
  return fail(ErrorCode::kInvalid, fmt::format("The model {} is an agent program, not a model", settings.name),
              "Name a model of another provider here");
}

}  // namespace sb::agent
