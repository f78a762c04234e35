/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Everything of the core, for the impatient. The glue for DPDK is <hpm/dpdk.h>.
 */
#ifndef HPM_HPM_H
#define HPM_HPM_H

#include <hpm/arena.h>
#include <hpm/base.h>
#include <hpm/compact.h>
#include <hpm/counters.h>
#include <hpm/footprint.h>
#include <hpm/lane.h>
#include <hpm/pool.h>
#include <hpm/run.h>
#include <hpm/topo.h>
#include <hpm/window.h>

#endif
