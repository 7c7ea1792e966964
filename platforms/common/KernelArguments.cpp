// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "KernelArguments.h"

using namespace OpenMM;

namespace ConstraintPlugin {

KernelArguments::Item& KernelArguments::find(const std::string& name, const std::string& type) {
    const auto [place, isNew] = indices.emplace(name, (int) items.size());
    if (isNew) {
        items.emplace_back();
        items.back().name = name;
        items.back().type = type;
    }
    return items[place->second];
}

void KernelArguments::add(const std::string& name, const std::string& type, ArrayInterface& array) {
    find(name, "GLOBAL " + type + "*").array = &array;
}

ComputeArray& KernelArguments::create(const std::string& name, const std::string& type, std::size_t size,
                                      int elementSize) {
    auto& array = owned[name];
    array = std::make_unique<ComputeArray>();
    array->initialize(cc, std::max<std::size_t>(size, 1), elementSize, name); // there are no empty ones
    add(name, type, array->getArray());
    return *array;
}

static std::string vectorType(const std::string& type, int width) {
    return width == 1 ? type : type + std::to_string(width);
}

ComputeArray& KernelArguments::addInts(const std::string& name, const std::vector<int>& values, int width) {
    ComputeArray& array = create(name, vectorType("int", width), values.size() / width, width * (int) sizeof(int));
    if (!values.empty())
        array.upload(values.data());
    return array;
}

ComputeArray& KernelArguments::addMixed(const std::string& name, const std::vector<double>& values, int width) {
    const int size = mixedIsDouble() ? sizeof(double) : sizeof(float);
    ComputeArray& array = create(name, vectorType("mixed", width), values.size() / width, width * size);
    upload(name, values);
    return array;
}

void KernelArguments::upload(const std::string& name, const std::vector<double>& values) {
    if (values.empty())
        return;
    ComputeArray& array = *owned.at(name);
    const auto put = [&](const auto& numbers) { // the array may be longer
        const std::size_t bytes = numbers.size() * sizeof(numbers[0]);
        array.uploadSubArray(numbers.data(), 0, (int) (bytes / array.getElementSize()));
    };
    if (mixedIsDouble())
        put(values);
    else
        put(std::vector<float>(values.begin(), values.end()));
}

std::vector<double> KernelArguments::download(const std::string& name) {
    ComputeArray& array = *owned.at(name);
    const std::size_t bytes = array.getSize() * array.getElementSize();
    if (mixedIsDouble()) {
        std::vector<double> values(bytes / sizeof(double));
        array.download(values.data());
        return values;
    }
    std::vector<float> values(bytes / sizeof(float));
    array.download(values.data());
    return {values.begin(), values.end()};
}

ComputeArray& KernelArguments::addReals(const std::string& name, std::size_t size, int width) {
    const int bytes = cc.getUseDoublePrecision() ? sizeof(double) : sizeof(float);
    return create(name, vectorType("real", width), size / width, width * bytes);
}

/** Append a part to a pool, aligned for vectors of four. @return where it begins */
template <class T>
static int append(std::vector<T>& pool, const std::vector<T>& values) {
    const int begin = (int) pool.size();
    pool.insert(pool.end(), values.begin(), values.end());
    pool.resize((pool.size() + 3) / 4 * 4);
    return begin;
}

void KernelArguments::poolInts(const std::string& name, const std::vector<int>& values, int width) {
    find(name, "GLOBAL " + vectorType("int", width) + "*").placeInPool = (int) poolBegins.size();
    poolBegins.push_back(append(intPool, values));
}

void KernelArguments::poolMixed(const std::string& name, const std::vector<double>& values, int width) {
    find(name, "GLOBAL " + vectorType("mixed", width) + "*").placeInPool = (int) poolBegins.size();
    poolBegins.push_back(append(mixedPool, values));
}

void KernelArguments::finishPools() {
    // The list of beginnings comes first among the ints.
    const int header = ((int) poolBegins.size() + 3) / 4 * 4;
    for (const Item& item : items)
        if (item.placeInPool >= 0 && item.type.find("int") != std::string::npos)
            poolBegins[item.placeInPool] += header;
    poolBegins.resize(header);
    intPool.insert(intPool.begin(), poolBegins.begin(), poolBegins.end());
    addInts("intPool", intPool);
    addMixed("mixedPool", mixedPool);
    intPool = {};
    mixedPool = {};
}

void KernelArguments::set(const std::string& name, int value) {
    find(name, "int").intValue = value;
}

void KernelArguments::set(const std::string& name, double value) {
    find(name, "mixed").mixedValue.x = value;
}

void KernelArguments::set(const std::string& name, const Vec3& value) {
    find(name, "mixed4").mixedValue = mm_double4(value[0], value[1], value[2], 0);
}

std::string KernelArguments::definition() const {
    std::string text = "typedef struct {\n";
    for (const Item& item : items)
        text += "    " + item.type + " " + item.name + ";\n";
    return text + "} Arguments;\n";
}

std::string KernelArguments::parameters() const {
    std::string text;
    for (const Item& item : items)
        if (item.placeInPool < 0)
            text += (text.empty() ? "" : ", ") + item.type + " " + item.name;
    return text;
}

std::string KernelArguments::initializer() const {
    std::string text;
    for (const Item& item : items) {
        text += text.empty() ? "{" : ", ";
        if (item.placeInPool < 0)
            text += item.name;
        else {
            const std::string pool = item.type.find("int") != std::string::npos ? "intPool" : "mixedPool";
            text += "(" + item.type + ") (" + pool + " + intPool[" + std::to_string(item.placeInPool) + "])";
        }
    }
    return text + "}";
}

/** apply(index, array or number) */
template <class Apply>
void KernelArguments::forEach(Apply apply) const {
    int i = -1;
    for (const Item& item : items) {
        const mm_double4& v = item.mixedValue;
        if (item.placeInPool >= 0)
            continue;
        i++;
        if (item.array != nullptr)
            apply(i, *item.array);
        else if (item.type == "int")
            apply(i, item.intValue);
        else if (item.type == "mixed" && mixedIsDouble())
            apply(i, v.x);
        else if (item.type == "mixed")
            apply(i, (float) v.x);
        else if (mixedIsDouble())
            apply(i, v);
        else
            apply(i, mm_float4((float) v.x, (float) v.y, (float) v.z, 0));
    }
}

void KernelArguments::bind(ComputeKernel& kernel) const {
    forEach([&](int, auto&& value) { kernel->addArg(value); });
}

void KernelArguments::update(ComputeKernel& kernel) const {
    forEach([&](int i, auto&& value) {
        if constexpr (!std::is_base_of_v<ArrayInterface, std::decay_t<decltype(value)>>)
            kernel->setArg(i, value);
    });
}

} // namespace ConstraintPlugin
