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

/** Bytes of the numbers of a Context. */
NumberBytes numberBytes(const OpenMM::ComputeContext& cc);

/** The arrays and numbers that are the arguments of all kernels of a program, by name. They have the same order in all
 *  kernels, which use them as members of a struct `Arguments`. The definition of this struct is generated, so that the
 *  list exists once. A name that was not added is an error, in a call as well as in the text of a kernel. */
class KernelArguments {
public:
    explicit KernelArguments(OpenMM::ComputeContext& cc) : cc(cc) {
    }
    /** Add an array that another object owns.
     *  @param type  of an element in kernels: "real4", "const mm_long" */
    void add(const std::string& name, const std::string& type, OpenMM::ArrayInterface& array);
    /** Add new arrays with the values of the tables, or zeros. Pooled arrays are parts of one array of ints and of one
     *  of `mixed`s (Pools), because many OpenCL implementations do not support a hundred arguments; the host cannot
     *  access them afterwards.
     *  @param largestArray  bytes */
    void add(const DeviceArrays& arrays, const ConstraintTables& tables, double largestArray);
    /** Add numbers, which may change from launch to launch. */
    void addNumber(const std::string& name, int value);
    void addNumber(const std::string& name, double value);
    void addNumber(const std::string& name, const OpenMM::Vec3& value);
    void set(const std::string& name, int value);
    void set(const std::string& name, double value);
    void set(const std::string& name, const OpenMM::Vec3& value);

    /** Set or return the values of an array of `mixed`s. */
    void upload(const std::string& name, const std::vector<double>& values);
    std::vector<double> download(const std::string& name);

    /** An array that was added, and is not pooled. */
    OpenMM::ComputeArray& operator[](const std::string& name);
    /** Bytes of all that were added. */
    double allocatedBytes() const;
    /** An upper bound of the size of Arguments, in floats. */
    int floats() const;
    /** typedef struct {...} Arguments; */
    std::string definition() const;
    /** The parameter list of a kernel. */
    std::string parameters() const;
    /** What a kernel begins with, which makes `a` of its parameters. */
    std::string beginText() const;
    /** A kernel with these arguments, `a` in its body.
     *  @param bounds  of its threads, as "BODY_BOUNDS ";  @param memory  declarations of shared memory
     *  @param begin   what comes first: nothing is done if a step has failed */
    std::string kernelText(const std::string& name, const std::string& bounds, const std::string& memory,
                           const std::string& body, const std::string& begin = hasFailedText) const;
    /** The same as a function for a part of a kernel, and a call of it.
     *  @param given  in place of parameters of these names */
    std::string functionText(const std::string& name, const std::string& memory, const std::string& body,
                             const std::string& begin = hasFailedText) const;
    std::string callText(const std::string& name, const std::map<std::string, std::string>& given) const;
    /** @throws OpenMMException with the function and the name if a text has a->NAME and no argument has that name */
    void requireKnownIn(const std::string& text) const;
    /** Set the arguments of a new kernel. */
    void bind(OpenMM::ComputeKernel& kernel) const;
    /** Set the present values of the numbers in a kernel. */
    void update(OpenMM::ComputeKernel& kernel) const;

    static constexpr const char* hasFailedText = "    if (hasFailed(a))\n        return;\n";

private:
    std::string bodyText(const std::string& name, const std::string& memory, const std::string& body,
                         const std::string& begin) const;
    struct Item {
        std::string name, type;
        OpenMM::ArrayInterface* array = nullptr; // or a number:
        int intValue = 0;
        OpenMM::mm_double4 mixedValue;
        int placeInPool = -1; // or part of a pool: where its beginning is listed
        std::string pool;
    };
    Item& addItem(const std::string& name, const std::string& type);
    Item& find(const std::string& name, const std::string& type);
    OpenMM::ComputeArray& create(const std::string& name, const std::string& type, std::size_t count);
    void addPools(const DeviceArrays& arrays, const ConstraintTables& tables, double largestArray);
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
