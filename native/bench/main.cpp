#include <cstdio>

#include "native/engine/engine.h"

int main() { return 0; }
