// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_TESTS_STATISTICS_H_
#define CONSTRAINTS_TESTS_STATISTICS_H_

#include <vector>

namespace ConstraintTests {

/** Mean of samples, and its standard error from the means of blocks, which have to exceed the correlation time. */
struct Mean {
    double value, error;
};
Mean meanOf(const std::vector<double>& samples, int blocks = 100);

/** The mean is as expected within six standard errors, which have to be less than resolution * expected. Another seed
 *  would fail by chance with a probability below 1e-8. */
void expectMean(const std::vector<double>& samples, double expected, double resolution);

/** The same for samples that are sums of so many squares of normal numbers (an energy, a temperature) and several
 *  relaxation times apart. Few samples are enough, since their variance is known. */
void expectMeanOfSquares(const std::vector<double>& samples, double expected, double degreesOfFreedom,
                         double resolution);

} // namespace ConstraintTests

#endif
