# Compiler settings, the optional CUDA language, and the function that compiles one kernel source for two backends.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

find_program(STICKSLIP_CCACHE ccache)
if(STICKSLIP_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${STICKSLIP_CCACHE})
  if(STICKSLIP_PCH)
    # ccache caches compilations that read a precompiled header only with these settings.
    set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${STICKSLIP_CCACHE})
  endif()
  set(CMAKE_CUDA_COMPILER_LAUNCHER ${STICKSLIP_CCACHE})
endif()

# Batches: several sources per compilation, so that headers are read once for all of them. The price: a
# changed file recompiles its batch, and a name in an anonymous namespace must be unique within a folder. The
# library's host code, which takes most of the run time, has one object per source, unless STICKSLIP_GPU_BATCH
# asks for more: batches of eight take half the processor time, batches of forty a third.
set(STICKSLIP_UNIT_BATCH 8 CACHE STRING "host sources of tests that are compiled at once")
set(STICKSLIP_HOST_BATCH 16)  # host sources of the program and of benches
set(STICKSLIP_CUDA_BATCH 4 CACHE STRING "sources that nvcc compiles at once: many for few processors, few for many")
set(STICKSLIP_GPU_BATCH 1 CACHE STRING "sources of the library that the host compiler compiles at once")

add_library(stickslip_flags INTERFACE)
target_include_directories(stickslip_flags INTERFACE
  $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}> $<INSTALL_INTERFACE:include/stickslip>)
target_compile_features(stickslip_flags INTERFACE $<INSTALL_INTERFACE:cxx_std_20>)
target_compile_definitions(stickslip_flags INTERFACE STICKSLIP_REAL=${STICKSLIP_REAL})
# -Wrestrict reports false overlaps in std::string's operator+ (GCC bug 105651). -Wpsabi warns about lanes
# (gpu/math/lanes.h) passed between files compiled for different processors; lanes are never passed between
# files.
target_compile_options(stickslip_flags INTERFACE
  $<BUILD_INTERFACE:$<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra $<$<BOOL:${STICKSLIP_WERROR}>:-Werror> -Wno-unknown-pragmas $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict -Wno-psabi>>>)
