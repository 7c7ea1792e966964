# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Copies, pickles and a readable repr for the classes of the compiled wrapper."""

import copy
from functools import wraps

import openmm


def retype(base, typed):
    """Give the proxy `base` the type and the handle of `typed`, another proxy of the same C++ object.

    One proxy is left, so that it is clear which one deletes the object.
    """
    if not isinstance(base, type(typed)):
        typed.this.own(base.this.own())
        base.this.own(False)
        base.this = typed.this
        base.__class__ = type(typed)
    return base


def keep_system(force, system):
    """Let a Force that a System owns keep it, so that what helpers return can be used when no name of it is left."""
    if force is not None:
        force._system = system
    return force


def complete(*classes, records=()):
    """Make copy, deepcopy and pickle work for `classes` and for `records` (plain structs), which get a repr, too, and
    are equal if their fields are.

    The methods that a plugin's class inherits from Force and Integrator return a copy with the base type's handle,
    which no method of the class accepts. These methods go through XML and the class's own cast() instead.
    A copy of a record has its fields in Python and no C++ object, since C++ lets nobody set them.
    """
    for cls in classes:
        for function in (_fromXML, __copy__, __deepcopy__, __reduce__, __getstate__, __setstate__):
            setattr(cls, getattr(function, "__name__", "_fromXML"), function)
    for cls in records:
        for name in _fields(cls):
            setattr(cls, name, _kept(name, vars(cls)[name]))
        if hasattr(cls, "str"):
            cls.str = _kept_text(cls.str)
        for function in (__eq__, __hash__):
            setattr(cls, function.__name__, function)
        cls.__repr__, cls.__reduce__ = _record_repr, _record_reduce


@classmethod
def _fromXML(cls, xml):
    return _typed(cls, openmm.XmlSerializer.deserialize(xml))


def _typed(cls, base):
    result = cls.cast(base)
    result.__class__ = cls  # a class that a user derived in Python stays what it is
    return result


def __copy__(self):
    duplicate = _typed(type(self), openmm.XmlSerializer.clone(self))
    duplicate.__setstate__(copy.deepcopy(self.__getstate__(), {id(self): duplicate}))
    return duplicate


def __deepcopy__(self, memo):
    return self.__copy__()


def __reduce__(self):
    return type(self)._fromXML, (openmm.XmlSerializer.serialize(self),), self.__getstate__()


def __getstate__(self):
    """Attributes that were set in Python; the C++ object travels as XML, and a copy belongs to no System."""
    return {key: value for key, value in self.__dict__.items() if key not in ("this", "_system")}


def __setstate__(self, attributes):
    self.__dict__.update(attributes)


def _fields(cls):
    """The names of a record's fields."""
    return [name for name, value in vars(cls).items() if isinstance(value, property) and name != "thisown"]


def _values(record):
    return {name: getattr(record, name) for name in _fields(type(record))}


def _kept(name, field):
    """A field of the C++ object, or of a copy."""
    return property(lambda self: self.__dict__[name] if name in self.__dict__ else field.fget(self), doc=field.__doc__)


def _kept_text(method):
    @wraps(method)
    def str(self):
        return self.__dict__["_text"] if "_text" in self.__dict__ else method(self)

    return str


def __eq__(self, other):
    return _values(self) == _values(other) if type(self) is type(other) else NotImplemented


def __hash__(self):
    return hash(tuple(_values(self).values()))


def _record_repr(self):
    return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in _values(self).items())})"


def _record_reduce(self):
    text = {"_text": self.str()} if hasattr(self, "str") else {}
    return _restored, (type(self), {**_values(self), **text})


def _restored(cls, values):
    record = cls.__new__(cls)
    record.__dict__.update(values)
    return record
