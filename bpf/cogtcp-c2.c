// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The command behind `cogtcp c2`: loads TCP C2 into the kernel, shows and changes what it does there. */
#include <bpf/bpf.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "kernel.h"

static const char USAGE[] =
	"usage: cogtcp-c2 load [--rules paper|author] [--flows N] [--pacing] [--option CGROUP] [--object FILE] [--foreground]\n"
	"       cogtcp-c2 status\n"
	"       cogtcp-c2 watch SECONDS\n"
	"       cogtcp-c2 follow\n"
	"       cogtcp-c2 unload\n"
	"       cogtcp-c2 flows ADDRESS|any N|default\n"
	"       cogtcp-c2 link ADDRESS|any sensing|handoff|up [SECONDS]";

const char CAPABILITIES[] = "CAP_BPF, CAP_PERFMON and CAP_NET_ADMIN";

static int read_flows(const char *text, __u32 *flows)
{
	long value;

	if (!read_number(text, 1, C2_MOST_FLOWS, &value))
		return 0;
	*flows = value;
	return 1;
}

static int find(struct kernel_c2 *c2, const char *what)
{
	int error = find_c2(c2);

	if (error < 0)
		return refused(what, -error);
	return error ? fail(1, "nothing is loaded; load it with: cogtcp c2 load") : 0;
}

static int run_load(int count, char **words)
{
	static const struct option OPTIONS[] = {
		{ "flows", required_argument, NULL, 'f' },  { "pacing", no_argument, NULL, 'p' },
		{ "object", required_argument, NULL, 'o' }, { "foreground", no_argument, NULL, 'g' },
		{ "option", required_argument, NULL, 's' }, { "rules", required_argument, NULL, 'r' },
		{},
	};
	struct load_options options = { .settings.flows = 1 };
	int option, author = 0;

	while ((option = getopt_long(count, words, "", OPTIONS, NULL)) != -1) {
		if (option == 'f') {
			if (!read_flows(optarg, &options.settings.flows))
				return fail(2, "--flows %s: give a number from 1 to %d", optarg, C2_MOST_FLOWS);
		} else if (option == 'p') {
			options.settings.pacing = 1;
		} else if (option == 'o') {
			options.object = optarg;
		} else if (option == 's') {
			options.cgroup = optarg;
		} else if (option == 'r') {
			author = !strcmp(optarg, "author");
			if (!author && strcmp(optarg, "paper"))
				return fail(2, "--rules %s: there are those of the paper, and those of its first author's code: author", optarg);
		} else if (option == 'g') {
			options.foreground = 1;
		} else {
			return fail(2, "%s", USAGE);
		}
	}
	if (!options.object)
		options.object = beside_program(author ? "c2-author.bpf.o" : "c2.bpf.o");
	return optind == count ? load(&options) : fail(2, "%s", USAGE);
}

static int run_flows(const char *where, const char *what)
{
	struct c2_address address;
	struct kernel_c2 c2;
	__u32 flows;
	int code, map;

	if (!parse_address(where, &address))
		return fail(2, "%s: give an IPv4 or IPv6 address, or any", where);
	if (strcmp(what, "default") && !read_flows(what, &flows))
		return fail(2, "%s: give a number from 1 to %d, or default", what, C2_MOST_FLOWS);
	code = find(&c2, "cogtcp c2 flows");
	if (code)
		return code;
	map = bpf_map_get_fd_by_id(c2.settings.flows_map);
	if (strcmp(what, "default"))
		code = bpf_map_update_elem(map, &address, &flows, BPF_ANY);
	else if (bpf_map_delete_elem(map, &address) && errno != ENOENT)
		code = -1;
	return code ? refused("cogtcp c2 flows", errno) : 0;
}

static int run_link(const char *where, const char *what, const char *seconds)
{
	struct c2_route route = {};
	struct kernel_c2 c2;
	double limit = 10;
	char *end = "";
	int code;
	__u32 state;

	if (!parse_address(where, &route.to))
		return fail(2, "%s: give an IPv4 or IPv6 address, or any", where);
	if (!parse_state(what, &state))
		return fail(2, "%s: a link is sensing, handoff or up", what);
	if (seconds)
		limit = strtod(seconds, &end);
	if (*end || !(limit > 0 && limit <= 3600))
		return fail(2, "%s: give seconds, more than 0 and at most 3600", seconds);
	code = find(&c2, "cogtcp c2 link");
	if (code)
		return code;
	return set_link(&c2, &route, state, limit) ? refused("cogtcp c2 link", errno) : 0;
}

static int run_watch(const char *text)
{
	char *end;
	double seconds = strtod(text, &end);

	if (*end || !(seconds >= 0.001 && seconds <= 3600))
		return fail(2, "%s: give seconds, from 0.001 to 3600", text);
	return watch(seconds);
}

int main(int count, char **words)
{
	const char *verb = count > 1 ? words[1] : "";

	if (!strcmp(verb, "load"))
		return run_load(count - 1, words + 1);
	if (!strcmp(verb, "status") && count == 2)
		return print_status();
	if (!strcmp(verb, "watch") && count == 3)
		return run_watch(words[2]);
	if (!strcmp(verb, "follow") && count == 2)
		return follow();
	if (!strcmp(verb, "unload") && count == 2)
		return unload();
	if (!strcmp(verb, "flows") && count == 4)
		return run_flows(words[2], words[3]);
	if (!strcmp(verb, "link") && (count == 4 || count == 5))
		return run_link(words[2], words[3], count == 5 ? words[4] : NULL);
	if (!strcmp(verb, "--help"))
		return puts(USAGE), 0;
	return fail(2, "%s", USAGE);
}