if(STICKSLIP_NATIVE)
  target_compile_options(stickslip_flags INTERFACE $<BUILD_INTERFACE:$<$<COMPILE_LANGUAGE:CXX>:-march=native>>)
  # GCC 12 loses the stack alignment of leaf functions that copy small structs by 32-byte moves (GCC bug
  # 109780): aligned stores to misaligned locals crash. 16-byte moves avoid this at no measurable cost.
  include(CheckCXXCompilerFlag)
  check_cxx_compiler_flag(-mmove-max=128 STICKSLIP_HAS_MOVE_MAX)
  if(STICKSLIP_HAS_MOVE_MAX AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(stickslip_flags INTERFACE $<BUILD_INTERFACE:$<$<COMPILE_LANGUAGE:CXX>:-mmove-max=128 -mstore-max=128>>)
  endif()
endif()
if(STICKSLIP_SANITIZE)
  # With the sanitizers GCC 12 reports uninitialised reads in its own std::regex. That of threads does not follow the fence of
  # Arena, on which only the wake-up of a thread rests.
  target_compile_options(stickslip_flags INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${STICKSLIP_SANITIZE} -fno-omit-frame-pointer -Wno-maybe-uninitialized -Wno-tsan>)
  target_link_options(stickslip_flags INTERFACE -fsanitize=${STICKSLIP_SANITIZE})
  if(STICKSLIP_SANITIZE MATCHES "address")
    set(STICKSLIP_KEEP_LIBRARIES ON)  # see tools/keep_libraries.cpp
  endif()
endif()

# CUDA: from the PATH or its usual location; a build without it is complete.
set(STICKSLIP_HAS_CUDA OFF)
execute_process(COMMAND nvidia-smi -L RESULT_VARIABLE no_gpu OUTPUT_QUIET ERROR_QUIET)
if(STICKSLIP_CUDA AND NOT (STICKSLIP_CUDA STREQUAL "AUTO" AND NOT no_gpu STREQUAL "0"))
  find_program(STICKSLIP_NVCC nvcc HINTS ENV CUDACXX PATHS /usr/local/cuda/bin /opt/cuda/bin)
  if(STICKSLIP_NVCC)
    set(CMAKE_CUDA_COMPILER ${STICKSLIP_NVCC})
    # CMake 3.25 lacks nvcc's C++20 flag.
    set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
    set(CMAKE_CUDA_RUNTIME_LIBRARY Static)
    if(STICKSLIP_CUDA_ARCH)
      set(CMAKE_CUDA_ARCHITECTURES ${STICKSLIP_CUDA_ARCH})
    else()
      if(no_gpu STREQUAL "0")
        set(CMAKE_CUDA_ARCHITECTURES native)
      else()
        # No device here: the driver of the target machine compiles PTX to machine code. This saves a third of
        # nvcc's time.
        set(CMAKE_CUDA_ARCHITECTURES 90-virtual)
      endif()
    endif()
    enable_language(CUDA)
    set(CMAKE_CUDA_STANDARD 20)
    set(STICKSLIP_HAS_CUDA ON)
    target_compile_options(stickslip_flags INTERFACE
      $<BUILD_INTERFACE:$<$<COMPILE_LANGUAGE:CUDA>:--extended-lambda --expt-relaxed-constexpr -Xcompiler=-Wall,-Wextra,-Wno-unknown-pragmas $<$<BOOL:${STICKSLIP_WERROR}>:-Werror=all-warnings>>>)
    target_compile_definitions(stickslip_flags INTERFACE STICKSLIP_HAS_CUDA=1)
  endif()
endif()
message(STATUS "stickslip: CUDA backend ${STICKSLIP_HAS_CUDA} (architectures: ${CMAKE_CUDA_ARCHITECTURES})")

find_package(Threads REQUIRED)

# stickslip_precompile(target header [group]): the first target of a group precompiles the header, the others
# of the group reuse it. They must have the same compiler options.
function(stickslip_precompile target header)
  if(NOT STICKSLIP_PCH)
    return()
  endif()
  get_property(owner GLOBAL PROPERTY stickslip_precompiled_${header}_${ARGN})
  if(owner)
    target_precompile_headers(${target} REUSE_FROM ${owner})
  else()
    target_precompile_headers(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:${CMAKE_SOURCE_DIR}/${header}>)
    set_property(GLOBAL PROPERTY stickslip_precompiled_${header}_${ARGN} ${target})
  endif()
endfunction()

# stickslip_cold(target): lower optimisation for code whose speed does not justify the compile time.
function(stickslip_cold target)
  # With -O1 GCC 12 reports uninitialised reads in moves of its own std::variant.
  target_compile_options(${target} PRIVATE $<$<AND:$<CONFIG:Release>,$<COMPILE_LANGUAGE:CXX>>:-O1
    $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>>)
endfunction()

# stickslip_wrap_kernels(OUT source.cu...): one generated line per source, compiled as C++ by the host
# compiler.
function(stickslip_wrap_kernels out)
  set(wrapped)
  foreach(source ${ARGN})
    cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${CMAKE_SOURCE_DIR} OUTPUT_VARIABLE relative)
    string(REPLACE ".cu" "_cpu.cpp" name ${relative})
    set(file ${CMAKE_BINARY_DIR}/kernels/${name})
    file(CONFIGURE OUTPUT ${file} CONTENT "#include \"${relative}\"\n" @ONLY)
    get_source_file_property(alone ${source} SKIP_UNITY_BUILD_INCLUSION)
    if(alone)
      set_source_files_properties(${file} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
    endif()
    list(APPEND wrapped ${file})
  endforeach()
  set(${out} ${wrapped} PARENT_SCOPE)
endfunction()

# stickslip_batch_host(OUT source.cpp...): generated files for the host compiler that each include up to
# STICKSLIP_GPU_BATCH of the sources, of one folder.
function(stickslip_batch_host out)
  if(STICKSLIP_GPU_BATCH LESS 2)
    set(${out} ${ARGN} PARENT_SCOPE)
    return()
  endif()
  set(batches)
  set(folders)
  foreach(source ${ARGN})
    get_source_file_property(alone ${source} SKIP_UNITY_BUILD_INCLUSION)
    if(alone)
      list(APPEND batches ${source})
      continue()
    endif()
    cmake_path(GET source PARENT_PATH folder)
    list(APPEND folders ${folder})
    string(MAKE_C_IDENTIFIER ${folder} key)
    list(APPEND sources_${key} ${source})
  endforeach()
  list(REMOVE_DUPLICATES folders)
  foreach(folder ${folders})
    string(MAKE_C_IDENTIFIER ${folder} key)
    set(number 0)
    while(sources_${key})
      list(SUBLIST sources_${key} 0 ${STICKSLIP_GPU_BATCH} chosen)
      list(REMOVE_ITEM sources_${key} ${chosen})
      list(TRANSFORM chosen REPLACE "(.+)" "#include \"\\1\"\n" OUTPUT_VARIABLE content)
      string(CONCAT content ${content})
      set(file ${CMAKE_BINARY_DIR}/batches/${key}_${number}.cpp)
      file(CONFIGURE OUTPUT ${file} CONTENT "${content}" @ONLY)
      # GCC takes an included source for a header, in which a class should have no members of unnamed types.
      set_source_files_properties(${file} PROPERTIES COMPILE_OPTIONS "$<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>")
      list(APPEND batches ${file})
      math(EXPR number "${number} + 1")
    endwhile()
  endforeach()
  set(${out} ${batches} PARENT_SCOPE)
endfunction()

# stickslip_batch_cuda(OUT source.cu...): generated files for nvcc that each include a few of the sources. For
# a small file most of nvcc's time is spent on headers, which are the same in every file.
# SKIP_UNITY_BUILD_INCLUSION keeps a source separate.
function(stickslip_batch_cuda out)
  set(batches)
  set(rest)
  foreach(source ${ARGN})
    get_source_file_property(alone ${source} SKIP_UNITY_BUILD_INCLUSION)
    if(alone OR NOT STICKSLIP_BATCH)
      list(APPEND batches ${source})
    else()
      list(APPEND rest ${source})
    endif()
  endforeach()
  while(rest)
    list(SUBLIST rest 0 ${STICKSLIP_CUDA_BATCH} chosen)
    list(REMOVE_ITEM rest ${chosen})
    list(LENGTH batches number)
    set(content)
    foreach(source ${chosen})
      cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${CMAKE_SOURCE_DIR} OUTPUT_VARIABLE relative)
      string(APPEND content "#include \"${relative}\"\n")
    endforeach()
    cmake_path(GET relative PARENT_PATH folder)
    set(file ${CMAKE_BINARY_DIR}/kernels/${folder}/batch_${number}.cu)
    file(CONFIGURE OUTPUT ${file} CONTENT "${content}" @ONLY)
    list(APPEND batches ${file})
  endwhile()
  set(${out} ${batches} PARENT_SCOPE)
