# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
#
# find_gpu_headers(<result> <OpenMM header> <C header> <folders>...): the first of the folders with which a source that
# includes OpenMM's header compiles. Sets CACHE{<result>}; empty if there is none. A toolkit may be there only in part:
# the compiler is the surest question, and a failure here never stops the build.

# The folder of the headers in NVIDIA's PyPI packages, which are build requirements: no toolkit is needed.
execute_process(COMMAND ${Python_EXECUTABLE} -c "
import importlib.util, pathlib
spec = importlib.util.find_spec('nvidia')
folders = [pathlib.Path(p) / 'cu13' / 'include' for p in spec.submodule_search_locations] if spec else []
print(';'.join(str(folder) for folder in folders if folder.is_dir()))"
    OUTPUT_VARIABLE NVIDIA_WHEEL_HEADERS OUTPUT_STRIP_TRAILING_WHITESPACE)
find_package(CUDAToolkit QUIET)
set(NVIDIA_HEADERS "$ENV{CUDA_HOME}/include" ${CUDAToolkit_INCLUDE_DIRS} ${NVIDIA_WHEEL_HEADERS})

function(find_gpu_headers result openmm_header c_header)
    if(${result})
        return()
    endif()
    set(source "${CMAKE_BINARY_DIR}/try/${result}.cpp")
    file(WRITE "${source}" "#include \"${openmm_header}\"\nint main() { return 0; }\n")
    foreach(folder ${ARGN})
        if(NOT EXISTS "${folder}/${c_header}")
            continue()
        endif()
        set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
        try_compile(compiles "${CMAKE_BINARY_DIR}/try" "${source}" CXX_STANDARD 17 OUTPUT_VARIABLE errors
            CMAKE_FLAGS "-DINCLUDE_DIRECTORIES=${OPENMM_DIR}/include;${folder}")
        if(compiles)
            set(${result} "${folder}" CACHE PATH "Folder of ${c_header}" FORCE)
            unset(compiles CACHE)
            return()
        endif()
        message(STATUS "${openmm_header} does not compile with ${folder}:\n${errors}")
        unset(compiles CACHE)
    endforeach()
    set(${result} "" CACHE PATH "Folder of ${c_header}" FORCE)
endfunction()
