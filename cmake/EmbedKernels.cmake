# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
#
# embed_kernels(<target> <files>...): a static library with the class ConstraintPlugin::ConstraintKernelSources, which
# has one `static const std::string <name>` for each file <name>.cc. Run as a script, this file writes its source.

if(CMAKE_SCRIPT_MODE_FILE)
    separate_arguments(files UNIX_COMMAND "${FILES}")
    set(definitions "")
    foreach(file ${files})
        get_filename_component(name "${file}" NAME_WE)
        file(READ "${file}" text)
        string(APPEND definitions "const std::string ConstraintKernelSources::${name} = R\"kernel(${text})kernel\";\n")
    endforeach()
    file(WRITE "${OUTPUT}" "// Written by cmake/EmbedKernels.cmake.
#include \"ConstraintKernelSources.h\"

namespace ConstraintPlugin {

${definitions}
} // namespace ConstraintPlugin
")
    return()
endif()

set(EMBED_KERNELS_SCRIPT "${CMAKE_CURRENT_LIST_FILE}")

function(embed_kernels target)
    set(folder "${CMAKE_CURRENT_BINARY_DIR}/${target}")
    set(declarations "")
    foreach(file ${ARGN})
        get_filename_component(name "${file}" NAME_WE)
        string(APPEND declarations "    static const std::string ${name};\n")
    endforeach()
    # Names are known now, so that a changed text recompiles one file and not all that include this header.
    file(CONFIGURE OUTPUT "${folder}/ConstraintKernelSources.h" CONTENT
"// Written by cmake/EmbedKernels.cmake.
#pragma once
#include <string>

namespace ConstraintPlugin {

/** Kernel texts, by the names of their files. */
struct ConstraintKernelSources {
${declarations}};

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
