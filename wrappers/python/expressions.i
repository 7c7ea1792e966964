// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
//
// Forces with an expression: parameters without a unit of their own, and tables that change their owner.

%header %{
PyObject* Py_StripOpenMMUnits(PyObject* input); // of OpenMM; 8.4 defines it behind this

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

static bool plainNumbers(PyObject* input, const char* name, std::vector<double>& values) {
    PyObject* stripped = Py_StripOpenMMUnits(input);
    if (stripped == NULL)
        return false;
    PyObject* sequence = copyOfSequence(stripped, name);
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
    if (!plainNumbers($input, "$1_name", values))
        SWIG_fail;
    $1 = &values;
}
%typemap(freearg) const std::vector<double>& parameters "" // that of std_vector.i knows another conversion
%apply const std::vector<double>& parameters { const std::vector<double>& weights };

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
%ignore ConstraintPlugin::ExpressionConstraintForce::getTabulatedFunction(int) const;
%factory(OpenMM::TabulatedFunction& ConstraintPlugin::ExpressionConstraintForce::getTabulatedFunction,
         OpenMM::Continuous1DFunction, OpenMM::Continuous2DFunction, OpenMM::Continuous3DFunction,
         OpenMM::Discrete1DFunction, OpenMM::Discrete2DFunction, OpenMM::Discrete3DFunction);

// SWIG cannot write an empty vector in Python, and would omit the names of all arguments.
%define %constraints_of(CLASS, POINTS, NUMBER, WHAT)
%feature("compactdefaultargs") ConstraintPlugin::CLASS::addConstraint;
%feature("compactdefaultargs") ConstraintPlugin::CLASS::setConstraintParameters;
%rename(_addConstraint) ConstraintPlugin::CLASS::addConstraint;
%rename(_setConstraintParameters) ConstraintPlugin::CLASS::setConstraintParameters;
%extend ConstraintPlugin::CLASS {
    %pythoncode %{
    def addConstraint(self, POINTS, parameters=()):
        """
        Add a constraint.

        :type POINTS: sequence of int
        :param POINTS:  [NUMBER()] indices of the WHAT, ...
        :type parameters: sequence of float or Quantity
        :param parameters:  [getNumPerConstraintParameters()] values of the per-constraint parameters
        :rtype: int
        :return: the index of the constraint
        :raises: OpenMMException if one of the two has another length
        """
        return self._addConstraint(POINTS, parameters)

    def setConstraintParameters(self, index, POINTS, parameters=()):
        """
        Set the POINTS and parameters of a constraint. A Context takes notice when it is created, or by
        updateParametersInContext().

        :type index: int
        :param index:  the index of the constraint
        :type POINTS: sequence of int
        :param POINTS:  [NUMBER()] indices of the WHAT, ...
        :type parameters: sequence of float or Quantity
        :param parameters:  [getNumPerConstraintParameters()] values of the per-constraint parameters
        :raises: OpenMMException if there is no such constraint, or an argument has another length
        """
        self._setConstraintParameters(index, POINTS, parameters)
    %}
}
%feature("docstring") ConstraintPlugin::CLASS::getConstraintParameters
    "Get the POINTS and parameters of a constraint.

:type index: int
:param index:  the index of the constraint
:return: (POINTS, parameters): indices, and plain numbers in OpenMM's units
:raises: OpenMMException if there is no such constraint";
%enddef
%constraints_of(CustomConstraintForce, particles, getNumParticlesPerConstraint, particles p1)
%constraints_of(CustomCentroidConstraintForce, groups, getNumGroupsPerConstraint, groups g1)

%feature("compactdefaultargs") ConstraintPlugin::CustomCentroidConstraintForce::addGroup;
%feature("compactdefaultargs") ConstraintPlugin::CustomCentroidConstraintForce::setGroupParameters;
%rename(_addGroup) ConstraintPlugin::CustomCentroidConstraintForce::addGroup;
%rename(_setGroupParameters) ConstraintPlugin::CustomCentroidConstraintForce::setGroupParameters;
%extend ConstraintPlugin::CustomCentroidConstraintForce {
    %pythoncode %{
    def addGroup(self, particles, weights=()):
        """
        Define a group of particles.

        :type particles: sequence of int
        :param particles:  indices of its particles, each once
        :type weights: sequence of float or Quantity
        :param weights:  [particles] their weights in the centroid, of any scale; empty: their masses
        :rtype: int
        :return: the index of the group
        :raises: OpenMMException if there is another number of weights, but not none
        """
        return self._addGroup(particles, weights)

    def setGroupParameters(self, index, particles, weights=()):
        """
        Set the particles and weights of a group. It takes effect when a Context is created;
        updateParametersInContext() raises if groups have changed.

        :type index: int
        :param index:  the index of the group
        :type particles: sequence of int
        :param particles:  indices of its particles, each once
        :type weights: sequence of float or Quantity
        :param weights:  [particles] their weights in the centroid, of any scale; empty: their masses
        :raises: OpenMMException if there is no such group, or another number of weights, but not none
        """
        self._setGroupParameters(index, particles, weights)
    %}
}
%feature("docstring") ConstraintPlugin::CustomCentroidConstraintForce::getGroupParameters
    "Get the particles and weights of a group.

:type index: int
:param index:  the index of the group
:return: (particles, weights): indices, and weights as they were given; none: their masses
:raises: OpenMMException if there is no such group";
%ignore ConstraintPlugin::ExpressionConstraintForce::Points;
%ignore ConstraintPlugin::ExpressionConstraintForce::getPoints;
%ignore ConstraintPlugin::ExpressionConstraintForce::getClassName;
