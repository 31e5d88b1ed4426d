// What llama.cpp and ik_llama.cpp have under different names; adapter_llama.cpp or adapter_ik.cpp is compiled.
#pragma once
#include <cstdint>
#include <string>

#include <llama.h>

namespace peer {

struct Settings {
  std::string model, dequantise;
  int threads = 1;
  uint32_t context = 0;
  bool flash = true;
  bool exact = false;  // keys and values in F32 instead of F16
  bool repack = true;  // weights laid out anew for this processor where the engine can
};

// "llama.cpp b1234"
std::string version();
// Null: it says why on standard error.
llama_model* load(const Settings& settings);
void unload(llama_model* model);
llama_context* context(llama_model* model, const Settings& settings);
void forget(llama_context* context);
int trained_context(const llama_model* model);

// The file with every weight through the engine's own dequantiser as F32; keys and names stay. Throws
// std::runtime_error, also where the engine is not the one that goldens are made with.
void dequantise(const std::string& from, const std::string& to);

}  // namespace peer
