/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The three shapes.
 *
 * Weights are per mille, rounded, of what sets made by ClassBench from its seeds acl1, fw1 and ipc1
 * show; rare combinations are left out. The clusters are the part that decides how large a trie
 * becomes: an access list of 8,000 rules names a few networks over and over, one of 64,000 nearly
 * as many sources as it has rules.
 */
#include "rules_shapes.h"

#define LEN_OF(a) (sizeof(a) / sizeof((a)[0]))

#define TCP  6
#define UDP  17
#define ICMP 1
#define GRE  47

static const struct gen_lens acl_lens[] = {
	{32, 32, 296},
	{31, 32, 143},
	{32, 31, 126},
	{31, 31, 44},
	{32, 30, 36},
	{23, 32, 35},
	{32, 22, 34},
	{30, 32, 21},
	{31, 22, 20},
	{32, 24, 19},
	{31, 23, 19},
	{24, 31, 18},
	{32, 21, 12},
	{30, 22, 11},
	{30, 23, 9},
	{24, 32, 9},
	{32, 25, 7},
	{31, 25, 7},
	{31, 21, 6},
	{23, 16, 6},
	{29, 23, 6},
	{25, 32, 6},
	{23, 31, 5},
	{23, 28, 5},
	{32, 23, 4},
	{23, 15, 4},
	{24, 16, 4},
	{30, 31, 4},
	{22, 32, 4},
	{23, 17, 3},
	{24, 27, 3},
	{22, 14, 3},
	{24, 3, 3},
	{23, 7, 3},
	{22, 5, 3},
	{24, 1, 3},
	{23, 0, 4},
	{8, 24, 1},
	{1, 31, 1},
	{0, 30, 1},
};

static const struct gen_l4 acl_l4[] = {
	{TCP, PORT_ANY, PORT_EXACT, 596},
	{TCP, PORT_ANY, PORT_ANY, 172},
	{TCP, PORT_ANY, PORT_RANGE, 107},
	{0, PORT_ANY, PORT_ANY, 83},
	{ICMP, PORT_ANY, PORT_ANY, 32},
	{UDP, PORT_ANY, PORT_EXACT, 9},
	{UDP, PORT_ANY, PORT_RANGE, 1},
};

static const struct gen_lens fw_lens[] = {
	{0, 31, 199},
	{0, 32, 139},
	{1, 32, 113},
	{1, 31, 73},
	{0, 30, 53},
	{31, 0, 42},
	{32, 1, 35},
	{32, 0, 34},
	{2, 32, 27},
	{30, 0, 19},
	{32, 32, 19},
	{31, 1, 18},
	{32, 31, 11},
	{0, 0, 10},
	{1, 0, 10},
	{31, 32, 8},
	{32, 2, 8},
	{0, 1, 8},
	{29, 0, 7},
	{28, 0, 7},
	{22, 0, 6},
	{21, 0, 6},
	{27, 0, 6},
	{20, 0, 6},
	{31, 31, 5},
	{26, 0, 5},
	{23, 0, 4},
	{30, 1, 4},
	{30, 32, 4},
	{32, 21, 4},
	{28, 30, 8},
	{29, 29, 6},
	{27, 28, 8},
	{25, 27, 5},
	{24, 22, 4},
	{22, 26, 4},
	{16, 1, 4},
	{11, 0, 5},
	{15, 21, 4},
	{13, 0, 4},
};

static const struct gen_l4 fw_l4[] = {
	{TCP, PORT_ANY, PORT_EXACT, 451},
	{UDP, PORT_ANY, PORT_EXACT, 139},
	{UDP, PORT_EXACT, PORT_ANY, 100},
	{TCP, PORT_ANY, PORT_ANY, 92},
	{GRE, PORT_ANY, PORT_ANY, 50},
	{ICMP, PORT_ANY, PORT_ANY, 38},
	{TCP, PORT_HIGH, PORT_HIGH, 35},
	{UDP, PORT_EXACT, PORT_EXACT, 24},
	{UDP, PORT_HIGH, PORT_HIGH, 22},
	{UDP, PORT_HIGH, PORT_EXACT, 19},
	{UDP, PORT_EXACT, PORT_HIGH, 19},
	{0, PORT_ANY, PORT_ANY, 10},
	{UDP, PORT_HIGH, PORT_RANGE, 1},
};

