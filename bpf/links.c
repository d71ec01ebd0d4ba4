// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What the radios on the routes of sockets do, said into the map c2_links. */
#include <bpf/bpf.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "kernel.h"

/* Ways that one reader may be told of: as many as c2_links holds. */
#define MOST_ROUTES 4096

static const char *const STATES[] = { "up", "sensing", "handoff" };

int parse_state(const char *text, __u32 *state)
{
	for (*state = 0; *state < 3 && strcmp(text, STATES[*state]); (*state)++)
		;
	return *state < 3;
}

int set_link(const struct kernel_c2 *c2, const struct c2_route *route, __u32 state, double seconds)
{
	int map = bpf_map_get_fd_by_id(c2->settings.links_map), done;
	struct c2_link link = {};
	__u64 now = now_ns();

	if (map < 0)
		return -1;
	bpf_map_lookup_elem(map, route, &link);
	/* A handoff counts when it ends, or when what follows it is said. */
	if (link.state == C2_HANDOFF && state != C2_HANDOFF)
		link.handoffs++;
	if (link.state != C2_UP && state == C2_UP)
		link.up_at = now;
	link.state = state;
	link.until = now + (__u64)(seconds * 1e9);
	done = bpf_map_update_elem(map, route, &link, BPF_ANY);
	close(map);
	return done;
}

/* Why the kernel did not take what was said: the map goes with the control. */
static int not_said(int error)
{
	if (error == ENOENT)
		return fail(1, "nothing is loaded any more");
	if (error == E2BIG)
		return fail(1, "the kernel has what it can hold of links: %d routes", MOST_ROUTES);
	return refused("cogtcp c2 follow", error);
}

static void forget(const struct kernel_c2 *c2, const struct c2_route *routes, int count)
{
	int map = bpf_map_get_fd_by_id(c2->settings.links_map);

	while (map >= 0 && count--)
		bpf_map_delete_elem(map, &routes[count]);
}

int follow(void)
{
	static struct c2_route routes[MOST_ROUTES];
	char line[256], address[64], what[16];
	int known = 0, error, number;
	struct kernel_c2 c2;
	double seconds;
	__u32 state;

	error = find_c2(&c2);
	if (error < 0)
		return refused("cogtcp c2 follow", -error);
	if (error)
		return fail(1, "nothing is loaded; load it with: cogtcp c2 load");
	/* Its ids are enough, and keep nothing in the kernel that is unloaded meanwhile. */
	close(c2.settings_fd);
	/* These are for whoever writes; what was said is forgotten when the lines end. */
	signal(SIGINT, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	while (fgets(line, sizeof(line), stdin)) {
		struct c2_route route = {};

		if (sscanf(line, "%u %63s %15s %lf", &route.space, address, what, &seconds) != 4 || !route.space ||
		    !parse_address(address, &route.to) || !parse_state(what, &state) || !(seconds > 0 && seconds <= 3600)) {
			forget(&c2, routes, known);
			return fail(2, "give lines of: NAMESPACE ADDRESS sensing|handoff|up SECONDS");
		}
		for (number = 0; number < known && memcmp(&routes[number], &route, sizeof(route)); number++)
			;
		/* What could not be forgotten is not said, and who hears of some routes would take the others for open. */
		error = number == MOST_ROUTES ? E2BIG : 0;
		if (!error && number == known)
			routes[known++] = route;
		if (!error && set_link(&c2, &route, state, seconds))
			error = errno;
		if (error) {
			forget(&c2, routes, known);
			return not_said(error);
		}
	}
	forget(&c2, routes, known);
	return 0;
}