endfunction()

# stickslip_module(name "dir;..." deps...): a static library of *.cpp (host only) and *.cu (both backends) in these folders.
function(stickslip_module name dirs)
  set(host)
  set(kernels)
  foreach(dir ${dirs})
    file(GLOB found CONFIGURE_DEPENDS ${dir}/*.cpp)
    list(APPEND host ${found})
    file(GLOB found CONFIGURE_DEPENDS ${dir}/*.cu)
    list(APPEND kernels ${found})
  endforeach()
  stickslip_wrap_kernels(wrapped ${kernels})
  set_property(GLOBAL APPEND PROPERTY stickslip_kernels ${kernels})
  if(NOT host AND NOT kernels)
    add_library(${name} INTERFACE)
    target_link_libraries(${name} INTERFACE stickslip_flags ${ARGN})
    return()
  endif()
  stickslip_batch_host(host ${host})
  stickslip_batch_host(wrapped ${wrapped})
  add_library(${name} STATIC ${host} ${wrapped})
  target_link_libraries(${name} PUBLIC stickslip_flags Threads::Threads ${ARGN})
  stickslip_precompile(${name} gpu/precompiled.h)
  if(STICKSLIP_HAS_CUDA AND kernels)
    stickslip_batch_cuda(batches ${kernels})
    target_sources(${name} PRIVATE ${batches})
    set_target_properties(${name} PROPERTIES CUDA_RUNTIME_LIBRARY Static)
  endif()
endfunction()
