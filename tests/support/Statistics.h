// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_TESTS_STATISTICS_H_
#define CONSTRAINTS_TESTS_STATISTICS_H_

#include <vector>

namespace ConstraintTests {

/** Mean of samples, and its standard error from the means of blocks, which have to be longer than correlations. */
struct Mean {
    double value, error;
};
Mean meanOf(const std::vector<double>& samples, int blocks = 100);

/** The mean is as expected within six standard errors, and known well enough for that to mean something: another seed
 *  would fail by chance with a probability below 1e-8. */
void expectMean(const std::vector<double>& samples, double expected, double resolution);

/** The same for sums of so many squares of normal numbers each (an energy, a temperature), of samples that are several
 *  relaxation times apart: few of them do, since their variance is known. */
void expectMeanOfSquares(const std::vector<double>& samples, double expected, double degreesOfFreedom,
                         double resolution);

} // namespace ConstraintTests

#endif
