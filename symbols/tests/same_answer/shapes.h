// What main.cc and shapes.cc share: each compiles the templates and inline functions for itself.
#ifndef SHAPES_H
#define SHAPES_H

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace shapes
{

struct shape {
    virtual ~shape() = default;
    virtual double area() const = 0;
    std::string name;
};

template <typename T> struct polygon : shape {
    std::vector<std::pair<T, T>> corners;

    double area() const override
    {
        double twice = 0;

        for (std::size_t i = 0; i < corners.size(); i++) {
            const auto &a = corners[i], &b = corners[(i + 1) % corners.size()];
            twice += static_cast<double>(a.first * b.second - b.first * a.second);
        }
        return twice < 0 ? -twice / 2 : twice / 2;
    }
};

using collection = std::map<std::string, std::unique_ptr<shape>>;

inline double total(const collection &all)
{
    double sum = 0;

    for (const auto &one : all)
        sum += one.second->area();
    return sum;
}

collection read(const std::string &text);
std::string largest(const collection &all);

} // namespace shapes

#endif
