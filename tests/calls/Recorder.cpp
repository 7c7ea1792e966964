// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "Recorder.h"
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sys/mman.h>
#include <vector>

namespace Recorder {

namespace {

constexpr std::size_t reserved = (std::size_t) 1 << 36, pageSize = 4096, alignment = 512; // CUDA's

char* memory = nullptr;
std::size_t used = 0;
std::vector<char> known; // what pages.bin says of the memory
std::ofstream calls, pages;
std::string line; // of the launch that runs

const char* folder() {
    return std::getenv("FAKECUDA_RECORD");
}

/** Write pages that differ from what is known. @return their number, as text */
std::string writePages() {
    const std::size_t size = (used + pageSize - 1) / pageSize * pageSize;
    known.resize(size, 0);
    std::size_t number = 0;
    for (std::size_t place = 0; place < size; place += pageSize) {
        if (std::memcmp(&known[place], memory + place, pageSize) == 0)
            continue;
        std::memcpy(&known[place], memory + place, pageSize);
        const std::uint64_t page = place / pageSize;
        pages.write((const char*) &page, sizeof(page));
        pages.write(memory + place, pageSize);
        number++;
    }
    return std::to_string(number);
}

/** Arguments as they lie in the constant bank: each at a multiple of its alignment. */
std::string hexOf(const Launch& launch) {
    std::vector<unsigned char> bytes;
    for (int i = 0; i < launch.kernel.numParameters; i++) {
        const std::size_t a = launch.kernel.alignment[i], size = launch.kernel.size[i];
        const std::size_t start = (bytes.size() + a - 1) / a * a;
        bytes.resize(start + size, 0);
        std::memcpy(&bytes[start], launch.arguments[i], size);
    }
    std::string text;
    for (unsigned char byte : bytes) {
        char digits[3];
        std::snprintf(digits, sizeof(digits), "%02x", byte);
        text += digits;
    }
    return text;
}

} // namespace

bool isSet() {
    return folder() != nullptr;
}

void* allocate(std::size_t size) {
    if (memory == nullptr) {
        void* const range =
            mmap(nullptr, reserved, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (range == MAP_FAILED)
            return nullptr;
        memory = (char*) range;
    }
    const std::size_t start = used;
    if (size > reserved - used)
        return nullptr;
    used += (size + alignment - 1) / alignment * alignment;
    return memory + start;
}

void start(bool isWanted) {
    calls.close();
    pages.close();
    known.clear();
    if (!isWanted || !isSet())
        return;
    const std::string path = folder();
    calls.open(path + "/calls.jsonl");
    pages.open(path + "/pages.bin", std::ios::binary);
    calls << "{\"call\": \"memory\", \"base\": " << (std::uintptr_t) memory << "}\n";
}

void beforeLaunch(const Launch& launch) {
    if (!calls.is_open())
        return;
    line = std::string("{\"call\": \"launch\", \"kernel\": \"") + launch.kernel.name + "\", \"library\": \"" +
           launch.library + "\", \"blocks\": " + std::to_string(launch.numBlocks) +
           ", \"threads\": " + std::to_string(launch.blockSize) +
           ", \"shared\": " + std::to_string(launch.sharedBytes) +
           ", \"cooperative\": " + (launch.isCooperative ? "true" : "false") + ", \"parameters\": \"" + hexOf(launch) +
           "\", \"used\": " + std::to_string(used) + ", \"before\": " + writePages();
}

void afterLaunch() {
    if (calls.is_open())
        calls << line << ", \"after\": " << writePages() << "}\n" << std::flush;
}

void note(const std::string& call) {
    if (calls.is_open() && call.compare(0, 7, "launch ") != 0) // launches have lines of their own
        calls << "{\"call\": \"" << call << "\"}\n" << std::flush;
}

} // namespace Recorder
