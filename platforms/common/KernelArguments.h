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
    /** A new array of `mm_long`s, all 0. */
    OpenMM::ComputeArray& addLongZeros(const std::string& name, std::size_t size);
    /** A new array of `real`s, not initialized. */
    OpenMM::ComputeArray& addReals(const std::string& name, std::size_t size, int width);
    /** The same in a pool: one array for many, since implementations of OpenCL are not at ease with a hundred
     *  arguments. The host does not see them again. finishPools() has to follow, and until then what is referred to
     *  has to stay; zeros take no place on the host. */
    void poolInts(const std::string& name, const std::vector<int>& values) {
        pool(intPool, name, 1, values.size(), values.data());
    }
    template <std::size_t N>
    void poolInts(const std::string& name, const std::vector<std::array<int, N>>& values) {
        pool(intPool, name, (int) N, N * values.size(), values.empty() ? (const int*) nullptr : values[0].data());
    }
    void poolMixed(const std::string& name, const std::vector<double>& values) {
        pool(mixedPool, name, 1, values.size(), values.data());
    }
    void poolIntZeros(const std::string& name, std::size_t size, int width = 1) {
        pool(intPool, name, width, size, (const int*) nullptr);
    }
    void poolMixedZeros(const std::string& name, std::size_t size, int width = 1) {
        pool(mixedPool, name, width, size, (const double*) nullptr);
    }
    void poolInts(const std::string& name, std::vector<int>&& values) = delete; // would be gone
    void poolMixed(const std::string& name, std::vector<double>&& values) = delete;
    template <std::size_t N>
    void poolInts(const std::string& name, std::vector<std::array<int, N>>&& values) = delete;
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
    /** Where parts of one type begin, and what they are uploaded from; nullptr: zeros. */
    template <class T>
    struct Pool {
        struct Part {
            int placeInBegins;
            std::size_t begin, size;
            const T* values;
        };
        std::string type;
        std::size_t size = 0;
        std::vector<Part> parts;
    };
    template <class T>
    void pool(Pool<T>& pool, const std::string& name, int width, std::size_t size, const T* values);
    template <class T>
    void uploadParts(const Pool<T>& pool, OpenMM::ComputeArray& array);
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
    std::vector<int> poolBegins; // where each part begins
    Pool<int> intPool{"int", 0, {}};
    Pool<double> mixedPool{"mixed", 0, {}};
    std::map<std::string, std::unique_ptr<OpenMM::ComputeArray>> owned;
};

} // namespace ConstraintPlugin

#endif
