// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Loads the programs and attaches them to an interface: by links that one process holds (tcx, Linux 6.6 and newer), so that
 * they end with it however it ends; else by the qdisc clsact, which outlives it.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>
#include "daemon.h"

/* Of Linux 6.6 and newer; headers of a distribution are often older than the kernel. */
#define ATTACH_TCX_INGRESS 46
#define ATTACH_TCX_EGRESS 47
/* Ours among the filters of an interface. */
#define FILTER_HANDLE 1
#define FILTER_PRIORITY 50007

static const char *const PROGRAMS[] = { "freeze_egress", "freeze_ingress" };
static const enum bpf_tc_attach_point POINTS[] = { BPF_TC_EGRESS, BPF_TC_INGRESS };

static int hush(enum libbpf_print_level level, const char *format, va_list given)
{
	return 0;
}

__u64 this_namespace(void)
{
	struct stat its;

	return stat("/proc/self/ns/net", &its) ? 0 : its.st_ino;
}

/* Bytes of the header before IP's, or -1 of an interface that has another. */
static int link_header(const char *interface)
{
	struct ifreq request = {};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), refused;

	strncpy(request.ifr_name, interface, IFNAMSIZ - 1);
	refused = fd < 0 || ioctl(fd, SIOCGIFHWADDR, &request);
	if (fd >= 0)
		close(fd);
	if (refused)
		return -1;
	switch (request.ifr_hwaddr.sa_family) {
	case ARPHRD_ETHER:
	case ARPHRD_LOOPBACK:
		return 14;
	case ARPHRD_NONE:
	case ARPHRD_PPP:
	case ARPHRD_RAWIP:
		return 0;
	}
	return -1;
}

static __u32 map_id(int fd)
{
	struct bpf_map_info info = {};
	__u32 length = sizeof(info);

	return bpf_obj_get_info_by_fd(fd, &info, &length) ? 0 : info.id;
}

static int program(struct bpf_object *object, int which)
{
	return bpf_program__fd(bpf_object__find_program_by_name(object, PROGRAMS[which]));
}

static int attach_by_links(struct attached *its)
{
	static const int TYPES[] = { ATTACH_TCX_EGRESS, ATTACH_TCX_INGRESS };

	for (int which = 0; which < 2; which++) {
		its->links[which] = bpf_link_create(program(its->object, which), its->settings.interface,
						    (enum bpf_attach_type)TYPES[which], NULL);
		if (its->links[which] < 0) {
			int error = errno;

			if (which)
				close(its->links[0]);
			its->links[0] = -1;
			return -error;
		}
	}
	return 0;
}

static void remove_filters(const struct freeze_settings *settings)
{
	for (int which = 0; which < 2; which++) {
		LIBBPF_OPTS(bpf_tc_hook, hook, .ifindex = settings->interface, .attach_point = POINTS[which]);
		LIBBPF_OPTS(bpf_tc_opts, filter, .handle = FILTER_HANDLE, .priority = FILTER_PRIORITY);

		bpf_tc_detach(&hook, &filter);
	}
	if (settings->created_qdisc) {
		LIBBPF_OPTS(bpf_tc_hook, hook, .ifindex = settings->interface,
			    .attach_point = BPF_TC_INGRESS | BPF_TC_EGRESS);

		bpf_tc_hook_destroy(&hook);
	}
}

static int attach_by_qdisc(struct attached *its)
{
	LIBBPF_OPTS(bpf_tc_hook, whole, .ifindex = its->settings.interface,
		    .attach_point = BPF_TC_INGRESS | BPF_TC_EGRESS);
	int error = bpf_tc_hook_create(&whole);

	if (error && error != -EEXIST)
		return error;
	its->settings.clsact = 1;
	its->settings.created_qdisc = !error;
	for (int which = 0; which < 2; which++) {
		LIBBPF_OPTS(bpf_tc_hook, hook, .ifindex = its->settings.interface, .attach_point = POINTS[which]);
		LIBBPF_OPTS(bpf_tc_opts, filter, .handle = FILTER_HANDLE, .priority = FILTER_PRIORITY,
			    .prog_fd = program(its->object, which));

		error = bpf_tc_attach(&hook, &filter);
		if (error) {
			remove_filters(&its->settings);
			return error;
		}
	}
	return 0;
}

int attach(const struct load_options *options, struct attached *its)
{
	int header, error;
	__u32 zero = 0;

	*its = (struct attached){ .links = { -1, -1 } };
	its->settings.interface = if_nametoindex(options->interface);
	if (!its->settings.interface)
		return fail(2, "there is no interface \"%s\"; ip link shows those that there are", options->interface);
	header = link_header(options->interface);
	if (header < 0)
		return fail(2, "interface \"%s\" has frames that are not known: name one of Ethernet (veth, a network card) or a TUN device",
			    options->interface);
	hear_libbpf();
	its->object = bpf_object__open_file(options->object, NULL);
	if (!its->object)
		return fail(1, "%s cannot be read: %s; build it with: make bpf", options->object, strerror(errno));
	error = bpf_object__load(its->object);
	if (error)
		return not_loaded("cogtcp freeze load", options->object, -error);
	its->state_map = bpf_object__find_map_fd_by_name(its->object, "freeze_state");
	its->connections_map = bpf_object__find_map_fd_by_name(its->object, "freeze_connections");
	its->counts_map = bpf_object__find_map_fd_by_name(its->object, "freeze_counts");
	its->settings_map = bpf_object__find_map_fd_by_name(its->object, "freeze_settings");
	its->settings.holder = getpid();
	its->settings.namespace = this_namespace();
	its->settings.link_header = header;
	its->settings.longest = options->longest;
	its->settings.freshness = options->freshness;
	its->settings.authenticated = options->key != NULL;
	its->settings.port = ntohs(options->listen.sin6_port);
	its->settings.state_map = map_id(its->state_map);
	its->settings.connections_map = map_id(its->connections_map);
	its->settings.counts_map = map_id(its->counts_map);
	strncpy(its->settings.name, options->interface, sizeof(its->settings.name) - 1);
	/* Before the programs run: they look there. */
	if (bpf_map_update_elem(its->settings_map, &zero, &its->settings, BPF_ANY))
		return refused("cogtcp freeze load", errno);
	error = options->clsact ? -EINVAL : attach_by_links(its);
	/* What an older kernel says of a kind of link that it does not know. */
	if (error == -EINVAL || error == -EOPNOTSUPP)
		error = attach_by_qdisc(its);
	if (error)
		return error == -EPERM || error == -EACCES ? refused("cogtcp freeze load", -error)
			: fail(1, "nothing can be attached to %s: %s; the kernel needs tcx (Linux 6.6) or the qdisc clsact (CONFIG_NET_SCH_INGRESS, CONFIG_NET_CLS_BPF)",
			       options->interface, strerror(-error));
	return bpf_map_update_elem(its->settings_map, &zero, &its->settings, BPF_ANY) ? refused("cogtcp freeze load", errno) : 0;
}

void detach(struct attached *its)
{
	for (int which = 0; which < 2; which++)
		if (its->links[which] >= 0)
			close(its->links[which]);
	if (its->settings.clsact)
		remove_filters(&its->settings);
	bpf_object__close(its->object);
}

int detach_leftover(const struct freeze_settings *settings)
{
	libbpf_set_print(hush);
	remove_filters(settings);
	return 0;
}
