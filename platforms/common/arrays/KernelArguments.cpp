// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "KernelArguments.h"
#include "openmm/OpenMMException.h"
#include <algorithm>

using namespace OpenMM;

namespace ConstraintPlugin {

namespace {

/** Bytes of host memory for uploads. Tables are uploaded in pieces, because a second copy might fill the memory. */
constexpr std::size_t pieceSize = 1 << 20;

/** Write `size` numbers to a place in an array of numbers, piece by piece.
 *  @param fill  fill(first, last, to) writes the numbers first ... last-1 to a buffer */
template <class T, class Fill>
void uploadInPieces(ComputeArray& array, std::size_t place, std::size_t size, Fill fill) {
    std::vector<T> piece(std::min(pieceSize, size));
    for (std::size_t first = 0; first < size; first += pieceSize) {
        const std::size_t last = std::min(first + pieceSize, size);
        fill(first, last, piece.data());
        array.uploadSubArray(piece.data(), (int) (place + first), (int) (last - first));
    }
}

/** The numbers of a table, width of them an element. An element of three is packed into two if the first two fit into
 *  one. */
template <class T, class To>
void copyNumbers(const std::vector<T>& table, int, std::size_t first, std::size_t last, To* to) {
    std::copy(table.begin() + (std::ptrdiff_t) first, table.begin() + (std::ptrdiff_t) last, to);
}

template <std::size_t N>
void copyNumbers(const std::vector<std::array<int, N>>& table, int width, std::size_t first, std::size_t last,
                 int* to) {
    for (std::size_t n = first; n < last; n++) {
        const auto& element = table[n / width];
        const std::size_t component = n % width;
        if (N == 3 && width == 2)
            *to++ = component == 0 ? int((unsigned) element[0] | (unsigned) element[1] << 16) : element[N - 1];
        else
            *to++ = component < N ? element[component] : 0;
    }
}

/** Write the initial values of an array: the numbers of a table, or zeros. */
template <class T>
void uploadValues(const DeviceArray& description, const ConstraintTables& tables, ComputeArray& array,
                  std::size_t place) {
    const int width = widthOf(description.type);
    const auto size = (std::size_t) description.count * width;
    std::visit(
        [&](auto member) {
            if constexpr (std::is_same_v<decltype(member), std::monostate>)
                uploadInPieces<T>(array, place, size, [](auto...) {});
            else {
                const auto& table = tables.*member;
                using Element = typename std::decay_t<decltype(table)>::value_type;
                if (table.size() != (std::size_t) description.count * (std::is_arithmetic_v<Element> ? width : 1))
                    throw OpenMMException("The array " + description.name + " has " + std::to_string(table.size()) +
                                          " elements in ConstraintTables, and " + std::to_string(description.count) +
                                          " in DeviceArrays");
                if constexpr (std::is_same_v<Element, double> != std::is_same_v<T, int>)
                    uploadInPieces<T>(array, place, size, [&](std::size_t first, std::size_t last, T* to) {
                        copyNumbers(table, width, first, last, to);
                    });
            }
        },
        description.values);
}

/** The same of an array of its own. */
template <class Element>
void uploadIntegers(const DeviceArray& description, const ConstraintTables& tables, ComputeArray& array) {
    const auto* table = std::get_if<DeviceArray::Table<Element>>(&description.values);
    if (table != nullptr && !(tables.*(*table)).empty())
        array.upload((tables.*(*table)).data());
}

/** The name of the function or macro that contains a position of a text. */
std::string functionAt(const std::string& text, std::size_t place) {
    std::size_t begin = 0;
    for (const char* start : {"\nDEVICE ", "\nKERNEL ", "\n#define "}) {
        const std::size_t found = text.rfind(start, place);
        if (found != std::string::npos)
            begin = std::max(begin, found);
    }
    const std::size_t end = text.find('(', begin);
    const std::size_t name = text.find_last_of(" *\n", end);
    return end == std::string::npos || name == std::string::npos ? "" : text.substr(name + 1, end - name - 1);
}

bool isOfName(char c) {
    return c == '_' || std::isalnum((unsigned char) c);
}

} // namespace

NumberBytes numberBytes(const ComputeContext& cc) {
    const int real = cc.getUseDoublePrecision() ? sizeof(double) : sizeof(float);
    return {real, cc.getUseMixedPrecision() ? (int) sizeof(double) : real};
}

KernelArguments::Item& KernelArguments::addItem(const std::string& name, const std::string& type) {
    if (!indices.emplace(name, (int) items.size()).second)
        throw OpenMMException("There are two kernel arguments with the name " + name);
    items.emplace_back();
    items.back().name = name;
    items.back().type = type;
    return items.back();
}

KernelArguments::Item& KernelArguments::find(const std::string& name, const std::string& type) {
    const auto found = indices.find(name);
    if (found == indices.end() || items[found->second].type != type)
        throw OpenMMException("The kernels of constraints have no argument \"" + name + "\" of type " + type);
    return items[found->second];
}

void KernelArguments::add(const std::string& name, const std::string& type, ArrayInterface& array) {
    addItem(name, "GLOBAL " + type + "*").array = &array;
}

ComputeArray& KernelArguments::create(const std::string& name, const std::string& type, std::size_t count) {
    auto& array = owned[name];
    array = std::make_unique<ComputeArray>();
    array->initialize(cc, std::max<std::size_t>(count, 1), numberBytes(cc).of(type), name); // there are no empty ones
    add(name, type, array->getArray());
    return *array;
}

void KernelArguments::add(const DeviceArrays& arrays, const ConstraintTables& tables, double largestArray) {
    for (const DeviceArray& description : arrays.own) {
        ComputeArray& array = create(description.name, description.type, (std::size_t) description.count);
        const std::vector<char> zeros(array.getSize() * array.getElementSize());
        array.upload(zeros.data());
        if (const auto* table = std::get_if<DeviceArray::Table<double>>(&description.values))
            upload(description.name, tables.*(*table));
        uploadIntegers<int>(description, tables, array);
        uploadIntegers<ConstraintTables::Int2>(description, tables, array);
        uploadIntegers<ConstraintTables::Int4>(description, tables, array);
    }
    addPools(arrays, tables, largestArray);
}

void KernelArguments::addPools(const DeviceArrays& arrays, const ConstraintTables& tables, double largestArray) {
    const Pools pools(arrays, numberBytes(cc), largestArray);
    std::vector<int> begins;
    for (std::size_t i = 0; i < arrays.pooled.size(); i++) {
        Item& item = addItem(arrays.pooled[i].name, "GLOBAL " + arrays.pooled[i].type + "*");
        item.placeInPool = (int) i;
        item.pool = pools.pools[pools.parts[i].pool].name;
        begins.push_back((int) pools.parts[i].begin);
    }
    std::vector<ComputeArray*> made;
    for (const Pools::Pool& pool : pools.pools)
        made.push_back(&create(pool.name, pool.type, (std::size_t) pool.numbers));
    made[0]->uploadSubArray(begins.data(), 0, (int) begins.size());
    for (std::size_t i = 0; i < begins.size(); i++) {
        const DeviceArray& array = arrays.pooled[i];
        ComputeArray& pool = *made[pools.parts[i].pool];
        if (array.type[0] == 'i')
            uploadValues<int>(array, tables, pool, begins[i]);
        else if (mixedIsDouble())
            uploadValues<double>(array, tables, pool, begins[i]);
        else
            uploadValues<float>(array, tables, pool, begins[i]);
    }
}

void KernelArguments::upload(const std::string& name, const std::vector<double>& values) {
    if (values.empty())
        return;
    ComputeArray& array = (*this)[name];
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
    ComputeArray& array = (*this)[name];
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

ComputeArray& KernelArguments::operator[](const std::string& name) {
    const auto found = owned.find(name);
    if (found == owned.end())
        throw OpenMMException("The kernels of constraints have no array \"" + name + "\" that the host reads");
    return *found->second;
}

double KernelArguments::allocatedBytes() const {
    double bytes = 0;
    for (const auto& [name, array] : owned)
        bytes += (double) array->getSize() * array->getElementSize();
    return bytes;
}

void KernelArguments::addNumber(const std::string& name, int value) {
    addItem(name, "int").intValue = value;
}

void KernelArguments::addNumber(const std::string& name, double value) {
    addItem(name, "mixed").mixedValue.x = value;
}

void KernelArguments::addNumber(const std::string& name, const Vec3& value) {
    addItem(name, "mixed4");
    set(name, value);
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

std::string KernelArguments::kernelText(const std::string& name, const std::string& bounds, const std::string& memory,
                                        const std::string& body, const std::string& begin) const {
    return "KERNEL " + bounds + bodyText(name, memory, body, begin);
}

std::string KernelArguments::functionText(const std::string& name, const std::string& memory, const std::string& body,
                                          const std::string& begin) const {
    return "PART_OF_KERNEL " + bodyText(name, memory, body, begin);
}

std::string KernelArguments::bodyText(const std::string& name, const std::string& memory, const std::string& body,
                                      const std::string& begin) const {
    return "void " + name + "(" + parameters() + ") {\n" + beginText() + memory + begin + body + "}\n";
}

std::string KernelArguments::callText(const std::string& name, const std::map<std::string, std::string>& given) const {
    std::string text;
    for (const Item& item : items)
        if (item.placeInPool < 0) {
            const auto found = given.find(item.name);
            text += (text.empty() ? "" : ", ") + (found == given.end() ? item.name : found->second);
        }
    return name + "(" + text + ");\n";
}

void KernelArguments::requireKnownIn(const std::string& text) const {
    for (std::size_t i = text.find("a->"); i != std::string::npos; i = text.find("a->", i + 1)) {
        if (i > 0 && isOfName(text[i - 1]))
            continue;
        std::size_t end = i + 3;
        while (end < text.size() && isOfName(text[end]))
            end++;
        const std::string name = text.substr(i + 3, end - i - 3);
        if (indices.count(name) == 0)
            throw OpenMMException("The kernel function " + functionAt(text, i) + " uses the argument \"" + name +
                                  "\", which was not added");
    }
}

int KernelArguments::floats() const {
    int sum = 8; // to align them
    for (const Item& item : items)
        sum += item.type == "mixed4" && item.array == nullptr && item.placeInPool < 0 ? 8 : 2;
    return sum;
}

std::string KernelArguments::definition() const {
    std::string text = "typedef struct {\n";
    for (const Item& item : items)
        text += "    " + item.type + " " + item.name + ";\n";
    text += "} Arguments;\n";
    text += "DEVICE Arguments readAgain(const Arguments* a) {\n    Arguments again = *a;\n";
    for (const Item& item : items)
        if (item.placeInPool >= 0)
            text += "    again." + item.name + " = (" + item.type + ") (a->" + item.pool + " + a->intPool[" +
                    std::to_string(item.placeInPool) + "]);\n";
    return text + "    return again;\n}\n";
}

std::string KernelArguments::parameters() const {
    std::string text;
    for (const Item& item : items)
        if (item.placeInPool < 0)
            text += (text.empty() ? "" : ", ") + item.type + " " + item.name;
    return text;
}

std::string KernelArguments::beginText() const {
    std::string text;
    for (const Item& item : items) {
        text += text.empty() ? "    const Arguments values = {" : ", ";
        if (item.placeInPool < 0)
            text += item.name;
        else
            text += "(" + item.type + ") (" + item.pool + " + intPool[" + std::to_string(item.placeInPool) + "])";
    }
    return text + "};\n    const Arguments* a = &values;\n";
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
