# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
#
# embed_kernels(<target> <files>...): a static library with ConstraintPlugin::ConstraintKernelSources, which has the texts of
# files by their names. Run as a script, this file writes its source.

if(CMAKE_SCRIPT_MODE_FILE)
    separate_arguments(files UNIX_COMMAND "${FILES}")
    set(entries "")
    foreach(file ${files})
        get_filename_component(name "${file}" NAME)
        file(READ "${file}" text)
        string(APPEND entries "        {\"${name}\", R\"kernel(${text})kernel\"},\n")
    endforeach()
    file(WRITE "${OUTPUT}" "// Written by cmake/EmbedKernels.cmake.
#include \"ConstraintKernelSources.h\"

namespace ConstraintPlugin {

const std::map<std::string, std::string>& ConstraintKernelSources::files() {
    static const std::map<std::string, std::string> all = {
${entries}    };
    return all;
}

} // namespace ConstraintPlugin
")
    return()
endif()

set(EMBED_KERNELS_SCRIPT "${CMAKE_CURRENT_LIST_FILE}")

function(embed_kernels target)
    set(names "")
    foreach(file ${ARGN})
        get_filename_component(name "${file}" NAME)
        list(APPEND names ${name})
    endforeach()
    list(LENGTH names files)
    list(REMOVE_DUPLICATES names)
    list(LENGTH names different)
    if(NOT files EQUAL different)
        message(FATAL_ERROR "Two kernel texts have the same name: they are found by it")
    endif()
    set(folder "${CMAKE_CURRENT_BINARY_DIR}/${target}")
    file(CONFIGURE OUTPUT "${folder}/ConstraintKernelSources.h" CONTENT
"// Written by cmake/EmbedKernels.cmake.
#pragma once
#include <map>
#include <string>

namespace ConstraintPlugin {

/** Kernel texts, by the names of their files: \"rows.cc\". */
struct ConstraintKernelSources {
    static const std::map<std::string, std::string>& files();
};

} // namespace ConstraintPlugin
" @ONLY)
    list(JOIN ARGN "\" \"" files)
    add_custom_command(OUTPUT "${folder}/ConstraintKernelSources.cpp"
        COMMAND ${CMAKE_COMMAND} "-DFILES=\"${files}\"" "-DOUTPUT=${folder}/ConstraintKernelSources.cpp"
            -P "${EMBED_KERNELS_SCRIPT}"
        DEPENDS ${ARGN} "${EMBED_KERNELS_SCRIPT}"
        COMMENT "Embedding kernel texts"
        VERBATIM)
    add_library(${target} STATIC "${folder}/ConstraintKernelSources.cpp")
    target_include_directories(${target} PUBLIC "${folder}")
endfunction()
