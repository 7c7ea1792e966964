// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// CUDA's vectors, with copies that ThreadSanitizer sees: of plain structs that a function takes from memory, or whose
// result goes to memory, g++ 12 tells it nothing.

#define COPIED_BY(Vector, ...)                                                                                         \
    Vector() = default;                                                                                                \
    [[gnu::always_inline]] Vector(const Vector& other) {                                                               \
        *this = other;                                                                                                 \
    }                                                                                                                  \
    [[gnu::always_inline]] Vector& operator=(const Vector& other) {                                                    \
        __VA_ARGS__;                                                                                                   \
        return *this;                                                                                                  \
    }

template <class T>
struct alignas(2 * sizeof(T)) Vector2 {
    T x, y;
    Vector2(T x, T y) : x(x), y(y) {
    }
    COPIED_BY(Vector2, x = other.x, y = other.y)
};

template <class T>
struct Vector3 {
    T x, y, z;
    Vector3(T x, T y, T z) : x(x), y(y), z(z) {
    }
    COPIED_BY(Vector3, x = other.x, y = other.y, z = other.z)
};

template <class T>
struct alignas(sizeof(T) < 4 ? 4 * sizeof(T) : 16) Vector4 {
    T x, y, z, w;
    Vector4(T x, T y, T z, T w) : x(x), y(y), z(z), w(w) {
    }
    COPIED_BY(Vector4, x = other.x, y = other.y, z = other.z, w = other.w)
};

#define VECTORS_OF(type, name)                                                                                         \
    typedef Vector2<type> name##2;                                                                                     \
    typedef Vector3<type> name##3;                                                                                     \
    typedef Vector4<type> name##4;                                                                                     \
    inline name##2 make_##name##2(type x, type y) {                                                                    \
        return name##2(x, y);                                                                                          \
    }                                                                                                                  \
    inline name##3 make_##name##3(type x, type y, type z) {                                                            \
        return name##3(x, y, z);                                                                                       \
    }                                                                                                                  \
    inline name##4 make_##name##4(type x, type y, type z, type w) {                                                    \
        return name##4(x, y, z, w);                                                                                    \
    }
VECTORS_OF(short, short)
VECTORS_OF(int, int)
VECTORS_OF(unsigned int, uint)
VECTORS_OF(long long, longlong)
VECTORS_OF(float, float)
VECTORS_OF(double, double)
#undef VECTORS_OF
#undef COPIED_BY
