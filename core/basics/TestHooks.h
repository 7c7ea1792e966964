// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_TEST_HOOKS_H_
#define CONSTRAINTS_CORE_TEST_HOOKS_H_

#include <cstdlib>

namespace ConstraintPlugin {

/** A variable of the environment that makes small systems, or this machine, go a way that is else for large systems, or
 *  for other machines. Tests and benchmarks set it; users have no reason to. It is read whenever it is asked for, since
 * a test sets and unsets it in one process. */
class TestHook {
public:
    constexpr explicit TestHook(const char* variable) : variable(variable) {
    }
    bool isSet() const {
        return std::getenv(variable) != nullptr;
    }
    /** Its integer, or another number if it is not set. */
    template <class Number>
    Number valueOr(Number otherwise) const {
        const char* text = std::getenv(variable);
        return text == nullptr ? otherwise : (Number) std::atoll(text);
    }

private:
    const char* variable;
};

/** All of them. No other file reads the environment (tests/python/test_architecture.py). */
namespace TestHooks {

// ---- the host ----

/** Lanes of small batches on the CPU platform, 4 or 8: both are right on every processor, and one of them is usual. */
inline constexpr TestHook lanes{"OPENMM_CONSTRAINTS_LANES"};

// ---- what serves a cluster, or a body, on devices ----

/** If set, thread blocks serve large clusters on a CPU too, as on a GPU: a test of blocks where there is no GPU. */
inline constexpr TestHook blocks{"OPENMM_CONSTRAINTS_BLOCKS"};
/** Places of a body above which it is split, into parts of so many: parts of small bodies are tested sooner. */
inline constexpr TestHook bodyPart{"OPENMM_CONSTRAINTS_BODY_PART"};
/** 1: constraints of centroids are a border, however few particles they have; 0: they merge clusters, with which a
 *  benchmark compares. */
inline constexpr TestHook border{"OPENMM_CONSTRAINTS_BORDER"};
/** Turns of border and clusters in a launch: a test that their number changes no result. */
inline constexpr TestHook turns{"OPENMM_CONSTRAINTS_TURNS"};

// ---- memory ----

/** At most so many bytes of shared memory have a factor: factors of small clusters are in global memory then. */
inline constexpr TestHook sharedMemory{"OPENMM_CONSTRAINTS_SHARED_MEMORY"};
/** Bytes of the device's memory: what is said where they do not suffice. */
inline constexpr TestHook deviceMemory{"OPENMM_CONSTRAINTS_DEVICE_MEMORY"};
/** At most so many bytes has an array: several are made of what else is one, or it is refused. */
inline constexpr TestHook largestArray{"OPENMM_CONSTRAINTS_LARGEST_ARRAY"};

// ---- large clusters in overlapping subdomains ----
// Variables keep the older word for these, parts: scripts outside of the repository set them.

/** Rows of a subdomain, and of the largest cluster that is one subdomain: small clusters are cut too. 0: none is in
 * subdomains. */
inline constexpr TestHook subdomains{"OPENMM_CONSTRAINTS_PARTS"};
/** Width of a subdomain's halo: without one, subdomains converge slowly, or leave clusters to be solved as a whole. */
inline constexpr TestHook hops{"OPENMM_CONSTRAINTS_HOPS"};
/** Most corrections, after which a cluster is solved as a whole: few lead there, many show how subdomains converge. */
inline constexpr TestHook corrections{"OPENMM_CONSTRAINTS_CORRECTIONS"};
/** If set, subdomains factorize in each round, for comparisons bit for bit; if 1, rounds are launches, as where not all
 * subdomains are on the device at once: more subdomains than tests can have. */
inline constexpr TestHook launches{"OPENMM_CONSTRAINTS_LAUNCHES"};
/** If set, no cluster is solved as a whole: a test that subdomains converge, where the whole one would hide that. */
inline constexpr TestHook onlySubdomains{"OPENMM_CONSTRAINTS_ONLY_PARTS"};
/** If set, every round is taken for the last one: a test that the next one finds out where it was not. */
inline constexpr TestHook last{"OPENMM_CONSTRAINTS_LAST"};
/** If set, kernels are compiled at once with what solves a whole cluster, which else follows when subdomains hand one
 * over: a test of compilers has no device that does. */
inline constexpr TestHook whole{"OPENMM_CONSTRAINTS_WHOLE"};

} // namespace TestHooks

} // namespace ConstraintPlugin

#endif
