# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
#
# In a wheel everything lands in site-packages, beside OpenMM's own files, so that OpenMM loads the plugins by itself.
# A plain `cmake --install` puts libraries and headers into OPENMM_DIR, which has the same shape. Where that is the
# prefix of the Python environment, as with conda, pip can put them there too.

option(INSTALL_INTO_PREFIX "Let pip install libraries and headers into the environment's prefix (conda/recipe.yaml)" OFF)
if(SKBUILD AND INSTALL_INTO_PREFIX)
    set(PREFIX ${SKBUILD_DATA_DIR}/)
elseif(SKBUILD)
    set(PREFIX OpenMM.libs/)
elseif(CMAKE_INSTALL_PREFIX_INITIALIZED_TO_DEFAULT)
    set(CMAKE_INSTALL_PREFIX "${OPENMM_DIR}" CACHE PATH "Where to install" FORCE)
endif()
set(LIB_FOLDER ${PREFIX}lib)
set(PLUGIN_FOLDER ${PREFIX}lib/plugins)
set(INCLUDE_FOLDER ${PREFIX}include)

if(APPLE)
    set(ORIGIN "@loader_path")
else()
    set(ORIGIN "$ORIGIN")
endif()
