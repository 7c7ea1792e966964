// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
//
// A stand-in for NVRTC (libnvrtc.so.13): kernel texts become libraries for the processor that this runs on, by
// compile.py. What it calls PTX is the path of such a library, which the stand-in for the driver loads and runs.
// Libraries are kept in the folder EMULATOR_CACHE, with their texts if FAKECUDA_RECORD is set. EMULATOR_FLAGS are flags
// for the compiler, as -fsanitize=address. If EMULATOR_FUSES is set, every second text has multiplications fused with
// additions: the compiler of a GPU does so in each program in its own way.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <unistd.h>

namespace {

enum Result { Success = 0, CompilationFailed = 6 };

struct Program {
    std::string text, ptx, log;
};

std::string variable(const char* name, const char* otherwise) {
    const char* value = std::getenv(name);
    return value == nullptr ? otherwise : value;
}

std::string contentOf(const std::string& path) {
    std::ostringstream content;
    content << std::ifstream(path).rdbuf();
    return content.str();
}

bool isFused(const std::string& text) {
    return std::getenv("EMULATOR_FUSES") != nullptr && std::hash<std::string>()(text) % 2 == 1;
}

std::string quoted(const std::string& path) {
    return "'" + path + "'";
}

/** For who compiles it by the real NVRTC: the text, below its options, beside the library. */
void keepText(const Program& program, int numOptions, const char* const* options) {
    std::istringstream words(program.ptx);
    std::string mark, library;
    words >> mark;
    std::getline(words >> std::ws, library);
    std::ofstream file(std::filesystem::path(library).replace_extension(".cu"));
    file << "//";
    for (int i = 0; i < numOptions; i++)
        file << " " << options[i];
    file << "\n" << program.text;
}

} // namespace

extern "C" {

const char* nvrtcGetErrorString(Result result) {
    return result == Success ? "no error" : "the text was not compiled";
}
Result nvrtcVersion(int* major, int* minor) {
    *major = 13;
    *minor = 0;
    return Success;
}
Result nvrtcGetNumSupportedArchs(int* number) {
    *number = 1;
    return Success;
}
Result nvrtcGetSupportedArchs(int* architectures) {
    architectures[0] = 90;
    return Success;
}
Result nvrtcCreateProgram(Program** program, const char* text, const char*, int, const char* const*,
                          const char* const*) {
    *program = new Program{text, "", ""};
    return Success;
}
Result nvrtcDestroyProgram(Program** program) {
    delete *program;
    *program = nullptr;
    return Success;
}
Result nvrtcCompileProgram(Program* program, int numOptions, const char* const* options) {
    if (std::getenv("EMULATOR_CACHE") == nullptr) {
        program->log = "set EMULATOR_CACHE to a folder for libraries of kernels";
        return CompilationFailed;
    }
    // As the kernels are written: no contraction, which Reference has not either, and no strict aliasing. Two modules
    // may have kernels of the same name. A variable that is read before it is written is a large wrong number.
    const std::string flags = "-std=c++17 -w -fno-gnu-unique -fno-strict-aliasing -ffp-contract=off "
                              "-ftrivial-auto-var-init=pattern " +
                              variable("EMULATOR_FLAGS", "-O0") +
                              (isFused(program->text) ? " -O1 -fexpensive-optimizations -mfma -ffp-contract=fast" : ""),
                      folder = variable("EMULATOR_CACHE", ""), name = folder + "/" + std::to_string(getpid()),
                      text = name + ".cu", log = name + ".log", library = name + ".path";
    std::ofstream(text) << program->text;
    unsetenv("LD_PRELOAD"); // sanitizers are for the kernels, not for what compiles them
    const std::string command = quoted(EMULATOR_PYTHON) + " " + quoted(EMULATOR_FOLDER "/compile.py") + " " +
                                quoted(text) + " " + quoted(folder) + " " + quoted(EMULATOR_COMPILER) + " " + flags +
                                " -I" + quoted(EMULATOR_FOLDER) + " >" + quoted(library) + " 2>" + quoted(log);
    const bool isCompiled = std::system(command.c_str()) == 0;
    program->log = contentOf(log);
    program->ptx = "emulated " + contentOf(library);
    if (isCompiled && std::getenv("FAKECUDA_RECORD") != nullptr)
        keepText(*program, numOptions, options);
    for (const std::string& file : {text, log, library})
        std::filesystem::remove(file);
    return isCompiled ? Success : CompilationFailed;
}
Result nvrtcGetPTXSize(Program* program, std::size_t* size) {
    *size = program->ptx.size() + 1;
    return Success;
}
Result nvrtcGetPTX(Program* program, char* ptx) {
    std::strcpy(ptx, program->ptx.c_str());
    return Success;
}
Result nvrtcGetProgramLogSize(Program* program, std::size_t* size) {
    *size = program->log.size() + 1;
    return Success;
}
Result nvrtcGetProgramLog(Program* program, char* log) {
    std::strcpy(log, program->log.c_str());
    return Success;
}

} // extern "C"
