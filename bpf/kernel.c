// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Finds in the kernel what belongs to C2, and reads its addresses. */
#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>
#include "kernel.h"

/* enum bpf_link_type, since Linux 5.19. */
#define LINK_TYPE_STRUCT_OPS 9

/* Whether the link that the settings name is one that registers a control. A link's id is not used again soon. */
static int registered(const struct c2_settings *settings)
{
	struct bpf_link_info info = {};
	__u32 length = sizeof(info);
	int fd, is;

	if (!settings->link)
		return 0;
	fd = bpf_link_get_fd_by_id(settings->link);
	if (fd < 0)
		return 0;
	is = !bpf_obj_get_info_by_fd(fd, &info, &length) && info.type == LINK_TYPE_STRUCT_OPS;
	close(fd);
	return is;
}

int find_c2(struct kernel_c2 *found)
{
	__u32 id = 0, zero = 0;

	while (!bpf_map_get_next_id(id, &id)) {
		struct bpf_map_info info = {};
		__u32 length = sizeof(info);
		int fd = bpf_map_get_fd_by_id(id);

		if (fd < 0) {
			if (errno == ENOENT) /* it has just gone */
				continue;
			return -errno;
		}
		if (!bpf_obj_get_info_by_fd(fd, &info, &length) && !strcmp(info.name, "c2_settings") &&
		    info.value_size == sizeof(found->settings) &&
		    !bpf_map_lookup_elem(fd, &zero, &found->settings) && registered(&found->settings)) {
			found->settings_fd = fd;
			found->settings_map = id;
			return 0;
		}
		close(fd);
	}
	return errno == ENOENT ? 1 : -errno;
}

int map_exists(__u32 id)
{
	int fd = bpf_map_get_fd_by_id(id);

	if (fd < 0)
		return 0;
	close(fd);
	return 1;
}

int parse_address(const char *text, struct c2_address *address)
{
	memset(address, 0, sizeof(*address));
	return !strcmp(text, "any") || read_address(text, address->word);
}
