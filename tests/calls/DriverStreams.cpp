// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// Streams hold what was asked of them until somebody waits: what an operation reads of the host has to be there until
// then, and what it writes is not there before.
#include "Driver.h"
#include "Recorder.h"
#include <limits>

using namespace FakeDriver;

namespace {

constexpr std::size_t longestQueue = 1024; // then CUDA's launches wait, too
std::uint64_t lastNumber = 0;

template <class Kind, class Handle, class... Arguments>
CUresult make(std::vector<std::unique_ptr<Kind>>& all, Handle* handle, Arguments&&... arguments) {
    all.push_back(std::make_unique<Kind>(arguments...));
    know(all.back().get());
    *handle = (Handle) all.back().get();
    return CUDA_SUCCESS;
}

CUresult destroy(Context& context, Object* object, const char* call, const char* what) {
    const CUresult result = requireOwn(context, object, call, what);
    if (result == CUDA_SUCCESS)
        object->isDestroyed = true; // what a stream holds still runs
    return result;
}

} // namespace

namespace FakeDriver {

Stream* streamOf(Context& context, CUstream handle, const char* call) {
    if (handle == nullptr || handle == CU_STREAM_LEGACY)
        return &context.defaultStream;
    auto* const stream = (Stream*) handle;
    return requireOwn(context, stream, call, "stream") == CUDA_SUCCESS ? stream : nullptr;
}

void enqueue(Stream& stream, std::function<CUresult()> run) {
    stream.queue.push_back({++lastNumber, std::move(run)});
    if (Recorder::isSet()) // its lines are in the order of the calls
        runAll(stream);
    else if (stream.queue.size() > longestQueue)
        runUntil(stream, stream.queue.front().number);
}

/** The default stream waits for all that was asked of others before, and these for what was asked of it. */
CUresult runUntil(Stream& stream, std::uint64_t number) {
    Context& context = stream.context;
    while (!stream.queue.empty() && stream.queue.front().number <= number) {
        const Operation operation = std::move(stream.queue.front());
        stream.queue.pop_front();
        if (&stream == &context.defaultStream) {
            for (const auto& other : context.streams)
                if (other->waitsForDefault)
                    runUntil(*other, operation.number);
        } else if (stream.waitsForDefault)
            runUntil(context.defaultStream, operation.number);
        if (context.failure == CUDA_SUCCESS)
            context.failure = operation.run();
    }
    return context.failure;
}

CUresult runAll(Stream& stream) {
    return runUntil(stream, std::numeric_limits<std::uint64_t>::max());
}

CUresult runAll(Context& context) {
    runAll(context.defaultStream);
    for (const auto& stream : context.streams)
        runAll(*stream);
    return context.failure;
}

} // namespace FakeDriver

extern "C" {

CUresult cuStreamCreate(CUstream* stream, unsigned int flags) {
    return inCurrent("cuStreamCreate", [&](Context& context) {
        return make(context.streams, stream, context, (flags & CU_STREAM_NON_BLOCKING) == 0);
    });
}
CUresult cuStreamDestroy(CUstream stream) {
    return releaseInCurrent("cuStreamDestroy", [&](Context& context) {
        return destroy(context, (Stream*) stream, "cuStreamDestroy", "stream");
    });
}
CUresult cuStreamSynchronize(CUstream handle) {
    return inCurrent("cuStreamSynchronize", [&](Context& context) {
        Stream* const stream = streamOf(context, handle, "cuStreamSynchronize");
        const CUresult result = stream == nullptr ? CUDA_ERROR_INVALID_HANDLE : runAll(*stream);
        record("wait cuStreamSynchronize");
        return result;
    });
}
/** The event may be of another context. */
CUresult cuStreamWaitEvent(CUstream handle, CUevent event, unsigned int) {
    return inCurrent("cuStreamWaitEvent", [&](Context& context) {
        Stream* const stream = streamOf(context, handle, "cuStreamWaitEvent");
        const CUresult result = requireAlive((Event*) event, "cuStreamWaitEvent", "event");
        if (stream == nullptr || result != CUDA_SUCCESS)
            return CUDA_ERROR_INVALID_HANDLE;
        const Event now = *(Event*) event;
        if (now.stream != nullptr)
            enqueue(*stream, [now] { return runUntil(*now.stream, now.number); });
        return context.failure;
    });
}
CUresult cuEventCreate(CUevent* event, unsigned int) {
    return inCurrent("cuEventCreate", [&](Context& context) { return make(context.events, event, context); });
}
CUresult cuEventDestroy(CUevent event) {
    return releaseInCurrent("cuEventDestroy", [&](Context& context) {
        return destroy(context, (Event*) event, "cuEventDestroy", "event");
    });
}
CUresult cuEventRecord(CUevent handle, CUstream stream) {
    return inCurrent("cuEventRecord", [&](Context& context) {
        const CUresult result = requireOwn(context, (Event*) handle, "cuEventRecord", "event");
        if (result != CUDA_SUCCESS)
            return result;
        Event& event = *(Event*) handle;
        event.stream = streamOf(context, stream, "cuEventRecord");
        event.number = lastNumber;
        event.isAsked = false;
        Recorder::note("record cuEventRecord"); // a later wait is for what was launched before
        return event.stream == nullptr ? CUDA_ERROR_INVALID_HANDLE : context.failure;
    });
}
/** It is not ready when it is asked for the first time, and has happened when it is asked again: a device goes on while
 * nobody waits. The event may be of another context. */
CUresult cuEventQuery(CUevent handle) {
    return inCurrent("cuEventQuery", [&](Context& context) {
        const CUresult result = requireAlive((Event*) handle, "cuEventQuery", "event");
        if (result != CUDA_SUCCESS)
            return result;
        Event& event = *(Event*) handle;
        if (event.stream == nullptr)
            return context.failure;
        if (!event.isAsked) {
            event.isAsked = true;
            return context.failure == CUDA_SUCCESS ? CUDA_ERROR_NOT_READY : context.failure;
        }
        return runUntil(*event.stream, event.number);
    });
}
/** The event may be of another context. */
CUresult cuEventSynchronize(CUevent handle) {
    return inCurrent("cuEventSynchronize", [&](Context& context) {
        CUresult result = requireAlive((Event*) handle, "cuEventSynchronize", "event");
        if (result != CUDA_SUCCESS)
            return result;
        const Event& event = *(Event*) handle;
        result = event.stream == nullptr ? context.failure : runUntil(*event.stream, event.number);
        record("wait cuEventSynchronize");
        return result;
    });
}

} // extern "C"
