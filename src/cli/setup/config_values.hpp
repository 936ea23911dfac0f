// The values of the configuration with where each is written, for `config show`, `get` and `set`.
#pragma once

#include <string>
#include <vector>

#include "base/document/document.hpp"
#include "pipeline/settings/run_settings.hpp"

namespace sb::cli {

struct ConfigValue {
  std::vector<std::string> path;
  Value value;               // secrets are masked
  SourceLocation at = {};    // no file: it is the default
  std::string name() const;  // `models.main.model`
};

// What the files say, the later ones winning, then the defaults of root keys that no file sets.
std::vector<ConfigValue> config_values(const std::vector<Document>& documents);

// `models.main.model`, or a JSON pointer for keys with dots: `/workspaces/~1srv~1shop/confirmations`.
std::vector<std::string> config_path(std::string_view name);

// As YAML would read it on one line, else the text itself: `3`, `[./check]`, `auto`.
Value config_value_of(const std::string& text);

}  // namespace sb::cli
