// A test is a function registered by name; a failed check throws. main.cpp runs all, or those whose name contains an
// argument.
#pragma once
#include <functional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "native/engine/error.h"

namespace halogen::test {

struct Test {
  std::string name;
  std::function<void()> body;
};

std::vector<Test>& tests();

struct Register {
  Register(const char* name, std::function<void()> body) { tests().push_back({name, std::move(body)}); }
};

struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

template <typename... Parts>
[[noreturn]] void fail(const Parts&... parts) {
  std::ostringstream text;
  (text << ... << parts);
  throw Failure(text.str());
}

template <typename A, typename B>
void equal(const A& actual, const B& expected, const std::string& what, const char* file, int line) {
  if (actual == expected) return;
  fail(file, ":", line, ": ", what, " is ", actual, ", expected ", expected);
}

// Runs body, which must throw Error with this code; returns it.
template <typename Body>
Error thrown(const std::string& code, Body&& body, const char* file, int line) {
  try {
    body();
  } catch (const Error& error) {
    if (error.code() != code)
      fail(file, ":", line, ": threw ", error.code(), " (", error.message(), "), expected ", code);
    if (error.message().empty()) fail(file, ":", line, ": ", code, " has no message");
    return error;
  }
  fail(file, ":", line, ": nothing was thrown, expected ", code);
}

// A number of an error's detail.
inline double number(const Error& error, const std::string& key) {
  const auto found = error.detail().find(key);
  if (found == error.detail().end() || found->second.number() == nullptr)
    fail("error ", error.code(), " has no number \"", key, "\"");
  return *found->second.number();
}

inline std::string text(const Error& error, const std::string& key) {
  const auto found = error.detail().find(key);
  if (found == error.detail().end() || found->second.string() == nullptr)
    fail("error ", error.code(), " has no text \"", key, "\"");
  return *found->second.string();
}

}  // namespace halogen::test

#define TEST(name)                                                   \
  static void name();                                                \
  static const halogen::test::Register register_##name(#name, name); \
  static void name()
#define CHECK(condition)                                                                        \
  do {                                                                                          \
    if (!(condition)) halogen::test::fail(__FILE__, ":", __LINE__, ": not true: ", #condition); \
  } while (false)
#define EQUAL(actual, expected) halogen::test::equal(actual, expected, #actual, __FILE__, __LINE__)
#define THROWS(code, ...) halogen::test::thrown(code, [&] { __VA_ARGS__; }, __FILE__, __LINE__)
