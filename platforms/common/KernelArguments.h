// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_KERNEL_ARGUMENTS_H_
#define OPENMM_CONSTRAINTS_KERNEL_ARGUMENTS_H_

#include "openmm/common/ComputeArray.h"
#include "openmm/common/ComputeContext.h"
#include <array>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace ConstraintPlugin {

/** The arrays and numbers that all kernels of a program are given, by name. Kernels take them all in one order and see
 *  them as members of a struct `Arguments`, whose definition is written here: no list of them stands twice. */
class KernelArguments {
public:
    explicit KernelArguments(OpenMM::ComputeContext& cc) : cc(cc) {
    }
    /** An array of someone else's. @param type  of an element, as kernels know it: "real4", "const mm_long" */
    void add(const std::string& name, const std::string& type, OpenMM::ArrayInterface& array);
    /** A new array of `int`s, or of `mixed`s; `width` of them make an element ("int2", "mixed4"). */
    OpenMM::ComputeArray& addInts(const std::string& name, const std::vector<int>& values, int width = 1);
    OpenMM::ComputeArray& addMixed(const std::string& name, const std::vector<double>& values, int width = 1);
    /** A new array of `real`s, not initialized. */
    OpenMM::ComputeArray& addReals(const std::string& name, std::size_t size, int width);
    /** The same in a pool: one array for many, since implementations of OpenCL are not at ease with a hundred
     * arguments. The host does not see them again. finishPools() has to follow. */
    void poolInts(const std::string& name, const std::vector<int>& values, int width = 1);
    template <std::size_t N>
    void poolInts(const std::string& name, const std::vector<std::array<int, N>>& values);
    void poolMixed(const std::string& name, const std::vector<double>& values, int width = 1);
    void finishPools();
    /** Numbers, which may change from launch to launch. */
    void set(const std::string& name, int value);
    void set(const std::string& name, double value);
    void set(const std::string& name, const OpenMM::Vec3& value);

    /** New values of an array of `mixed`s, and its present ones. */
    void upload(const std::string& name, const std::vector<double>& values);
    std::vector<double> download(const std::string& name);

    OpenMM::ComputeArray& operator[](const std::string& name) {
        return *owned.at(name);
    }
    /** typedef struct {...} Arguments; */
    std::string definition() const;
    /** What stands between a kernel's parentheses. */
    std::string parameters() const;
    /** The initializer of an Arguments. */
    std::string initializer() const;
    /** Give a new kernel its arguments. */
    void bind(OpenMM::ComputeKernel& kernel) const;
    /** Give it the numbers as they are now. */
    void update(OpenMM::ComputeKernel& kernel) const;

private:
    struct Item {
        std::string name, type;
        OpenMM::ArrayInterface* array = nullptr; // or a number:
        int intValue = 0;
        OpenMM::mm_double4 mixedValue;
        int placeInPool = -1; // or part of a pool: where its beginning is listed
    };
    Item& find(const std::string& name, const std::string& type);
    OpenMM::ComputeArray& create(const std::string& name, const std::string& type, std::size_t size, int elementSize);
    template <class Apply>
    void forEach(Apply apply) const;
    bool mixedIsDouble() const {
        return cc.getUseDoublePrecision() || cc.getUseMixedPrecision();
    }
    OpenMM::ComputeContext& cc;
    std::vector<Item> items;
    std::map<std::string, int> indices;
    std::vector<int> poolBegins, intPool; // where each part begins, and parts of ints
    std::vector<double> mixedPool;
    std::map<std::string, std::unique_ptr<OpenMM::ComputeArray>> owned;
};

template <std::size_t N>
void KernelArguments::poolInts(const std::string& name, const std::vector<std::array<int, N>>& values) {
    std::vector<int> flat;
    for (const auto& each : values)
        flat.insert(flat.end(), each.begin(), each.end());
    poolInts(name, flat, (int) N);
}

} // namespace ConstraintPlugin

#endif
