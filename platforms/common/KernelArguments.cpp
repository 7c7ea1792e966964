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

ComputeArray& KernelArguments::addLongZeros(const std::string& name, std::size_t size) {
    ComputeArray& array = create(name, "mm_long", size, sizeof(long long));
    array.upload(std::vector<long long>(array.getSize()).data());
    return array;
}

ComputeArray& KernelArguments::addReals(const std::string& name, std::size_t size, int width) {
    const int bytes = cc.getUseDoublePrecision() ? sizeof(double) : sizeof(float);
    return create(name, vectorType("real", width), size / width, width * bytes);
}

template <class T>
void KernelArguments::pool(Pool<T>& pool, const std::string& name, int width, std::size_t size, const T* values) {
    find(name, "GLOBAL " + vectorType(pool.type, width) + "*").placeInPool = (int) poolBegins.size();
    pool.parts.push_back({(int) poolBegins.size(), pool.size, size, values});
    poolBegins.push_back((int) pool.size);
    pool.size += (size + 3) / 4 * 4; // aligned for vectors of four
}

template void KernelArguments::pool(Pool<int>&, const std::string&, int, std::size_t, const int*);
template void KernelArguments::pool(Pool<double>&, const std::string&, int, std::size_t, const double*);

/** Part by part, and each in pieces: the host holds no second copy of tables that may fill the device. */
template <class T>
void KernelArguments::uploadParts(const Pool<T>& pool, ComputeArray& array) {
    constexpr std::size_t piece = 1 << 20;
    std::vector<T> values(std::min(piece, pool.size));
    std::vector<float> floats;
    for (const auto& part : pool.parts)
        for (std::size_t first = 0; first < part.size; first += piece) {
            const std::size_t size = std::min(piece, part.size - first), place = part.begin + first;
            const T* const from = part.values == nullptr ? values.data() : part.values + first;
            if (array.getElementSize() == sizeof(T)) {
                array.uploadSubArray(from, (int) place, (int) size);
                continue;
            }
            floats.assign(from, from + size);
            array.uploadSubArray(floats.data(), (int) place, (int) size);
        }
}

void KernelArguments::finishPools() {
    // The list of beginnings comes first among the ints.
    const std::size_t header = (poolBegins.size() + 3) / 4 * 4;
    intPool.size += header;
    for (auto& part : intPool.parts) {
        part.begin += header;
        poolBegins[part.placeInBegins] += (int) header;
    }
    intPool.parts.push_back({0, 0, poolBegins.size(), poolBegins.data()});
    const int mixedSize = mixedIsDouble() ? sizeof(double) : sizeof(float);
    uploadParts(intPool, create("intPool", "int", intPool.size, sizeof(int)));
    uploadParts(mixedPool, create("mixedPool", "mixed", mixedPool.size, mixedSize));
    intPool.parts.clear();
    mixedPool.parts.clear();
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
