// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Makes ACKs of the headers that were kept, and sends them. A frame goes through the interface's egress like all others, where
 * its mark tells the program there what it is: one to the network passes, one to this host is turned round.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/ip6.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "acks.h"

static int open_marked(__u32 mark)
{
	/* Protocol 0: it receives nothing. */
	int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -errno;
	if (setsockopt(fd, SOL_SOCKET, SO_MARK, &mark, sizeof(mark))) {
		int error = errno;

		close(fd);
		return -error;
	}
	return fd;
}

int open_injector(__u32 interface, struct injector *injector)
{
	injector->interface = interface;
	injector->out = open_marked(FREEZE_MARK_OUT);
	if (injector->out < 0)
		return injector->out;
	injector->in = open_marked(FREEZE_MARK_IN);
	return injector->in < 0 ? injector->in : 0;
}

void close_injector(struct injector *injector)
{
	close(injector->out);
	close(injector->in);
}

/* The sum of RFC 1071, of an even number of bytes. */
static __u32 sum(const unsigned char *bytes, size_t size, __u32 before)
{
	for (size_t at = 0; at + 1 < size; at += 2)
		before += bytes[at] << 8 | bytes[at + 1];
	return before;
}

static __u16 folded(__u32 whole)
{
	whole = (whole & 0xffff) + (whole >> 16);
	whole = (whole & 0xffff) + (whole >> 16);
	return htons(~whole & 0xffff);
}

__u32 make_ack(const struct freeze_ack *ack, __u32 link_header, int closed, unsigned char *frame)
{
	unsigned char *ip = frame + link_header, *transport;
	struct tcphdr *tcp;
	__u32 size, pseudo;

	if (ack->length > FREEZE_HEADER || ack->length < link_header + sizeof(struct iphdr) + sizeof(*tcp))
		return 0;
	memcpy(frame, ack->header, ack->length);
	transport = ip + (ip[0] >> 4 == 4 ? sizeof(struct iphdr) : sizeof(struct ip6_hdr));
	if (transport + sizeof(*tcp) > frame + ack->length)
		return 0;
	size = frame + ack->length - transport;
	tcp = (struct tcphdr *)transport;
	if (ip[0] >> 4 == 4) {
		struct iphdr *header = (struct iphdr *)ip;

		/* Pure ACKs are not ECN-capable (RFC 3168 section 6.1.4). */
		header->tos &= ~3;
		header->tot_len = htons(sizeof(*header) + size);
		header->check = 0;
		header->check = folded(sum(ip, sizeof(*header), 0));
		pseudo = sum(ip + 12, 8, 0);
	} else {
		struct ip6_hdr *header = (struct ip6_hdr *)ip;

		ip[1] &= ~0x30;
		header->ip6_plen = htons(size);
		pseudo = sum(ip + 8, 32, 0);
	}
	tcp->seq = htonl(ack->next);
	transport[13] = 0;
	tcp->ack = 1;
	tcp->urg_ptr = 0;
	if (closed)
		tcp->window = 0;
	tcp->check = 0;
	tcp->check = folded(sum(transport, size, pseudo + IPPROTO_TCP + size));
	return ack->length;
}

int send_ack(const struct injector *injector, const struct freeze_ack *ack, __u32 link_header, int to_host, int closed,
	     int times)
{
	unsigned char frame[FREEZE_HEADER] __attribute__((aligned(4)));
	struct sockaddr_ll to = { .sll_family = AF_PACKET, .sll_ifindex = injector->interface };
	__u32 size = make_ack(ack, link_header, closed, frame);
	int sent = 0;

	if (!size)
		return 0;
	to.sll_protocol = htons(frame[link_header] >> 4 == 4 ? ETH_P_IP : ETH_P_IPV6);
	while (times-- > 0)
		sent += sendto(to_host ? injector->in : injector->out, frame, size, 0, (struct sockaddr *)&to,
			       sizeof(to)) == (ssize_t)size;
	return sent;
}
