// Shared by the tests of this folder: declarations from text.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "decision/declaration/declaration.hpp"

namespace sb::decision {

inline Checked<Declaration> declare(std::string yaml, Author author = Author::kOperator) {
  auto document = parse_document("def.yaml", std::move(yaml), Syntax::kYaml);
  if (!document) return std::unexpected(Faults{document.error()});
  return parse_declaration(*document, Profiles::built_in(), author);
}

inline Declaration declared(std::string yaml) {
  auto declaration = declare(std::move(yaml));
  if (!declaration) {
    ADD_FAILURE() << declaration.error()[0].to_string();
    std::abort();
  }
  return std::move(*declaration);
}

// The faults of a definition, one per line.
inline std::string faults_of(std::string yaml, Author author = Author::kOperator) {
  const auto declaration = declare(std::move(yaml), author);
  std::string out;
  if (!declaration) {
    for (const Error& fault : declaration.error()) out += fault.to_string() + "\n";
  }
  return out;
}

}  // namespace sb::decision
