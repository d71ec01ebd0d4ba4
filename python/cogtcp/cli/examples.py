"""Two examples of each verb, as `--help` shows them. A test parses each."""

from __future__ import annotations

EXAMPLES: dict[str, tuple[str, ...]] = {
    "cogtcp": ("run sensed-link", "compare sensed-link --transport linux-cubic,linux-bbr"),
    "run": ("run sensed-link", "run my.toml --seed 3 --pcap link --set radio.0.silence=drop"),
    "compare": (
        "compare sensed-link --transport linux-cubic,linux-bbr,sack --seeds 10",
        'compare my.toml --transport linux-reno,linux-cubic --plane sim,kernel --set run.duration="20 s"',
    ),
    "sweep": ("sweep examples/sweep.toml --dry-run", "sweep examples/sweep.toml --precision 5%"),
    "merge": ("merge results/a results/b --out both", "merge monday tuesday --json"),
    "tune": (
        "tune cr-single-hop --grid 10x10",
        'tune my.toml --vary radio.0.cr.sensing_time=20ms..1s --constraint "pu_interference<=5%"',
    ),
    "fit": (
        "fit sender.pcapng rtt.log --out link.toml",
        "fit sweeps.csv --threshold=-95dBm --out band.toml",
    ),
    "advise": (
        "advise sensed-link --budget 20s",
        'advise my.toml --for utility:0.5 --constraint "delay<=200 ms" --over radio.0.silence=hold,drop',
    ),
    "lab": ("lab sensed-link --open", "lab my.toml --port 8000"),
    "plot": (
        "plot results/compared --kind bars --out bars.pdf",
        "plot results/swept --kind heatmap --where transport=sack --out map.svg",
    ),
    "query": (
        'query results/swept "SELECT transport, avg(goodput_bps) FROM runs GROUP BY 1"',
        'query results/swept "SELECT * FROM summary" --csv',
    ),
    "results": ("results results/swept", "results results/swept --json"),
    "emulate": (
        "emulate sensed-link --set flow.*.transport=linux-cubic",
        'emulate sensed-link --peer "iperf3 -s -1" -- iperf3 -c 100.64.0.2',
    ),
    "agree": ("agree sensed-link --seeds 5", "agree --drawn 60 --virtual --seeds 1 --seed 7"),
    "packets": ("packets tests/packets", "packets my.pkt --plane sim,kernel --trace"),
    "validate": ("validate 7", "validate 7 --peer theory --cases 20"),
    "kernel build": ("kernel build", "kernel build --source /path/to/linux --name patched"),
    "kernel list": ("kernel list", "kernel list --json"),
    "kernel show": ("kernel show", "kernel show linux-6.12 --json"),
    "kernel use": ("kernel use linux-6.12", "kernel use patched --json"),
    "kernel remove": ("kernel remove patched", "kernel remove linux-6.1 --json"),
    "c2 load": ("c2 load", "c2 load --rules author --flows 2"),
    "c2 status": ("c2 status", "c2 status --json"),
    "c2 flows": ("c2 flows 192.0.2.1 3", "c2 flows any default"),
    "c2 link": ("c2 link any sensing --for 1", "c2 link 192.0.2.1 up"),
    "c2 unload": ("c2 unload", "c2 unload --json"),
    "freeze load": (
        "freeze load --interface wlan0 --key /etc/cogtcp.key",
        "freeze load --interface wlan0 --router 192.0.2.1 --foreground",
    ),
    "freeze key": ("freeze key /etc/cogtcp.key", "freeze key router.key --json"),
    "freeze status": ("freeze status", "freeze status --json"),
    "freeze trigger": (
        "freeze trigger down --in 0.3 --for 2",
        "freeze trigger up --to 192.0.2.1 --key router.key",
    ),
    "freeze unload": ("freeze unload", "freeze unload --interface wlan0"),
    "freeze clean": ("freeze clean", "freeze clean --json"),
    "new": ("new", "new my.toml --kind cr-users"),
    "check": ("check my.toml", "check old.toml --migrate --in-place"),
    "metrics": ("metrics sensed-link", "metrics my.toml --json"),
    "schema": ("schema", "schema --results"),
    "transports": ("transports", "transports --json"),
    "trace show": ("trace show lte.trace", "trace show leo.csv --json"),
    "trace convert": ("trace convert lte.trace lte.csv --bin 50ms", "trace convert leo.csv leo.trace"),
    "trace export": (
        "trace export sensed-link link sensed.trace",
        "trace export cr-single-hop link cr.csv --what carried",
    ),
    "trace generate": ("trace generate lte lte.trace --duration 30s", "trace generate leo leo.csv --seed 2"),
    "pu generate": (
        "pu generate pu.log --users 5 --alpha 0.5 --beta 0.5 --duration 200",
        "pu generate pu.log --on gamma:2,0.5 --off log-normal:0.8,1",
    ),
    "pu show": ("pu show pu.log --plot pu.svg", "pu show sweeps.csv --threshold -95dBm"),
    "pu convert": (
        "pu convert pu.log map.txt --to map --sensitivity 1e-6",
        "pu convert sweeps.csv busy.csv --to csv --threshold -95dBm",
    ),
    "mobility generate": (
        "mobility generate moves.tcl --nodes 25 --area 1000x1000",
        "mobility generate grid.csv --placement grid --spacing 150",
    ),
    "mobility show": ("mobility show moves.tcl --range 250", "mobility show moves.csv --plot moves.svg"),
    "journey show": (
        "journey show scenarios/maps/kelmere-line.toml",
        "journey show my-line.toml --seeds 50 --plot line.html",
    ),
    "sensing": (
        "sensing --detector map --detector neyman-pearson --snr=-22,-20",
        "sensing --sensors 3 --fusion majority --plot sensing.svg",
    ),
    "reproduce": ("reproduce c2 --quick", "reproduce chain --claim chain-f7a --at best"),
    "version": ("version", "version --json"),
}
