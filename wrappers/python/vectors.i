// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
//
// Lists of particles and of positions: any sequence is accepted (lists, tuples, numpy arrays), and tuples are returned.
// SWIG would treat a list as the beginning of its own list of several results, and append to it.

%header %{
static bool wholeNumbers(PyObject* input, std::vector<int>& values) {
    PyObject* sequence = copyOfSequence(input, "particle indices");
    if (sequence == NULL)
        return false;
    values.resize(PyTuple_GET_SIZE(sequence));
    bool good = true;
    for (size_t i = 0; good && i < values.size(); i++)
        good = wholeNumber(PyTuple_GET_ITEM(sequence, i), values[i]);
    Py_DECREF(sequence);
    return good;
}

/** Positions in nm: an array of (n, 3) numbers, Vec3s or Quantities, or a Quantity of such. */
static bool positionsInNanometers(PyObject* input, const char* method, std::vector<OpenMM::Vec3>& positions) {
    PyObject* function = quantityFunction("to_positions");
    if (function == NULL)
        return false;
    PyObject* flat = PyObject_CallFunction(function, "Os", input, method);
    Py_DECREF(function);
    if (flat == NULL)
        return false;
    positions.resize(PyList_GET_SIZE(flat) / 3);
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(flat); i++)
        positions[i / 3][i % 3] = PyFloat_AsDouble(PyList_GET_ITEM(flat, i));
    Py_DECREF(flat);
    return PyErr_Occurred() == NULL;
}
%}

%typemap(in) const std::vector<int>& (std::vector<int> values) {
    if (!wholeNumbers($input, values))
        SWIG_fail;
    $1 = &values;
}
%typemap(typecheck, precedence=SWIG_TYPECHECK_INT32_ARRAY) const std::vector<int>& {
    $1 = 1;
}
%typemap(in, numinputs=0) std::vector<int>& (std::vector<int> values) {
    $1 = &values;
}
%typemap(argout) std::vector<int>& {
    PyObject* tuple = PyTuple_New($1->size());
    for (size_t i = 0; i < $1->size(); i++)
        PyTuple_SET_ITEM(tuple, i, PyLong_FromLong((*$1)[i]));
    %append_output(tuple);
}
%typemap(argout) const std::vector<int>& {
}

%typemap(in, numinputs=0) std::vector<double>& (std::vector<double> values) {
    $1 = &values;
}
%typemap(argout) std::vector<double>& {
    PyObject* tuple = PyTuple_New($1->size());
    for (size_t i = 0; i < $1->size(); i++)
        PyTuple_SET_ITEM(tuple, i, PyFloat_FromDouble((*$1)[i]));
    %append_output(tuple);
}
%typemap(argout) const std::vector<double>& {
}

%typemap(in) const std::vector<OpenMM::Vec3>& positions (std::vector<OpenMM::Vec3> values) {
    if (!positionsInNanometers($input, "$symname", values))
        SWIG_fail;
    $1 = &values;
}
%typemap(in, numinputs=0) std::vector<OpenMM::Vec3>& positions (std::vector<OpenMM::Vec3> values) {
    $1 = &values;
}
%typemap(argout, fragment="Vec3_to_PyVec3") std::vector<OpenMM::Vec3>& positions {
    PyObject* list = PyList_New($1->size());
    for (size_t i = 0; i < $1->size(); i++)
        PyList_SET_ITEM(list, i, Vec3_to_PyVec3((*$1)[i]));
    PyObject* function = quantityFunction("to_quantity");
    PyObject* quantity = function == NULL ? NULL : PyObject_CallFunction(function, "Os", list, "nanometer");
    Py_XDECREF(function);
    Py_DECREF(list);
    if (quantity == NULL)
        SWIG_fail;
    %append_output(quantity);
}
%typemap(argout) const std::vector<OpenMM::Vec3>& positions {
}
