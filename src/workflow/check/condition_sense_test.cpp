#include "workflow/check/condition_sense.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "workflow/testing.hpp"

namespace sb::workflow {
namespace {

Condition condition(std::string text) {
  const Document document = document_from(std::move(text));
  Faults faults;
  auto read = read_condition(Reader(document, faults));
  EXPECT_TRUE(read.has_value());
  return std::move(*read);
}

TEST(ConditionSense, WhatCanNeverHold) {
  for (const char* text : {
           "{or: []}",
           "{var: x, in: []}",
           "{not: {}}",
           "{not: {and: []}}",
           "{or: [{var: x, in: []}, {or: []}]}",
           "{and: [{var: y}, {or: []}]}",
           "{and: [{var: x, equals: red}, {var: x, equals: blue}]}",
           "{and: [{var: x, equals: 5}, {var: x, equals: 6}]}",
           "{and: [{var: x, equals: true}, {var: x, equals: false}]}",
           "{and: [{var: x, equals: null}, {var: x, equals: red}]}",
           "{and: [{var: x, equals: null}, {var: x}]}",
           "{and: [{var: x, equals: red}, {var: x, not_equals: red}]}",
           "{and: [{var: x, in: [red, green]}, {var: x, equals: blue}]}",
           "{and: [{var: x, in: [red, green]}, {var: x, in: [blue]}]}",
           "{and: [{var: x, gt: 5}, {var: x, lt: 5}]}",
           "{and: [{var: x, gt: 5}, {var: x, lte: 5}]}",
           "{and: [{var: x, equals: 3}, {var: x, gte: 4}]}",
           "{and: [{var: x, equals: red}, {var: x, gt: 0}]}",
           "{and: [{and: [{var: x, equals: red}]}, {var: y}, {and: [{var: x, equals: blue}]}]}",
       }) {
    EXPECT_TRUE(never_holds(condition(text))) << text;
    EXPECT_FALSE(always_holds(condition(text))) << text;
  }
}

// A false alarm would reject a valid file.
TEST(ConditionSense, WhatMayHold) {
  const Value contexts[] = {
      Value::object({{"x", "red"}}), Value::object({{"x", true}}),  Value::object({{"x", 5}}),
      Value::object({{"x", "5"}}),   Value::object({{"x", 1}}),     Value::object({{"x", "yes"}}),
      Value::object({{"x", 0}}),     Value::object({{"x", false}}), Value::object(),
  };
  for (const char* text : {
           "{and: [{var: x, equals: red}, {var: x, equals: \" RED \"}]}",
           "{and: [{var: x, equals: \"true\"}, {var: x, equals: \"yes\"}]}",
           "{and: [{var: x, equals: true}, {var: x, equals: 1}]}",
           "{and: [{var: x, equals: \"5\"}, {var: x, equals: \"5.0\"}]}",
           "{and: [{var: x, equals: 5}, {var: x, equals: \"5\"}]}",
           "{and: [{var: x, equals: false}, {var: x, equals: \"no\"}]}",
           "{and: [{var: x, equals: true}, {var: x, gte: 1}]}",
           "{and: [{var: x, gte: 5}, {var: x, lte: 5}]}",
           "{and: [{var: x, gt: 4}, {var: x, gt: 3}]}",
           "{and: [{var: x, in: [5, red]}, {var: x, gt: 4}]}",
           "{and: [{var: x, equals: red}, {var: x, not_equals: blue}]}",
           "{and: [{var: x, not_equals: red}, {var: x, not_equals: blue}]}",
           "{and: [{var: x, equals: 0}, {var: y, equals: 1}]}",
           "{not: {or: []}}",
           "{}",
       }) {
    EXPECT_FALSE(never_holds(condition(text))) << text;
  }
  // A condition reported as never holding holds for none of these, and vice versa.
  for (const char* text : {"{and: [{var: x, equals: true}, {var: x, equals: \"yes\"}]}", "{not: {or: []}}"}) {
    const Condition read = condition(text);
    EXPECT_TRUE(std::ranges::any_of(contexts, [&](const Value& context) { return holds(read, context); })) << text;
  }
}

TEST(ConditionSense, WhatAlwaysHolds) {
  for (const char* text : {"{}", "{and: []}", "{not: {or: []}}", "{or: [{var: x}, {}]}", "{and: [{}, {and: []}]}"})
    EXPECT_TRUE(always_holds(condition(text))) << text;
  for (const char* text : {"{var: x}", "{or: []}", "{and: [{}, {var: x}]}", "{not: {var: x}}"})
    EXPECT_FALSE(always_holds(condition(text))) << text;
}

}  // namespace
}  // namespace sb::workflow
