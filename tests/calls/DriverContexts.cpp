// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// Each thread has a stack of contexts, of which the last is current.
#include "Driver.h"
#include <set>

using namespace FakeDriver;

namespace {

thread_local std::vector<Context*> current;
std::vector<std::unique_ptr<Context>> contexts;
std::set<const void*> handles; // of contexts, and of what they have

/** @return null, after a message, for none and for a destroyed one */
Context* findAlive(CUcontext handle, const char* call) {
    auto* const context = handles.count(handle) == 0 ? nullptr : (Context*) handle;
    if (context != nullptr && !context->isDestroyed)
        return context;
    refuse(CUDA_ERROR_INVALID_CONTEXT,
           std::string(call) + (context == nullptr ? ": there is no such context" : ": the context was destroyed"));
    return nullptr;
}

} // namespace

namespace FakeDriver {

Context* currentContext(const char* call, CUresult& result) {
    const std::string name = call;
    if (current.empty())
        result = refuse(CUDA_ERROR_INVALID_CONTEXT, name + ": no context is current");
    else if (current.back()->isDestroyed) // by another thread: it stays in the stacks of the others
        result = refuse(CUDA_ERROR_CONTEXT_IS_DESTROYED, name + ": the current context was destroyed");
    else
        return current.back();
    return nullptr;
}

CUresult requireAlive(const Object* object, const char* call, const char* what) {
    if (handles.count(object) == 0)
        return refuse(CUDA_ERROR_INVALID_HANDLE, std::string(call) + ": there is no such " + what);
    if (object->context.isDestroyed)
        return refuse(CUDA_ERROR_INVALID_HANDLE, std::string(call) + ": the context of the " + what + " was destroyed");
    if (object->isDestroyed)
        return refuse(CUDA_ERROR_INVALID_HANDLE, std::string(call) + ": the " + what + " was destroyed");
    return CUDA_SUCCESS;
}

CUresult requireOwn(const Context& now, const Object* object, const char* call, const char* what) {
    const CUresult result = requireAlive(object, call, what);
    if (result == CUDA_SUCCESS && &object->context != &now)
        return refuse(CUDA_ERROR_INVALID_HANDLE,
                      std::string(call) + ": the " + what + " is of another context than the current one");
    return result;
}

void know(const Object* object) {
    handles.insert(object);
}

} // namespace FakeDriver

extern "C" {

// cuda.h names the newest form by a macro, and older ones are called by older OpenMMs.
#undef cuCtxCreate
CUresult cuCtxCreate_v2(CUcontext* context, unsigned int, CUdevice) {
    const Guard guard(lock);
    contexts.push_back(std::make_unique<Context>());
    current.push_back(contexts.back().get());
    handles.insert(current.back());
    *context = (CUcontext) current.back();
    return CUDA_SUCCESS;
}
CUresult cuCtxCreate_v4(CUcontext* context, CUctxCreateParams*, unsigned int flags, CUdevice device) {
    return cuCtxCreate_v2(context, flags, device);
}
/** As documented: where it is current on this thread it is popped, and it stays in all other places of stacks. What it
 *  has goes with it, once its operations have ended. */
CUresult cuCtxDestroy(CUcontext handle) {
    const Guard guard(lock);
    Context* const context = findAlive(handle, "cuCtxDestroy");
    if (context == nullptr)
        return CUDA_ERROR_INVALID_CONTEXT;
    runAll(*context);
    releaseAll(*context);
    context->isDestroyed = true;
    if (!current.empty() && current.back() == context)
        current.pop_back();
    return CUDA_SUCCESS;
}
CUresult cuCtxPushCurrent(CUcontext handle) {
    const Guard guard(lock);
    Context* const context = findAlive(handle, "cuCtxPushCurrent");
    if (context == nullptr)
        return CUDA_ERROR_INVALID_CONTEXT;
    current.push_back(context);
    return CUDA_SUCCESS;
}
CUresult cuCtxPopCurrent(CUcontext* context) {
    if (current.empty())
        return refuse(CUDA_ERROR_INVALID_CONTEXT, "cuCtxPopCurrent: no context is current");
    *context = (CUcontext) current.back();
    current.pop_back();
    return CUDA_SUCCESS;
}
CUresult cuCtxSetCurrent(CUcontext handle) {
    const Guard guard(lock);
    Context* const context = handle == nullptr ? nullptr : findAlive(handle, "cuCtxSetCurrent");
    if (handle != nullptr && context == nullptr)
        return CUDA_ERROR_INVALID_CONTEXT;
    if (!current.empty())
        current.pop_back();
    if (context != nullptr)
        current.push_back(context);
    return CUDA_SUCCESS;
}
CUresult cuCtxGetCurrent(CUcontext* context) {
    *context = current.empty() ? nullptr : (CUcontext) current.back();
    return CUDA_SUCCESS;
}
CUresult cuCtxSetCacheConfig(CUfunc_cache) {
    return inCurrent("cuCtxSetCacheConfig", [](Context&) { return CUDA_SUCCESS; });
}
CUresult cuCtxSynchronize() {
    return inCurrent("cuCtxSynchronize", [](Context& context) {
        const CUresult result = runAll(context);
        record("wait cuCtxSynchronize");
        return result;
    });
}
CUresult cuCtxEnablePeerAccess(CUcontext, unsigned int) {
    return CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
}
CUresult cuProfilerStop() {
    return inCurrent("cuProfilerStop", [](Context&) { return CUDA_SUCCESS; });
}

} // extern "C"
