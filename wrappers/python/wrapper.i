// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
//
// The public headers themselves are wrapped, and their comments become the docstrings (swig -doxygen). This file has
// only the additions for Python.
%module(package="openmmconstraints", docstring="The C++ classes of openmm-constraints. Import them from openmmconstraints.") wrapper
%feature("autodoc", "0");

// The order matters: OpenMM's typemaps come after the templates and before its declarations.
%include "factory.i"
%include "std_string.i"
%include "std_vector.i"
%{
#define SWIG_FILE_WITH_INIT
#define NPY_NO_DEPRECATED_API NPY_1_7_API_VERSION
#include "OpenMM.h"
#include "OpenMMAmoeba.h" // SWIG writes casts for every class that it imports, Amoeba's, Drude's and RPMD's too
#include "OpenMMConstraints.h"
#include "OpenMMDrude.h"
#include "openmm/RPMDIntegrator.h"
#include "openmm/RPMDMonteCarloBarostat.h"
#include <numpy/arrayobject.h>
#include <cmath>
#include <cstdlib>
#include <cxxabi.h>
#include <typeinfo>
using namespace OpenMM;
using namespace ConstraintPlugin;

// Give a Force the content of another one of its class.
template <class F>
static bool assignTo(OpenMM::Force& force, const OpenMM::Force& other) {
    auto* target = dynamic_cast<F*>(&force);
    const auto* source = dynamic_cast<const F*>(&other);
    if (target != nullptr && source != nullptr)
        *target = *source;
    return target != nullptr && source != nullptr;
}

// OpenMM's typemaps call this before they use an array.
static bool isNumpyAvailable() {
    return true;
}
%}
%init %{
    import_array();
    ConstraintPlugin::setWarningHandler(warnInPython);
%}
namespace std {
%template(_VectorClusterInfo) vector<ConstraintPlugin::ClusterInfo>;
}
%include "std_pair.i"
%template(_Pair) std::pair<int, int>;
%template(_VectorPair) std::vector<std::pair<int, int>>;
%template(_VectorDouble) std::vector<double>;
%template(_VectorString) std::vector<std::string>;
%include "swig/typemaps.i"
%typemap(out, fragment="Vec3_to_PyVec3") std::vector<OpenMM::Vec3> {
    const std::vector<OpenMM::Vec3>& vectors = $1;
    $result = PyList_New(vectors.size());
    for (size_t i = 0; i < vectors.size(); i++)
        PyList_SET_ITEM($result, i, Vec3_to_PyVec3(vectors[i]));
}
%import(module="openmm") "swig/OpenMMSwigHeaders.i"

%pythonbegin %{
from openmmconstraints._arrays import add_arrays
from openmmconstraints._enums import name_solvers
from openmmconstraints._proxies import complete, retype
%}

// ---- exceptions and the interpreter lock -----------------------------------------------------------------------

%header %{
/** Sets the Python exception for a C++ one: a failed cast is a TypeError, all others are an openmm.OpenMMException. */
static void setPythonException(const std::exception& error) {
    if (dynamic_cast<const std::bad_cast*>(&error) != NULL) {
        PyErr_SetString(PyExc_TypeError, error.what());
        return;
    }
    PyObject* type = PyObject_GetAttrString(PyImport_AddModule("openmm"), "OpenMMException");
    if (type == NULL)
        return;
    PyErr_SetString(type, error.what());
    Py_DECREF(type);
}

/** The C++ name of an object's class, for messages. */
template <class T>
static std::string typeName(const T& object) {
    int status = 0;
    char* name = abi::__cxa_demangle(typeid(object).name(), NULL, NULL, &status);
    const std::string result = status == 0 ? name : typeid(object).name();
    free(name);
    return result;
}

/** Allows other Python threads to run until it is destroyed. */
struct ReleasedInterpreter {
    PyThreadState* state = PyEval_SaveThread();
    ~ReleasedInterpreter() {
        PyEval_RestoreThread(state);
    }
};

/** Hands a warning to Python's warnings.warn(). One that a filter makes an error of is thrown. */
static void warnInPython(const std::string& text) {
    if (!Py_IsInitialized())
        return;
    const PyGILState_STATE state = PyGILState_Ensure();
    PyObject* module = PyImport_ImportModule("openmmconstraints._warnings");
    PyObject* result = module == NULL ? NULL : PyObject_CallMethod(module, "warn_of_context", "s", text.c_str());
    const bool isRaised = result == NULL;
    if (isRaised)
        PyErr_Clear(); // OpenMM's wrapper makes its own exception of what is thrown
    Py_XDECREF(result);
    Py_XDECREF(module);
    PyGILState_Release(state);
    if (isRaised)
        throw OpenMM::OpenMMException(text);
}

/** A cast whose error names the expected and the actual class. */
class WrongType : public std::bad_cast {
public:
    WrongType(const char* expected, const std::string& found)
        : message(std::string("not a ") + expected + " but " + found) {
    }
    const char* what() const noexcept override {
        return message.c_str();
    }

private:
    std::string message;
};
%}

