// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_KERNEL_ARGUMENTS_H_
#define OPENMM_CONSTRAINTS_KERNEL_ARGUMENTS_H_

#include "DeviceArrays.h"
#include "openmm/common/ComputeArray.h"
#include "openmm/common/ComputeContext.h"
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace ConstraintPlugin {

/** Of a Context's numbers. */
NumberBytes numberBytes(const OpenMM::ComputeContext& cc);

/** The arrays and numbers that all kernels of a program are given, by name. Kernels take them all in one order and see
 *  them as members of a struct `Arguments`, whose definition is written here: no list of them stands twice. A name that
 *  was not added is an error, in a call as well as in a kernel's text. */
class KernelArguments {
public:
    explicit KernelArguments(OpenMM::ComputeContext& cc) : cc(cc) {
    }
    /** An array of someone else's. @param type  of an element, as kernels know it: "real4", "const mm_long" */
    void add(const std::string& name, const std::string& type, OpenMM::ArrayInterface& array);
    /** New arrays with what the tables say, or zeros. The host does not see those that are pooled again: they are parts
     *  of one array of ints and of one of `mixed`s, since implementations of OpenCL are not at ease with a hundred
     *  arguments. */
    void add(const DeviceArrays& arrays, const ConstraintTables& tables);
    /** Numbers, which may change from launch to launch. */
    void addNumber(const std::string& name, int value);
    void addNumber(const std::string& name, double value);
    void addNumber(const std::string& name, const OpenMM::Vec3& value);
    void set(const std::string& name, int value);
    void set(const std::string& name, double value);
    void set(const std::string& name, const OpenMM::Vec3& value);

    /** New values of an array of `mixed`s, and its present ones. */
    void upload(const std::string& name, const std::vector<double>& values);
    std::vector<double> download(const std::string& name);

    /** An array that was added, and is not pooled. */
    OpenMM::ComputeArray& operator[](const std::string& name);
    /** Bytes of all that were added. */
    double allocatedBytes() const;
    /** typedef struct {...} Arguments; */
    std::string definition() const;
    /** What stands between a kernel's parentheses. */
    std::string parameters() const;
    /** The initializer of an Arguments. */
    std::string initializer() const;
    /** @throws OpenMMException if a text has a->NAME with the name of no argument: the function and the name */
    void requireKnownIn(const std::string& text) const;
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
    Item& addItem(const std::string& name, const std::string& type);
    Item& find(const std::string& name, const std::string& type);
    OpenMM::ComputeArray& create(const std::string& name, const std::string& type, std::size_t count);
    void addPools(const DeviceArrays& arrays, const ConstraintTables& tables);
    template <class Apply>
    void forEach(Apply apply) const;
    bool mixedIsDouble() const {
        return cc.getUseDoublePrecision() || cc.getUseMixedPrecision();
    }
    OpenMM::ComputeContext& cc;
    std::vector<Item> items;
    std::map<std::string, int> indices;
    std::map<std::string, std::unique_ptr<OpenMM::ComputeArray>> owned;
};

} // namespace ConstraintPlugin

#endif
