/* SPDX-License-Identifier: BSD-3-Clause */
/* Decides which port is in and which are out, before any is started. */
#include "ports.h"

#include "fail.h"

#include <errno.h>
#include <rte_bus.h>
#include <rte_dev.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <stdio.h>
#include <string.h>

#define RING 512 /* descriptors of a queue, where the driver has any */

static int add_vdev(uint16_t *ret, const char *name, const char *args, struct hpm_reason *reason)
{
	int rc = rte_eal_hotplug_add("vdev", name, args);

	if (rc == 0)
		rc = rte_eth_dev_get_port_by_name(name, ret);
	if (rc < 0)
		return demo_fail(
			rc, reason, "DPDK could not make port %s: %s", name, rte_strerror(-rc));
	return 0;
}

static int check_path(const char *path, struct hpm_reason *reason)
{
	const char *cut = strpbrk(path, ",=["); /* they part or group a device's arguments */

	if (cut == NULL)
		return 0;
	return demo_fail(-EINVAL, reason,
		"'%s' has '%c' in its name, which net_pcap cannot take; link or rename it",
		path_tail(path), *cut);
}

static int add_capture(uint16_t *ret, const char *name, const char *key, const char *path,
	struct hpm_reason *reason)
{
	char args[4200];
	int rc = check_path(path, reason);

	if (rc < 0)
		return rc;
	if (snprintf(args, sizeof(args), "%s=%s", key, path) >= (int)sizeof(args))
		return demo_fail(-EINVAL, reason, "'%.80s...': path too long", path);
	return add_vdev(ret, name, args, reason);
}

/* net_pcap does not say why it cannot write, so that is asked before. */
static int add_output(uint16_t *ret, const char *path, struct hpm_reason *reason)
{
	int rc = check_path(path, reason);
	FILE *file;

	if (rc < 0)
		return rc;
	file = fopen(path, "abe");
	if (file == NULL) {
		rc = -errno;
		return demo_fail(rc, reason, "'%s': %s", path_tail(path), strerror(-rc));
	}
	fclose(file);
	return add_capture(ret, "net_pcap_out", "tx_pcap", path, reason);
}

/* EAL's own ports, those given on its command line. */
static uint32_t find_given(uint16_t given[TX_PORTS_MAX])
{
	uint32_t n = 0;
	uint16_t port;

	RTE_ETH_FOREACH_DEV(port)
	if (n < TX_PORTS_MAX)
		given[n++] = port;
	return n;
}

static int start(uint16_t port, bool rx, struct rte_mempool *pool)
{
	struct rte_eth_conf conf = {.rxmode = {.mq_mode = RTE_ETH_MQ_RX_NONE}};
	int node = rte_eth_dev_socket_id(port);
	int rc = rte_eth_dev_configure(port, 1, 1, &conf);

	if (rc == 0)
		rc = rte_eth_rx_queue_setup(port, 0, RING, (unsigned)node, NULL, pool);
	if (rc == 0)
		rc = rte_eth_tx_queue_setup(port, 0, RING, (unsigned)node, NULL);
	if (rc == 0)
		rc = rte_eth_dev_start(port);
	if (rc == 0 && rx)
		(void)rte_eth_promiscuous_enable(port); /* not every driver can; then it need not */
	return rc;
}

static int choose(struct ports *p, const struct options *options, struct hpm_reason *reason)
{
	uint16_t given[TX_PORTS_MAX];
	uint32_t n = find_given(given), first_out = 0;
	int rc = 0;

	if (options->pcap_in != NULL) {
		rc = add_capture(&p->rx, "net_pcap_in", "rx_pcap", options->pcap_in, reason);
		p->has_rx = true;
	} else if (options->generate == NULL && n > 0) {
		p->rx = given[0];
		p->has_rx = true;
		first_out = n > 1;
	}
	if (rc < 0)
		return rc;
	if (options->pcap_out != NULL || first_out == n) {
		p->n = 1;
		return options->pcap_out != NULL ? add_output(&p->tx[0], options->pcap_out, reason)
						 : add_vdev(&p->tx[0], "net_null_out", "", reason);
	}
	for (; first_out < n; first_out++)
		p->tx[p->n++] = given[first_out];
	return 0;
}

int ports_open(struct ports *ret, const struct options *options, struct rte_mempool *pool,
	struct hpm_reason *reason)
{
	struct ports p = {.n = 0};
	int rc = choose(&p, options, reason);
	uint16_t port;

	if (rc < 0)
		return rc;
	RTE_ETH_FOREACH_DEV(port)
	{
		rc = start(port, p.has_rx && port == p.rx, pool);
		if (rc < 0)
			return demo_fail(
				rc, reason, "port %u does not start: %s", port, rte_strerror(-rc));
	}
	*ret = p;
	return 0;
}

void ports_close(void)
{
	uint16_t port;

	RTE_ETH_FOREACH_DEV(port)
	{
		if (rte_eth_dev_stop(port) < 0)
			continue;
		(void)rte_eth_dev_close(port); /* nothing can be done about a port that stays */
	}
}
