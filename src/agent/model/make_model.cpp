#include "agent/model/make_model.hpp"

#include <fmt/format.h>

#include <utility>

#include "base/assert.hpp"

namespace sb::agent {

Result<std::unique_ptr<Model>> make_model(const ModelSettings& settings, ProviderParts parts) {
  SB_ASSERT(settings.provider != nullptr);
  switch (settings.provider->kind) {
    case ModelProvider::Kind::kScript: {
      auto used = parts.used ? parts.used : std::make_shared<UsedLines>(parts.store);
      return make_scripted_model(settings.name, settings.script,
                                 {parts.seams.files, parts.seams.clock, std::move(used), std::move(parts.run)});
    }
    case ModelProvider::Kind::kHttp:
      return make_retrying_model(settings.provider->make(settings, parts.seams, parts.http), parts.seams.clock,
                                 parts.seams.random, parts.retries);
    case ModelProvider::Kind::kProgram:
      break;
  }
  return fail(ErrorCode::kInvalid, fmt::format("The model {} is an agent program, not a model", settings.name),
              "Use a model of another provider here");
}

}  // namespace sb::agent