static const struct gen_lens ipc_lens[] = {
	{32, 32, 102},
	{31, 32, 48},
	{24, 32, 43},
	{23, 32, 41},
	{32, 31, 34},
	{24, 24, 32},
	{23, 24, 31},
	{25, 32, 26},
	{0, 32, 25},
	{24, 31, 24},
	{0, 31, 24},
	{32, 24, 23},
	{1, 32, 20},
	{24, 23, 20},
	{24, 25, 19},
	{23, 25, 19},
	{23, 0, 18},
	{25, 23, 18},
	{32, 25, 17},
	{24, 0, 17},
	{25, 31, 16},
	{25, 24, 15},
	{22, 25, 15},
	{0, 25, 15},
	{30, 32, 14},
	{32, 26, 14},
	{23, 26, 13},
	{22, 24, 12},
	{31, 25, 12},
	{23, 16, 12},
	{16, 27, 30},
	{17, 28, 25},
	{26, 16, 30},
	{27, 17, 20},
	{28, 15, 17},
	{15, 1, 15},
	{21, 22, 12},
	{26, 30, 10},
	{29, 29, 9},
	{22, 0, 20},
	{16, 26, 12},
	{2, 31, 5},
};

static const struct gen_l4 ipc_l4[] = {
	{0, PORT_ANY, PORT_ANY, 332},
	{UDP, PORT_ANY, PORT_EXACT, 223},
	{TCP, PORT_ANY, PORT_EXACT, 134},
	{TCP, PORT_EXACT, PORT_ANY, 82},
	{UDP, PORT_EXACT, PORT_ANY, 79},
	{UDP, PORT_ANY, PORT_HIGH, 61},
	{TCP, PORT_ANY, PORT_ANY, 20},
	{TCP, PORT_ANY, PORT_RANGE, 18},
	{TCP, PORT_RANGE, PORT_ANY, 17},
	{ICMP, PORT_ANY, PORT_ANY, 11},
	{UDP, PORT_ANY, PORT_RANGE, 6},
	{UDP, PORT_HIGH, PORT_ANY, 4},
	{GRE, PORT_ANY, PORT_ANY, 4},
	{UDP, PORT_EXACT, PORT_EXACT, 3},
};

const struct gen_shape gen_shapes[] = {
	{
		.name = "acl",
		.lens = acl_lens,
		.lens_n = LEN_OF(acl_lens),
		.l4 = acl_l4,
		.l4_n = LEN_OF(acl_l4),
		.src = {{8000, 94, 94}, {64000, 110, 64000}, .spread = 5, .ports = 1},
		.dst = {{8000, 87, 150}, {64000, 8, 55}, .spread = 3, .ports = 72},
	},
	{
		.name = "fw",
		.lens = fw_lens,
		.lens_n = LEN_OF(fw_lens),
		.l4 = fw_l4,
		.l4_n = LEN_OF(fw_l4),
		.src = {{8000, 256, 0}, {64000, 256, 0}, .spread = 0, .ports = 10},
		.dst = {{8000, 256, 0}, {64000, 256, 0}, .spread = 0, .ports = 40},
	},
	{
		.name = "ipc",
		.lens = ipc_lens,
		.lens_n = LEN_OF(ipc_lens),
		.l4 = ipc_l4,
		.l4_n = LEN_OF(ipc_l4),
		.src = {{8000, 36, 217}, {64000, 64, 16000}, .spread = 2, .ports = 27},
		.dst = {{8000, 72, 500}, {64000, 128, 32000}, .spread = 1, .ports = 45},
	},
};
const uint32_t gen_shapes_n = LEN_OF(gen_shapes);

const uint16_t gen_services[] = {80, 443, 53, 22, 25, 1521, 161, 123, 21, 23, 1433, 69, 514, 110,
	143, 389, 135, 139, 445, 67, 68, 88, 113, 119, 137, 138, 162, 179, 500, 636, 873, 990, 993,
	995, 1080, 1194, 1352, 1494, 1526, 1645, 1701, 1723, 1812, 1813, 2049, 2082, 2083, 2222,
	2375, 2483, 3128, 3268, 3306, 3389, 3690, 4369, 4500, 5060, 5222, 5432, 5631, 5632, 5672,
	5900, 5984, 6000, 6379, 8000, 8080, 8443, 9418, 11211};
const uint32_t gen_services_n = LEN_OF(gen_services);
