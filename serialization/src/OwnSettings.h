// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_OWN_SETTINGS_H_
#define OPENMM_CONSTRAINTS_OWN_SETTINGS_H_

#include "ConstraintIntegratorProxy.h"
#include "openmmconstraints/ConstraintForceIntegrator.h"
#include "openmmconstraints/RattleLangevinIntegrator.h"
#include "openmmconstraints/RattleMTSIntegrator.h"
#include "openmmconstraints/RattleMTSLangevinIntegrator.h"
#include "openmmconstraints/RattleNoseHooverIntegrator.h"

namespace ConstraintPlugin {

template <>
struct OwnSettings<RattleLangevinIntegrator> {
    static void write(const RattleLangevinIntegrator& integrator, OpenMM::SerializationNode& node) {
        node.setDoubleProperty("temperature", integrator.getTemperature());
        node.setDoubleProperty("friction", integrator.getFriction());
        node.setIntProperty("randomSeed", integrator.getRandomNumberSeed());
        if (integrator.getNumGeodesicSteps() > 0)
            node.setIntProperty("geodesicSteps", integrator.getNumGeodesicSteps());
    }
    static std::unique_ptr<RattleLangevinIntegrator> read(const OpenMM::SerializationNode& node) {
        auto integrator = std::make_unique<RattleLangevinIntegrator>(readProperty<double>(node, "temperature"),
                                                                     readProperty<double>(node, "friction"),
                                                                     readProperty<double>(node, "stepSize"));
        integrator->setRandomNumberSeed(readProperty<int>(node, "randomSeed"));
        if (node.hasProperty("geodesicSteps"))
            integrator->setNumGeodesicSteps(readProperty<int>(node, "geodesicSteps"));
        return integrator;
    }
};

template <>
struct OwnSettings<RattleNoseHooverIntegrator> {
    static void write(const RattleNoseHooverIntegrator& integrator, OpenMM::SerializationNode& node) {
        node.setDoubleProperty("temperature", integrator.getTemperature());
        node.setDoubleProperty("collisionFrequency", integrator.getCollisionFrequency());
        node.setIntProperty("chainLength", integrator.getChainLength());
        node.setIntProperty("numMTS", integrator.getNumMultiTimeSteps());
        node.setIntProperty("numYoshidaSuzuki", integrator.getNumYoshidaSuzukiTimeSteps());
    }
    static std::unique_ptr<RattleNoseHooverIntegrator> read(const OpenMM::SerializationNode& node) {
        return std::make_unique<RattleNoseHooverIntegrator>(
            readProperty<double>(node, "temperature"), readProperty<double>(node, "collisionFrequency"),
            readProperty<double>(node, "stepSize"), readProperty<int>(node, "chainLength"),
            readProperty<int>(node, "numMTS"), readProperty<int>(node, "numYoshidaSuzuki"));
    }
};

inline void writeGroups(const MultipleTimeSteps::Groups& groups, OpenMM::SerializationNode& node) {
    OpenMM::SerializationNode& list = node.createChildNode("Groups");
    for (const auto& [group, substeps] : groups)
        list.createChildNode("Group").setIntProperty("group", group).setIntProperty("substeps", substeps);
}

inline MultipleTimeSteps::Groups readGroups(const OpenMM::SerializationNode& node) {
    MultipleTimeSteps::Groups groups;
    for (const OpenMM::SerializationNode& group : node.getChildNode("Groups").getChildren())
        groups.emplace_back(readProperty<int>(group, "group"), readProperty<int>(group, "substeps"));
    return groups;
}

template <>
struct OwnSettings<RattleMTSIntegrator> {
    static void write(const RattleMTSIntegrator& integrator, OpenMM::SerializationNode& node) {
        writeGroups(integrator.getGroups(), node);
    }
    static std::unique_ptr<RattleMTSIntegrator> read(const OpenMM::SerializationNode& node) {
        return std::make_unique<RattleMTSIntegrator>(readProperty<double>(node, "stepSize"), readGroups(node));
    }
};

template <>
struct OwnSettings<RattleMTSLangevinIntegrator> {
    static void write(const RattleMTSLangevinIntegrator& integrator, OpenMM::SerializationNode& node) {
        OwnSettings<RattleLangevinIntegrator>::write(integrator, node);
        writeGroups(integrator.getGroups(), node);
    }
    static std::unique_ptr<RattleMTSLangevinIntegrator> read(const OpenMM::SerializationNode& node) {
        auto integrator = std::make_unique<RattleMTSLangevinIntegrator>(
            readProperty<double>(node, "temperature"), readProperty<double>(node, "friction"),
            readProperty<double>(node, "stepSize"), readGroups(node));
        integrator->setRandomNumberSeed(readProperty<int>(node, "randomSeed"));
        return integrator;
    }
};

template <>
struct OwnSettings<ConstraintForceIntegrator> {
    static void write(const ConstraintForceIntegrator& integrator, OpenMM::SerializationNode& node) {
        if (integrator.isStabilizationSet()) {
            double alpha, beta;
            integrator.getStabilization(alpha, beta);
            node.setDoubleProperty("alpha", alpha);
            node.setDoubleProperty("beta", beta);
        }
        node.setDoubleProperty("maxDrift", integrator.getMaxDrift());
    }
    static std::unique_ptr<ConstraintForceIntegrator> read(const OpenMM::SerializationNode& node) {
        auto integrator = std::make_unique<ConstraintForceIntegrator>(readProperty<double>(node, "stepSize"));
        if (node.hasProperty("alpha"))
            integrator->setStabilization(readProperty<double>(node, "alpha"), readProperty<double>(node, "beta"));
        integrator->setMaxDrift(readProperty<double>(node, "maxDrift"));
        return integrator;
    }
};

} // namespace ConstraintPlugin

#endif
