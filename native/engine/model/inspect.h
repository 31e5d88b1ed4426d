#pragma once
#include "native/engine/engine.h"
#include "native/engine/gguf/file.h"

namespace halogen::model {

// Everything of ModelInspection but `supported` and `problem`. Never throws for a key of an unexpected type: it is left
// out.
ModelInspection inspect(const gguf::File& file);

// Throws tokenizer.malformed, gguf.wrong_type, gguf.limit.
Vocabulary read_vocabulary(const gguf::File& file);

}  // namespace halogen::model
