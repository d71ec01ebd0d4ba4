// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Finds in the kernel what is loaded. The kernel is asked each time: nothing of it is kept in files. */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "daemon.h"

/* Whether the process is there, and is one of these daemons: numbers of processes are used again. */
static int is_alive(__u32 process)
{
	char path[64], name[32] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%u/comm", process);
	file = fopen(path, "re");
	if (!file)
		return 0;
	if (!fgets(name, sizeof(name), file))
		name[0] = 0;
	fclose(file);
	return !strcmp(name, "cogtcp-freeze\n");
}

int find(visit *each, void *data)
{
	__u32 id = 0, zero = 0;
	int code = 0;

	while (!code && !bpf_map_get_next_id(id, &id)) {
		struct bpf_map_info info = {};
		struct found found = {};
		__u32 length = sizeof(info);
		int fd = bpf_map_get_fd_by_id(id);

		if (fd < 0) {
			if (errno == ENOENT)
				continue;
			return -errno;
		}
		if (!bpf_obj_get_info_by_fd(fd, &info, &length) && !strcmp(info.name, "freeze_settings") &&
		    info.value_size == sizeof(found.settings) && !bpf_map_lookup_elem(fd, &zero, &found.settings) &&
		    found.settings.holder) {
			found.alive = is_alive(found.settings.holder);
			code = each(&found, data);
		}
		close(fd);
	}
	if (!code && errno != ENOENT)
		return -errno;
	return code;
}