%exception {
    try {
        $action
    } catch (const std::exception& error) {
        setPythonException(error);
        SWIG_fail;
    }
}

%define %takes_long(METHOD)
%exception METHOD {
    try {
        ReleasedInterpreter released;
        $action
    } catch (const std::exception& error) {
        setPythonException(error);
        SWIG_fail;
    }
}
%enddef
%takes_long(ConstraintPlugin::ConstraintIntegrator::step)
%takes_long(ConstraintPlugin::ConstraintIntegrator::getClusters)
%takes_long(ConstraintPlugin::ConstraintIntegrator::applyConstraints)
%takes_long(ConstraintPlugin::ConstraintIntegrator::applyVelocityConstraints)
%takes_long(ConstraintPlugin::ConstraintIntegrator::computeSystemTemperature)
%takes_long(ConstraintPlugin::ConstraintIntegrator::computeMultipliers)
%takes_long(ConstraintPlugin::ConstraintIntegrator::computeBlueMoon)
%takes_long(ConstraintPlugin::ConstraintIntegrator::computeParameterDerivatives)
%takes_long(ConstraintPlugin::ConstraintIntegrator::_pressure)
%takes_long(ConstraintPlugin::ConstraintIntegrator::_pressureTensor)

// ---- units -----------------------------------------------------------------------------------------------------

%include "quantities.i"
%quantity_argument(stepSize, picosecond)
%quantity_argument(size, picosecond)
%quantity_argument(startTime, picosecond)
%quantity_argument(distance, nanometer)
%quantity_argument(angle, radian)
%typemap(in) double angle {
    if (!angleInRadians($input, "$symname", "angle", strstr("$symname", "Dihedral") != NULL, $1))
        SWIG_fail;
}
%quantity_argument(distance1, nanometer)
%quantity_argument(angle1, radian)
%typemap(in) double angle1 {
    if (!angleInRadians($input, "$symname", "angle1", true, $1))
        SWIG_fail;
}
%quantity_argument(r0, nanometer)
%quantity_argument(cutoff, nanometer)
%quantity_argument(number, dimensionless)
%quantity_argument(number1, dimensionless)
%apply double& OUTPUT { double& number, double& number1 };
%apply int& OUTPUT { int& n, int& m };
%typemap(in, numinputs=0) std::string& parameter (std::string value) {
    $1 = &value;
}
%typemap(argout) std::string& parameter {
    %append_output(PyUnicode_DecodeUTF8($1->data(), (Py_ssize_t) $1->size(), "replace"));
}
%typemap(out) std::map<std::string, double> {
    const std::map<std::string, double>& entries = $1;
    $result = PyDict_New();
    for (const auto& entry : entries) {
        PyObject* value = PyFloat_FromDouble(entry.second);
        if (value == NULL || PyDict_SetItemString($result, entry.first.c_str(), value) != 0) {
            Py_XDECREF(value);
            SWIG_fail;
        }
        Py_DECREF(value);
    }
}
%quantity_argument(tolerance, dimensionless)
%quantity_argument(temperature, kelvin)
%quantity_argument(friction, per_picosecond)
%quantity_argument(collisionFrequency, per_picosecond)
%quantity_argument(alpha, per_picosecond)
%quantity_argument(beta, per_picosecond)
%quantity_argument(drift, dimensionless)
%quantity_result(computeSystemTemperature, kelvin)
%quantity_result(applyConstraints, nanometer)
%quantity_result(getMaxProjection, nanometer)
%quantity_result(getTemperature, kelvin)
%quantity_result(getFriction, per_picosecond)
%quantity_result(getCollisionFrequency, per_picosecond)
%quantity_result(computeHeatBathEnergy, kilojoule_per_mole)
%quantity_result(getConstraintWork, kilojoule_per_mole)
%quantity_result(getConstraintWorks, kilojoule_per_mole)
%quantity_result(getHeat, kilojoule_per_mole)
%quantity_result(getDistanceRate, nanometer_per_picosecond)
%quantity_result(getCentroidDistanceRate, nanometer_per_picosecond)
%quantity_result(getCoordinationNumberRate, per_picosecond)
%quantity_result(getAngleRate, radian_per_picosecond)
%quantity_result(getDihedralRate, radian_per_picosecond)
%quantity_result(getDistanceStartTime, picosecond)
%quantity_result(getCentroidDistanceStartTime, picosecond)
%quantity_result(getCoordinationNumberStartTime, picosecond)
%quantity_result(getAngleStartTime, picosecond)
%quantity_result(getDihedralStartTime, picosecond)
%include "vectors.i"
// One wrapper with optional arguments and their names, instead of overloads, whose errors do not name the wrong
// argument.
%feature("kwargs") ConstraintPlugin::ConstraintForce::addDistance;
%feature("kwargs") ConstraintPlugin::ConstraintForce::setDistanceRate;
%feature("kwargs") ConstraintPlugin::ConstraintForce::setDistanceInterpolation;
%feature("kwargs") ConstraintPlugin::ConstraintForce::setAngleInterpolation;
%feature("kwargs") ConstraintPlugin::ConstraintForce::setDihedralInterpolation;
%feature("kwargs") ConstraintPlugin::ConstraintForce::setCentroidDistanceInterpolation;
%feature("kwargs") ConstraintPlugin::ConstraintForce::addAngle;
%feature("kwargs") ConstraintPlugin::ConstraintForce::setAngleRate;
%feature("kwargs") ConstraintPlugin::ConstraintForce::addDihedral;
%feature("kwargs") ConstraintPlugin::ConstraintForce::setDihedralRate;
%feature("kwargs") ConstraintPlugin::ConstraintForce::addCentroidDistance;
%feature("kwargs") ConstraintPlugin::ConstraintForce::setCentroidDistanceRate;
%feature("kwargs") ConstraintPlugin::ConstraintForce::addCoordinationNumber;
%feature("kwargs") ConstraintPlugin::ConstraintForce::setCoordinationNumberParameters;
%feature("kwargs") ConstraintPlugin::ConstraintForce::setCoordinationNumberRate;
%feature("kwargs") ConstraintPlugin::ConstraintForce::setCoordinationNumberInterpolation;
%apply double& OUTPUT { double& logZ };
%apply int& OUTPUT { int& particle1, int& particle2, int& particle3, int& particle4 };

