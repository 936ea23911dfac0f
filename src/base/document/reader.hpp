// Typed reading of a document. Each read checks kind and limits; a fault names file, line, column and field, and how to
// fix it. All faults of a document are collected; one mistake gives one fault.
//
//   Faults faults;
//   Reader root(document, faults);
//   Fields fields = root.fields();                  // not an object: a fault, and an empty set of fields
//   auto id = fields.string("decision", Need::kRequired);
//   for (Reader item : fields.items("options")) ...
//   fields.finish();                                // a fault for each unread member, with the nearest name
//
// Cheap to copy: it points into the document and looks up its location only when a fault is reported. Field names must
// outlive their Fields (literals do).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/document/document.hpp"
#include "base/limits.hpp"
#include "base/result.hpp"

namespace sb {

enum class Need { kOptional, kRequired };
class Fields;

template <class E>
using Names = std::span<const std::pair<std::string_view, E>>;

class Reader {
 public:
  Reader(const Document& document, Faults& faults) : Reader(document, faults, document.root) {}

  const Value& value() const { return *value_; }
  std::string pointer() const;  // searches the document: for faults, not for inner loops
  SourceLocation location() const { return document_->location_of(pointer()); }

  // Each returns nothing, and adds a fault, if the value has the wrong kind or is out of bounds.
  std::optional<std::string> string(std::size_t max_bytes = limits::kTextBytes) const;
  std::optional<bool> boolean() const;
  std::optional<std::int64_t> integer(std::int64_t min, std::int64_t max) const;
  std::optional<double> number() const;
  std::vector<Reader> items(std::size_t max = limits::kDocumentNodes) const;
  std::vector<std::string> strings(std::size_t max = limits::kOptions) const;
  Fields fields() const;
  template <class E>
  std::optional<E> choice(Names<E> names) const;
  Reader at(const Value& part) const { return Reader(*document_, *faults_, part); }  // any part of the document

  void fault(std::string message, std::string remedy = {}, ErrorCode code = ErrorCode::kInvalid,
             std::string_view rule = "invalid_value") const;
  // A fault of this value found by reading the value separately: the fault's pointer is relative to it.
  void adopt(Error fault) const;

 private:
  friend class Fields;
  Reader(const Document& document, Faults& faults, const Value& value)
      : document_(&document), faults_(&faults), value_(&value) {}
  std::optional<std::size_t> choose(std::span<const std::string_view> names) const;

  const Document* document_;
  Faults* faults_;
  const Value* value_;
};

class Fields {
 public:
  bool has(std::string_view name) const;
  std::optional<Reader> get(std::string_view name, Need need = Need::kOptional);
  std::optional<std::string> string(std::string_view name, Need need = Need::kOptional,
                                    std::size_t max_bytes = limits::kTextBytes);
  std::optional<bool> boolean(std::string_view name, Need need = Need::kOptional);
  std::optional<std::int64_t> integer(std::string_view name, std::int64_t min, std::int64_t max,
                                      Need need = Need::kOptional);
  std::vector<Reader> items(std::string_view name, Need need = Need::kOptional,
                            std::size_t max = limits::kDocumentNodes);
  std::vector<std::string> strings(std::string_view name, Need need = Need::kOptional);
  template <class E>
  std::optional<E> choice(std::string_view name, Names<E> names, Need need = Need::kOptional);
  const Reader& self() const { return self_; }

  bool finish();  // whether every member was read

 private:
  friend class Reader;
  explicit Fields(Reader self) : self_(std::move(self)) { known_.reserve(32); }
  Reader self_;
  std::vector<std::string_view> known_;  // every name read, some more than once
};

template <class E>
std::optional<E> Reader::choice(Names<E> names) const {
  std::vector<std::string_view> words;
  for (const auto& [word, meaning] : names) words.push_back(word);
  const auto index = choose(words);
  if (!index) return std::nullopt;
  return names[*index].second;
}

template <class E>
std::optional<E> Fields::choice(std::string_view name, Names<E> names, Need need) {
  const auto reader = get(name, need);
  return reader ? reader->choice<E>(names) : std::nullopt;
}

// The name in `known` that a mistyped name probably meant; empty if none is close.
std::string nearest_name(std::string_view wrong, std::span<const std::string> known);

}  // namespace sb
