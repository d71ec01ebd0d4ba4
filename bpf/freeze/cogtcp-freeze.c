// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The command behind `cogtcp freeze`: the connection manager of Freeze-TCP on an interface of this host. */
#include <arpa/inet.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include "daemon.h"
#include "key.h"
#include "message.h"

static const char USAGE[] =
	"usage: cogtcp-freeze load --interface IFACE [--listen [ADDRESS:]PORT] [--key FILE] [--router ADDRESS]\n"
	"                          [--longest S] [--freshness S] [--clsact] [--object FILE] [--foreground]\n"
	"       cogtcp-freeze status\n"
	"       cogtcp-freeze unload [IFACE]\n"
	"       cogtcp-freeze clean";

const char CAPABILITIES[] = "CAP_BPF, CAP_PERFMON, CAP_NET_ADMIN and CAP_NET_RAW";

/* As long as the outage of a train in a tunnel, or nearly; as far as clocks are apart that NTP sets, and more. */
#define LONGEST 60000000000ULL
#define FRESHNESS 2000000000ULL
/* A day; an hour. */
#define MOST_LONGEST 86400000000000ULL
#define MOST_FRESHNESS 3600000000000ULL
#define LEAST 1000000ULL

/* PORT, ADDRESS:PORT, or [ADDRESS]:PORT. */
static int read_listen(const char *text, struct sockaddr_in6 *listen)
{
	char address[INET6_ADDRSTRLEN + 3] = "", *start = address;
	const char *colon = strrchr(text, ':');
	long port;

	if (!read_number(colon ? colon + 1 : text, 1, 65535, &port))
		return 0;
	listen->sin6_port = htons(port);
	if (!colon)
		return 1;
	if ((size_t)(colon - text) >= sizeof(address))
		return 0;
	memcpy(address, text, colon - text);
	if (*start == '[' && start[strlen(start) - 1] == ']') {
		start[strlen(start) - 1] = 0;
		start++;
	}
	return read_address(start, listen->sin6_addr.s6_addr32);
}

static int run_load(int count, char **words)
{
	static const struct option OPTIONS[] = {
		{ "interface", required_argument, NULL, 'i' }, { "listen", required_argument, NULL, 'l' },
		{ "router", required_argument, NULL, 'r' },    { "object", required_argument, NULL, 'o' },
		{ "key", required_argument, NULL, 'k' },       { "longest", required_argument, NULL, 't' },
		{ "freshness", required_argument, NULL, 'f' }, { "clsact", no_argument, NULL, 'c' },
		{ "foreground", no_argument, NULL, 'g' },      {},
	};
	struct load_options options = {
		.object = beside_program("freeze.bpf.o"),
		.longest = LONGEST,
		.freshness = FRESHNESS,
		.listen = { .sin6_family = AF_INET6, .sin6_port = htons(MESSAGE_PORT) },
	};
	int option;

	while ((option = getopt_long(count, words, "", OPTIONS, NULL)) != -1) {
		if (option == 'i')
			options.interface = optarg;
		else if (option == 'o')
			options.object = optarg;
		else if (option == 'c')
			options.clsact = 1;
		else if (option == 'g')
			options.foreground = 1;
		else if (option == 'l' && !read_listen(optarg, &options.listen))
			return fail(2, "--listen %s: give a UDP port, or ADDRESS:PORT", optarg);
		else if (option == 'r' && !read_address(optarg, options.router.s6_addr32))
			return fail(2, "--router %s: give an IPv4 or IPv6 address", optarg);
		else if (option == 'k')
			options.key = optarg;
		else if (option == 't' && !read_seconds(optarg, LEAST, MOST_LONGEST, &options.longest))
			return fail(2, "--longest %s: give seconds from 0.001 to 86400", optarg);
		else if (option == 'f' && !read_seconds(optarg, LEAST, MOST_FRESHNESS, &options.freshness))
			return fail(2, "--freshness %s: give seconds from 0.001 to 3600", optarg);
		else if (option == '?')
			return fail(2, "%s", USAGE);
	}
	if (optind != count || !options.interface)
		return fail(2, "%s", USAGE);
	if (options.key) {
		int code = read_key(options.key, options.secret);

		if (code)
			return code;
	} else if (IN6_IS_ADDR_UNSPECIFIED(&options.router)) {
		return fail(2, "whoever reaches UDP port %u could hold this host's connections: give --key FILE (cogtcp freeze key FILE makes one), or --router ADDRESS to obey that address without authentication",
			    ntohs(options.listen.sin6_port));
	} else {
		fail(0, "messages are not authenticated: whoever can send from the router's address can hold this host's connections; give --key FILE");
	}
	return load(&options);
}

int main(int count, char **words)
{
	const char *verb = count > 1 ? words[1] : "";

	if (!strcmp(verb, "load"))
		return run_load(count - 1, words + 1);
	if (!strcmp(verb, "status") && count == 2)
		return print_status();
	if (!strcmp(verb, "unload") && count <= 3)
		return unload(count == 3 ? words[2] : NULL);
	if (!strcmp(verb, "clean") && count == 2)
		return clean();
	if (!strcmp(verb, "--help"))
		return puts(USAGE), 0;
	return fail(2, "%s", USAGE);
}
