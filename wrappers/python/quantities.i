// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
//
// Quantities with a check of their dimension. OpenMM's own typemaps strip whatever unit they find, so that a step size
// of 300 K would pass as 300 ps.

%header %{
/** A function of openmmconstraints._quantities, or NULL with a Python exception set. New reference. */
static PyObject* quantityFunction(const char* name) {
    PyObject* module = PyImport_ImportModule("openmmconstraints._quantities");
    if (module == NULL)
        return NULL;
    PyObject* function = PyObject_GetAttrString(module, name);
    Py_DECREF(module);
    return function;
}

/** The value of an argument in `unit`.
 *  @return false with a TypeError set if it is not a number, or a Quantity of another dimension */
static bool numberInUnit(PyObject* input, const char* unit, const char* method, const char* argument, double& value) {
    if (PyFloat_CheckExact(input)) { // thousands of constraints are added with plain numbers
        value = PyFloat_AS_DOUBLE(input);
        return true;
    }
    PyObject* function = quantityFunction("to_number");
    if (function == NULL)
        return false;
    PyObject* number = PyObject_CallFunction(function, "Osss", input, unit, method, argument);
    Py_DECREF(function);
    if (number == NULL)
        return false;
    value = PyFloat_AsDouble(number);
    Py_DECREF(number);
    return PyErr_Occurred() == NULL;
}

/** The same of an angle, which as a plain number has to be one that may be meant in radians.
 *  @param isAnyTurn  whether it may exceed pi, up to a full turn in either direction */
static bool angleInRadians(PyObject* input, const char* method, const char* argument, bool isAnyTurn, double& value) {
    if (!numberInUnit(input, "radian", method, argument, value))
        return false;
    if (fabs(value) <= 3.14)
        return true;
    PyObject* function = quantityFunction("require_radians");
    PyObject* result = function == NULL ? NULL : PyObject_CallFunction(function, "Osi", input, method, (int) isAnyTurn);
    Py_XDECREF(function);
    Py_XDECREF(result);
    return result != NULL;
}

/** A whole number of any kind, numpy's too. @return false with a Python exception set */
static bool wholeNumber(PyObject* input, int& value) {
    PyObject* index = PyNumber_Index(input);
    if (index == NULL)
        return false;
    const long number = PyLong_AsLong(index);
    Py_DECREF(index);
    if (PyErr_Occurred() != NULL)
        return false;
    value = (int) number;
    if (value == number)
        return true;
    PyErr_SetString(PyExc_OverflowError, "a whole number is too large");
    return false;
}

/** The elements of a list, tuple or any other sequence as a tuple: turning an element into a number runs Python code
 *  (__index__, units, other threads), which may change a list meanwhile. NULL with a TypeError set if it is not a
 *  sequence. */
static PyObject* copyOfSequence(PyObject* input, const char* ofWhat) {
    PyObject* tuple = PySequence_Tuple(input);
    if (tuple == NULL && PyErr_ExceptionMatches(PyExc_TypeError))
        PyErr_Format(PyExc_TypeError, "expected a sequence of %s", ofWhat);
    return tuple;
}

/** A Quantity of a number or of several. @param value  stolen */
static PyObject* asQuantity(PyObject* value, const char* unit) {
    PyObject* function = value == NULL ? NULL : quantityFunction("to_quantity");
    PyObject* quantity = function == NULL ? NULL : PyObject_CallFunction(function, "Os", value, unit);
    Py_XDECREF(function);
    Py_XDECREF(value);
    return quantity;
}

static PyObject* quantityInUnit(double value, const char* unit) {
    return asQuantity(PyFloat_FromDouble(value), unit);
}

static PyObject* quantitiesInUnit(const std::vector<double>& values, const char* unit) {
    PyObject* tuple = PyTuple_New(values.size());
    for (size_t i = 0; tuple != NULL && i < values.size(); i++)
        PyTuple_SET_ITEM(tuple, i, PyFloat_FromDouble(values[i]));
    return asQuantity(tuple, unit);
}
%}

// Whole numbers of any kind, numpy's too.
%typemap(in) int {
    if (!wholeNumber($input, $1))
        SWIG_fail;
}

// %quantity_argument(stepSize, picosecond): `double stepSize` accepts a number or a Quantity of that dimension;
// `double& stepSize` is an output, which is returned as a Quantity.
%define %quantity_argument(NAME, UNIT)
%typemap(in) double NAME {
    if (!numberInUnit($input, #UNIT, "$symname", #NAME, $1))
        SWIG_fail;
}
%typemap(typecheck, precedence=SWIG_TYPECHECK_DOUBLE) double NAME {
    $1 = !PyUnicode_Check($input);
}
%typemap(in, numinputs=0) double& NAME (double value) {
    $1 = &value;
}
%typemap(argout) double& NAME {
    PyObject* quantity = quantityInUnit(*$1, #UNIT);
    if (quantity == NULL)
        SWIG_fail;
    %append_output(quantity);
}
%enddef

// `double rate` is a length, an angle or a number per time, depending on the name of the method.
%typemap(in) double rate {
    const char* const unit = strstr("$symname", "Distance") ? "nanometer_per_picosecond"
                             : strstr("$symname", "Number") ? "per_picosecond"
                                                            : "radian_per_picosecond";
    if (!numberInUnit($input, unit, "$symname", "rate", $1))
        SWIG_fail;
}

// %quantity_result(getStepSize, picosecond): its result is a Quantity; of many numbers one of a tuple.
%define %quantity_result(METHOD, UNIT)
%typemap(out) double METHOD {
    $result = quantityInUnit($1, #UNIT);
    if ($result == NULL)
        SWIG_fail;
}
%typemap(out) std::vector<double> METHOD {
    $result = quantitiesInUnit($1, #UNIT);
    if ($result == NULL)
        SWIG_fail;
}
%enddef
