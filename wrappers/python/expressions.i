// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
//
// CustomConstraintForce: parameters without a unit of their own, and tables that change their owner.

%header %{
/** A number; a Quantity stands for its value in OpenMM's units (nm, ps, kJ/mol, ...), as in OpenMM's custom forces.
 *  @return false with a Python exception set */
static bool plainNumber(PyObject* input, double& value) {
    PyObject* stripped = Py_StripOpenMMUnits(input);
    if (stripped == NULL)
        return false;
    value = PyFloat_AsDouble(stripped);
    Py_DECREF(stripped);
    return PyErr_Occurred() == NULL;
}

static bool plainNumbers(PyObject* input, std::vector<double>& values) {
    PyObject* stripped = Py_StripOpenMMUnits(input);
    if (stripped == NULL)
        return false;
    PyObject* sequence = copyOfSequence(stripped, "parameters");
    Py_DECREF(stripped);
    if (sequence == NULL)
        return false;
    values.resize(PyTuple_GET_SIZE(sequence));
    bool good = true;
    for (size_t i = 0; good && i < values.size(); i++)
        good = plainNumber(PyTuple_GET_ITEM(sequence, i), values[i]);
    Py_DECREF(sequence);
    return good;
}
%}

%typemap(in) double defaultValue {
    if (!plainNumber($input, $1))
        SWIG_fail;
}
%typemap(in) const std::vector<double>& parameters (std::vector<double> values) {
    if (!plainNumbers($input, values))
        SWIG_fail;
    $1 = &values;
}
%typemap(freearg) const std::vector<double>& parameters "" // that of std_vector.i knows another conversion

// The Force deletes its tables, so it can own only tables that no other object deletes.
%typemap(in) OpenMM::TabulatedFunction* function (void* pointer = NULL, int owned = 0) {
    const int result = SWIG_ConvertPtrAndOwn($input, &pointer, $descriptor, SWIG_POINTER_DISOWN, &owned);
    if (!SWIG_IsOK(result) || pointer == NULL)
        SWIG_exception_fail(SWIG_TypeError, "$symname: function must be an openmm.TabulatedFunction");
    if (!(owned & SWIG_POINTER_OWN))
        SWIG_exception_fail(SWIG_ValueError,
            "$symname: this TabulatedFunction belongs to another Force already; give each its own (copy.copy)");
    $1 = reinterpret_cast<OpenMM::TabulatedFunction*>(pointer);
}
%ignore ConstraintPlugin::CustomConstraintForce::getTabulatedFunction(int) const;
%factory(OpenMM::TabulatedFunction& ConstraintPlugin::CustomConstraintForce::getTabulatedFunction,
         OpenMM::Continuous1DFunction, OpenMM::Continuous2DFunction, OpenMM::Continuous3DFunction,
         OpenMM::Discrete1DFunction, OpenMM::Discrete2DFunction, OpenMM::Discrete3DFunction);

// SWIG cannot write an empty vector in Python, and would omit the names of all arguments.
%feature("compactdefaultargs") ConstraintPlugin::CustomConstraintForce::addConstraint;
%feature("compactdefaultargs") ConstraintPlugin::CustomConstraintForce::setConstraintParameters;
%rename(_addConstraint) ConstraintPlugin::CustomConstraintForce::addConstraint;
%rename(_setConstraintParameters) ConstraintPlugin::CustomConstraintForce::setConstraintParameters;
%extend ConstraintPlugin::CustomConstraintForce {
    %pythoncode %{
    def addConstraint(self, particles, parameters=()):
        """
        Add a constraint.

        :type particles: sequence of int
        :param particles:  [getNumParticlesPerConstraint()] indices of the particles p1, p2, ...
        :type parameters: sequence of float or Quantity
        :param parameters:  [getNumPerConstraintParameters()] values of the per-constraint parameters
        :rtype: int
        :return: the index of the constraint
        :raises: OpenMMException if one of the two has another length
        """
        return self._addConstraint(particles, parameters)

    def setConstraintParameters(self, index, particles, parameters=()):
        """
        Set the particles and parameters of a constraint. A Context takes notice when it is created, or by
        updateParametersInContext().

        :type index: int
        :param index:  the index of the constraint
        :type particles: sequence of int
        :param particles:  [getNumParticlesPerConstraint()] indices of the particles p1, p2, ...
        :type parameters: sequence of float or Quantity
        :param parameters:  [getNumPerConstraintParameters()] values of the per-constraint parameters
        :raises: OpenMMException if there is no such constraint, or an argument has another length
        """
        self._setConstraintParameters(index, particles, parameters)
    %}
}
%feature("docstring") ConstraintPlugin::CustomConstraintForce::getConstraintParameters
    "Get the particles and parameters of a constraint.

:type index: int
:param index:  the index of the constraint
:return: (particles, parameters): indices, and plain numbers in OpenMM's units
:raises: OpenMMException if there is no such constraint";
