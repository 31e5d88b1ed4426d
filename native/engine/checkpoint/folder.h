// A model folder of the Hugging Face kind: config.json, safetensors, tokenizer.json. The Qwen3.5 family, as ParoQuant
// or plain.
#pragma once
#include "native/engine/engine.h"
#include "native/engine/gguf/file.h"

namespace halogen::checkpoint {

// A folder with a config.json, whatever it holds.
bool is_folder(const std::string& path);

// Throws file.*, checkpoint.* and model.* errors.
gguf::File open(const std::string& folder);

// The byte-level BPE of tokenizer.json in the form that GGUF's vocabularies have. Throws tokenizer.*, checkpoint.*.
Vocabulary read_vocabulary(const std::string& folder);

}  // namespace halogen::checkpoint
