// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
//
// Problems of a System, as dicts, tuples and arrays for the package health, because an exception in Python has only its
// text.

%header %{
/** A new reference, or NULL if Python has run out of memory, for the format N of Py_BuildValue. */
static PyObject* toTuple(const std::vector<int>& values) {
    PyObject* tuple = PyTuple_New(values.size());
    for (size_t i = 0; tuple != NULL && i < values.size(); i++)
        PyTuple_SET_ITEM(tuple, i, PyLong_FromLong(values[i]));
    return tuple;
}
static PyObject* toArray(const std::vector<double>& values) {
    npy_intp size = values.size();
    PyObject* array = PyArray_SimpleNew(1, &size, NPY_DOUBLE);
    if (array != NULL)
        std::copy(values.begin(), values.end(), (double*) PyArray_DATA((PyArrayObject*) array));
    return array;
}
static PyObject* toPython(const ConstraintPlugin::ConstraintProblem& p) {
    return Py_BuildValue("{s:s,s:N,s:N,s:d,s:d,s:s,s:s}", "kind", p.kind.c_str(), "constraints",
                         toTuple(p.constraints), "particles", toTuple(p.particles), "value", p.value, "bound", p.bound,
                         "message", p.message.c_str(), "remedy", p.remedy.c_str());
}
static PyObject* toPython(const ConstraintPlugin::ConstraintGroup& group) {
    return Py_BuildValue("{s:i,s:N,s:N,s:i,s:d}", "kind", (int) group.kind, "constraints", toTuple(group.constraints),
                         "particles", toTuple(group.particles), "count", group.count, "number", group.number);
}
static PyObject* toPython(const ConstraintPlugin::ClusterInfo& info) {
    return SWIG_NewPointerObj(new ConstraintPlugin::ClusterInfo(info), SWIGTYPE_p_ConstraintPlugin__ClusterInfo,
                              SWIG_POINTER_OWN);
}
template <class Record>
static PyObject* toPython(const std::vector<Record>& records) {
    PyObject* tuple = PyTuple_New(records.size());
    for (size_t i = 0; tuple != NULL && i < records.size(); i++) {
        PyObject* item = toPython(records[i]);
        if (item == NULL) {
            Py_DECREF(tuple);
            return NULL;
        }
        PyTuple_SET_ITEM(tuple, i, item);
    }
    return tuple;
}

/** An array of (n, 3) numbers; None: no vectors. */
static bool toVectors(PyObject* input, std::vector<OpenMM::Vec3>& vectors) {
    vectors.clear();
    if (input == Py_None)
        return true;
    PyArrayObject* array = (PyArrayObject*) PyArray_FROM_OTF(input, NPY_DOUBLE, NPY_ARRAY_IN_ARRAY);
    if (array == NULL)
        return false;
    const bool fits = PyArray_NDIM(array) == 2 && PyArray_DIM(array, 1) == 3;
    if (fits) {
        const double* x = (const double*) PyArray_DATA(array);
        for (npy_intp i = 0; i < PyArray_DIM(array, 0); i++)
            vectors.emplace_back(x[3 * i], x[3 * i + 1], x[3 * i + 2]);
    } else
        PyErr_SetString(PyExc_ValueError, "an array of shape (n, 3) is needed");
    Py_DECREF(array);
    return fits;
}
static bool toStart(PyObject* positions, PyObject* velocities, PyObject* box, double time,
                    ConstraintPlugin::Start& start) {
    std::vector<OpenMM::Vec3> edges;
    if (!toVectors(positions, start.positions) || !toVectors(velocities, start.velocities) || !toVectors(box, edges))
        return false;
    if (edges.size() != 3) {
        PyErr_SetString(PyExc_ValueError, "a box has three vectors");
        return false;
    }
    std::copy(edges.begin(), edges.end(), start.box);
    start.time = time;
    return true;
}
%}

%inline %{
/** @param positions  [n, 3] nm; None: nothing is measured. box: [3, 3] nm; time: ps */
PyObject* _diagnose(const OpenMM::System& system, const OpenMM::Integrator& integrator, PyObject* positions,
                    PyObject* box, double time) {
    ConstraintPlugin::Start start;
    if (!toStart(positions, Py_None, box, time, start))
        return NULL;
    ConstraintPlugin::Diagnosis found;
    {
        ReleasedInterpreter released;
        found = ConstraintPlugin::diagnose(system, integrator, positions == Py_None ? NULL : &start);
    }
    return Py_BuildValue("{s:N,s:N,s:N,s:N,s:N,s:i,s:N,s:N,s:N,s:N,s:N,s:d,s:i,s:i,s:i,s:N}", "problems", toPython(found.problems), "warnings", toPython(found.warnings), "refused",
                         toTuple(found.refused), "isComplete", PyBool_FromLong(found.isComplete), "clusters", toPython(found.clusters), "independent",
                         found.numIndependent, "groups", toPython(found.groups), "values", toArray(found.values),
                         "targets", toArray(found.targets), "errors", toArray(found.errors),
                         "absorbed", toTuple(found.absorbed), "absorbedDeviation", found.absorbedDeviation,
                         "absorbedConstraint", found.absorbedConstraint, "joinedBodies", found.joinedBodies,
                         "joints", found.joints, "isRankKnown", PyBool_FromLong(found.isRankKnown));
}

/** @param velocities  [n, 3] nm/ps; None: at rest */
PyObject* _tryStart(const OpenMM::System& system, const OpenMM::Integrator& integrator, PyObject* positions,
                    PyObject* velocities, PyObject* box, double time, OpenMM::Platform& platform, int steps) {
    ConstraintPlugin::Start start;
    if (!toStart(positions, velocities, box, time, start))
        return NULL;
    ConstraintPlugin::Trial trial;
    {
        ReleasedInterpreter released;
        trial = ConstraintPlugin::tryStart(system, integrator, start, platform, steps);
    }
    return Py_BuildValue("{s:N,s:d,s:i}", "problems", toPython(trial.problems), "shift", trial.shift, "steps",
                         trial.steps);
}
%}
