# Turns manifest.json into kernel_table.h (declarations), kernel_table.cpp (the table) and kernel_sources.cmake (files and flags).
# cmake -DMANIFEST=... -DOUT=<folder> -DPROCESSOR=x86_64 -P generate.cmake
cmake_minimum_required(VERSION 3.22)
file(READ "${MANIFEST}" manifest)

string(JSON variant_count LENGTH "${manifest}" variants)
math(EXPR last "${variant_count} - 1")
set(variant_rows "")
foreach(i RANGE ${last})
  string(JSON name MEMBER "${manifest}" variants ${i})
  string(JSON variant GET "${manifest}" variants ${name})
  string(JSON rank GET "${variant}" rank)
  string(JSON processor GET "${variant}" processor)
  if(processor STREQUAL "any" OR processor STREQUAL PROCESSOR)
    list(APPEND variant_names ${name})
    foreach(part features flags)
      set(${part} "")
      string(JSON count LENGTH "${variant}" ${part})
      if(count GREATER 0)
        math(EXPR part_last "${count} - 1")
        foreach(j RANGE ${part_last})
          string(JSON value GET "${variant}" ${part} ${j})
          list(APPEND ${part} ${value})
        endforeach()
      endif()
    endforeach()
    string(REPLACE ";" " " feature_words "${features}")
    string(APPEND variant_rows "    {\"${name}\", ${rank}, \"${feature_words}\"},\n")
    set(flags_of_${name} "${flags}")
  endif()
endforeach()

string(JSON kernel_count LENGTH "${manifest}" kernels)
math(EXPR last "${kernel_count} - 1")
set(declarations "")
set(rows "")
set(keys "")
set(sources "set(halogen_kernel_variants ${variant_names})\n")
foreach(name IN LISTS variant_names)
  string(APPEND sources "set(halogen_kernel_flags_${name} ${flags_of_${name}})\n")
endforeach()
foreach(i RANGE ${last})
  string(JSON kernel GET "${manifest}" kernels ${i})
  foreach(field backend op quant variant file)
    string(JSON ${field} ERROR_VARIABLE error GET "${kernel}" ${field})
    if(error)
      message(FATAL_ERROR "kernels/manifest.json: kernel ${i} has no \"${field}\": ${kernel}")
    endif()
  endforeach()
  string(JSON known ERROR_VARIABLE error GET "${manifest}" variants ${variant})
  if(error)
    message(FATAL_ERROR "kernels/manifest.json: kernel ${i} names the unknown variant \"${variant}\"")
  endif()
  string(JSON type ERROR_VARIABLE error GET "${manifest}" ops ${op} type)
  if(error)
    message(FATAL_ERROR "kernels/manifest.json: kernel ${i} names the unknown op \"${op}\"")
  endif()
  string(JSON kind GET "${manifest}" ops ${op} kind)
  set(key "${backend}/${op}/${quant}/${variant}")
  if(key IN_LIST keys)
    message(FATAL_ERROR "kernels/manifest.json: ${key} is registered twice")
  endif()
  list(APPEND keys "${key}")
  if(NOT variant IN_LIST variant_names)
    continue()
  endif()
  if(quant STREQUAL "")
    set(symbol "${op}")
  else()
    set(symbol "${op}_${quant}")
  endif()
  if(kind STREQUAL "table")
    string(APPEND declarations "namespace ${variant} {\nextern const ${type} ${symbol};\n}\n")
    set(pointers "&${variant}::${symbol}, nullptr")
  else()
    string(APPEND declarations "namespace ${variant} {\nstd::remove_pointer_t<${type}> ${symbol};\n}\n")
    set(pointers "nullptr, reinterpret_cast<void (*)()>(&${variant}::${symbol})")
  endif()
  string(APPEND rows "    {\"${backend}\", \"${op}\", \"${quant}\", \"${variant}\", ${pointers}},\n")
  get_filename_component(folder "${file}" DIRECTORY)
  get_filename_component(owner "${folder}" NAME)
  string(JSON known ERROR_VARIABLE error GET "${manifest}" variants "${owner}")
  if(NOT error AND NOT owner STREQUAL variant)
    message(FATAL_ERROR "kernels/manifest.json: ${file} is a file of ${owner} and cannot serve ${variant}")
  endif()
  if(NOT file IN_LIST files_of_${variant})
    list(APPEND files_of_${variant} "${file}")
    string(APPEND sources "list(APPEND halogen_kernel_sources_${variant} \"kernels/${file}\")\n")
  endif()
endforeach()

set(note "// Generated from kernels/manifest.json; edit that.\n")
file(CONFIGURE OUTPUT "${OUT}/kernel_table.h" @ONLY CONTENT "@note@#pragma once
#include <type_traits>

#include \"kernels/cpu/kernel.h\"
#include \"kernels/table.h\"

namespace halogen::kernel {
@declarations@}  // namespace halogen::kernel
")
file(CONFIGURE OUTPUT "${OUT}/kernel_table.cpp" @ONLY CONTENT "@note@#include \"kernel_table.h\"

namespace halogen::kernel {
namespace {
const Variant variant_rows[] = {
@variant_rows@};
const Entry entry_rows[] = {
@rows@};
}  // namespace
std::span<const Variant> variants() { return variant_rows; }
std::span<const Entry> entries() { return entry_rows; }
}  // namespace halogen::kernel
")
file(CONFIGURE OUTPUT "${OUT}/kernel_sources.cmake" @ONLY CONTENT "# Generated from kernels/manifest.json; edit that.\n@sources@")
