# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
#
# Finds OpenMM in OPENMM_DIR and defines the target OpenMM, OPENMM_VERSION and OPENMM_SERIES. The series is what these
# sources are for: the fourth component of their version, 806 for 8.6 (scripts/series.py).

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

math(EXPR major "${PROJECT_VERSION_TWEAK} / 100")
math(EXPR minor "${PROJECT_VERSION_TWEAK} % 100")
set(OPENMM_SERIES "${major}.${minor}")

if(NOT EXISTS "${OPENMM_DIR}/include/OpenMM.h")
    message(FATAL_ERROR "No OpenMM headers: ${OPENMM_DIR}/include/OpenMM.h does not exist.\n"
        "Install OpenMM (pip install \"openmm==${OPENMM_SERIES}.*\") or say where it is: -DOPENMM_DIR=<prefix>")
endif()
find_library(OPENMM_LIBRARY OpenMM PATHS "${OPENMM_DIR}/lib" NO_DEFAULT_PATH NO_CACHE)
if(NOT OPENMM_LIBRARY)
    message(FATAL_ERROR "No libOpenMM in ${OPENMM_DIR}/lib. Say where OpenMM is: -DOPENMM_DIR=<prefix>")
endif()

add_library(OpenMM SHARED IMPORTED GLOBAL)
set_target_properties(OpenMM PROPERTIES
    IMPORTED_LOCATION "${OPENMM_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${OPENMM_DIR}/include")

# The library itself is asked, not its metadata: this proves that compiler and library agree on the C++ ABI too. It may
# have been replaced since the last time.
file(TIMESTAMP "${OPENMM_LIBRARY}" stamp)
if(NOT OPENMM_ASKED STREQUAL "${OPENMM_LIBRARY} ${stamp}")
    file(WRITE "${CMAKE_BINARY_DIR}/openmm_version.cpp" "
#include <iostream>
#include \"openmm/Platform.h\"
int main() { std::cout << OpenMM::Platform::getOpenMMVersion(); }")
    try_run(runs compiles "${CMAKE_BINARY_DIR}/try" "${CMAKE_BINARY_DIR}/openmm_version.cpp"
        LINK_LIBRARIES OpenMM COMPILE_OUTPUT_VARIABLE errors RUN_OUTPUT_VARIABLE version CXX_STANDARD 17)
    if(NOT compiles OR NOT runs EQUAL 0)
        message(FATAL_ERROR "A program cannot be built and run against OpenMM in ${OPENMM_DIR}:\n${errors}${version}")
    endif()
    unset(runs CACHE) # or the next one is not run
    set(OPENMM_VERSION "${version}" CACHE INTERNAL "what Platform::getOpenMMVersion() says")
    set(OPENMM_ASKED "${OPENMM_LIBRARY} ${stamp}" CACHE INTERNAL "the library that said OPENMM_VERSION, and its time")
endif()
string(REGEX MATCH "^[0-9]+[.][0-9]+" found_series "${OPENMM_VERSION}")
if(NOT found_series STREQUAL OPENMM_SERIES)
    message(FATAL_ERROR "These sources, version ${PROJECT_VERSION}, are for OpenMM ${OPENMM_SERIES}, but OpenMM "
        "${OPENMM_VERSION} is in ${OPENMM_DIR}.\n"
        "Install that series (pip install \"openmm==${OPENMM_SERIES}.*\"), or take sources for this one: "
        "python scripts/series.py ${found_series} writes it into a checkout, and there is a source archive for each")
endif()
message(STATUS "OpenMM ${OPENMM_VERSION} in ${OPENMM_DIR}")