// ---- cast, isinstance ------------------------------------------------------------------------------------------

// OpenMM returns objects of classes from plugins as their base classes.
%define %castable(CLASS, BASE)
%extend ConstraintPlugin::CLASS {
    %feature("docstring") cast "Turn an openmm.BASE into the CLASS that it really is, and return it.

System.getForce(), CompoundIntegrator.getIntegrator() and XmlSerializer.deserialize() return the base type for classes
of a plugin. The argument itself changes its type, so that there is one owner.

Raises TypeError if it is something else.";
    %feature("docstring") isinstance "Whether an openmm.BASE, as OpenMM returns it, really is a CLASS.";
    %feature("pythonappend") cast %{
        val = retype(object, val)
    %}
    static ConstraintPlugin::CLASS& cast(OpenMM::BASE& object) {
        auto* result = dynamic_cast<ConstraintPlugin::CLASS*>(&object);
        if (result == NULL)
            throw WrongType(#CLASS, typeName(object));
        return *result;
    }
    static bool isinstance(const OpenMM::BASE& object) {
        return dynamic_cast<const ConstraintPlugin::CLASS*>(&object) != NULL;
    }
}
%enddef
%castable(ConstraintForce, Force)
%castable(CustomConstraintForce, Force)
%castable(CustomCentroidConstraintForce, Force)
// A Force cannot remove constraints. Instead the content of another Force is moved into it, which is empty then:
// helpers/freeze.py.
%extend ConstraintPlugin::ConstraintForce {
    void _become(ConstraintPlugin::ConstraintForce& other) {
        *$self = std::move(other);
    }
}
%extend ConstraintPlugin::CustomConstraintForce {
    void _become(ConstraintPlugin::CustomConstraintForce& other) {
        *$self = std::move(other);
    }
}
%extend ConstraintPlugin::CustomCentroidConstraintForce {
    void _become(ConstraintPlugin::CustomCentroidConstraintForce& other) {
        *$self = std::move(other);
    }
}
%castable(ConstraintIntegrator, Integrator)
// inspection/pressure.py: bar, pressures and then their errors
%ignore ConstraintPlugin::ConstraintIntegrator::computePressure;
%ignore ConstraintPlugin::ConstraintIntegrator::computePressureTensor;
%extend ConstraintPlugin::ConstraintIntegrator {
    std::vector<double> _pressure() {
        double error = 0;
        const double pressure = $self->computePressure(error);
        return {pressure, error};
    }
    std::vector<double> _pressureTensor() {
        std::vector<OpenMM::Vec3> errors, rows = $self->computePressureTensor(errors);
        rows.insert(rows.end(), errors.begin(), errors.end());
        std::vector<double> all;
        for (const OpenMM::Vec3& row : rows)
            all.insert(all.end(), {row[0], row[1], row[2]});
        return all;
    }
}
%include "openmmconstraints/Integrators.h" // the list; the classes below
#define CASTABLE(integrator) %castable(integrator, Integrator)
CONSTRAINT_INTEGRATORS(CASTABLE)

// ---- the headers -----------------------------------------------------------------------------------------------

%immutable;
%extend ConstraintPlugin::SolverSummary {
    %pythoncode %{
    def __str__(self):
        return self.str()
    %}
}
%include "openmmconstraints/SolverSummary.h"
%mutable;

%feature("docstring") ConstraintPlugin::ConstraintForce::getDistanceParameters
    "Get the parameters of a distance constraint.

:type index: int
:param index:  the index of the constraint
:return: (particle1, particle2, distance): two indices and a Quantity (nm)
:raises: OpenMMException if there is no such constraint";
%feature("docstring") ConstraintPlugin::ConstraintForce::getAngleParameters
    "Get the parameters of an angle constraint.

:type index: int
:param index:  the index of the constraint
:return: (particle1, particle2, particle3, angle): three indices, the second the vertex, and a Quantity (rad)
:raises: OpenMMException if there is no such constraint";
%feature("docstring") ConstraintPlugin::ConstraintForce::getDihedralParameters
    "Get the parameters of a dihedral constraint.

:type index: int
:param index:  the index of the constraint
:return: (particle1, particle2, particle3, particle4, angle): four indices and a Quantity (rad)
:raises: OpenMMException if there is no such constraint";
%feature("docstring") ConstraintPlugin::ConstraintForce::getCentroidDistanceParameters
    "Get the parameters of a distance between centres of mass.

:type index: int
:param index:  the index of the constraint
:return: (particles1, particles2, distance): two lists of indices and a Quantity (nm)
:raises: OpenMMException if there is no such constraint";
%feature("docstring") ConstraintPlugin::ConstraintForce::getCoordinationNumberParameters
    "Get the parameters of a coordination number.

:type index: int
:param index:  the index of the constraint
:return: (particles1, particles2, number, r0, n, m, cutoff): two lists of indices, a number, a Quantity (nm), two
    exponents, and a Quantity (nm), 0 where it is r0 10^(5/(m-n))
:raises: OpenMMException if there is no such constraint";
%define %interpolation_docstring(NAME, WHAT, AS)
%feature("docstring") ConstraintPlugin::ConstraintForce::get##NAME##Interpolation
    "The Context parameter that interpolates WHAT.

:type index: int
:param index:  the index of the constraint
:return: (parameter, value): its name, empty if there is none, and the value where it is 1 AS
:raises: OpenMMException if there is no such constraint";
%enddef
%interpolation_docstring(Distance, a distance, as a Quantity (nm))
%interpolation_docstring(Angle, an angle, as a Quantity (rad))
%interpolation_docstring(Dihedral, a dihedral, as a Quantity (rad))
%interpolation_docstring(CentroidDistance, a distance between centres of mass, as a Quantity (nm))
%interpolation_docstring(CoordinationNumber, a coordination number, as a number)
%feature("docstring") ConstraintPlugin::ConstraintForce::getRigidBodyParameters
    "Get a rigid body.

:type index: int
:param index:  the index of the body
:return: (particles, positions): indices, and their places in the body's frame as a Quantity (nm)
:raises: OpenMMException if there is no such body";
%feature("docstring") ConstraintPlugin::ConstraintForce::getReferencePositions
    "Positions at which lengths were measured.

:return: (particles, positions): indices in ascending order, and their positions as a Quantity (nm); none by default";
%feature("docstring") ConstraintPlugin::ConstraintIntegrator::computeBlueMoon
    "What the blue moon ensemble needs at the present state: a free energy's derivative along constraints that hold
reaction coordinates xi_k fixed is dA/dxi_k = <w (lambda_k + kT G_k)>/<w>, w = exp(-logZ/2), averaged over a constrained
run; BlueMoonReporter does that. Other constraints (rigid bonds) are accounted for.

:type constraints: Sequence[int]
:param constraints:  in the order of getMultipliers(), of the constraints that hold xi_k
:return: (multipliers, corrections, logZ): lambda_k and G_k of each, ln(|Z|/|Z_rest|)
:raises: OpenMMException if there is no such constraint, if one depends on others, or if any constraint moves";
%include "expressions.i" // before the Forces that have parameters
%include "openmmconstraints/ConstraintForce.h"
%rename(_moveConstraints) ConstraintPlugin::moveConstraints; // helpers/move_constraints.py
%rename(_moveAnchoredConstraints) ConstraintPlugin::moveAnchoredConstraints; // helpers/freeze.py
%include "openmmconstraints/MoveConstraints.h"
// One by one, as Quantities, a million masses take seconds.
%inline %{
std::vector<double> _particleMasses(const OpenMM::System& system) {
    std::vector<double> masses(system.getNumParticles());
    for (int i = 0; i < system.getNumParticles(); i++)
        masses[i] = system.getParticleMass(i);
    return masses;
}
%}
// OpenMM's Forces cannot remove terms, and where a Force is replaced in a System, references to it dangle:
// helpers/terms.py. (Those that own tabulated functions cannot be copied.)
%inline %{
void _assignForce(OpenMM::Force& force, const OpenMM::Force& other) {
    if (!(assignTo<HarmonicBondForce>(force, other) || assignTo<HarmonicAngleForce>(force, other) ||
          assignTo<PeriodicTorsionForce>(force, other) || assignTo<RBTorsionForce>(force, other) ||
          assignTo<CMAPTorsionForce>(force, other) || assignTo<CustomBondForce>(force, other) ||
          assignTo<CustomAngleForce>(force, other) || assignTo<CustomTorsionForce>(force, other)))
        throw OpenMMException("a Force of this class cannot be assigned");
}
%}
%include "openmmconstraints/ExpressionConstraintForce.h"
%include "openmmconstraints/CustomConstraintForce.h"
%include "openmmconstraints/CustomCentroidConstraintForce.h"
%ignore diagnose; // a friend: diagnosis.i
%ignore applyConstraintsForOpenMM; // a friend
%ignore projectVelocitiesForOpenMM;
%ignore getMultipleTimeSteps; // for platforms
%include "openmmconstraints/ConstraintIntegrator.h"
%include "openmmconstraints/RattleIntegrator.h"
%include "openmmconstraints/ShakeIntegrator.h"
%ignore makeNoiseKey; // a friend
%include "openmmconstraints/RattleLangevinIntegrator.h"
%include "openmmconstraints/RattleMTSIntegrator.h"
%include "openmmconstraints/RattleMTSLangevinIntegrator.h"
%feature("kwargs") ConstraintPlugin::RattleNoseHooverIntegrator::RattleNoseHooverIntegrator;
%include "openmmconstraints/RattleNoseHooverIntegrator.h"
%feature("docstring") ConstraintPlugin::ConstraintForceIntegrator::getStabilization
    "Get the feedback on what violates the constraints.

:return: (alpha, beta): on velocities and on positions, two Quantities (1/ps)";
%include "openmmconstraints/ConstraintForceIntegrator.h"

%include "diagnosis.i"

%pythoncode %{
complete(
    ConstraintForce,
    CustomConstraintForce,
    CustomCentroidConstraintForce,
    *ConstraintIntegrator.__subclasses__(),
    *RattleLangevinIntegrator.__subclasses__(),
    records=(SolverSummary, ClusterInfo),
)
name_solvers(ConstraintIntegrator)
for _name in ("getMultipliers", "getVelocityMultipliers", "computeMultipliers"):
    add_arrays(ConstraintIntegrator, _name)
add_arrays(ConstraintIntegrator, "getConstraintWorks", "kilojoule_per_mole")
add_arrays(ConstraintIntegrator, "getConstraintForces", "kilojoule_per_mole_per_nanometer")
add_arrays(ConstraintIntegrator, "getConstraintVirial", "kilojoule_per_mole")
add_arrays(ConstraintForce, "getMultipliers")
add_arrays(ExpressionConstraintForce, "getMultipliers")
%}
