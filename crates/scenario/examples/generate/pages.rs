//! The pages of the reference: which tables and choices each has, and links between them.

use std::collections::BTreeMap;

/// A page of `docs/scenario/`.
pub(crate) struct Page {
    /// The file, without `.md`.
    pub file: &'static str,
    pub title: &'static str,
    /// Subject of the page in the words that people search for.
    pub about: &'static str,
    /// Tables on the page: the longest of these that begins a table's path decides.
    pub tables: &'static [&'static str],
}

const fn page(
    file: &'static str,
    title: &'static str,
    about: &'static str,
    tables: &'static [&'static str],
) -> Page {
    Page { file, title, about, tables }
}

/// The pages in the order of reading.
pub(crate) const PAGES: &[Page] = &[
    page(
        "run",
        "Top level and run",
        "Name, duration, warm-up, seed, recorded series, version of the format.",
        &["Top level", "run"],
    ),
    page(
        "topology",
        "Topologies",
        "Single hop, dumbbell, chain, graph, ad hoc network with placement and mobility.",
        &["topology", "area"],
    ),
    page(
        "link",
        "Links and queues",
        "Rate, delay, loss, traces; drop-tail, RED, CoDel, FQ-CoDel, DualPI2.",
        &["link", "queue"],
    ),
    page(
        "flow",
        "Flows",
        "TCP, QUIC, Multipath TCP, TFRC: who sends to whom, over which transport.",
        &["flow"],
    ),
    page(
        "traffic",
        "Traffic of a flow",
        "Applications of a flow: requests, web pages, video, downloads.",
        &["flow.traffic"],
    ),
    page("udp", "UDP streams", "Calls (VoIP), constant rate, on-off and Poisson sources.", &["udp"]),
    page("tcp", "TCP settings", "Segment, windows, RTO, SACK, RACK, F-RTO, ECN, delayed ACKs.", &["tcp"]),
    page(
        "radio",
        "Radios",
        "Silences of a link: sensing, switching, the cognitive cycle, train journeys, low-orbit satellites.",
        &["radio"],
    ),
    page(
        "spectrum",
        "Channels and primary users",
        "Channels, and the primary users (incumbents) that occupy them, by a law or measured.",
        &["spectrum"],
    ),
    page(
        "cr",
        "CR users",
        "Cognitive radio users: access, detectors and sensing errors, policies and handoffs, cooperation, MAC.",
        &["radio.cr", "cr"],
    ),
    page(
        "regulation",
        "CBRS, DFS, TV white space",
        "CBRS (3.5 GHz, grants, incumbent radar), DFS of Wi-Fi, TV white space and its database, quiet periods of 802.22.",
        &["radio.cr.regulation"],
    ),
    page(
        "cell",
        "Cells",
        "LTE and NR (4G, 5G, private LTE, private 5G): base station, users, HARQ, RLC, scheduler, handover, DRX. \
         `access = \"scheduled\"` of [`[radio.cr]`](#radiocr) turns a cell on.",
        &["radio.cr.cell"],
    ),
    page("routing", "Ad hoc routing", "Ad hoc routing: static, AODV, CR-AODV, SEARCH.", &["routing"]),
    page(
        "mac",
        "MAC and PHY",
        "IEEE 802.11 in an ad hoc network: DCF, rates, ARP, propagation, fading, capture.",
        &["mac", "phy"],
    ),
    page(
        "train",
        "Trains",
        "A train's mobile router, its predictors of outages and connection managers (Freeze-TCP).",
        &["train"],
    ),
];

/// Choices that do not stand on the first page that uses them.
const ELSEWHERE: &[(&str, &str)] = &[
    ("Queue", "link"),
    ("Regulation", "regulation"),
    ("Routing", "routing"),
    ("Topology", "topology"),
    ("Traffic", "traffic"),
];

/// The page that has a table, by the table's heading.
pub(crate) fn of_table(heading: &str) -> &'static str {
    let path = heading.trim_matches(['[', ']']);
    let begins =
        |prefix: &str| path == prefix || path.strip_prefix(prefix).is_some_and(|rest| rest.starts_with('.'));
    let tables = PAGES.iter().flat_map(|page| page.tables.iter().map(move |table| (table, page.file)));
    let found = tables.filter(|(table, _)| begins(table)).max_by_key(|(table, _)| table.len());
    found.unwrap_or_else(|| panic!("{heading}: name its page in pages.rs")).1
}

/// The page where a choice stands if `first` is the first page that uses it.
pub(crate) fn of_choice(name: &str, first: &'static str) -> &'static str {
    ELSEWHERE.iter().find(|(choice, _)| *choice == name).map_or(first, |(_, page)| page)
}

/// Lets links to anchors lead to the page that has the heading; `up` leads from `file` to the other pages.
pub(crate) fn link(text: &str, file: &str, up: &str, anchors: &BTreeMap<String, &str>) -> String {
    let mut parts = text.split("](#");
    let mut linked = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (anchor, rest) = part.split_once(')').expect("a link ends");
        let page = anchors.get(anchor).unwrap_or_else(|| panic!("no heading for #{anchor}"));
        let place = if *page == file { String::new() } else { format!("{up}{page}.md") };
        linked += &format!("]({place}#{anchor}){rest}");
    }
    linked
}
