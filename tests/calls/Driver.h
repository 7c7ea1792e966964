// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_TESTS_CALLS_DRIVER_H_
#define CONSTRAINTS_TESTS_CALLS_DRIVER_H_

#include "Modules.h"
#include <cstdint>
#include <cuda.h>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

/** What the parts of fakecuda.cpp share. As in NVIDIA's driver, everything but a device belongs to a context. */
namespace FakeDriver {

struct Context;

/** What a handle stands for. It outlives cu...Destroy and its context, so that a later use is known for what it is. */
struct Object {
    explicit Object(Context& context) : context(context) {
    }
    Context& context;
    bool isDestroyed = false;
};

struct Operation {
    std::uint64_t number; ///< ascending, over all streams
    std::function<CUresult()> run;
};
struct Stream : Object {
    Stream(Context& context, bool waitsForDefault) : Object(context), waitsForDefault(waitsForDefault) {
    }
    bool waitsForDefault; ///< as CUDA's legacy default stream does for it
    std::deque<Operation> queue;
};
struct Event : Object {
    using Object::Object;
    Stream* stream = nullptr; ///< where it was recorded, behind the operations up to this number
    std::uint64_t number = 0;
    bool isAsked = false; ///< whether it has happened
};

struct Parameter {
    std::size_t size;
    bool isPointer;
};
constexpr int maxTogether = 8; // of what is emulated, which says nothing of launch bounds
struct Function : Object {
    using Object::Object;
    std::string name, library; // of a kernel that the stand-in for NVRTC compiled
    std::vector<Parameter> parameters;
    std::optional<int> dynamicLimit; // bytes of shared memory that it asked for; else declared ones count, too
    int together = maxTogether;      // blocks for which a multiprocessor has registers, by the launch bounds
    const Emulator::Kernel* emulated = nullptr;
};
struct Module : Object {
    using Object::Object;
    std::map<std::string, Function> functions;
};

struct Context {
    bool isDestroyed = false;
    CUresult failure = CUDA_SUCCESS; ///< of an operation: CUDA reports it from all later calls
    Stream defaultStream{*this, false};
    std::vector<std::unique_ptr<Stream>> streams;
    std::vector<std::unique_ptr<Event>> events;
    std::vector<std::unique_ptr<Module>> modules;
};

// ---- Driver.cpp

using Guard = std::lock_guard<std::recursive_mutex>;
extern std::recursive_mutex lock; // OpenMM may call from several threads

/** Note a call for the tests, takeCalls(). */
void record(const std::string& call);
std::string takeRecord();
/** Say why on stderr. @return the result */
CUresult refuse(CUresult result, const std::string& why);

int fromEnvironment(const char* name, int otherwise);
int capability();
int driverVersion();
int multiprocessors();
int largestBlock();
/** Bytes that a block may have at most: of an A100, a GeForce, and an H100. */
int sharedMemory();
/** Of a block, for the driver. */
constexpr int reservedSharedMemory = 1024;

// ---- DriverContexts.cpp

/** The context that is current on this thread; null after a message, with the result that the driver has for it. */
Context* currentContext(const char* call, CUresult& result);
/** Do what a call does with the current context, while no other thread calls. After a kernel that failed, no call does
 *  anything but what releases, which succeeds here: CUDA's fails, too, so that a destructor would end the program, and
 *  a test of what failed with it. */
template <class Call>
CUresult inCurrent(const char* name, Call call, bool releases = false) {
    const Guard guard(lock);
    CUresult result = CUDA_SUCCESS;
    Context* const context = currentContext(name, result);
    if (context == nullptr)
        return result;
    return context->failure == CUDA_SUCCESS || releases ? call(*context) : context->failure;
}
template <class Call>
CUresult releaseInCurrent(const char* name, Call call) {
    return inCurrent(name, call, true);
}
/** Whether the driver made this handle, and neither it nor its context was destroyed. */
CUresult requireAlive(const Object* object, const char* call, const char* what);
/** The same, and its context is the current one. */
CUresult requireOwn(const Context& current, const Object* object, const char* call, const char* what);
/** Note what handles may be. */
void know(const Object* object);

// ---- DriverMemory.cpp

/** The context whose memory on the device, or pinned memory, has all these bytes; null if none has. */
const Context* ownerOf(CUdeviceptr p, std::size_t size);
void releaseAll(const Context& context);
/** Arrays on the device that were not released, even if they went with their context. */
long arraysInUse();

// ---- DriverStreams.cpp

/** The stream of a handle, the default one for null; null after a message. */
Stream* streamOf(Context& context, CUstream handle, const char* call);
/** An operation in a stream, which runs when somebody waits for it. */
void enqueue(Stream& stream, std::function<CUresult()> run);
/** Run what a stream has up to the operation with this number, and what that waits for.
 *  @return the context's failure */
CUresult runUntil(Stream& stream, std::uint64_t number);
CUresult runAll(Stream& stream);
CUresult runAll(Context& context);

// ---- DriverModules.cpp

void keepModules(const std::string& folder);

} // namespace FakeDriver

#endif
