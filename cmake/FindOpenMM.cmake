# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
#
# Finds OpenMM in OPENMM_DIR and defines the target OpenMM and OPENMM_VERSION.

if(CONSTRAINTS_BUILD_PYTHON)
    set(python_components Interpreter Development.Module NumPy)
else()
    set(python_components Interpreter)
endif()
find_package(Python 3.10 REQUIRED COMPONENTS ${python_components})

# The PyPI wheel keeps headers and libraries beside the Python package, conda in the environment's prefix.
# find_spec does not import OpenMM, so this works in a build environment too.
if(NOT OPENMM_DIR)
    execute_process(COMMAND ${Python_EXECUTABLE} -c "
import importlib.util, pathlib, sys
spec = importlib.util.find_spec('openmm')
wheel = pathlib.Path(spec.origin).parent.parent / 'OpenMM.libs' if spec else None
print(wheel if wheel and wheel.is_dir() else sys.prefix)"
        OUTPUT_VARIABLE found OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
    set(OPENMM_DIR "${found}" CACHE PATH "Where OpenMM is installed: the folder with include/ and lib/" FORCE)
endif()

if(NOT EXISTS "${OPENMM_DIR}/include/OpenMM.h")
    message(FATAL_ERROR "No OpenMM headers: ${OPENMM_DIR}/include/OpenMM.h does not exist.\n"
        "Install OpenMM (pip install \"openmm>=8.6,<8.7\") or say where it is: -DOPENMM_DIR=<prefix>")
endif()
find_library(OPENMM_LIBRARY OpenMM PATHS "${OPENMM_DIR}/lib" NO_DEFAULT_PATH)
if(NOT OPENMM_LIBRARY)
    message(FATAL_ERROR "No libOpenMM in ${OPENMM_DIR}/lib. Say where OpenMM is: -DOPENMM_DIR=<prefix>")
endif()

add_library(OpenMM SHARED IMPORTED GLOBAL)
set_target_properties(OpenMM PROPERTIES
    IMPORTED_LOCATION "${OPENMM_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${OPENMM_DIR}/include")

# The library itself is asked, not its metadata: this proves that compiler and library agree on the C++ ABI too.
if(NOT OPENMM_VERSION)
    file(WRITE "${CMAKE_BINARY_DIR}/openmm_version.cpp" "
#include <iostream>
#include \"openmm/Platform.h\"
int main() { std::cout << OpenMM::Platform::getOpenMMVersion(); }")
    try_run(runs compiles "${CMAKE_BINARY_DIR}/try" "${CMAKE_BINARY_DIR}/openmm_version.cpp"
        LINK_LIBRARIES OpenMM COMPILE_OUTPUT_VARIABLE errors RUN_OUTPUT_VARIABLE version CXX_STANDARD 17)
    if(NOT compiles OR NOT runs EQUAL 0)
        message(FATAL_ERROR "A program cannot be built and run against OpenMM in ${OPENMM_DIR}:\n${errors}${version}")
    endif()
    set(OPENMM_VERSION "${version}" CACHE INTERNAL "what Platform::getOpenMMVersion() says")
endif()
message(STATUS "OpenMM ${OPENMM_VERSION} in ${OPENMM_DIR}")
