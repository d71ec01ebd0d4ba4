// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Loading and unloading. The control is registered by a BPF link that one process holds and nothing pins: however that
 * process ends, the kernel closes the link, and with it the control is gone. Sockets that chose it keep it until they close.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "kernel.h"

/* Of Linux 6.4 and newer; headers of a distribution are often older than the kernel. */
#define MAP_FLAG_LINK (1U << 13)
#define ATTACH_STRUCT_OPS 44
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif

static __u32 map_id(struct bpf_object *object, const char *name)
{
	struct bpf_map_info info = {};
	__u32 length = sizeof(info);
	int fd = bpf_object__find_map_fd_by_name(object, name);

	return fd >= 0 && !bpf_obj_get_info_by_fd(fd, &info, &length) ? info.id : 0;
}

static __u32 program_id(struct bpf_object *object, const char *name)
{
	struct bpf_program *program = bpf_object__find_program_by_name(object, name);
	struct bpf_prog_info info = {};
	__u32 length = sizeof(info);

	return program && !bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &length) ? info.id : 0;
}

/* Registers the control; returns the descriptor of its link, or -errno. */
static int register_control(struct bpf_map *control)
{
	struct bpf_link *link = bpf_map__attach_struct_ops(control);
	int fd;

	if (!link)
		return -errno;
#if LIBBPF_MAJOR_VERSION == 1 && LIBBPF_MINOR_VERSION < 2
	/* This libbpf only fills in the map. Its own object is not a link, and the process keeps it as it is. */
	fd = bpf_link_create(bpf_map__fd(control), 0, ATTACH_STRUCT_OPS, NULL);
#else
	fd = bpf_link__fd(link);
#endif
	return fd < 0 ? -errno : fd;
}

static int attach_option(struct bpf_object *object, const char *path)
{
	struct bpf_program *program = bpf_object__find_program_by_name(object, "c2_option");
	int cgroup = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (cgroup < 0)
		return fail(2, "%s: %s; name a folder of cgroup version 2", path, strerror(errno));
	if (!program || !bpf_program__attach_cgroup(program, cgroup))
		return fail(1, "the option of the SYN cannot be attached to %s: %s", path, strerror(errno));
	close(cgroup);
	return 0;
}

static int registered_already(int author)
{
	return fail(1, "a control with the name %s is registered already (cogtcp c2 status; cogtcp c2 unload)",
		    author ? C2_AUTHOR_NAME : C2_NAME);
}

static int load_and_register(void *data)
{
	const struct load_options *options = data;
	struct bpf_object *object;
	struct bpf_map *control;
	struct bpf_link_info info = {};
	struct c2_settings settings = options->settings;
	__u32 length = sizeof(info), zero = 0;
	struct kernel_c2 other;
	int link, error;

	if (access("/sys/kernel/btf/vmlinux", R_OK))
		return fail(1, "this kernel does not describe its types (no /sys/kernel/btf/vmlinux): it needs "
			       "CONFIG_DEBUG_INFO_BTF and CONFIG_BPF_JIT");
	hear_libbpf();
	object = bpf_object__open_file(options->object, NULL);
	if (!object)
		return fail(1, "%s cannot be read: %s; build it with: make bpf", options->object, strerror(errno));
	/* Whatever was asked for: a file that is named has the rules that it has. */
	control = bpf_object__find_map_by_name(object, C2_AUTHOR_NAME);
	settings.author = control != NULL;
	if (!control)
		control = bpf_object__find_map_by_name(object, C2_NAME);
	if (!control)
		return fail(1, "%s has no control %s or %s", options->object, C2_NAME, C2_AUTHOR_NAME);
	bpf_map__set_map_flags(control, MAP_FLAG_LINK);
	if (!options->cgroup) {
		struct bpf_program *program = bpf_object__find_program_by_name(object, "c2_option");

		if (program)
			bpf_program__set_autoload(program, false);
	}
	error = bpf_object__load(object);
	if (error)
		return not_loaded("cogtcp c2 load", options->object, -error);
	settings.flows_map = map_id(object, "c2_flows");
	settings.links_map = map_id(object, "c2_links");
	settings.sockets_map = map_id(object, "c2_sockets");
	settings.iterator = program_id(object, "c2_status");
	error = bpf_map_update_elem(bpf_object__find_map_fd_by_name(object, "c2_settings"), &zero, &settings, 0);
	if (error)
		return refused("cogtcp c2 load", errno);
	if (options->cgroup && (error = attach_option(object, options->cgroup)))
		return error;
	if (!find_c2(&other)) /* of either name: who asks finds one */
		return registered_already(other.settings.author);
	link = register_control(control);
	if (link == -EEXIST)
		return registered_already(settings.author);
	if (link < 0)
		return refused("registering the control", -link);
	if (bpf_obj_get_info_by_fd(link, &info, &length))
		return refused("registering the control", errno);
	settings.link = info.id;
	settings.holder = getpid();
	error = bpf_map_update_elem(bpf_object__find_map_fd_by_name(object, "c2_settings"), &zero, &settings, 0);
	return error ? refused("cogtcp c2 load", errno) : 0;
}

static void hold(void *data)
{
	for (;;)
		pause();
}

int load(struct load_options *options)
{
	const struct service service = { .begin = load_and_register, .hold = hold, .data = options };

	return stand(&service, options->foreground);
}

int unload(void)
{
	struct kernel_c2 c2, again;
	struct pollfd ended = { .events = POLLIN };
	int error = find_c2(&c2), sockets;

	if (error < 0)
		return refused("cogtcp c2 unload", -error);
	if (error)
		return fail(1, "nothing is loaded");
	close(c2.settings_fd);
	ended.fd = syscall(SYS_pidfd_open, c2.settings.holder, 0);
	/* Asked again: with the link still there, the process is the one that was just opened. */
	error = find_c2(&again);
	if (error > 0)
		return fail(1, "nothing is loaded");
	if (error < 0 || ended.fd < 0)
		return fail(1, "the process that holds the control (%u) cannot be reached: %s", c2.settings.holder,
			    strerror(error < 0 ? -error : errno));
	close(again.settings_fd);
	sockets = count_sockets(&c2);
	if (kill(c2.settings.holder, SIGTERM))
		return refused("cogtcp c2 unload", errno);
	if (poll(&ended, 1, 10000) != 1)
		return fail(1, "the process that holds the control (%u) does not end", c2.settings.holder);
	/* The kernel frees programs and maps when no processor can be inside them; where a socket keeps them, when that closes. */
	for (int step = 0; step < (sockets > 0 ? 50 : 500) && map_exists(c2.settings_map); step++)
		nanosleep(&(struct timespec){ .tv_nsec = 10000000 }, NULL);
	if (!map_exists(c2.settings_map))
		sockets = 0;
	else if (sockets < 1)
		return fail(1, "the control is gone, but its maps are still in the kernel after 5 s; something else uses "
			       "them (see: bpftool map show name c2_settings)");
	printf("{\"unloaded\": true, \"sockets_that_keep_it\": %d}\n", sockets);
	return 0;
}
