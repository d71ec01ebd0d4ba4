// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Finds in the kernel what belongs to C2, and the text of addresses and errors. */
#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "kernel.h"

/* enum bpf_link_type, since Linux 5.19. */
#define LINK_TYPE_STRUCT_OPS 9

int fail(int code, const char *format, ...)
{
	va_list given;

	va_start(given, format);
	vfprintf(stderr, format, given);
	va_end(given);
	fputc('\n', stderr);
	return code;
}

int refused(const char *what, int error)
{
	if (error == EPERM || error == EACCES)
		return fail(1, "%s needs root (CAP_BPF, CAP_PERFMON and CAP_NET_ADMIN)", what);
	if (error == ENOSYS)
		return fail(1, "%s: this kernel was built without BPF (CONFIG_BPF_SYSCALL)", what);
	return fail(1, "%s: the kernel refuses: %s", what, strerror(error));
}

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
	struct in_addr ipv4;

	memset(address, 0, sizeof(*address));
	if (!strcmp(text, "any"))
		return 1;
	if (inet_pton(AF_INET, text, &ipv4) == 1) {
		address->word[2] = htonl(0xffff);
		address->word[3] = ipv4.s_addr;
		return 1;
	}
	return inet_pton(AF_INET6, text, address) == 1;
}

const char *address_text(const struct c2_address *address, const char *any, char *text)
{
	const __u32 *word = address->word;

	if (any && !(word[0] | word[1] | word[2] | word[3]))
		return any;
	if (!word[0] && !word[1] && word[2] == htonl(0xffff))
		return inet_ntop(AF_INET, &word[3], text, INET6_ADDRSTRLEN);
	return inet_ntop(AF_INET6, word, text, INET6_ADDRSTRLEN);
}
